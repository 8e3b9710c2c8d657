//! Planted limits that are found: on the time of CPUs and on their number.

use super::measured::{fact, first_is, measured, planted, unchanged};
use crate::common::{from_values, time};
use explain::explain;
use model::{Class, FactValue, Primitive as P, Run};
use rand_chacha::ChaCha8Rng;
use stats::simulate::{generator, standard_normal};

#[test]
fn a_limit_on_cpu_time() {
    // Half a CPU: anything longer than a slice takes twice as long, and so does every operation in user mode.
    let all = |_: &str, at: &str| (at.to_owned(), 2.0);
    let limit = |a: &mut Run, b: &mut Run| {
        a.machine.facts.push(fact("cgroup.cpus", FactValue::Text("none".into()), &[P::CoreClock]));
        b.machine.facts.push(fact("cgroup.cpus", FactValue::Number(0.5), &[P::CoreClock]));
    };
    planted(&all, &limit, &|found| {
        first_is(found, "cgroup CPU limit");
        assert!((found.common_factor.value - 2.0).abs() < 0.1, "{:?}", found.common_factor);
        assert!(
            found.sentences().iter().any(|text| text.contains("group CPU limit (none against 0.5)")),
            "{:?}",
            found.sentences()
        );
        assert!(!found.sentences()[0].contains("clock"), "the clock is not to blame: {:?}", found.sentences());
    });
    // Only long operations show the limit if a batch is shorter than a slice.
    let long = |benchmark: &str, at: &str| (at.to_owned(), if benchmark.starts_with("os.fork") { 2.0 } else { 1.0 });
    planted(&long, &limit, &|found| {
        let first = &found.causes[0];
        assert!(first.rivals[0].title == "cgroup CPU limit", "{:#?}", found.sentences());
        assert!(first.known_as.is_none() && first.because.is_empty());
    });
    // A limit above the use of one thread explains nothing, nor does a limit recorded for one run only.
    let wide = |a: &mut Run, b: &mut Run| {
        a.machine.facts.push(fact("cgroup.cpus", FactValue::Text("none".into()), &[P::CoreClock]));
        b.machine.facts.push(fact("cgroup.cpus", FactValue::Number(2.0), &[P::CoreClock]));
    };
    let alone =
        |_: &mut Run, b: &mut Run| b.machine.facts.push(fact("cgroup.cpus", FactValue::Number(0.5), &[P::CoreClock]));
    for differ in [&wide as &dyn Fn(&mut Run, &mut Run), &alone] {
        planted(&all, differ, &|found| {
            assert!(!found.sentences().join(" ").contains("limit"), "{:#?}", found.sentences());
        });
    }
}

#[test]
fn a_limit_that_only_the_mean_batch_sees() {
    let mut rng = generator(21);
    let mut a = measured("a", "day 1", &unchanged, &mut generator(21));
    let mut b = measured("b", "day 2", &unchanged, &mut rng);
    for (run, limited) in [(&mut a, false), (&mut b, true)] {
        for (index, result) in run.results.iter_mut().enumerate() {
            for (number, sample) in result.samples.iter_mut().enumerate() {
                // Half of the samples have a stop of 40 ms among their batches of 1 ms.
                let stopped = limited && (number + index) % 2 == 0;
                sample.nanos =
                    (0..20).map(|i| if stopped && i == 7 { 41_000_000 } else { 1_000_000 + i * 100 }).collect();
            }
        }
        let value = if limited { FactValue::Number(0.5) } else { FactValue::Text("none".into()) };
        run.machine.facts.push(fact("cgroup.cpus", value, &[P::CoreClock]));
    }
    let found = explain(&a, &b, &crate::options()).unwrap();
    first_is(&found, "cgroup CPU limit");
    assert!((found.causes[0].factor - 2.0).abs() < 0.05, "{:?}", found.causes[0]);
    assert!(
        found.difference && found.sentences()[1].contains("Cgroup CPU limit (none against 0.5)"),
        "{:?}",
        found.sentences()
    );
    // Without the stops, different limits explain nothing.
    for sample in b.results.iter_mut().flat_map(|result| &mut result.samples) {
        sample.nanos.fill(1_000_000);
    }
    assert!(!explain(&a, &b, &crate::options()).unwrap().difference);
}

#[test]
fn parties_left_free_on_fewer_cpus() {
    let mut rng = generator(22);
    let free = |slow: usize, rng: &mut ChaCha8Rng| {
        let values: Vec<f64> = (0..20)
            .map(|i| if i * 3 % 10 < slow { 63e-6 } else { 2.7e-6 } * (0.003 * standard_normal(rng)).exp())
            .collect();
        let mut made = from_values("ipc.pipe_latency", "placement=free", time("round trip"), Class::Ipc, &values);
        made.stresses = vec![P::Pipe, P::ContextSwitch];
        made
    };
    let mut a = measured("a", "day 1", &unchanged, &mut generator(22));
    let mut b = measured("b", "day 2", &unchanged, &mut generator(22));
    a.results.push(free(7, &mut rng));
    b.results.push(free(0, &mut rng));
    assert!(!explain(&a, &b, &crate::options()).unwrap().difference, "shares alone support nothing");
    for (run, cpus) in [(&mut a, "0-1"), (&mut b, "0")] {
        run.machine.facts.push(fact("cpu.affinity", FactValue::Text(cpus.into()), &[]));
    }
    let found = explain(&a, &b, &crate::options()).unwrap();
    assert_eq!(found.causes[0].rivals[0].title, "CPU placement of the two processes", "{:#?}", found.sentences());
}
