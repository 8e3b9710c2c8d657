//! The switch: an output port with a finite buffer for each receiver, an input port with a finite buffer for each
//! sender.

use super::state::{Frame, SimulationWorld};

impl SimulationWorld<'_> {
    fn buffered(&self, frame: Frame) -> u64 {
        u64::from(frame.bytes + self.setup.framing.headers)
    }

    fn has_room(&self, frame: Frame) -> bool {
        let port = &self.ports[frame.receiver as usize];
        port.on_wire.is_none() || port.held + self.buffered(frame) <= self.setup.output_buffer
    }

    /// A frame arrives from its sender.
    #[inline]
    pub(super) fn arrive(&mut self, frame: Frame) {
        let blocked = !self.inputs[frame.sender as usize].queue.is_empty();
        if !blocked && self.has_room(frame) {
            self.admit(frame);
            return;
        }
        let size = self.buffered(frame);
        let input = &mut self.inputs[frame.sender as usize];
        if input.held + size <= self.setup.input_buffer {
            input.held += size;
            input.queue.push_back(frame);
            self.tally.peak_input = self.tally.peak_input.max(input.held);
            if !blocked {
                self.ports[frame.receiver as usize].waiting.push_back(frame.sender);
            }
            return;
        }
        if self.setup.input_buffer == 0 {
            self.tally.lost_output += 1;
        } else {
            self.tally.lost_input += 1;
        }
        self.lose(frame);
    }

    fn admit(&mut self, frame: Frame) {
        let size = self.buffered(frame);
        let end = self.now + self.wire(frame.bytes);
        let port = &mut self.ports[frame.receiver as usize];
        if port.on_wire.is_none() {
            port.on_wire = Some(frame);
            self.timers.push(end, frame.receiver);
        } else {
            port.held += size;
            port.queue.push_back(frame);
            self.tally.peak_output = self.tally.peak_output.max(port.held);
        }
    }

    /// A port has sent its frame.
    #[inline]
    pub(super) fn leave(&mut self, receiver: u32) {
        let port = &mut self.ports[receiver as usize];
        let done = port.on_wire.take();
        let next = port.queue.pop_front();
        port.on_wire = next;
        let end = next.map(|frame| {
            self.ports[receiver as usize].held -= self.buffered(frame);
            self.now + self.wire(frame.bytes)
        });
        self.timers.settle(receiver, end);
        if let Some(frame) = done {
            self.ports[receiver as usize].payload += u64::from(frame.bytes);
            self.deliver(frame);
        }
        self.let_in(receiver);
    }

    /// Moves frames of waiting inputs while there is space.
    fn let_in(&mut self, receiver: u32) {
        while let Some(sender) = self.ports[receiver as usize].waiting.front().copied() {
            let Some(first) = self.inputs[sender as usize].queue.front().copied() else { break };
            if !self.has_room(first) {
                break;
            }
            self.ports[receiver as usize].waiting.pop_front();
            // The frames behind it follow, until one has to wait.
            while let Some(frame) = self.inputs[sender as usize].queue.front().copied() {
                if !self.has_room(frame) {
                    self.ports[frame.receiver as usize].waiting.push_back(sender);
                    break;
                }
                let size = self.buffered(frame);
                let input = &mut self.inputs[sender as usize];
                input.held -= size;
                input.queue.pop_front();
                self.admit(frame);
            }
        }
    }
}
