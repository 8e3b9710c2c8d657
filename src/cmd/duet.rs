//! Two sides that run at once on two cores, for the commands that compare long operations.

use anyhow::{Result, ensure};
use application::TimedPair;
use measure::Stopper;
use model::{Unit, Verdict, percent};
use report::PrintedQuantity;
use report::words::factor;

use crate::output;

/// When two sides run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum DuetWish {
    // On two cores.
    Yes,
    // On any two CPUs.
    Force,
}

/// Difference that counts as none between two sides that ran at once: their ratio is known far better than their times.
pub(super) const DUET_BAND: f64 = 0.01;

/// The CPUs of a duet.
///
/// # Errors
/// When there are not two sides, or no two CPUs for them.
pub(super) fn duet_cpus(wish: DuetWish, sides: usize, stopper: &Stopper) -> Result<[usize; 2]> {
    ensure!(sides == 2, "--duet takes two commands, and {sides} were given; leave --duet out");
    let allowed = kernels::affinity::allowed()?;
    let machine = measure::machine(&[]);
    match measure::separate_cores(&machine, &allowed, stopper) {
        Ok(cpus) => Ok(cpus),
        Err(why) => match allowed[..] {
            [.., one, other] if wish == DuetWish::Force => {
                output::remark(&format!(
                    "{why}: the two commands slow each other down, so their difference looks too small"
                ));
                Ok([one, other])
            }
            [_] => anyhow::bail!("could not run two commands at once: {why}; leave --duet out"),
            _ => anyhow::bail!(
                "could not run two commands at once: {why}; leave --duet out, or give --duet=force, which makes differences look smaller"
            ),
        },
    }
}

/// What is said of two commands or builds.
pub(super) fn sentence(pair: &TimedPair) -> String {
    let (value, low, high) = pair.factor;
    let factor = factor(PrintedQuantity::ratio(value, low, high), Unit::Seconds);
    let ratio = factor.text_with_interval();
    let TimedPair { faster, slower, .. } = pair;
    let said = match pair.verdict {
        Verdict::Different(_) | Verdict::Probable(_) => format!("'{faster}' is {ratio} than '{slower}'."),
        Verdict::NoChange => format!("No change: '{faster}' vs '{slower}' is {ratio}."),
        Verdict::Inconclusive if factor.way.is_empty() => {
            format!("Inconclusive: '{faster}' vs '{slower}' is {ratio}.")
        }
        Verdict::Inconclusive => format!("Inconclusive: '{faster}' may be {ratio} than '{slower}'."),
    };
    match pair.in_common {
        Some(share) if share > 0.0 => {
            format!("{said} They ran at the same time, which cancels {} of the variance.", percent(share))
        }
        Some(_) => format!("{said} They ran at the same time, which cancels none of the variance."),
        None => said,
    }
}
