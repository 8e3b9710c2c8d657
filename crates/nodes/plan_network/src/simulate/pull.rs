//! Receivers that request frames: a bounded number of open requests, each for one frame and repeated without an answer.

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

    /// Returns the credit of an answered request.
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
            // Receivers begin with different senders, to spread the load.
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
