//! The tower of Hanoi by recursion, as in the BYTE benchmark: a call for every move and for every part of the problem.

use std::hint::black_box;

use super::LoopCost;

/// The three pegs, by the number of discs on each.
pub type Pegs = [i64; 3];

/// One solution: `ops` are the moves, 2^discs - 1, each of which changes three counts in memory. The calls are
/// 3 * 2^(discs - 1) - 2.
#[must_use]
pub const fn declared(discs: u32) -> LoopCost {
    let moves = (1_u64 << discs) - 1;
    LoopCost {
        elements: 1,
        ops: moves,
        loads: 3 * moves,
        stores: 3 * moves,
        bytes_read: 24 * moves,
        bytes_written: 24 * moves,
        flops: 0,
    }
}

/// Moves `discs` discs (at most 62) from the first peg to the second, `times` times, back and forth. Returns the pegs;
/// they start with `discs` on the first. The number of moves is added to `moves`.
#[must_use]
pub fn solve(discs: u32, times: u64, moves: &mut u64) -> Pegs {
    let mut tower = Tower { pegs: [i64::from(discs), 0, 0], moves: 0 };
    if discs > 0 {
        for time in 0..times {
            let (from, to) = if time % 2 == 0 { (0, 1) } else { (1, 0) };
            shift(&mut tower, discs, from, to);
        }
    }
    *moves += tower.moves;
    tower.pegs
}

/// Expected result of [`solve`].
#[must_use]
pub fn expected(discs: u32, times: u64) -> (Pegs, u64) {
    let mut pegs = [0; 3];
    pegs[usize::from(times % 2 == 1)] = i64::from(discs);
    (pegs, times.wrapping_mul(declared(discs).ops))
}

struct Tower {
    pegs: Pegs,
    moves: u64,
}

/// One part of the problem. Code after the last call prevents the compiler from turning the call into a jump.
#[inline(never)]
fn shift(tower: &mut Tower, discs: u32, from: usize, to: usize) {
    if discs == 1 {
        tower.pegs[from] -= 1;
        tower.pegs[to] += 1;
        tower.moves += 1;
        return;
    }
    let other = 3 - from - to;
    shift(tower, discs - 1, from, other);
    shift(tower, 1, from, to);
    shift(tower, discs - 1, other, to);
    black_box(());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn towers_arrive_in_the_known_number_of_moves() {
        for discs in 0..=12 {
            for times in 0..4 {
                let mut moves = 0;
                let pegs = solve(discs, times, &mut moves);
                assert_eq!((pegs, moves), expected(discs, times), "{discs} discs, {times} times");
            }
        }
        assert_eq!(expected(10, 1), ([0, 10, 0], 1023));
    }
}
