//! `prony choose`: what to buy.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use decide::choose::{ApplicationWanted, OfferWanted, Specification, Uncertain, decide, parse};
use model::{BenchmarkResult, Definition, EstimateMethod, Run, Unit};
use predict::{PredictOptions, from_runs, predict};
use report::Document;
use store::Detail;

use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::{output, run_finder};

/// Longest text of offers that is read.
const LIMIT: u64 = 4 << 20;
/// Confidence of the predictions that rates are drawn from.
const LEVEL: f64 = 0.9;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony choose offers.toml")]
pub(crate) struct Arguments {
    /// Offers and demand, TOML
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Learn missing rates from these runs [default: the whole store]
    #[arg(long, num_args = 1.., value_name = "RUN")]
    from: Vec<String>,
    /// Set the seed of random numbers [default: that of the file, else 1]
    #[arg(long)]
    seed: Option<u64>,
    /// Show the parts of the cost, what each measurement is worth, the Pareto fronts and what was corrected
    #[arg(long)]
    details: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let details = arguments.details || common.format() == "html";
    let mut document = document(arguments, common, details)?;
    if !details {
        let file = report::words::quoted(&arguments.file.display().to_string());
        document.next.push(format!("prony choose {file} --details"));
    }
    output::print(&document, common)
}

/// Its document, for a report of its own or as part of another.
pub(crate) fn document(arguments: &Arguments, common: &CommonOptions, details: bool) -> Result<Document> {
    let file = &arguments.file;
    let text = text_of(file, LIMIT)?;
    let wanted = parse(&text).with_context(|| format!("{}", file.display()))?;
    let MeasuredRates { found: rates, unknown, of_several, power } =
        RateFinder { specification: &wanted, from: &arguments.from, common }.find()?;
    let mut problem = wanted.problem(&rates).with_context(|| format!("{}", file.display()))?;
    for (offer, application) in unknown {
        let name = problem.demand.mix[application].0.clone();
        problem.offers[offer].unknown_spread.push(name);
    }
    for (offer, power) in power {
        problem.offers[offer].power = power;
    }
    problem.seed = arguments.seed.unwrap_or(problem.seed);
    let choice = decide(&problem)?;
    let mut document = report::view::choose(&choice, details);
    document.notes.extend(of_several);
    Ok(document)
}

/// The text of a file up to a size limit.
pub(crate) fn text_of(path: &Path, limit: u64) -> Result<String> {
    let name = path.display().to_string();
    text_from(std::fs::File::open(path).with_context(|| format!("could not read {name}"))?, &name, limit)
}

/// The whole text of an input up to a size limit: a part of it would be another text.
pub(crate) fn text_from(input: impl Read, name: &str, limit: u64) -> Result<String> {
    let mut text = String::new();
    let read = input.take(limit + 1).read_to_string(&mut text).with_context(|| format!("could not read {name}"))?;
    anyhow::ensure!(read as u64 <= limit, "could not read {name}: it is longer than {limit} bytes");
    Ok(text)
}

/// Rates that the specification leaves to runs: measured if an offer's run has the result, else predicted.
struct RateFinder<'a> {
    specification: &'a Specification,
    from: &'a [String],
    common: &'a CommonOptions,
}

/// Rates by index of offer and application.
type RatesFound = BTreeMap<(usize, usize), Result<Uncertain, String>>;

/// What runs say of rates.
#[derive(Default)]
struct MeasuredRates {
    found: RatesFound,
    /// Indices of those whose result states no spread.
    unknown: Vec<(usize, usize)>,
    /// Sentences on rates that several runs of an offer have.
    of_several: Vec<String>,
    /// Power of offers that state none, by the energy of an event that their runs measured, watts.
    power: BTreeMap<usize, Uncertain>,
}

impl RateFinder<'_> {
    fn find(&self) -> Result<MeasuredRates> {
        let wanted = self.specification.wanted();
        let mut rates = MeasuredRates::default();
        let mut store: Option<Vec<Run>> = None;
        for (o, a) in wanted {
            let offer = &self.specification.offers()[o];
            // Without a name the only application is "events", which no run contains.
            let Some(application) = self.specification.applications().get(a) else { continue };
            let names = offer.runs();
            if names.is_empty() {
                continue;
            }
            let mut own: Vec<Run> =
                run_finder::find(&names, self.common, Detail::Values)?.into_iter().map(|named| named.run).collect();
            // The newest first; what states no date stays where it was named.
            own.sort_by(|a, b| b.session.started.cmp(&a.session.started));
            let having: Vec<(&Run, Result<&BenchmarkResult, String>)> =
                own.iter().filter_map(|run| Some((run, result(run, application.result())?))).collect();
            let rate = match having.first() {
                Some((_, Err(several))) => Err(several.clone()),
                Some((run, Ok(result))) => {
                    if result.outcome.estimate().is_some_and(|estimate| estimate.method == EstimateMethod::None) {
                        rates.unknown.push((o, a));
                    }
                    if let Some(power) = power_of(run, result).filter(|_| offer.states_no_power()) {
                        rates.power.insert(o, power);
                    }
                    rates.of_several.extend(newest_of(offer, application, &having));
                    rate_of(run, result, application)
                }
                None => {
                    if store.is_none() {
                        store = Some(super::predict::learnt_from(self.from, self.common)?);
                    }
                    predicted(store.as_deref().unwrap_or_default(), &own, offer, application)
                }
            };
            rates.found.insert((o, a), rate);
        }
        Ok(rates)
    }
}

