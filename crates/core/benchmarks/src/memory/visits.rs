//! Ages of the last accesses to parts of shared arrays, and the pieces of the next pass.
//!
//! Memory is not equally fast everywhere. Neighbouring megabytes of a guest resemble each other, since its host has
//! them in large or in small pages, and places differ by 10 to 16% (standard deviation). Adjacent pieces would sample
//! one place, so the pieces of a pass are spread over the arrays.
//!
//! Results that share arrays alternate. With independent walks one result would sometimes follow another closely and
//! hit its data in a cache, so that a bandwidth of memory would depend on the other results of a run. So a pass uses
//! only memory that was left alone long enough.

use std::cmp::Reverse;
use std::sync::Arc;

/// Bytes that are accounted together.
pub(super) const SLOT: usize = 1 << 20;

/// Up to three arrays of equal length, walked in pieces: one piece of each at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArrayDivision {
    /// Offsets of the arrays, bytes.
    pub(super) starts: [usize; 3],
    /// Arrays in use, 1 to 3.
    pub(super) arrays: usize,
    /// Length of a piece of one array, bytes.
    pub(super) piece: usize,
    /// Pieces of an array.
    pub(super) count: u64,
}

impl ArrayDivision {
    /// Slots that a piece accesses.
    fn slots(&self, piece: u64) -> impl Iterator<Item = usize> {
        let began = piece as usize * self.piece;
        self.starts.into_iter().take(self.arrays).flat_map(move |start| {
            // Arrays are not aligned to slots: neighbouring pieces have none in common.
            let nearest = |bytes: usize| (bytes + SLOT / 2) / SLOT;
            let began = start + began;
            nearest(began)..nearest(began + self.piece).max(nearest(began) + 1)
        })
    }

    /// The piece at a step of a walk whose every part is spread evenly: steps of a golden section of the array (Weyl's
    /// sequence), rounded to one that reaches every piece.
    fn at(&self, step: u64) -> u64 {
        let count = self.count.max(1);
        let golden = (count as f64 * 0.618_033_988_75).round() as u64;
        let stride = (golden.max(1)..).find(|stride| common_divisor(*stride, count) == 1).unwrap_or(1);
        (u128::from(step) * u128::from(stride) % u128::from(count)) as u64
    }
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

/// When every slot was last accessed, in slots accessed since.
#[derive(Debug)]
pub(super) struct Visits {
    last: Vec<u64>,
    accessed: u64,
}

impl Visits {
    /// For memory of `bytes` bytes that was just written from start to end.
    pub(super) fn new(bytes: usize) -> Self {
        let slots = bytes.div_ceil(SLOT) as u64;
        Self { last: (1..=slots).collect(), accessed: slots }
    }

    /// The pieces of the next pass, and the step of the walk after them. They are the next ones from step `from` on
    /// that were left alone while half of the memory's size was accessed, or else those left alone longest. The pass
    /// counts as made.
    pub(super) fn pass(&mut self, division: &ArrayDivision, from: u64, pieces: u64) -> (Arc<[u64]>, u64) {
        let enough = self.last.len() as u64 / 2;
        let mut next = from;
        let chosen = (0..pieces).map(|_| {
            let ahead = || (next..next + division.count.max(1)).map(|step| (step, division.at(step)));
            let old = ahead().find(|(_, piece)| self.age(division, *piece) >= enough);
            let oldest = || ahead().max_by_key(|(step, piece)| (self.age(division, *piece), Reverse(*step)));
            let (step, piece) = old.or_else(oldest).unwrap_or((next, 0));
            next = step + 1;
            self.note(division, piece);
            piece
        });
        let chosen = chosen.collect();
        (chosen, next)
    }

    /// Slots accessed since the beginning.
    #[cfg(test)]
    pub(super) const fn accessed(&self) -> u64 {
        self.accessed
    }

    /// Returns the last `count` slots and counts them as accessed again.
    pub(super) fn again(&mut self, count: usize) -> Arc<[usize]> {
        let mut slots: Vec<usize> = (0..self.last.len()).collect();
        slots.sort_by_key(|slot| Reverse(self.last[*slot]));
        slots.truncate(count);
        for slot in &slots {
            self.accessed += 1;
            self.last[*slot] = self.accessed;
        }
        slots.into()
    }

    fn note(&mut self, division: &ArrayDivision, piece: u64) {
        for slot in division.slots(piece) {
            self.accessed += 1;
            if let Some(last) = self.last.get_mut(slot) {
                *last = self.accessed;
            }
        }
    }

