//! Rate of false differences when a machine is compared with itself.

use rand::Rng;
use stats::simulate::generator;
use stats::{BAND, EquivalenceVerdict, Floor, RatioEstimate, compare, holm, verdict};

use crate::session::{PINNED, Session, class_floor, consecutive, logs, resample, sessions};

const LEVEL: f64 = 0.95;

fn claims(comparison: &RatioEstimate, adjusted_p: f64) -> bool {
    verdict(comparison, adjusted_p, BAND) == EquivalenceVerdict::Different
}

#[test]
fn one_session_one_result() {
    let each = testing::trials(100, 250);
    let sessions = sessions();
    let mut rng = generator(5);
    for samples in [10, 20, 40] {
        let (mut significant, mut different, mut trials, mut worst) = (0, 0, 0, 0.0_f64);
        for values in sessions.iter().flat_map(|s| s.results.values()) {
            let mut here = 0;
            for _ in 0..each {
                let mut draw = || logs(&resample(values, samples, &mut rng));
                let comparison = compare(&draw(), &draw(), Floor::NONE, LEVEL).unwrap();
                here += usize::from(comparison.p_value <= 0.05);
                different += usize::from(claims(&comparison, comparison.p_value));
            }
            worst = worst.max(here as f64 / each as f64);
            significant += here;
            trials += each;
        }
        if trials > 0 {
            let (significant, different) = (significant as f64 / trials as f64, different as f64 / trials as f64);
            println!(
                "TABLE A/A in one session, {samples} samples: significant {significant:.3} (worst result {worst:.3}), different {different:.4}"
            );
            let most = testing::at_most(0.05, each);
            assert!(significant <= 0.05 && different <= 0.05 && worst <= most, "{samples} samples");
        }
    }
}

#[test]
fn one_session_family_of_sixty() {
    let trials = testing::trials(60, 200);
    let sessions = sessions();
    let results: Vec<&Vec<f64>> = sessions.iter().flat_map(|s| s.results.values()).collect();
    if results.is_empty() {
        return;
    }
    let mut rng = generator(6);
    for samples in [10, 20] {
        let (mut significant, mut different) = (0, 0);
        for _ in 0..trials {
            let family: Vec<RatioEstimate> = (0..60)
                .map(|i| {
                    let mut draw = || logs(&resample(results[i % results.len()], samples, &mut rng));
                    compare(&draw(), &draw(), Floor::NONE, LEVEL).unwrap()
                })
                .collect();
            let adjusted = holm(&family.iter().map(|c| c.p_value).collect::<Vec<_>>());
            significant += usize::from(adjusted.iter().any(|p| *p <= 0.05));
            different += usize::from(family.iter().zip(&adjusted).any(|(c, p)| claims(c, *p)));
        }
        let (significant, different) = (significant as f64 / trials as f64, different as f64 / trials as f64);
        println!(
            "TABLE A/A in one session, family of 60, {samples} samples: any significant {significant:.3}, any different {different:.3}"
        );
        assert!(significant <= 0.05 && different <= 0.05, "{samples} samples");
    }
}

/// Odd rounds against even rounds, as a run compares two commands in one session.
#[test]
fn one_session_real_order() {
    for session in sessions() {
        let family: Vec<(&String, RatioEstimate)> = session
            .results
            .iter()
            .map(|(benchmark, values)| {
                let half = |parity| logs(&values.iter().skip(parity).step_by(2).copied().collect::<Vec<_>>());
                (benchmark, compare(&half(0), &half(1), Floor::NONE, LEVEL).unwrap())
            })
            .collect();
        let adjusted = holm(&family.iter().map(|(_, c)| c.p_value).collect::<Vec<_>>());
        let different = family.iter().zip(&adjusted).filter(|((_, c), p)| claims(c, **p)).count();
        println!("TABLE A/A of odd and even rounds of {}: {different} of {} different", session.name, family.len());
        assert_eq!(different, 0);
    }
}

/// Shares of blocks of consecutive samples of two sessions that are significant, and different.
fn across(trials: usize, (a, b): (&Session, &Session), benchmark: &str, samples: usize, floor: Floor) -> (f64, f64) {
    let mut rng = generator(7);
    let (mut significant, mut different) = (0, 0);
    for _ in 0..trials {
        let mut block = |session: &Session| {
            let values = &session.results[benchmark];
            logs(&consecutive(values, samples, rng.random_range(0..values.len())))
        };
        let comparison = compare(&block(a), &block(b), floor, LEVEL).unwrap();
        significant += usize::from(comparison.p_value <= 0.05);
        different += usize::from(claims(&comparison, comparison.p_value));
    }
    (significant as f64 / trials as f64, different as f64 / trials as f64)
}

#[test]
fn across_sessions() {
    let sessions = sessions();
    let trials = testing::trials(50, 200);
    for samples in [10, 20, 40] {
        let (mut plain, mut different, mut unlike) = (Vec::new(), Vec::new(), Vec::new());
        for (i, a) in sessions.iter().enumerate() {
            for b in &sessions[i + 1..] {
                for benchmark in PINNED {
                    let (_, claimed) = across(trials, (a, b), benchmark, samples, Floor::known(class_floor(benchmark)));
                    if claimed > 0.0 {
                        println!("{samples} samples, {} and {}, {benchmark}: different {claimed:.3}", a.name, b.name);
                    }
                    if a.is_like(b) {
                        plain.push(across(trials, (a, b), benchmark, samples, Floor::NONE).0);
                        different.push(claimed);
                    } else {
                        unlike.push(claimed);
                    }
                }
            }
        }
        if different.is_empty() {
            return;
        }
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
        println!(
            "TABLE A/A across sessions of one policy, {samples} samples: significant without floor {:.3}, different with floor and band {:.3}; between policies {:.3}",
            mean(&plain),
            mean(&different),
            mean(&unlike)
        );
        assert!(mean(&different) <= 0.05, "{samples} samples");
    }
}

/// A block of samples against the next block of the same session, without session noise, so that autocorrelation alone
/// must account for the difference. This is why consecutive runs count as two sessions.
#[test]
fn one_session_neighbouring_blocks() {
    let sessions = sessions();
    for samples in [10, 20] {
        let (mut significant, mut different, mut pairs) = (0, 0, 0);
        for values in sessions.iter().flat_map(|s| s.results.values()) {
            for start in 0..values.len() {
                let block = |from| logs(&consecutive(values, samples, from));
                let comparison = compare(&block(start), &block(start + samples), Floor::NONE, LEVEL).unwrap();
                significant += usize::from(comparison.p_value <= 0.05);
                different += usize::from(claims(&comparison, comparison.p_value));
                pairs += 1;
            }
        }
        if pairs > 0 {
            println!(
                "TABLE A/A of neighbouring blocks without a floor, {samples} samples: significant {:.3}, different {:.3}",
                significant as f64 / pairs as f64,
                different as f64 / pairs as f64
            );
        }
    }
}
