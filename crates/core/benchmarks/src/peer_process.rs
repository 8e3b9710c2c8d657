//! A peer process: the second party of a measurement, forked and pinned, which ends with its parent.

use kernels::process::Child;

use crate::{BenchmarkContext, BenchmarkError, Unsupported};

/// A forked peer. When dropped, it is killed and waited for.
pub(crate) struct PeerProcess(Child);

impl PeerProcess {
    /// Forks party number `index`, pinned and verified as the context specifies, which runs `body` with `theirs` and
    /// ends. It closes `ours`, so that it reads the end of its input when this process ends for any reason.
    ///
    /// # Errors
    /// When it could not be forked or pinned.
    pub(crate) fn start<O, T>(
        context: &mut BenchmarkContext,
        index: usize,
        ours: O,
        theirs: T,
        body: impl FnOnce(T) -> Result<(), BenchmarkError>,
    ) -> Result<(Self, O), Unsupported> {
        let cpu = context.cpu(index);
        let (party, ours) = Self::fork(cpu, ours, theirs, body)?;
        context.watch(index, party.0.pid());
        Ok((party, ours))
    }

    /// The same on a given CPU, without verification.
    pub(crate) fn fork<O, T>(
        cpu: Option<usize>,
        ours: O,
        theirs: T,
        body: impl FnOnce(T) -> Result<(), BenchmarkError>,
    ) -> Result<(Self, O), Unsupported> {
        let parent = os::process::own_pid();
        let (mut ours, mut theirs) = (Some(ours), Some(theirs));
        let child = kernels::process::fork(|| {
            // If the kernel does not support this, the child ends at the end of its input.
            let _ = os::process::die_with_parent(parent);
            if os::process::parent_pid() != parent {
                return 1;
            }
            drop(ours.take());
            let placed = cpu.map_or(Ok(()), |cpu| kernels::affinity::pin(&[cpu])).map_err(BenchmarkError::from);
            let done = placed.and_then(|()| theirs.take().map_or(Ok(()), body));
            i32::from(done.is_err())
        })?;
        drop(theirs);
        let ours = ours.take().ok_or_else(|| Unsupported::new("could not keep this party's files"))?;
        Ok((Self(child), ours))
    }
}

/// The answer of a party to a value, which proves that the question arrived. It is a step of a generator whose low bits
/// also have the full period (Knuth, volume 2, 3.3.4).
#[inline]
pub(crate) fn answer(value: u64) -> u64 {
    value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// Combines an answer with the token of the answers before, dependent on their order.
#[inline]
pub(crate) fn fold(token: u64, value: u64) -> u64 {
    token.wrapping_mul(0x100_0000_01b3).wrapping_add(value)
}