    /// Slots accessed since the latest access to a piece.
    fn age(&self, division: &ArrayDivision, piece: u64) -> u64 {
        let latest = division.slots(piece).filter_map(|slot| self.last.get(slot)).max();
        self.accessed - latest.copied().unwrap_or(self.accessed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const MIB: usize = 1 << 20;
    const ALL: usize = 256 * MIB;

    fn division(arrays: usize) -> ArrayDivision {
        let length = ALL / arrays / MIB * MIB;
        ArrayDivision {
            starts: [0, length + 1088, 2 * (length + 1088)],
            arrays,
            piece: MIB,
            count: (length / MIB) as u64,
        }
    }

    #[test]
    fn alone_it_reaches_every_piece() {
        for arrays in 1..=3 {
            let (division, mut visits) = (division(arrays), Visits::new(ALL + 3 * 1088));
            let (mut next, mut seen) = (0, BTreeSet::new());
            for _ in 0..division.count {
                let (pieces, after) = visits.pass(&division, next, 4);
                seen.extend(pieces.iter().copied());
                next = after;
            }
            assert_eq!(seen.len() as u64, division.count);
        }
    }

    #[test]
    fn the_pieces_of_a_pass_lie_apart() {
        for arrays in 1..=3 {
            let (division, mut visits) = (division(arrays), Visits::new(ALL + 3 * 1088));
            let (mut next, mut near, mut passes) = (0, 0, 0);
            for _ in 0..400 {
                let (pieces, after) = visits.pass(&division, next, 4);
                next = after;
                let mut sorted = pieces.to_vec();
                sorted.sort_unstable();
                passes += 1;
                near += usize::from(sorted.windows(2).any(|pair| pair[1] - pair[0] < division.count / 20));
            }
            assert!(10 * near < passes, "{near} of {passes} passes over {arrays} arrays have pieces close together");
        }
    }

    /// Members that share arrays as in the default suite, in lockstep and at different paces. No piece may repeat
    /// within the last third of the memory's size; with independent walks a third of the pieces do.
    #[test]
    fn no_member_follows_another_closely() {
        let members = [(2, 3), (2, 5), (2, 4), (3, 3), (3, 3), (3, 3), (1, 6), (1, 5), (1, 5), (2, 3)];
        for own_pace in [false, true] {
            let mut visits = Visits::new(ALL + 3 * 1088);
            let mut ages = Vec::new();
            let mut next = [0; 10];
            for _ in 0..300 {
                for (next, (arrays, pieces)) in next.iter_mut().zip(members) {
                    let division = division(arrays);
                    for _ in 0..pieces {
                        let before = Visits { last: visits.last.clone(), accessed: visits.accessed };
                        let piece = if own_pace {
                            visits.note(&division, division.at(*next));
                            *next += 1;
                            division.at(*next - 1)
                        } else {
                            let (piece, after) = visits.pass(&division, *next, 1);
                            *next = after;
                            piece[0]
                        };
                        ages.push(before.age(&division, piece));
                    }
                }
            }
            let close = ages.iter().filter(|age| **age < ALL as u64 / MIB as u64 / 3).count();
            println!("TABLE own pace {own_pace}: {close} of {} pieces follow closely", ages.len());
            if own_pace { assert!(close > ages.len() / 4, "{close}") } else { assert_eq!(close, 0) }
        }
    }

    #[test]
    fn what_is_read_again_is_nothing_that_the_next_pass_accesses() {
        let (division, mut visits) = (division(1), Visits::new(ALL));
        let mut next = 0;
        for _ in 0..100 {
            let (pieces, after) = visits.pass(&division, next, 8);
            next = after;
            assert!(visits.again(64).iter().all(|slot| visits.accessed - visits.last[*slot] < 64));
            let again = visits.again(64);
            assert!(pieces.iter().all(|piece| again.contains(&(*piece as usize))), "the last pass is among it");
            let (pieces, _) = visits.pass(&division, next, 8);
            assert!(pieces.iter().all(|piece| !again.contains(&(*piece as usize))));
        }
        assert_eq!(Visits::new(3 * MIB).again(64).len(), 3);
    }

    #[test]
    fn odd_sizes_have_a_place() {
        for (bytes, piece, count) in [(0, 0, 0), (512, 512, 1), (3 * MIB, MIB, 3), (MIB + 1, MIB, 1)] {
            let division = ArrayDivision { starts: [0; 3], arrays: 1, piece, count };
            let mut visits = Visits::new(bytes);
            for pieces in [0, 1, 1000] {
                let (chosen, _) = visits.pass(&division, 7, pieces);
                assert!(chosen.len() as u64 == pieces && chosen.iter().all(|piece| *piece < count.max(1)));
            }
        }
    }
}
