//! Finds the bottleneck of the sessions. The CPU use of one process alone is misleading: 12 sessions at 17% each are
//! 200%, which is all of two CPUs.

use model::percent;
use serde::{Deserialize, Serialize};

/// The scarce resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionsVerdict {
    /// The CPUs that the sessions may use are busy.
    CpuBound,
    /// CPUs are idle while sessions wait for storage.
    DiskBound,
    /// Neither: the sessions wait for something else, such as each other, a network or a clock.
    Neither,
    /// They ended before the counters of the system could tell.
    TooShort,
    /// Their children do the work, and what those wait for is not seen.
    Unseen,
}

/// Share of the usable CPU time above which the CPUs are the limit.
const BUSY: f64 = 0.85;
/// Share of the time waiting for storage above which storage is the limit.
const WAITING: f64 = 0.25;

/// Least seconds for usable counters: 50 ticks of a hundredth of a second.
const LEAST: f64 = 0.5;

/// Observations of all sessions and of the machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionsSeen {
    /// Time from the first session's beginning to the last one's end, seconds.
    pub(super) seconds: f64,
    /// Sum of the sessions' CPU use; 1 is one CPU all the time.
    pub(super) cpu: f64,
    /// Number of sessions.
    pub(super) sessions: usize,
    /// CPUs that they may use.
    pub(super) cpus: usize,
    /// CPUs that are online: the counters of the machine include all of them.
    pub(super) online: usize,
    /// Share of the machine's CPU time that was busy; `None` if the system does not report it.
    pub(super) busy: Option<f64>,
    /// Share of their time in which sessions waited for storage.
    pub(super) waiting: f64,
    /// Share of their time in which sessions ran or were runnable.
    pub(super) ready: f64,
    /// Whether children of some did most of the work: the states of the sessions are not those of their work then.
    pub(super) delegate: bool,
    /// Whether any bytes came from a device.
    pub(super) read: bool,
    /// Share of the machine's CPU time that was idle while a task waited for a device.
    pub(super) iowait: Option<f64>,
    /// Share of the time in which some task of the machine waited for storage.
    pub(super) pressure: Option<f64>,
}

