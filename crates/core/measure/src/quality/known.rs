//! Ratios of exclusive cores that are known otherwise than by two modes of a run's readings.

use model::{ExclusiveSource, FactValue, Machine, RULES, Run, SessionSensors};

use super::KnownRatio;
use super::learn::RatioHistogram;

/// Instructions per cycle that the front end of a core issues, from the manuals of its vendor (Intel 64 and IA-32
/// Architectures Optimization Reference Manual, 2.1; AMD Software Optimization Guides 56665, 57647 and 58455, 2.10).
/// Each row has the vendor, the families or a flag that only these cores have, and the width. A core that issues fewer
/// allows no conclusion. Prony measured six on a guest with AMX; a second thread would have had to share them.
const ISSUE_WIDTHS: &[(&str, Cores, f64)] = &[
    // Golden Cove and Redwood Cove: 4th to 6th generation of Xeon.
    ("GenuineIntel", Cores::Flag("amx_tile"), 6.0),
    // Zen 3 and Zen 4, Zen 5.
    ("AuthenticAMD", Cores::Family("25"), 6.0),
    ("AuthenticAMD", Cores::Family("26"), 8.0),
];

/// How the cores of a row are recognised.
enum Cores {
    Flag(&'static str),
    Family(&'static str),
}

/// Documented instructions per cycle of a machine's cores.
pub(crate) fn issue_width(machine: &Machine) -> Option<f64> {
    let vendor = machine.text("cpu.vendor")?;
    let family = machine.text("cpu.family");
    let has = |flag: &str| {
        let flags = machine.fact("cpu.flags").map(|fact| &fact.value);
        matches!(flags, Some(FactValue::List(flags)) if flags.iter().any(|one| one == flag))
    };
    let row = ISSUE_WIDTHS.iter().find(|(of, cores, _)| {
        *of == vendor
            && match cores {
                Cores::Flag(flag) => has(flag),
                Cores::Family(number) => family.as_deref() == Some(*number),
            }
    });
    row.map(|(.., width)| *width)
}

/// The ratio of the readings at which this thread issued as many instructions per cycle as the core can. A second
/// thread would have taken a share of them, so there was none. A neighbour may come before the other sensor is read, so
/// that only the lowest of these ratios agree.
pub(crate) fn from_issue(width: Option<f64>, sensors: &SessionSensors, cpus: &[u32]) -> Option<KnownRatio> {
    let (width, lengths) = (width?, sensors.lengths);
    let own = sensors.samples.readings().filter(|(cpu, _)| cpus.contains(cpu));
    let issued: Vec<(f64, f64)> = own
        .filter_map(|(_, one)| {
            let share = lengths.issued(one.clock, one.issue)? / width;
            Some((share, lengths.ratio(one.clock, one.contention)))
        })
        .collect();
    let rules = &RULES.quality;
    let full = rules.issued_alone..=rules.issued_at_most;
    let mut ratios = RatioHistogram::default();
    let at_width = issued.iter().filter(|(share, _)| full.contains(share));
    let at_width = at_width.map(|(_, ratio)| ratios.add(*ratio)).count() as f64;
    let by_another = issued.iter().filter(|(share, _)| *share > rules.issued_by_another).count() as f64;
    if by_another > rules.another_share * (at_width + by_another) {
        return None;
    }
    let ratio = ratios.lowest_peak(rules.issue_readings)?;
    Some(KnownRatio { ratio, source: ExclusiveSource::IssueWidth })
}

/// CPU models whose exclusive core is known as the lower of two modes: vendor, family, model, and the ratio of Prony's
/// contention sensor. Each row is from recorded runs.
const TABLE: &[(&str, &str, &str, f64)] = &[
    // AMD EPYC of family 25, model 17 (Zen 4), KVM guest, 2026: lower modes of several runs, 0.2493 to 0.2519.
    ("AuthenticAMD", "25", "17", 0.2507),
];

/// The ratio in the table for a machine's CPU.
pub(crate) fn from_table(machine: &Machine) -> Option<KnownRatio> {
    let is = |name: &str, wanted: &str| machine.text(name).as_deref() == Some(wanted);
    let row = TABLE.iter().find(|(vendor, family, model, _)| {
        is("cpu.vendor", vendor) && is("cpu.family", family) && is("cpu.model_number", model)
    });
    row.map(|(.., ratio)| KnownRatio { ratio: *ratio, source: ExclusiveSource::Table })
}

/// Median of the ratios that earlier runs of this CPU model found in their own readings, from two modes or from those
/// at full issue width.
pub(crate) fn from_runs<'a>(machine: &Machine, runs: impl Iterator<Item = &'a Run>) -> Option<f64> {
    let model = |machine: &Machine| ["cpu.vendor", "cpu.family", "cpu.model_number"].map(|name| machine.text(name));
    let own = model(machine);
    let same = runs.filter(|run| own[0].is_some() && model(&run.machine) == own);
    let own_readings = [ExclusiveSource::LowerMode, ExclusiveSource::IssueWidth];
    let sensors = same.filter_map(|run| run.session.sensors.as_ref());
    let learnt = sensors.flat_map(|sensors| &sensors.exclusive);
    let ratios: Vec<f64> =
        learnt.filter(|core| own_readings.contains(&core.source)).filter_map(|core| core.ratio).collect();
    stats::median(&ratios)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
    use model::{Fact, SensorLengths, SensorReading};

    use super::*;

    const LENGTHS: SensorLengths = SensorLengths { clock: 36_000, contention: 180_000, issue: 216_000 };

    /// Readings at 3 GHz with these cycles per add and instructions per cycle.
    fn session(rows: impl Iterator<Item = (f64, f64)>) -> SessionSensors {
        let mut session = SessionSensors { lengths: LENGTHS, ..SessionSensors::default() };
        for (at, (ratio, issued)) in (0..).zip(rows) {
            let nanos = |cycles: f64| (cycles / 3.0) as u32;
            let (clock, contention, issue) =
                (nanos(36_000.0), nanos(180_000.0 * ratio), if issued > 0.0 { nanos(216_000.0 / issued) } else { 0 });
            session.samples.push(at, at % 2, SensorReading { clock, contention, issue });
        }
        session
    }

    fn found(width: f64, rows: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
        from_issue(Some(width), &session(rows), &[0, 1]).map(|known| {
            assert_eq!(known.source, ExclusiveSource::IssueWidth);
            known.ratio
        })
    }

    #[test]
    fn a_core_that_issues_at_its_width_is_exclusive() {
        let steady = |issued: f64| (0..200).map(move |_| (0.256, issued));
        assert!((found(6.0, steady(5.9)).unwrap() - 0.256).abs() < 1e-3);
        // The other readings do not matter.
        let mixed = (0..200).map(|at| if at % 3 == 0 { (0.256, 5.9) } else { (0.38, 3.1 + 0.01 * f64::from(at)) });
        assert!((found(6.0, mixed).unwrap() - 0.256).abs() < 1e-3);
        // Neighbours come between the readings of the two sensors. In a recorded session half of the ratios were at the
        // exclusive one or a few percent below it, the others up to half as large again.
        let busy = |at: i32| 0.256 * (1.0 + if at % 2 == 0 { 0.0 } else { 0.0077 * f64::from(at % 65) });
        assert!((found(6.0, (0..400).map(|at| (busy(at), 5.9))).unwrap() - 0.256).abs() < 1e-3);
        let early = |at: i32| if at % 40 == 0 { 0.94 * 0.256 } else { busy(at) };
        assert!((found(6.0, (0..400).map(|at| (early(at), 5.9))).unwrap() - 0.256).abs() < 1e-3);
        // Another class of cores is unknown.
        assert!(from_issue(Some(6.0), &session(steady(5.9)), &[7]).is_none());
    }

    #[test]
    fn a_neighbour_who_never_leaves_is_not_taken_for_an_exclusive_core() {
        // Perfectly steady, but at half or nine tenths of the issue width.
        for issued in [3.0, 5.4, 5.6] {
            assert_eq!(found(6.0, (0..400).map(|_| (0.34, issued))), None, "{issued}");
        }
        // A core of eight, shared, that says it is one of six.
        assert_eq!(found(6.0, (0..400).map(|at| (0.2, if at % 5 == 0 { 8.0 } else { 5.9 }))), None);
        // Readings that reach the width and do not agree.
        assert_eq!(found(6.0, (0..400).map(|at| (0.25 + 0.001 * f64::from(at % 40), 5.9))), None);
        // A tenth of them agree, and not the lowest: a neighbour who is steady now and then.
        let now_and_then = |at: i32| if at % 10 == 0 { 0.29 } else { 0.25 + 0.001 * f64::from(at % 40) };
        assert_eq!(found(6.0, (0..400).map(|at| (now_and_then(at), 5.9))), None);
        let above = |at: i32| if at % 2 == 0 { 0.36 } else { 0.25 + 0.001 * f64::from(at % 40) };
        assert_eq!(found(6.0, (0..400).map(|at| (above(at), 5.9))), None);
        // A few readings are no evidence.
        assert_eq!(found(6.0, (0..400).map(|at| (0.256, if at < 15 { 5.9 } else { 4.0 }))), None);
        assert_eq!(found(6.0, (0..400).map(|_| (0.256, 0.0))), None);
        assert!(from_issue(None, &session((0..200).map(|_| (0.256, 5.9))), &[0, 1]).is_none());
    }

    #[test]
    fn widths_are_those_of_the_cores_that_the_machine_has() {
        let machine = |vendor: &str, family: &str, flags: &[&str]| {
            let list = FactValue::List(flags.iter().map(|flag| (*flag).to_owned()).collect());
            let fact = |(name, value): (&str, FactValue)| Fact::new(name, value, "", &[]);
            let text = |text: &str| FactValue::Text(text.to_owned());
            let all = [("cpu.vendor", text(vendor)), ("cpu.family", text(family)), ("cpu.flags", list)];
            Machine { facts: all.into_iter().map(fact).collect(), ..Machine::default() }
        };
        assert_eq!(issue_width(&machine("GenuineIntel", "6", &["amx_tile", "avx2"])), Some(6.0));
        assert_eq!(issue_width(&machine("GenuineIntel", "6", &["avx2", "avx512f"])), None);
        assert_eq!(issue_width(&machine("AuthenticAMD", "25", &["avx2"])), Some(6.0));
        assert_eq!(issue_width(&machine("AuthenticAMD", "26", &[])), Some(8.0));
        assert_eq!(issue_width(&machine("AuthenticAMD", "23", &[])), None);
        assert_eq!(issue_width(&Machine::default()), None);
    }
}
