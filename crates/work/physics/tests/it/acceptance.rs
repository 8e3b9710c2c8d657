//! Physics quality of the reconstruction: efficiency, fakes, pulls and chi-square against the truth.

use physics::reconstruct::reconstruct;
use physics::simulate::{Generator, simulate};
use physics::{Acceptance, Chamber};

/// Events: 800 events of 10 tracks make 8,000 particles, so that an efficiency is known to 0.1% and a pull's width to
/// 0.8%; 250 events give twice that.
fn events() -> u64 {
    testing::trials(150, 800) as u64
}

fn accept(seed: u64, events: u64) -> Acceptance {
    let chamber = Chamber::default();
    let generator = Generator::default();
    let mut acceptance = Acceptance::default();
    for number in 0..events {
        let event = simulate(&chamber, &generator, seed, number);
        acceptance.add(&event, &reconstruct(&chamber, &event.hits));
    }
    acceptance
}

#[test]
fn tracks_are_found_and_fitted_well() {
    let events = events();
    let found = accept(1, events);
    let widths: Vec<f64> = found.pulls.iter().map(physics::Pull::width).collect();
    eprintln!(
        "efficiency {:.4} of {}, fakes {:.4} of {}, widths {widths:.3?}, means {:.3?}, chi2/ndf {:.3}, inside {:.4?}, probabilities {:?}",
        found.efficiency(),
        found.wanted,
        found.fake_rate(),
        found.tracks,
        found.pulls.iter().map(physics::Pull::mean).collect::<Vec<_>>(),
        found.chi_square_per_degree(),
        found.pulls.iter().map(physics::Pull::inside).collect::<Vec<_>>(),
        found.probabilities
    );
    assert!(found.wanted as u64 > 35 * events / 4);
    assert!(found.efficiency() >= 0.975, "efficiency {}", found.efficiency());
    assert!(found.fake_rate() <= 0.005, "fakes {}", found.fake_rate());
    for (name, pull) in ["curvature", "phi", "d0", "tan dip", "z0"].iter().zip(&found.pulls) {
        assert!((pull.width() - 1.0).abs() <= 0.08, "{name}: {}", pull.width());
        assert!(pull.mean().abs() <= 0.05, "{name}: {}", pull.mean());
        assert!(pull.inside() >= 0.99, "{name}: {}", pull.inside());
    }
    assert!((found.chi_square_per_degree() - 1.0).abs() <= 0.05, "{}", found.chi_square_per_degree());
    // Flat, apart from wrong hits and wrong sides, which add at the low end.
    for (tenth, count) in found.probabilities.iter().enumerate() {
        let share = f64::from(*count) / f64::from(found.probabilities.iter().sum::<u32>());
        assert!((0.08..0.13).contains(&share), "tenth {tenth} of the probabilities has {share}");
    }
}
