//! Round trips of a remote procedure call.

use std::os::fd::AsFd;

use crate::line::{LinePair, PartyLine, peer_ended};
use crate::peer_process::{PeerProcess, answer, fold};
use crate::rpc::{CALL_BYTES, MARK_BYTES, REPLY_BYTES, get_call, get_mark, get_reply, put_call, put_mark, put_reply};
use crate::{BatchWork, BenchmarkContext, BenchmarkError, Kernel, Parameter, Recorder, Unsupported};

/// Maker and reader of the messages.
pub(super) const MESSAGES: Parameter = Parameter::choice("messages", &["direct", "polled", "library"], &["polled"]);
/// The difference if messages are Prony's own and both sides poll.
pub(super) const OWN: &str = "messages of our own, not those of the system's RPC library";
/// The difference if neither side polls.
pub(super) const DIRECT: &str = "messages of our own, and no side polls before it reads, which RPC libraries do";

/// Calls the procedure of a peer repeatedly; `MARK` bytes of record marking precede each message: none in datagrams.
pub(super) struct Remote<const MARK: usize> {
    line: PolledLine,
    _peer: PeerProcess,
    transaction: u32,
    began: u8,
    character: u8,
}

const ROOM: usize = MARK_BYTES + CALL_BYTES;

impl<const MARK: usize> Remote<MARK> {
    /// Forks the server.
    pub(super) fn start(
        context: &mut BenchmarkContext,
        (near, far): LinePair,
        polls: bool,
    ) -> Result<Self, Unsupported> {
        let serve = |line| serve::<MARK>(&PolledLine { line, polls });
        let (peer, line) = PeerProcess::start(context, 1, near, far, serve)?;
        let line = PolledLine { line, polls };
        let character = context.seed() as u8;
        Ok(Self { line, _peer: peer, transaction: context.seed() as u32, began: character, character })
    }

    #[inline]
    fn call(&mut self) -> Result<u8, BenchmarkError> {
        self.transaction = self.transaction.wrapping_add(1);
        let mut message = [0; ROOM];
        if MARK > 0 {
            put_mark(&mut message[..MARK], CALL_BYTES);
        }
        put_call(&mut message[MARK..MARK + CALL_BYTES], self.transaction, self.character);
        self.line.send(&message[..MARK + CALL_BYTES])?;
        self.line.expect(&mut message[..MARK + REPLY_BYTES])?;
        if MARK > 0 {
            get_mark(&message[..MARK], REPLY_BYTES)?;
        }
        self.character = get_reply(&message[MARK..MARK + REPLY_BYTES], self.transaction)?;
        Ok(self.character)
    }
}

/// A line whose reader may poll first.
struct PolledLine {
    line: PartyLine,
    polls: bool,
}

impl PolledLine {
    fn send(&self, message: &[u8]) -> Result<(), BenchmarkError> {
        self.line.send(message)
    }

    #[inline]
    fn receive(&self, message: &mut [u8]) -> Result<bool, BenchmarkError> {
        if self.polls {
            kernels::poll::wait_readable(self.line.from.as_fd())?;
        }
        self.line.receive(message)
    }

    #[inline]
    fn expect(&self, message: &mut [u8]) -> Result<(), BenchmarkError> {
        if self.receive(message)? { Ok(()) } else { Err(peer_ended()) }
    }
}

fn serve<const MARK: usize>(line: &PolledLine) -> Result<(), BenchmarkError> {
    let mut message = [0; ROOM];
    while line.receive(&mut message[..MARK + CALL_BYTES])? {
        if MARK > 0 {
            get_mark(&message[..MARK], CALL_BYTES)?;
            put_mark(&mut message[..MARK], REPLY_BYTES);
        }
        let (transaction, character) = get_call(&message[MARK..MARK + CALL_BYTES])?;
        put_reply(&mut message[MARK..MARK + REPLY_BYTES], transaction, procedure(character));
        line.send(&message[..MARK + REPLY_BYTES])?;
    }
    Ok(())
}

/// The answer of the procedure to a character.
pub(super) fn procedure(character: u8) -> u8 {
    answer(u64::from(character)) as u8
}

impl<const MARK: usize> Kernel for Remote<MARK> {
    fn batch(&mut self, ops: u64) -> Result<BatchWork, BenchmarkError> {
        self.began = self.character;
        let mut token = 0;
        for _ in 0..ops {
            token = fold(token, u64::from(self.call()?));
        }
        Ok(BatchWork { ops, token })
    }

    fn check(&mut self, done: &BatchWork) -> Result<(), BenchmarkError> {
        let (mut character, mut token) = (self.began, 0);
        for _ in 0..done.ops {
            character = procedure(character);
            token = fold(token, u64::from(character));
        }
        BenchmarkError::unless_equal(done.token, token)
    }

    fn each(&mut self, record: &mut Recorder) -> Result<(), BenchmarkError> {
        while record.remaining() > 0 {
            record.time(|| self.call().map(drop))?;
        }
        Ok(())
    }
}
