//! Receivers that ask: at most so many requests open, each for one frame, and asked again when nothing comes.

use super::state::{Frame, Notice, SimulationWorld};

impl SimulationWorld<'_> {
    pub(super) fn begin_pull(&mut self, receiver: u32, credits: u32) {
        self.pullers[receiver as usize].free = credits;
        self.pullers[receiver as usize].event = u64::from(receiver);
        self.pull(receiver);
    }

    pub(super) fn wake_puller(&mut self, receiver: u32) {
        self.pullers[receiver as usize].alarm = false;
        self.pull(receiver);
    }

    /// An answer came: its credit is free again.
    pub(super) fn credit(&mut self, receiver: u32) {
        self.pullers[receiver as usize].free += 1;
        self.pull(receiver);
    }

    fn pull(&mut self, receiver: u32) {
        let (senders, events) = (self.setup.senders, u64::from(self.setup.events));
        loop {
            let event = self.pullers[receiver as usize].event;
            if self.pullers[receiver as usize].free == 0 || event >= events {
                return;
            }
            let trigger = self.schedule.trigger(event);
            if trigger > self.now {
                if !self.pullers[receiver as usize].alarm {
                    self.pullers[receiver as usize].alarm = true;
                    let timer = self.puller_timer(receiver);
                    self.timers.push(trigger, timer);
                }
                return;
            }
            let puller = &mut self.pullers[receiver as usize];
            // Receivers begin with different senders, so that they do not all ask the same one at once.
            let sender = (receiver + puller.fragment) % senders;
            let size = self.schedule.bytes(sender, event as u32);
            let bytes = (size - puller.offset).min(self.setup.framing.payload);
            puller.free -= 1;
            puller.offset += bytes;
            if puller.offset == size {
                puller.offset = 0;
                puller.fragment += 1;
                if puller.fragment == senders {
                    puller.fragment = 0;
                    puller.event += u64::from(self.setup.receivers);
                }
            }
            self.after_round_trip(Notice::Requested(Frame { event: event as u32, sender, receiver, bytes, order: 0 }));
        }
    }
}
