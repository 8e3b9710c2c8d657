//! Tests of a receiver that gets the bytes of a connection.

use super::super::message::{Arrivals, SizeDistribution, VerifiedPayload, WrongByte};
use super::super::payload::PayloadSource;
use super::super::sizes::tests::job;
use super::*;

/// Fragments of sender 1 for receiver 0 of two.
const EVENTS: [u32; 4] = [0, 2, 4, 6];

fn fragments(job: &BuildJob) -> Vec<Vec<u8>> {
    let mut source = PayloadSource::new(1);
    let message = |event: &u32| {
        let part = Part::fragment(job, *event, 1);
        let head = [event.to_le_bytes(), (part.length() as u32).to_le_bytes()].concat();
        source.send(&part, &head, |bytes| bytes.to_vec())
    };
    EVENTS.iter().map(message).collect()
}

/// Feeds these messages in pieces to a receiver: returns its complete events, and what it verified.
fn taken(job: &BuildJob, messages: &[Vec<u8>], piece: usize) -> Result<(Vec<u32>, VerifiedPayload)> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut source = FragmentSource { stream, sender: 1, head: [0; 8], have: 0, next: 0, part: None };
    let (mut check, mut complete) = (PayloadCheck::new(), Vec::new());
    for bytes in messages.concat().chunks(piece) {
        source.take(bytes, job, &mut check, &mut |event, _, whole| complete.extend(whole.then_some(event)))?;
    }
    Ok((complete, check.seen))
}

#[test]
fn wrong_payload_is_found_in_whatever_pieces_it_comes() {
    let job = BuildJob { fragment: 3_000, ..job(SizeDistribution::Exponential, Arrivals::Regular) };
    let messages = fragments(&job);
    let parts = EVENTS.map(|event| Part::fragment(&job, event, 1));
    let payload: u64 = parts.iter().map(Part::verified).sum();
    for piece in [1, 100, 1 << 16] {
        let right = VerifiedPayload { bytes: payload, wrong: 0, first: None };
        assert_eq!(taken(&job, &messages, piece).unwrap(), (EVENTS.to_vec(), right));
        for at in [0, 9, messages[2].len() - 9] {
            let mut planted = messages.clone();
            planted[2][8 + at] ^= 0x40;
            let (came, sent) = (planted[2][8 + at], messages[2][8 + at]);
            let first = Some(WrongByte { event: 4, sender: 1, offset: at as u32, came, sent });
            let (complete, seen) = taken(&job, &planted, piece).unwrap();
            assert_eq!((complete, seen), (EVENTS.to_vec(), VerifiedPayload { bytes: payload, wrong: 1, first }));
        }
    }
}

#[test]
fn fragments_that_come_twice_or_instead_of_others_are_none_that_are_due() {
    let job = job(SizeDistribution::Fixed, Arrivals::Regular);
    let messages = fragments(&job);
    let [first, second, ..] = &messages[..] else { unreachable!() };
    let said = |messages: &[Vec<u8>]| taken(&job, messages, 500).unwrap_err().to_string();
    let twice = said(&[first.clone(), first.clone()]);
    assert!(twice.ends_with("sender 1 sent 1000 bytes of event 0, and event 2 was due"), "{twice}");
    let swapped = said(&[second.clone(), first.clone()]);
    assert!(swapped.ends_with("sender 1 sent 1000 bytes of event 2, and event 0 was due"), "{swapped}");
    // The headers are in order, and the payload is that of the other.
    let [mut one, mut other] = [first.clone(), second.clone()];
    one[8..].swap_with_slice(&mut other[8..]);
    assert_eq!(taken(&job, &[one, other], 500).unwrap().1.wrong, 2);
}
