//! What a network run found, in a few sentences that precede its tables.

use model::{BenchmarkResult, Estimate, Outcome, Run, percent};
use report::PrintedQuantity;
use report::words::{capital, parameter_value};

/// The sentences; none of a run without network results.
pub(super) fn answer(run: &Run) -> Vec<String> {
    [throughput(run), slowest_step(run), round_trips(run), datagrams(run), events(run), bursts(run), effects(run)]
        .into_iter()
        .flatten()
        .collect()
}

fn of<'a>(run: &'a Run, benchmark: &'a str) -> impl Iterator<Item = &'a BenchmarkResult> {
    run.results.iter().filter(move |result| result.benchmark == benchmark)
}

fn measured<'a>(run: &'a Run, benchmark: &'a str) -> impl Iterator<Item = (&'a BenchmarkResult, &'a Estimate)> {
    of(run, benchmark).filter_map(|result| Some((result, result.outcome.estimate()?)))
}

fn text(result: &BenchmarkResult, estimate: &Estimate) -> String {
    PrintedQuantity::of(estimate, result.metric.unit).in_metric(&result.metric).text_with_interval()
}

/// The size that a parameter states, after these words; nothing where it has none.
fn sized(result: &BenchmarkResult, parameter: &str, lead: &str) -> String {
    let size = result.parameters.get(parameter).map(|size| format!("{lead}{}", parameter_value("size", size)));
    size.unwrap_or_default()
}

fn throughput(run: &Run) -> Vec<String> {
    let best = measured(run, "network.tcp_stream").max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let sentence = |(result, estimate): (&BenchmarkResult, &Estimate)| {
        let writes = sized(result, "record", " with writes of ");
        format!("Highest throughput: {}{writes}.", text(result, estimate))
    };
    best.map(sentence).into_iter().collect()
}

/// Of the steps from memory to event building, the slowest and its limit.
fn slowest_step(run: &Run) -> Vec<String> {
    if of(run, "network.memory_copy").next().is_none() {
        return Vec::new();
    }
    let slowest = measured(run, "network.tcp_stream").min_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let sentence = |(result, estimate): (&BenchmarkResult, &Estimate)| {
        let limit = result.notes.iter().find_map(|note| note.strip_prefix("limit: "));
        let limit = limit.map(|limit| format!(" Its limit: {limit}.")).unwrap_or_default();
        format!("Slowest step: {}, {}.{limit}", report::view::network_step(result), text(result, estimate))
    };
    slowest.map(sentence).into_iter().collect()
}

/// The first of each kind, which has the shortest message unless another order was asked for.
fn round_trips(run: &Run) -> Vec<String> {
    let kinds = ["tcp_latency", "tcp_loaded_latency", "udp_latency", "udp_loaded_latency", "tcp_connect"];
    let sentence = |kind: &str| {
        let benchmark = format!("network.{kind}");
        let (result, estimate) = measured(run, &benchmark).next()?;
        let size = sized(result, "size", " of ");
        Some(format!("{}{size}: {}.", capital(&result.title), text(result, estimate)))
    };
    kinds.into_iter().filter_map(sentence).collect()
}

fn datagrams(run: &Run) -> Vec<String> {
    let lossless = measured(run, "network.udp_loss_free").next();
    let lossy = of(run, "network.udp_loss").find(|result| result.outcome.estimate().is_some());
    let none = lossless.map(|(_, rate)| format!("No loss up to {} datagrams/s.", rate.value));
    let some = lossy.and_then(|result| {
        let (share, offered) = (result.outcome.estimate()?.value, result.parameters.get("offered")?);
        Some(format!("{} lost at {offered} datagrams/s.", percent(share)))
    });
    none.into_iter().chain(some).collect()
}

fn events(run: &Run) -> Vec<String> {
    let Some((result, estimate)) = measured(run, "network.events").next() else { return Vec::new() };
    let lost = of(run, "network.event_loss").next().map(|result| &result.outcome);
    let whole = match lost {
        Some(Outcome::Measured(share)) => format!("; {} of the events are INCOMPLETE", percent(share.value)),
        Some(Outcome::Below { .. }) => ", all complete".to_owned(),
        _ => String::new(),
    };
    vec![format!("Built {}{whole}.", text(result, estimate))]
}