/// Decides by the states of the sessions first, since the machine may be busy with other work. If a session's own
/// children do the work, its state shows little, and the machine's waiting counts if anything was read.
#[must_use]
pub(super) fn verdict(seen: &SessionsSeen) -> (SessionsVerdict, String) {
    let SessionsSeen { cpu, sessions, cpus, busy, .. } = *seen;
    let counted = if sessions == 1 { "1 session".to_owned() } else { format!("{sessions} sessions") };
    if seen.seconds < LEAST {
        let millis = (seen.seconds * 1e3).round();
        return (
            SessionsVerdict::TooShort,
            format!("{counted} ended within {millis} ms, and the system counts in steps of 10 ms"),
        );
    }
    let usable = sessions.min(cpus) as f64;
    let each = cpu / sessions as f64;
    let on = if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") };
    let told = match sessions {
        1 => format!("{counted} uses {} of {} on {on}", percent(cpu), percent(usable)),
        _ => format!("{counted} at {} each are {} of {} on {on}", percent(each), percent(cpu), percent(usable)),
    };
    if cpu >= BUSY * usable {
        return (SessionsVerdict::CpuBound, format!("{told}: no CPU is idle"));
    }
    if seen.waiting >= WAITING && seen.waiting >= seen.ready {
        return (
            SessionsVerdict::DiskBound,
            format!("{told}; {} of their time is spent waiting for storage", percent(seen.waiting)),
        );
    }
    if let Some(busy) = busy.filter(|busy| *busy >= BUSY && seen.ready >= WAITING) {
        return (
            SessionsVerdict::CpuBound,
            format!("{told}, and the machine is {} busy with other processes as well", percent(busy)),
        );
    }
    if seen.ready >= BUSY {
        // Other processes, the hypervisor or a quota have the CPUs; the machine's counters do not say which.
        let ready = percent(seen.ready);
        return (SessionsVerdict::CpuBound, format!("{told}; they run or wait for a CPU {ready} of the time"));
    }
    let iowait = seen.iowait.map(|share| share * seen.online as f64 / usable);
    let machine = iowait.into_iter().chain(seen.pressure).fold(0.0, f64::max);
    if seen.read && machine >= WAITING {
        let share = percent(machine.min(1.0));
        return (SessionsVerdict::DiskBound, format!("{told}; {share} of the time some task waits for storage"));
    }
    if seen.delegate {
        return (SessionsVerdict::Unseen, format!("{told}; child processes do the work"));
    }
    (SessionsVerdict::Neither, format!("{told}, and they hardly wait for storage"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: SessionsSeen = SessionsSeen {
        seconds: 10.0,
        cpu: 0.0,
        sessions: 1,
        cpus: 2,
        online: 2,
        busy: Some(0.0),
        waiting: 0.0,
        ready: 0.0,
        delegate: false,
        read: true,
        iowait: Some(0.0),
        pressure: None,
    };

    #[test]
    fn cpu_use_is_summed_over_processes() {
        let twelve = SessionsSeen { cpu: 12.0 * 0.17, sessions: 12, busy: Some(0.99), ready: 0.9, ..IDLE };
        let (found, because) = verdict(&twelve);
        assert_eq!(found, SessionsVerdict::CpuBound);
        assert!(because.starts_with("12 sessions at 17% each are 204% of 200%"), "{because}");
        assert_eq!(
            verdict(&SessionsSeen { cpus: 4, online: 4, busy: Some(0.53), ready: 0.4, iowait: Some(0.45), ..twelve }).0,
            SessionsVerdict::DiskBound
        );
        assert_eq!(
            verdict(&SessionsSeen { cpu: 0.2, sessions: 4, cpus: 4, online: 4, iowait: Some(0.01), ..IDLE }).0,
            SessionsVerdict::Neither
        );
        // One session cannot use more than one CPU.
        assert_eq!(
            verdict(&SessionsSeen { cpu: 0.98, cpus: 16, online: 16, busy: Some(0.07), ..IDLE }).0,
            SessionsVerdict::CpuBound
        );
    }

    #[test]
    fn a_few_ticks_tell_nothing() {
        let (found, because) = verdict(&SessionsSeen { seconds: 0.03, cpu: 1.0, ..IDLE });
        assert_eq!(found, SessionsVerdict::TooShort);
        assert!(because.contains("within 30 ms"), "{because}");
    }

    #[test]
    fn waiting_for_devices_is_counted_over_the_whole_machine() {
        // One session on one allowed CPU of eight waits half of the time: that is a sixteenth of the machine's time.
        let one = SessionsSeen { cpu: 0.1, cpus: 1, online: 8, busy: Some(0.02), iowait: Some(1.0 / 16.0), ..IDLE };
        let (found, because) = verdict(&one);
        assert_eq!(found, SessionsVerdict::DiskBound);
        assert!(because.contains("; 50% of the time some"), "{because}");
        assert_eq!(verdict(&SessionsSeen { online: 1, ..one }).0, SessionsVerdict::Neither);
    }

    /// Seen: shells that wait for children which read 218 MB/s from a disk, while other programs keep the CPUs from
    /// being idle.
    #[test]
    fn what_children_wait_for_is_not_told_by_the_states_of_their_parents() {
        let shells = SessionsSeen { cpu: 0.33, sessions: 2, busy: Some(0.955), delegate: true, ..IDLE };
        let (found, because) = verdict(&shells);
        assert_eq!(found, SessionsVerdict::Unseen);
        assert!(because.ends_with("on 2 CPUs; child processes do the work"), "{because}");
        // The totals are reported anyway.
        assert_eq!(verdict(&SessionsSeen { cpu: 1.9, ..shells }).0, SessionsVerdict::CpuBound);
        assert_eq!(verdict(&SessionsSeen { iowait: Some(0.5), ..shells }).0, SessionsVerdict::DiskBound);
    }

    #[test]
    fn load_of_other_processes_is_not_attributed_to_the_sessions() {
        let alone = SessionsSeen { cpu: 0.02, sessions: 2, ..IDLE };
        // Other processes compute: sessions that wait for storage are disk bound all the same, runnable ones are not.
        let busy = SessionsSeen { busy: Some(1.0), ..alone };
        assert_eq!(verdict(&SessionsSeen { waiting: 0.9, ..busy }).0, SessionsVerdict::DiskBound);
        assert_eq!(verdict(&SessionsSeen { ready: 0.9, ..busy }).0, SessionsVerdict::CpuBound);
        assert_eq!(verdict(&busy).0, SessionsVerdict::Neither);
        // The hypervisor takes CPU time, which is neither busy nor idle.
        let stolen = SessionsSeen { cpu: 0.35, sessions: 6, busy: Some(0.84), ready: 0.97, ..IDLE };
        assert_eq!(verdict(&stolen).0, SessionsVerdict::CpuBound);
        assert_eq!(verdict(&SessionsSeen { ready: 0.5, ..stolen }).0, SessionsVerdict::Neither);
        // Other processes wait for storage: sessions that read nothing do not.
        let pressed = SessionsSeen { iowait: Some(0.6), pressure: Some(0.9), ..alone };
        assert_eq!(verdict(&SessionsSeen { read: false, ..pressed }).0, SessionsVerdict::Neither);
        assert_eq!(verdict(&pressed).0, SessionsVerdict::DiskBound);
    }
}
