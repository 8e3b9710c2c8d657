//! The other party of a measurement: a forked process, pinned, which ends with its parent.

use sys::process::Child;

use crate::{ProbeContext, ProbeError, Unsupported};

/// A forked peer. Dropped, it is killed and waited for.
pub(crate) struct PeerProcess(Child);

impl PeerProcess {
    /// Forks party number `index`, pinned as the bench says and watched by it, which does `body` with `theirs` and ends.
    /// `ours` is closed there, so that the peer sees the end of its input when this process ends, however that happens.
    ///
    /// # Errors
    /// When it could not be forked or pinned.
    pub(crate) fn start<O, T>(
        bench: &mut ProbeContext,
        index: usize,
        ours: O,
        theirs: T,
        body: impl FnOnce(T) -> Result<(), ProbeError>,
    ) -> Result<(Self, O), Unsupported> {
        let cpu = bench.cpu(index);
        let (party, ours) = Self::fork(cpu, ours, theirs, body)?;
        bench.watch(index, party.0.pid());
        Ok((party, ours))
    }

    /// The same on a CPU given, watched by nobody.
    pub(crate) fn fork<O, T>(
        cpu: Option<usize>,
        ours: O,
        theirs: T,
        body: impl FnOnce(T) -> Result<(), ProbeError>,
    ) -> Result<(Self, O), Unsupported> {
        let parent = sys::process::own_pid();
        let (mut ours, mut theirs) = (Some(ours), Some(theirs));
        let child = sys::process::fork(|| {
            // Where the kernel cannot do this, the end of the input does it.
            let _ = sys::process::die_with_parent(parent);
            if sys::process::parent_pid() != parent {
                return 1;
            }
            drop(ours.take());
            let placed = cpu.map_or(Ok(()), |cpu| sys::affinity::pin(&[cpu])).map_err(ProbeError::from);
            let done = placed.and_then(|()| theirs.take().map_or(Ok(()), body));
            i32::from(done.is_err())
        })?;
        drop(theirs);
        let ours = ours.take().ok_or_else(|| Unsupported::new("could not keep the near ends of a party's files"))?;
        Ok((Self(child), ours))
    }
}

/// What a party answers to a value: a step of a generator whose low bits have full period too (Knuth, volume 2, 3.3.4), so
/// that an answer proves that its question arrived.
#[inline]
pub(crate) fn answer(value: u64) -> u64 {
    value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// Adds an answer to what proves all of them, in their order.
#[inline]
pub(crate) fn fold(token: u64, value: u64) -> u64 {
    token.wrapping_mul(0x100_0000_01b3).wrapping_add(value)
}