fn bursts(run: &Run) -> Vec<String> {
    let lossy = |result: &&BenchmarkResult| result.outcome.estimate().is_some();
    let frames = |result: &BenchmarkResult| result.parameters.get("frames").map(str::to_owned);
    let none = of(run, "network.burst_loss").take_while(|result| !lossy(result)).last().and_then(frames);
    let none = none.map(|frames| format!("No loss with bursts of {frames} frames per sender."));
    let some = of(run, "network.burst_loss").find(lossy).and_then(|result| {
        Some(format!("{} lost with bursts of {}.", percent(result.outcome.estimate()?.value), frames(result)?))
    });
    none.into_iter().chain(some).collect()
}

/// Settings whose interval excludes 1, and the others.
fn effects(run: &Run) -> Vec<String> {
    let (clear, open): (Vec<_>, Vec<_>) = measured(run, "network.effect")
        .partition(|(_, estimate)| !estimate.is_range() && (estimate.low > 1.0 || estimate.high < 1.0));
    let name = |result: &BenchmarkResult| result.parameters.get("factor").unwrap_or_default().to_owned();
    let with_size = |(result, estimate): &(&BenchmarkResult, &Estimate)| {
        let to = result.parameters.get("to").unwrap_or_default();
        format!("{} = {to} {}x", name(result), PrintedQuantity::of(estimate, result.metric.unit).text_with_interval())
    };
    let clear: Vec<String> = clear.iter().map(with_size).collect();
    let open: Vec<String> = open.iter().map(|(result, _)| name(result)).collect();
    let sentence = |lead: &str, names: Vec<String>| {
        (!names.is_empty()).then(|| format!("{lead}: {}.", names.join(", ").replace('_', " ")))
    };
    sentence("Changes throughput", clear).into_iter().chain(sentence("No clear effect", open)).collect()
}

#[cfg(test)]
mod tests {
    use model::{Class, EstimateMethod, Metric, Parameters, ResultKey, Unit};

    use super::*;

    fn result(benchmark: &str, parameter: (&str, &str), unit: Unit, outcome: Outcome) -> BenchmarkResult {
        let key = ResultKey::new(benchmark, Parameters::none().with(parameter.0, parameter.1));
        let metric = Metric::higher(unit, "datagrams");
        BenchmarkResult { outcome, ..BenchmarkResult::unmeasured(key, "title", metric, Class::Application) }
    }

    fn of_interval(value: f64, low: f64, high: f64) -> Outcome {
        let method = EstimateMethod::OrderStatistic;
        Outcome::Measured(Estimate { low, high, level: 0.95, samples: 20, method, ..Estimate::without_spread(value) })
    }

    fn said(results: Vec<BenchmarkResult>) -> String {
        let run = Run { results, ..application::document("net", 1, 0.02, None, std::env::temp_dir()) };
        answer(&run).join(" ").replace('\u{a0}', " ")
    }

    #[test]
    fn the_answer_names_the_best_the_lost_and_the_clear() {
        let stream = |record: &str, value: f64| {
            let outcome = of_interval(value, 0.9 * value, 1.1 * value);
            result("network.tcp_stream", ("record", record), Unit::BytesPerSecond, outcome)
        };
        let fast = said(vec![stream("64B", 3e7), stream("64KiB", 8e8)]);
        assert!(
            fast.starts_with("Highest throughput: 800 MB/s (") && fast.ends_with("with writes of 64 KiB."),
            "{fast}"
        );
        let udp = |benchmark: &str, value| {
            let outcome = Outcome::Measured(Estimate::without_spread(value));
            result(benchmark, ("offered", "20000"), Unit::Ratio, outcome)
        };
        let lost = said(vec![udp("network.udp_loss_free", 5000.0), udp("network.udp_loss", 0.11)]);
        assert_eq!(lost, "No loss up to 5000 datagrams/s. 11% lost at 20000 datagrams/s.");
        let effect = |factor, outcome| result("network.effect", ("factor", factor), Unit::Ratio, outcome);
        let effects =
            said(vec![effect("window", of_interval(4.0, 2.0, 6.0)), effect("nagle", of_interval(1.1, 0.9, 1.3))]);
        assert!(effects.starts_with("Changes throughput: window ="), "{effects}");
        assert!(effects.ends_with("No clear effect: nagle."), "{effects}");
        let built = result("network.events", ("senders", "2"), Unit::PerSecond, of_interval(3500.0, 3300.0, 3700.0));
        let none = result("network.event_loss", ("senders", "2"), Unit::Ratio, Outcome::Below { bound: 0.001 });
        assert!(said(vec![built, none]).ends_with(", all complete."));
        assert_eq!(said(Vec::new()), "");
    }
}