/// Which of several runs of an offer's machine its rate is taken from, and how far the others say otherwise.
fn newest_of(
    offer: &OfferWanted,
    application: &ApplicationWanted,
    having: &[(&Run, Result<&BenchmarkResult, String>)],
) -> Option<String> {
    let [(newest, _), others @ ..] = having else { return None };
    let value = |(run, result): &(&Run, Result<&BenchmarkResult, String>)| {
        rate_of(run, result.as_ref().ok()?, application).ok().map(|rate| rate.middle())
    };
    let own = value(&having[0])?;
    let apart: Vec<f64> = others.iter().filter_map(value).map(|other| other / own - 1.0).collect();
    let (least, most) = (apart.iter().copied().reduce(f64::min)?, apart.iter().copied().reduce(f64::max)?);
    let say = |by: f64| format!("{}{}", if by < 0.0 { "" } else { "+" }, model::percent(by));
    let range = if apart.len() == 1 { say(least) } else { format!("{} to {}", say(least), say(most)) };
    Some(format!(
        "The rate of {} on {} comes from {}, the newest of {} runs that have it. The others differ by {range}.",
        application.name(),
        offer.name(),
        newest.name(),
        having.len(),
    ))
}

/// The result of a name in a run; the names of all, if it has several of which none is meant more than another.
fn result<'a>(run: &'a Run, name: &str) -> Option<Result<&'a BenchmarkResult, String>> {
    let prefixed = format!("application.{name}");
    let is = |text: &str| text == name || text == prefixed;
    // Offers are compared by it.
    let usable = |result: &&BenchmarkResult| !matches!(result.definition, Definition::Other(_));
    let exact = run.results.iter().filter(usable).find(|result| is(&result.key().to_string()));
    if let Some(result) = exact {
        return Some(Ok(result));
    }
    let named: Vec<&BenchmarkResult> =
        run.results.iter().filter(usable).filter(|result| is(&result.benchmark)).collect();
    match named.as_slice() {
        [] => None,
        [one] => Some(Ok(one)),
        several => {
            let keys: Vec<String> = several.iter().map(|result| result.key().to_string()).collect();
            Some(Err(format!("'{name}' may be any of {}", keys.join(", "))))
        }
    }
}

/// The power that a run's energy of an event means at its rate of events, where it measured both at the same parameters.
fn power_of(run: &Run, rate: &BenchmarkResult) -> Option<Uncertain> {
    let event = rate.metric.per.strip_suffix('s').filter(|_| rate.metric.unit == Unit::PerSecond)?;
    let same = |energy: &&BenchmarkResult| energy.metric.unit == Unit::Joules && energy.metric.per == event;
    let energy = run.results.iter().filter(same).find(|energy| energy.parameters == rate.parameters)?;
    let (joules, events) = (energy.outcome.estimate()?, rate.outcome.estimate()?.value);
    Some(Uncertain::interval(joules.value * events, joules.low * events, joules.high * events, joules.level))
}

/// Events per second from a result: a time of an operation, or operations per second.
fn rate_of(run: &Run, result: &BenchmarkResult, application: &ApplicationWanted) -> Result<Uncertain, String> {
    let estimate =
        compare::estimate_in_time(run, result).ok_or_else(|| format!("{} has no single value", result.key()))?;
    let (low, high) = (estimate.low, estimate.high);
    from_unit(result.metric.unit, estimate.value, low, high, estimate.level, application)
}

fn from_unit(
    unit: Unit,
    value: f64,
    low: f64,
    high: f64,
    level: f64,
    application: &ApplicationWanted,
) -> Result<Uncertain, String> {
    let events = application.events();
    match unit {
        Unit::Seconds => Ok(Uncertain::interval(events / value, events / high, events / low, level)),
        Unit::PerSecond | Unit::BytesPerSecond => {
            Ok(Uncertain::interval(events * value, events * low, events * high, level))
        }
        _ => Err(format!("{} is neither a time nor a rate", application.result())),
    }
}

/// The rate on an offer without a run of the application.
fn predicted(
    store: &[Run],
    own: &[Run],
    offer: &OfferWanted,
    application: &ApplicationWanted,
) -> Result<Uncertain, String> {
    let mut runs: Vec<&Run> = store.iter().collect();
    runs.extend(own.iter().filter(|run| !store.iter().any(|known| known.id == run.id)));
    let table = from_runs(&runs, application.result()).map_err(|error| error.to_string())?;
    let is_own = |runs: &[String]| own.iter().any(|run| runs.contains(&run.id));
    let target = table.machines.iter().position(|machine| is_own(&machine.runs));
    let target = target.ok_or_else(|| format!("{} has no run", offer.name()))?;
    let found = predict(&table, &[target], &PredictOptions { level: LEVEL }).map_err(|error| error.to_string())?;
    let forecast = found.forecasts.first().ok_or_else(|| "nothing was predicted".to_owned())?;
    let value = forecast.value.ok_or_else(|| format!("it cannot be predicted: {}", forecast.reasons.join("; ")))?;
    let ends = forecast.low.zip(forecast.high);
    let (low, high) = ends.ok_or_else(|| "too few machines for an interval".to_owned())?;
    from_unit(table.application.metric.unit, value, low, high, forecast.level, application)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_whole_or_refused() {
        let of = |length: usize| text_from(&vec![b'1'; length][..], "standard input", 1_000);
        assert_eq!(of(1_000).unwrap().len(), 1_000);
        let refused = of(1_001).unwrap_err().to_string();
        assert_eq!(refused, "could not read standard input: it is longer than 1000 bytes");
        assert!(text_of(Path::new("/dev/zero"), 1_000).is_err());
    }
}
