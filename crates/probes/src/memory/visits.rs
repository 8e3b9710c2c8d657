//! Which parts of shared arrays were accessed how long ago.
//!
//! Figures that share arrays run in turn. Were each to walk them at its own pace, one would now and then follow
//! another closely and find in a cache what that one had just brought there: a bandwidth of memory that no memory has,
//! and that depends on which other figures a run contains. So a pass begins where memory was left alone longest.

/// Bytes that are accounted together.
const SLOT: usize = 1 << 20;

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
    /// Slots that a pass accesses.
    fn slots(&self, from: u64, pieces: u64) -> impl Iterator<Item = usize> {
        let (piece, count) = (self.piece, self.count.max(1));
        let starts = self.starts.into_iter().take(self.arrays);
        starts.flat_map(move |start| {
            (from..from + pieces).flat_map(move |at| {
                // Arrays are not aligned to slots: neighbouring pieces have none in common.
                let nearest = |bytes: usize| (bytes + SLOT / 2) / SLOT;
                let began = start + (at % count) as usize * piece;
                nearest(began)..nearest(began + piece).max(nearest(began) + 1)
            })
        })
    }
}

/// When every slot was last accessed, in slots accessed since.
#[derive(Debug)]
pub(super) struct Visits {
    last: Vec<u64>,
    accessed: u64,
}

impl Visits {
    /// Of memory of so many bytes that was just written from its beginning to its end.
    pub(super) fn new(bytes: usize) -> Self {
        let slots = bytes.div_ceil(SLOT) as u64;
        Self { last: (1..=slots).collect(), accessed: slots }
    }

    /// The first piece of the next pass over `pieces`, at `from` or where a later one is better: all that it accesses
    /// was left alone while half of the memory's size was accessed, or else for as long as there is. The pass counts as
    /// made.
    pub(super) fn pass(&mut self, division: &ArrayDivision, from: u64, pieces: u64) -> u64 {
        let count = division.count.max(1);
        let pieces = pieces.min(count);
        let enough = self.last.len() as u64 / 2;
        let mut best = (from % count, 0);
        for first in (0..count).map(|ahead| (from + ahead) % count) {
            let age = self.age(division, first, pieces);
            if age > best.1 {
                best = (first, age);
            }
            if age >= enough {
                break;
            }
        }
        self.note(division, best.0, pieces);
        best.0
    }

    fn note(&mut self, division: &ArrayDivision, from: u64, pieces: u64) {
        for slot in division.slots(from, pieces) {
            self.accessed += 1;
            if let Some(last) = self.last.get_mut(slot) {
                *last = self.accessed;
            }
        }
    }

    /// Slots accessed since the latest access to what a pass would access.
    fn age(&self, division: &ArrayDivision, from: u64, pieces: u64) -> u64 {
        let latest = division.slots(from, pieces).filter_map(|slot| self.last.get(slot)).max();
        self.accessed - latest.copied().unwrap_or(self.accessed)
    }
}

#[cfg(test)]
mod tests {
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
    fn alone_it_walks_on() {
        for arrays in 1..=3 {
            let (division, mut visits) = (division(arrays), Visits::new(ALL + 3 * 1088));
            let mut next = 0;
            for _ in 0..200 {
                assert_eq!(visits.pass(&division, next, 4), next % division.count);
                next += 4;
            }
        }
    }

    /// Members that share arrays as in the default suite, in lockstep and at different paces: no pass may access what was
    /// accessed within the last third of the memory's size. By their own pace alone half of the passes do.
    #[test]
    fn nobody_follows_another_closely() {
        let members = [(2, 3), (2, 5), (2, 4), (3, 3), (3, 3), (3, 3), (1, 6), (1, 5), (1, 5), (2, 3)];
        for own_pace in [false, true] {
            let mut visits = Visits::new(ALL + 3 * 1088);
            let mut ages = Vec::new();
            let mut next = [0; 10];
            for _ in 0..300 {
                for (next, (arrays, pieces)) in next.iter_mut().zip(members) {
                    let division = division(arrays);
                    let before = Visits { last: visits.last.clone(), accessed: visits.accessed };
                    let first = if own_pace { *next % division.count } else { visits.pass(&division, *next, pieces) };
                    if own_pace {
                        visits.note(&division, first, pieces);
                    }
                    ages.push(before.age(&division, first, pieces));
                    *next = first + pieces;
                }
            }
            let close = ages.iter().filter(|age| **age < ALL as u64 / MIB as u64 / 3).count();
            println!("TABLE own pace {own_pace}: {close} of {} passes follow closely", ages.len());
            if own_pace { assert!(close > ages.len() / 4, "{close}") } else { assert_eq!(close, 0) }
        }
    }

    #[test]
    fn odd_sizes_have_a_place() {
        for (bytes, piece, count) in [(0, 0, 0), (512, 512, 1), (3 * MIB, MIB, 3), (MIB + 1, MIB, 1)] {
            let division = ArrayDivision { starts: [0; 3], arrays: 1, piece, count };
            let mut visits = Visits::new(bytes);
            for pieces in [0, 1, 1000] {
                assert!(visits.pass(&division, 7, pieces) < count.max(1));
            }
        }
    }
}
