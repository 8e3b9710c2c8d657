//! Settings that are parameters of the benchmark: which CPUs, which kind of pages, which calls.

use super::BLANK;
use crate::setting::{Change, Setting};

pub(super) const PLACEMENT: Setting =
    Setting { id: "placement", title: "CPU of the partner", change: Change::Parameter("placement"), ..BLANK };

pub(super) const PAIR: Setting =
    Setting { id: "pair", title: "the other CPU of the pair", change: Change::Parameter("pair"), ..BLANK };

pub(super) const DURABILITY: Setting =
    Setting { id: "sync", title: "writes made durable", change: Change::Parameter("durability"), ..BLANK };

pub(super) const BUFFERS: Setting =
    Setting { id: "socket_buffers", title: "size of socket buffers", change: Change::Parameter("buffers"), ..BLANK };

pub(super) const PAGES: Setting =
    Setting { id: "pages", title: "pages by madvise", change: Change::Parameter("pages"), ..BLANK };

pub(super) const CONGESTION: Setting =
    Setting { id: "pacing", title: "pacing of TCP", change: Change::Parameter("congestion"), ..BLANK };
