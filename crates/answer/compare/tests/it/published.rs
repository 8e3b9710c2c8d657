//! Derived tables printed in publications are reproduced from the raw tables.

use crate::common;

use crate::common::{plain, published, rate, refs, table, time};
use compare::{
    CompareOptions, Comparison, Disagreement, FailOn, GateAnswer, Normalise, PrintedCell, RatioMethod, compare,
};
use model::{Class, Definition, Direction, Parameters, ResultKey, Run, Verdict};

const ATHLON: &str = "AMD Athlon 1800MP dual-CPU 1.53 GHz";

fn ams() -> Option<Vec<Run>> {
    let rows = published("ams02-2002/table1_raw.csv")?;
    Some(table(&rows, &[0], |head, value| {
        head.starts_with("test").then(|| plain(&format!("ams02.{head}"), "", time("event"), value))
    }))
}

fn printed_table2() -> Option<Vec<PrintedCell>> {
    let rows = published("ams02-2002/table2_normalised.csv")?;
    let mut cells = Vec::new();
    for row in &rows[1..] {
        for (head, text) in rows[0].iter().zip(row).filter(|(head, _)| head.starts_with("test")) {
            let key = ResultKey::new(format!("ams02.{head}"), Parameters::none());
            cells.push(PrintedCell { machine: row[0].clone(), result: Some(key), text: text.clone() });
        }
    }
    Some(cells)
}

#[test]
fn another_definition_gets_no_ratio_no_verdict_no_rank_and_is_in_no_mean() {
    let values = |factor: f64| [1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998, 1.001].map(|x| factor * x * 1e-6).to_vec();
    let of = |benchmark: &str, factor: f64| {
        common::from_values(benchmark, "", time("call"), Class::Process, &values(factor))
    };
    let with = |definition: Definition| {
        let mut runs = [
            common::run("a", "one", "s", vec![of("os.exec", 1.0), of("os.select", 1.0)]),
            common::run("b", "two", "t", vec![of("os.exec", 20.0), of("os.select", 1.5)]),
        ];
        runs[1].results[0].definition = definition;
        compare(&refs(&runs), &CompareOptions::default()).unwrap()
    };
    let mean = |found: &Comparison| {
        let mean =
            found.geometric_means.iter().find(|mean| mean.family.is_none() && mean.machine != found.reference).unwrap();
        (mean.results, mean.value)
    };
    let cell = |found: &Comparison| found.rows.iter().find(|row| row.benchmark == "os.exec").unwrap().ratios[1].clone();
    let same = with(Definition::Same);
    assert_eq!((mean(&same).0, cell(&same).differs()), (2, true));
    let near = with(Definition::Near("in Rust".to_owned()));
    assert_eq!((mean(&near).0, cell(&near).differs()), (2, true), "near ones count, footnoted");
    assert_eq!(cell(&near).definition, Definition::Near("in Rust".to_owned()));
    let other = with(Definition::Other("static".to_owned()));
    let found = cell(&other);
    assert_eq!((found.value, found.verdict, found.rank, found.p_value), (None, None, None, None));
    assert!(found.outcome.is_some(), "its value stands beside");
    assert_eq!(found.reason.as_deref(), Some("another definition: static"));
    let (results, value) = mean(&other);
    assert!(results == 1 && (value.ln().abs() - 1.5_f64.ln()).abs() < 0.02, "{results} {value}");
    assert_eq!(other.tests, same.tests - 1);
}

#[test]
fn ams_table_2_is_reproduced_and_its_slips_are_listed() {
    let (Some(runs), Some(printed)) = (ams(), printed_table2()) else { return };
    let as_printed = CompareOptions { normalise: Normalise::Ratio, ..CompareOptions::default() };
    let found = compare(&refs(&runs), &as_printed).unwrap();
    assert_eq!(found.rows.len(), 4);
    for cell in &printed {
        let key = cell.result.as_ref().unwrap();
        let row = found.rows.iter().find(|row| row.key() == *key).unwrap();
        let ratio = row.ratio(&cell.machine).unwrap();
        let difference = ratio.value.unwrap() - cell.text.parse::<f64>().unwrap();
        assert!(difference.abs() <= 0.02, "{key} of {}: {difference}", cell.machine);
    }
    let slips = found.disagreements(&printed, 1.0);
    // The same cells differ for every notation of ratios.
    let in_gains = compare(&refs(&runs), &CompareOptions::default()).unwrap().disagreements(&printed, 1.0);
    let cells = |slips: &[Disagreement]| slips.iter().map(|s| s.printed.clone()).collect::<Vec<_>>();
    assert_eq!(cells(&slips), cells(&in_gains));
    let named: Vec<(&str, &str)> =
        slips.iter().map(|slip| (&slip.printed.machine[..12], slip.printed.text.as_str())).collect();
    for expected in [
        ("Intel PIV 1.", "0.82"),
        ("Intel PIV-Xe", "0.60"),
        ("Intel PIV-Xe", "1.06"),
        ("AMD Athlon 1", "0.47"),
        ("Compaq alpha", "0.50"),
        ("Sun Ultraspa", "0.88"),
    ] {
        assert!(named.contains(&expected), "{expected:?} is missing from {named:?}");
    }
    assert!(slips.iter().all(|slip| slip.difference.abs() <= 0.02 && slip.difference.abs() > slip.rounding));
    assert!(!named.contains(&("Intel PIV 1.", "1.1")), "1.110 printed as 1.1 is rounding");
}

