//! Built events: an event counts once, by its first report.

/// The driver's record of all events.
#[derive(Debug, Clone)]
pub struct EventLedger {
    owner: Vec<u32>,
    built: Vec<bool>,
    left: u32,
    /// Repeated reports of built events.
    pub refused: u64,
}

impl EventLedger {
    /// Assigns event e to receiver e mod M.
    #[must_use]
    pub fn new(events: u32, receivers: u32) -> Self {
        Self {
            owner: (0..events).map(|event| event % receivers.max(1)).collect(),
            built: vec![false; events as usize],
            left: events,
            refused: 0,
        }
    }

    /// Records a report; true if the event counts now.
    pub fn commit(&mut self, event: u32) -> bool {
        match self.built.get_mut(event as usize) {
            Some(built) if !*built => {
                *built = true;
                self.left -= 1;
                true
            }
            _ => {
                self.refused += 1;
                false
            }
        }
    }

    /// Number of events not built.
    #[must_use]
    pub const fn left(&self) -> u32 {
        self.left
    }

    /// Whether an event is built.
    #[must_use]
    pub fn has(&self, event: u32) -> bool {
        self.built.get(event as usize).copied().unwrap_or(false)
    }

    /// Distributes the unbuilt events of a lost receiver over the others. Returns receiver and events of each.
    pub fn reassign(&mut self, lost: u32, alive: &[u32]) -> Vec<(u32, Vec<u32>)> {
        let mut shares: Vec<(u32, Vec<u32>)> = alive.iter().map(|receiver| (*receiver, Vec::new())).collect();
        if shares.is_empty() {
            return shares;
        }
        let count = shares.len();
        let open = self.owner.iter_mut().enumerate().filter(|(event, owner)| **owner == lost && !self.built[*event]);
        for (place, (event, owner)) in open.enumerate() {
            let (receiver, events) = &mut shares[place % count];
            *owner = *receiver;
            events.push(event as u32);
        }
        shares.retain(|(_, events)| !events.is_empty());
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_event_is_lost_or_counted_twice_whichever_receiver_fails(
            events in 1_u32..300, receivers in 2_u32..8, lost in 0_u32..8, before in prop::collection::vec(0_u32..300, 0..300),
        ) {
            let lost = lost % receivers;
            let mut ledger = EventLedger::new(events, receivers);
            let mut counted = before.iter().filter(|event| ledger.commit(**event)).count() as u32;
            let alive: Vec<u32> = (0..receivers).filter(|one| *one != lost).collect();
            let shares = ledger.reassign(lost, &alive);
            let given: Vec<u32> = shares.iter().flat_map(|(_, events)| events.clone()).collect();
            prop_assert!(given.iter().all(|event| event % receivers == lost && !ledger.has(*event)));
            let rest = (0..events).filter(|event| event % receivers != lost && !ledger.has(*event)).collect::<Vec<_>>();
            counted += given.iter().chain(&rest).filter(|event| ledger.commit(**event)).count() as u32;
            prop_assert_eq!((counted, ledger.left()), (events, 0));
            prop_assert!(!ledger.commit(0));
        }
    }
}
