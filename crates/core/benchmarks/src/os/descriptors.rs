//! Many descriptors with one ready, for `select` and `epoll`.

use std::fs::File;
use std::io::Write;

use model::Parameters;

use crate::{Parameter, Unsupported};

/// The parameter of their number.
pub(super) const DESCRIPTORS: Parameter = Parameter::choice("descriptors", &["10", "100", "500"], &["100"]);

/// The descriptors; the last is ready to be read, the others never are.
pub(super) struct Descriptors {
    pub(super) waiting: Vec<File>,
    _writers: [File; 2],
}

impl Descriptors {
    /// The number that a set of parameters gives.
    pub(super) fn open(at: &Parameters) -> Result<Self, Unsupported> {
        let count = at.count("descriptors")?;
        let (silent, silent_writer) = crate::line::pipe()?;
        let (ready, mut ready_writer) = crate::line::pipe()?;
        ready_writer.write_all(b"!")?;
        let mut waiting = (1..count).map(|_| silent.try_clone()).collect::<Result<Vec<_>, _>>()?;
        waiting.push(ready);
        Ok(Self { waiting, _writers: [silent_writer, ready_writer] })
    }
}
