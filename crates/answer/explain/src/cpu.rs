//! Names of the CPUs of two machines.

use model::{Machine, Run};

/// The CPUs of both runs in words, if both recorded theirs and these are different ones.
pub(crate) fn cpus(a: &Run, b: &Run) -> Option<[String; 2]> {
    let (a, b) = (&a.machine, &b.machine);
    let model = |machine: &Machine| machine.text("cpu.model");
    let renamed = model(a).zip(model(b)).is_some_and(|(x, y)| x != y);
    let ids = ["cpu.vendor", "cpu.family", "cpu.model_number"];
    let other = ids.iter().any(|id| a.text(id).zip(b.text(id)).is_some_and(|(x, y)| x != y));
    let designs = a.microarchitecture().zip(b.microarchitecture()).filter(|(x, y)| x != y);
    let name = |machine: &Machine, design: Option<&str>| match (model(machine), design) {
        (Some(model), Some(design)) if renamed && model != design => format!("{design} ({model})"),
        (_, Some(design)) => design.to_owned(),
        (Some(model), None) if renamed => model,
        (model, None) => numbered(machine, model.as_deref()),
    };
    (renamed || other).then(|| [name(a, designs.map(|d| d.0)), name(b, designs.map(|d| d.1))])
}

/// `AMD EPYC, family 27 model 2`.
fn numbered(machine: &Machine, model: Option<&str>) -> String {
    let number = |word: &str, id: &str| machine.text(id).map(|number| format!("{word} {number}"));
    let numbers: Vec<String> =
        [number("family", "cpu.family"), number("model", "cpu.model_number")].into_iter().flatten().collect();
    let maker = model.map(str::to_owned).or_else(|| machine.text("cpu.vendor"));
    maker.into_iter().chain([numbers.join(" ")]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
