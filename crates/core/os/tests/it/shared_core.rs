//! The contention sensor sees a thread on the other hyperthread of its core.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use std::sync::atomic::{AtomicBool, Ordering};

use kernels::affinity;
use kernels::core_sensor::CoreSensors;

/// Median ratio of many readings on the calling thread's CPU.
#[allow(clippy::unwrap_used, reason = "a helper of tests")]
fn median_ratio(sensors: &CoreSensors) -> f64 {
    let mut ratios: Vec<f64> = (0..200)
        .map(|_| sensors.read().unwrap())
        .map(|read| sensors.lengths().ratio(read.clock_nanos, read.contention_nanos))
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

#[test]
fn a_thread_on_the_cores_other_hyperthread_is_seen() {
    let machine = os::topology::read().unwrap();
    let allowed = affinity::allowed().unwrap();
    let pair = allowed.iter().find_map(|own| {
        let sibling = machine.core(*own)?.iter().find(|other| other != own && allowed.contains(other))?;
        Some((*own, sibling))
    });
    let Some((own, sibling)) = pair else {
        return testing::lacks!("no two CPUs of this machine are said to be threads of one core: {allowed:?}");
    };
    let measure = move || {
        affinity::pin(&[own]).unwrap();
        let sensors = CoreSensors::calibrate().unwrap();
        testing::attempts(5, || {
            let alone = median_ratio(&sensors);
            let stop = AtomicBool::new(false);
            let beside = std::thread::scope(|scope| {
                let spin = || {
                    affinity::pin(&[sibling]).unwrap();
                    while !stop.load(Ordering::Relaxed) {
                        sensors.read().unwrap();
                    }
                };
                std::thread::Builder::new().spawn_scoped(scope, spin).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(5));
                let beside = median_ratio(&sensors);
                stop.store(true, Ordering::Relaxed);
                beside
            });
            testing::hold!(beside > 1.1 * alone, "{alone} cycles an add alone, {beside} beside a spinner");
            Ok(())
        });
    };
    std::thread::Builder::new().spawn(measure).unwrap().join().unwrap();
}