#[test]
fn ams_table_4_is_reproduced_within_two_percent() {
    let (Some(runs), Some(rows)) = (ams(), published("ams02-2002/table4_geometric_average.csv")) else { return };
    let options = CompareOptions {
        reference: Some(ATHLON.to_owned()),
        results: Some("ams02.*".to_owned()),
        normalise: Normalise::Ratio,
        ..CompareOptions::default()
    };
    let found = compare(&refs(&runs), &options).unwrap();
    let mut seen = 0;
    for row in &rows[1..] {
        let Some(mean) = overall(&found, &row[0]) else {
            assert!(row[0].contains("projected"), "{} is missing", row[0]);
            continue;
        };
        let printed: f64 = row[2].parse().unwrap();
        assert!((100.0 * mean.0 / printed - 1.0).abs() <= 0.02, "{}: {} against {printed}", row[0], 100.0 * mean.0);
        assert_eq!(mean.1, 4);
        seen += 1;
    }
    assert_eq!(seen, runs.len());
}

fn overall(found: &Comparison, machine: &str) -> Option<(f64, usize)> {
    let mean = found.geometric_means.iter().find(|mean| mean.family.is_none() && mean.machine == machine)?;
    Some((mean.value, mean.results))
}

#[test]
fn published_tables_support_no_difference() {
    let Some(runs) = ams() else { return };
    let found = compare(&refs(&runs), &CompareOptions::default()).unwrap();
    for ratio in found.rows.iter().flat_map(|row| &row.ratios).filter(|ratio| ratio.machine != found.reference) {
        assert_eq!((ratio.verdict, ratio.method), (Some(Verdict::Inconclusive), RatioMethod::None));
        assert!(ratio.low.is_none() && ratio.need.is_none());
        assert_eq!(ratio.reason.as_deref(), Some("neither result has error bars"));
        let rank = ratio.rank.unwrap();
        assert_eq!((rank.low, rank.high), (1, runs.len()));
    }
    assert!(found.geometric_means.iter().filter(|m| m.machine != found.reference).all(|m| m.low.is_none()));
}

/// Shuffled by a fixed rule, so that the order of the output does not come from the order of the input.
fn shuffled<T>(items: Vec<T>) -> Vec<T> {
    let mut keyed: Vec<(usize, T)> = items.into_iter().enumerate().map(|(i, item)| (i * 7919 % 31, item)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, item)| item).collect()
}

#[test]
fn babar_tables_come_out_in_their_printed_order() {
    let tables = [
        ("table1_memory_bandwidth", "memcpy_libc_mb_s"),
        ("table2_null_syscall", "null_syscall_us"),
        ("table3_process_creation", "simple_process_ms"),
        ("table4_signal_handling", "signal_handler_us"),
        ("table5_context_switch", "context_switch_2proc_us"),
        ("table6_ipc_latency", "tcp_us"),
    ];
    for (name, column) in tables {
        let Some(rows) = published(&format!("babar-cpu-1998/{name}.csv")) else { return };
        let made = table(&rows, &[0, 1], |head, value| {
            let metric = if head.ends_with("_mb_s") { rate("bytes") } else { time("call") };
            ["_mb_s", "_us", "_ms"]
                .iter()
                .any(|unit| head.ends_with(unit))
                .then(|| plain(&format!("babar.{head}"), "", metric, value))
        });
        let value = |machine: &str| {
            let run = made.iter().find(|run| run.id == machine).unwrap();
            run.results.iter().find(|f| f.benchmark.ends_with(column)).unwrap().outcome.estimate().unwrap().value
        };
        let key = format!("babar.{column}");
        let options = CompareOptions { sort_by: Some(key.clone()), ..CompareOptions::default() };
        let in_order = compare(&refs(&made), &options).unwrap();
        let printed: Vec<&str> = made.iter().map(|run| run.id.as_str()).collect();
        let sorted: Vec<&str> = in_order.machines.iter().map(|machine| machine.run.as_str()).collect();
        assert_eq!(sorted, printed, "{name}: ties keep the printed order");
        let mixed = shuffled(made.clone());
        let again = compare(&refs(&mixed), &options).unwrap();
        let values: Vec<f64> = again.machines.iter().map(|machine| value(&machine.run)).collect();
        let expected: Vec<f64> = printed.iter().map(|machine| value(machine)).collect();
        assert_eq!(values, expected, "{name} from a shuffled table");
        for row in &again.rows {
            let order: Vec<&str> = row.ratios.iter().map(|ratio| ratio.machine.as_str()).collect();
            assert_eq!(order, again.machines.iter().map(|m| m.name.as_str()).collect::<Vec<_>>());
        }
    }
}

