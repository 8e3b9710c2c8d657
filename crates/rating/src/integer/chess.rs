//! Chess: every legal game of so many moves is counted (perft). The counts are published.

use cozy_chess::Board;

use crate::input::Checksum;
use crate::work::RatingWork;

/// "Kiwipete", a position rich in castling, captures and pins; 193,690,690 games of 5 moves, 4,085,603 of 4.
const POSITION: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
/// Moves from the starting position: 4,865,609 games of 5.
const FROM_START: u8 = 5;

pub(crate) struct Chess(Vec<(Board, u8)>);

impl Chess {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut positions = vec![(Board::default(), FROM_START)];
        positions.extend(Board::from_fen(POSITION, false).ok().map(|board| (board, 4)));
        Box::new(Self(positions))
    }
}

impl RatingWork for Chess {
    fn run(&mut self) -> Result<u64, String> {
        let mut sum = Checksum::default();
        for (board, depth) in &self.0 {
            sum.word(games(board, *depth));
        }
        Ok(sum.value())
    }
}

fn games(board: &Board, depth: u8) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut count = 0;
    board.generate_moves(|moves| {
        for step in moves {
            let mut next = board.clone();
            next.play_unchecked(step);
            count += games(&next, depth - 1);
        }
        false
    });
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_counts() {
        assert_eq!(games(&Board::default(), 3), 8902);
        assert_eq!(games(&Board::default(), 4), 197_281);
        assert_eq!(games(&Board::from_fen(POSITION, false).unwrap(), 3), 97_862);
    }
}
