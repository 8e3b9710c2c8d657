//! Connections with a TCP-like window: slow start, additive increase, halved once a window at a loss, restarted after a
//! timeout (RFC 5681). Bytes count as arrived in any order.

use super::FlowControl;
use super::state::{Frame, Notice, SimulationWorld, WindowedConnection};

/// Segments of the first window (RFC 6928).
const FIRST: u32 = 10;
/// Later acknowledgements after which a frame counts as lost.
const DUPLICATES: u32 = 3;

impl WindowedConnection {
    pub(super) fn new(segment: u32, most: u32) -> Self {
        Self { window: (FIRST * segment).min(most.max(segment)), threshold: most.max(segment), ..Self::default() }
    }

    fn can_send(&self, segment: u32) -> bool {
        let next =
            self.again.front().map(|frame| frame.bytes).or(self.backlog.front().map(|(_, left)| (*left).min(segment)));
        // One segment may always be in flight, however small the window.
        next.is_some_and(|bytes| self.in_flight == 0 || self.in_flight.saturating_add(bytes) <= self.window)
    }
}

impl SimulationWorld<'_> {
    fn connection(&mut self, sender: u32, receiver: u32) -> (u32, &mut WindowedConnection) {
        let at = sender * self.setup.receivers + receiver;
        (at, &mut self.connections[at as usize])
    }

    fn most(&self) -> u32 {
        match self.setup.flow {
            FlowControl::Window { bytes } => bytes.max(self.setup.framing.payload),
            FlowControl::Datagrams => u32::MAX,
        }
    }

    /// Accepts a fragment into a connection's socket; a full socket stops the sender.
    pub(super) fn accept(&mut self, sender: u32, event: u32, bytes: u32) {
        let most = self.most();
        let (at, connection) = self.connection(sender, event % self.setup.receivers);
        connection.backlog.push_back((event, bytes));
        connection.waiting += u64::from(bytes);
        if connection.waiting >= u64::from(most.max(bytes)) {
            self.senders[sender as usize].blocked = Some(at);
        }
        self.queue(sender, at);
    }

    fn queue(&mut self, sender: u32, at: u32) {
        let segment = self.setup.framing.payload;
        let connection = &mut self.connections[at as usize];
        if !connection.queued && connection.can_send(segment) {
            connection.queued = true;
            self.senders[sender as usize].ready.push_back(at);
        }
    }

    pub(super) fn next_of_connections(&mut self, sender: u32) -> Option<Frame> {
        let (segment, receivers, most) = (self.setup.framing.payload, self.setup.receivers, self.most());
        loop {
            let at = self.senders[sender as usize].ready.pop_front()?;
            let connection = &mut self.connections[at as usize];
            connection.queued = false;
            if !connection.can_send(segment) {
                continue;
            }
            let mut frame = match connection.again.pop_front() {
                Some(frame) => {
                    self.tally.repeated += 1;
                    frame
                }
                None => {
                    let (event, left) = connection.backlog.front_mut()?;
                    let bytes = (*left).min(segment);
                    let frame = Frame { event: *event, sender, receiver: at % receivers, bytes, order: 0 };
                    *left -= bytes;
                    if *left == 0 {
                        connection.backlog.pop_front();
                    }
                    connection.waiting -= u64::from(bytes);
                    frame
                }
            };
            frame.order = connection.order;
            connection.order += 1;
            connection.in_flight += frame.bytes;
            let room = connection.waiting < u64::from(most);
            if room && self.senders[sender as usize].blocked == Some(at) {
                self.senders[sender as usize].blocked = None;
            }
            self.queue(sender, at);
            return Some(frame);
        }
    }

    pub(super) fn acknowledged(&mut self, frame: Frame) {
        let (segment, most) = (self.setup.framing.payload, self.most());
        let (at, connection) = self.connection(frame.sender, frame.receiver);
        connection.in_flight -= frame.bytes;
        let growth = if connection.window < connection.threshold {
            frame.bytes
        } else {
            (u64::from(segment) * u64::from(frame.bytes) / u64::from(connection.window.max(1))) as u32
        };
        connection.window = connection.window.saturating_add(growth).min(most);
        while let Some(place) = connection.lost.iter().position(|lost| lost.order + DUPLICATES <= frame.order) {
            let lost = connection.lost.swap_remove(place);
            connection.in_flight -= lost.bytes;
            if lost.order >= connection.recover {
                connection.threshold = (connection.window / 2).max(2 * segment);
                connection.window = connection.threshold;
                connection.recover = connection.order;
            }
            connection.again.push_back(lost);
        }
        self.queue(frame.sender, at);
        self.kick(frame.sender);
    }

    /// The network dropped a frame, which its sender does not know yet.
    pub(super) fn lost(&mut self, frame: Frame) {
        self.connection(frame.sender, frame.receiver).1.lost.push(frame);
        self.after_timeout(Notice::TimedOut(frame));
    }

    pub(super) fn timed_out(&mut self, frame: Frame) {
        let segment = self.setup.framing.payload;
        let (at, connection) = self.connection(frame.sender, frame.receiver);
        let Some(place) = connection.lost.iter().position(|lost| lost.order == frame.order) else { return };
        let lost = connection.lost.swap_remove(place);
        connection.in_flight -= lost.bytes;
        connection.threshold = (connection.window / 2).max(2 * segment);
        connection.window = segment;
        connection.recover = connection.order;
        connection.again.push_back(lost);
        self.queue(frame.sender, at);
        self.kick(frame.sender);
    }
}
