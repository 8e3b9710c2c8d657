//! Energy of a node, where its processors have a counter: Linux's powercap interface (Documentation/power/powercap).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Interval of readings: far shorter than the minutes in which a counter of a busy package wraps.
const INTERVAL: Duration = Duration::from_secs(20);

/// Sums the counters of all packages from its begin.
#[derive(Debug)]
pub struct EnergyMeter {
    sum: Arc<Mutex<EnergySum>>,
}

impl EnergyMeter {
    /// Begins; `None` where there is no counter, or this user cannot read it. A thread reads it from now on.
    #[must_use]
    pub fn start() -> Option<Self> {
        let mut first = EnergySum::default();
        first.add(Path::new("/sys/class/powercap"))?;
        let sum = Arc::new(Mutex::new(first));
        // The thread ends when the meter is gone.
        let weak = Arc::downgrade(&sum);
        let watch = move || {
            loop {
                kernels::timer::sleep(INTERVAL);
                let Some(sum) = weak.upgrade() else { break };
                sum.lock().unwrap_or_else(PoisonError::into_inner).add(Path::new("/sys/class/powercap"));
            }
        };
        std::thread::Builder::new().name("energy".to_owned()).spawn(watch).ok()?;
        Some(Self { sum })
    }

    /// Joules of all packages since the begin.
    #[must_use]
    pub fn joules(&self) -> f64 {
        let mut sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner);
        sum.add(Path::new("/sys/class/powercap"));
        sum.microjoules as f64 * 1e-6
    }
}

/// Readings so far.
#[derive(Debug, Default)]
struct EnergySum {
    last: BTreeMap<PathBuf, u64>,
    microjoules: u64,
}

impl EnergySum {
    /// Adds the increase of all packages' counters since the last call. `None` without any.
    fn add(&mut self, root: &Path) -> Option<()> {
        let number = |path: PathBuf| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
        let mut found = None;
        for entry in std::fs::read_dir(root).ok()?.flatten() {
            let path = entry.path();
            // Zones such as intel-rapl:0 are packages; intel-rapl:0:0 is a part of one.
            let package =
                path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.matches(':').count() == 1);
            let Some(now) = number(path.join("energy_uj")).filter(|_| package) else { continue };
            found = Some(());
            if let Some(last) = self.last.insert(path.clone(), now) {
                let range = number(path.join("max_energy_range_uj")).unwrap_or_default();
                self.microjoules += now.checked_sub(last).unwrap_or_else(|| (now + range).saturating_sub(last));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_summed_and_a_counter_that_wraps_goes_on() {
        let root = tempfile::tempdir().unwrap();
        let set = |zone: &str, value: u64| {
            std::fs::create_dir_all(root.path().join(zone)).unwrap();
            std::fs::write(root.path().join(zone).join("energy_uj"), format!("{value}\n")).unwrap();
            std::fs::write(root.path().join(zone).join("max_energy_range_uj"), "1000\n").unwrap();
        };
        let mut sum = EnergySum::default();
        assert_eq!(sum.add(root.path()), None);
        set("intel-rapl:0", 900);
        set("intel-rapl:1", 10);
        set("intel-rapl:0:0", 500);
        assert_eq!((sum.add(root.path()), sum.microjoules), (Some(()), 0));
        set("intel-rapl:0", 50);
        set("intel-rapl:1", 30);
        set("intel-rapl:0:0", 900);
        sum.add(root.path());
        assert_eq!(sum.microjoules, 150 + 20);
    }
}
