//! Ratios of unshared cores that are known before a run begins.

use model::{Machine, Run, UnsharedSource};

use super::KnownRatio;

/// CPU models whose unshared core was observed as the lower of two modes: vendor, family, model, and the ratio of the
/// contention reference of this program. Each row is from recorded runs of this program.
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
    row.map(|(.., ratio)| KnownRatio { ratio: *ratio, source: UnsharedSource::Table })
}

/// Median of the ratios that earlier runs of this CPU model found from two modes of their own.
pub(crate) fn from_runs<'a>(machine: &Machine, runs: impl Iterator<Item = &'a Run>) -> Option<f64> {
    let model = |machine: &Machine| ["cpu.vendor", "cpu.family", "cpu.model_number"].map(|name| machine.text(name));
    let own = model(machine);
    let same = runs.filter(|run| own[0].is_some() && model(&run.machine) == own);
    let references = same.filter_map(|run| run.session.references.as_ref());
    let learnt = references.flat_map(|references| &references.unshared);
    let ratios: Vec<f64> =
        learnt.filter(|core| core.source == UnsharedSource::LowerMode).filter_map(|core| core.ratio).collect();
    stats::median(&ratios)
}
