//! What holds the sessions up. The figure of one process alone misleads: 12 sessions at 17% each on two CPUs are 200%.

use serde::Serialize;

/// What there is too little of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The CPUs that the sessions can use are busy.
    CpuBound,
    /// CPUs are idle while sessions wait for storage.
    DiskBound,
    /// Neither: they wait for something else, such as each other, a network or a clock.
    Neither,
}

/// Share of the usable CPU time from which the CPUs are the limit.
const BUSY: f64 = 0.85;
/// Share of the time in which something waits for storage, from which storage is the limit.
const WAITING: f64 = 0.25;

/// Judges what was seen: sum of the sessions' CPU use, how many there are, CPUs, machine's busy share, iowait and pressure.
#[must_use]
pub(super) fn verdict(
    (cpu, sessions): (f64, usize),
    cpus: usize,
    busy: f64,
    iowait: Option<f64>,
    pressure: Option<f64>,
) -> (Verdict, String) {
    let usable = sessions.min(cpus) as f64;
    let each = cpu / sessions as f64;
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    let told = format!(
        "{sessions} sessions at {} each are {} of {} on {cpus} CPUs",
        percent(each),
        percent(cpu),
        percent(usable)
    );
    if cpu >= BUSY * usable {
        return (Verdict::CpuBound, format!("{told}: no CPU is left over"));
    }
    if busy >= BUSY {
        return (Verdict::CpuBound, format!("{told}, and the machine is {} busy with others besides", percent(busy)));
    }
    let waiting = iowait.map(|share| share * cpus as f64 / usable).into_iter().chain(pressure).fold(0.0, f64::max);
    if waiting >= WAITING {
        let share = percent(waiting.min(1.0));
        return (Verdict::DiskBound, format!("{told}; {share} of the time they wait for storage"));
    }
    (Verdict::Neither, format!("{told}, and hardly anything waits for storage"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_of_one_process_does_not_mislead() {
        let judge = |each: f64, sessions: usize, cpus, busy, iowait| {
            verdict((each * sessions as f64, sessions), cpus, busy, iowait, None)
        };
        let (found, because) = judge(0.17, 12, 2, 0.99, Some(0.0));
        assert_eq!(found, Verdict::CpuBound);
        assert!(because.starts_with("12 sessions at 17% each are 204% of 200%"), "{because}");
        assert_eq!(judge(0.17, 12, 4, 0.53, Some(0.45)).0, Verdict::DiskBound);
        assert_eq!(judge(0.05, 4, 4, 0.06, Some(0.01)).0, Verdict::Neither);
        assert_eq!(
            judge(0.98, 1, 16, 0.07, Some(0.0)).0,
            Verdict::CpuBound,
            "one session cannot use more than one CPU"
        );
    }
}