#[test]
fn gains_invert_times_and_keep_rates() {
    let a = common::published_run(
        "a",
        vec![plain("x.time", "", time("call"), 2.0), plain("x.rate", "", rate("calls"), 10.0)],
    );
    let b = common::published_run(
        "b",
        vec![plain("x.time", "", time("call"), 1.0), plain("x.rate", "", rate("calls"), 20.0)],
    );
    let ratio =
        compare(&[&a, &b], &CompareOptions { normalise: Normalise::Ratio, ..CompareOptions::default() }).unwrap();
    let gain = compare(&[&a, &b], &CompareOptions::default()).unwrap();
    let values = |c: &Comparison| c.rows.iter().map(|row| row.ratios[1].value.unwrap()).collect::<Vec<_>>();
    assert_eq!(values(&ratio), [0.5, 2.0]);
    assert_eq!(values(&gain), [2.0, 2.0]);
    // The directions differ, so that only gains can be averaged.
    let mean = ratio.geometric_means.iter().find(|mean| mean.machine == "b" && mean.family.is_none()).unwrap();
    assert_eq!(mean.of, Normalise::Gain);
    assert!((mean.value - 2.0).abs() < 1e-12);
}

/// A published value is known to its last digit, and varies between sessions by the noise of its class.
#[test]
fn a_published_value_gets_an_assumed_spread_and_a_measured_one_does_not() {
    let made = |id: &str, value: f64, digits: f64, class: Class| {
        let mut result = plain("x.time", "", time("call"), value);
        (result.class, result.rounding) = (class, Some(digits));
        let mut run = common::published_run(id, vec![result]);
        run.origin = Some(model::Origin::default());
        run
    };
    let judge = |a: &Run, b: &Run| compare(&[a, b], &CompareOptions::default()).unwrap().rows[0].ratios[1].clone();
    let base = made("a", 1.0, 0.005, Class::Compute);
    // Eleven times slower; within 30%; beyond 30% but within the session noise of the class and the rounding of the
    // digits.
    let slow = judge(&base, &made("b", 11.0, 0.005, Class::Compute));
    assert_eq!(slow.verdict, Some(Verdict::Probable(Direction::Slower)));
    assert_eq!((slow.low, slow.p_value), (None, None));
    let assumed = slow.assumed.unwrap();
    assert_eq!(
        (assumed.reference_rounding, assumed.rounding, assumed.floor),
        (Some(0.005), Some(0.005), Class::Compute.session_noise())
    );
    assert!(assumed.low < slow.value.unwrap() && slow.value.unwrap() < assumed.high, "{assumed:?}");
    assert_eq!(judge(&base, &made("b", 1.29, 0.005, Class::Compute)).verdict, Some(Verdict::Inconclusive));
    let disk = |value: f64| {
        let (a, b) = (made("a", 1.0, 0.005, Class::FileMetadata), made("b", value, 0.005, Class::FileMetadata));
        judge(&a, &b).verdict
    };
    assert_eq!((disk(1.8), disk(4.0)), (Some(Verdict::Inconclusive), Some(Verdict::Probable(Direction::Slower))));
    let coarse = made("b", 2.0, 0.5, Class::Compute);
    assert_eq!(judge(&base, &coarse).verdict, Some(Verdict::Inconclusive), "2 may be 1.5 or 2.5 in print: {coarse:?}");
    // A measured machine can be measured again.
    let mut measured = made("b", 11.0, 0.005, Class::Compute);
    measured.origin = None;
    assert_eq!(judge(&base, &measured).verdict, Some(Verdict::Inconclusive));
    // Not a test: it has its own verdict, and no gate fails because of it.
    let found = compare(&[&base, &made("b", 11.0, 0.005, Class::Compute)], &CompareOptions::default()).unwrap();
    assert_eq!((found.tests, found.machines[1].tally.probable, found.machines[1].tally.different()), (0, 1, 0));
    let gate = "slower".parse::<FailOn>().unwrap().gate(&found);
    assert_eq!(gate.answer, GateAnswer::Inconclusive);
}
