//! Numbers that a pilot says and that cannot be: they are refused, and the chunk counts all the same.

use crate::job::ChunkResult;

/// Time by which a number may exceed a lease, seconds and share: clocks of two machines differ, and the coordinator
/// records a lease a little later than its pilot.
const SLACK: (f64, f64) = (1.0, 0.01);
/// CPUs of a node that are believed, at most.
const MAX_CPUS: f64 = 8192.0;

/// Removes times that are longer than the lease allows: wall time by its age, CPU time by its age times the CPUs of the
/// node. Returns the removed times, in words.
pub(super) fn check(done: &mut ChunkResult, age: f64, cpus: f64) -> Option<String> {
    let most = age * (1.0 + SLACK.1) + SLACK.0;
    let cpus = cpus.clamp(1.0, MAX_CPUS);
    let mut said = Vec::new();
    let mut limit = |number: &mut Option<f64>, most: f64, what: &str| {
        if let Some(found) = number.filter(|found| !(0.0..=most).contains(found)) {
            said.push(format!("{found:.3e} s of {what}"));
            *number = None;
        }
    };
    limit(&mut done.cpu, most * cpus, "CPU time");
    limit(&mut done.wall, most, "wall time");
    (!said.is_empty()).then(|| format!("said {} for a lease of {age:.3} s on {cpus} CPUs", said.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_no_clock_could_show_are_removed() {
        let checked = |cpu: f64, wall: f64| {
            let mut done = ChunkResult { cpu: Some(cpu), wall: Some(wall), ..ChunkResult::default() };
            let said = check(&mut done, 10.0, 4.0);
            (done.cpu.is_some(), done.wall.is_some(), said.is_some())
        };
        assert_eq!(checked(39.0, 9.9), (true, true, false));
        assert_eq!(checked(0.0, 0.0), (true, true, false));
        assert_eq!(checked(1e9, 9.9), (false, true, true));
        assert_eq!(checked(5.0, 60.0), (true, false, true));
        for wrong in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308] {
            assert_eq!(checked(wrong, wrong), (false, false, true), "{wrong}");
        }
        let mut unknown = ChunkResult::default();
        assert_eq!(check(&mut unknown, 10.0, f64::INFINITY), None);
    }
}
