//! Round trips between two processes over pipes or sockets.

use crate::line::{LinePair, PartyLine};
use crate::peer_process::{PeerProcess, answer, fold};
use crate::{BatchWork, BenchmarkContext, BenchmarkError, Kernel, Recorder, Unsupported};

/// Sends messages of `N` bytes (at most 8) to a peer, which answers each with the next value.
pub(crate) struct EchoKernel<const N: usize> {
    line: PartyLine,
    _peer: PeerProcess,
    began: u64,
    value: u64,
}

impl<const N: usize> EchoKernel<N> {
    /// Forks the peer, which answers on `far`.
    ///
    /// # Errors
    /// When it cannot be forked or pinned.
    pub(crate) fn start(context: &mut BenchmarkContext, (near, far): LinePair) -> Result<Self, Unsupported> {
        let (peer, line) = PeerProcess::start(context, 1, near, far, |line| {
            let mut message = [0; N];
            while line.receive(&mut message)? {
                line.send(&cut::<N>(answer(join(message))))?;
            }
            Ok(())
        })?;
        let value = join(cut::<N>(context.seed()));
        Ok(Self { line, _peer: peer, began: value, value })
    }

    #[inline]
    fn trip(&mut self) -> Result<u64, BenchmarkError> {
        self.line.send(&cut::<N>(self.value))?;
        let mut message = [0; N];
        self.line.expect(&mut message)?;
        self.value = join(message);
        Ok(self.value)
    }
}

impl<const N: usize> Kernel for EchoKernel<N> {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.value;
        let mut token = 0;
        for _ in 0..ops {
            token = fold(token, self.trip()?);
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let (mut value, mut token) = (self.began, 0);
        for _ in 0..done.ops {
            value = join(cut::<N>(answer(value)));
            token = fold(token, value);
        }
        BenchmarkError::unless_equal(done.token, token)
    }

    fn each(&mut self, record: &mut Recorder) -> Result<(), BenchmarkError> {
        while record.remaining() > 0 {
            record.time(|| self.trip().map(drop))?;
        }
        Ok(())
    }
}

#[inline]
fn cut<const N: usize>(value: u64) -> [u8; N] {
    let bytes = value.to_le_bytes();
    std::array::from_fn(|index| bytes[index])
}

#[inline]
fn join<const N: usize>(message: [u8; N]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&message);
    u64::from_le_bytes(bytes)
}
