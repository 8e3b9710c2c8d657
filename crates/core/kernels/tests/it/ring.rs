//! The pointer chase ends where the formula predicts, and the buffer contains one full cycle.

use kernels::memory::PreparationHelpers;
use kernels::ring::{CHAINS, ChasePattern, ChaseRing};

const ORDERS: [ChasePattern; 6] = [
    ChasePattern::Random,
    ChasePattern::Strided(8),
    ChasePattern::Strided(128),
    ChasePattern::Strided(4096),
    ChasePattern::PageLocal(4096),
    ChasePattern::PageRandom(4096),
];

fn buffer(words: usize) -> Box<[u64]> {
    vec![0; words].into_boxed_slice()
}

#[test]
fn the_pointers_in_memory_form_one_cycle() {
    for order in ORDERS {
        let mut words = buffer(9 * 512 + 13);
        let (lap, start) = {
            let ring = ChaseRing::new(&mut words[..], order, 42).unwrap();
            (ring.lap(), ring.position())
        };
        let base = words.as_ptr().addr() as u64;
        let mut at = start;
        for step in 1..=lap {
            at = (words[usize::try_from(at).unwrap()] - base) / 8;
            assert_eq!(at == start, step == lap, "{order:?}: the walk closes after {step} steps, not {lap}");
        }
    }
}

#[test]
fn a_chase_arrives_where_the_formula_says() {
    for order in ORDERS {
        let mut ring = ChaseRing::new(buffer(8 * 512), order, 7).unwrap();
        for steps in [0, 1, 2, 15, 16, 17, 31, 1000, ring.lap() - 1, ring.lap(), 3 * ring.lap() + 5] {
            let from = ring.position();
            let arrived = ring.chase(steps);
            assert_eq!(Some(arrived), ring.position_after(from, steps), "{order:?}, {steps} steps");
            assert_eq!(arrived, ring.position());
        }
    }
}

#[test]
fn helpers_write_the_same_cycle_and_visit_all_of_it() {
    let allowed = kernels::affinity::allowed().unwrap();
    let helpers = PreparationHelpers::near(allowed[0], &allowed);
    for order in [ChasePattern::Random, ChasePattern::Strided(128), ChasePattern::PageRandom(4096)] {
        // A ring with more than one part for every thread, and an incomplete last part.
        let (mut alone, mut together) = (buffer((5 << 20) + 8 * 77), buffer((5 << 20) + 8 * 77));
        ChaseRing::new(&mut alone[..], order, 5).unwrap();
        let mut ring = ChaseRing::written_by(&mut together[..], order, 5, &helpers).unwrap();
        let (from, lap) = (ring.chase(12_345), ring.lap());
        let visited = ring.visit(&helpers);
        assert!((lap..lap + lap / 8).contains(&visited), "{order:?}: {visited} of {lap}");
        assert_eq!(ring.position(), from, "{order:?}");
        let (one, other) = (alone.as_ptr().addr() as u64, together.as_ptr().addr() as u64);
        let relative = |word: &u64, base: u64| if *word == 0 { u64::MAX } else { word - base };
        let same = alone.iter().zip(&together).all(|(a, b)| relative(a, one) == relative(b, other));
        assert!(same, "{order:?}");
    }
}

#[test]
fn parallel_chains_each_arrive() {
    for chains in 1..=CHAINS {
        let mut ring = ChaseRing::new(buffer(4 * 512), ChasePattern::Random, 7).unwrap();
        let starts = ring.starts(chains);
        assert_eq!(starts.len(), chains);
        let mut at = starts.clone();
        ring.chase_parallel(&mut at, 1001);
        for (from, arrived) in starts.iter().zip(at) {
            assert_eq!(Some(arrived), ring.position_after(*from, 1001), "{chains} chains");
        }
    }
}

#[test]
fn moving_the_ring_does_not_move_the_cycle() {
    let ring = ChaseRing::new(buffer(512), ChasePattern::Random, 1).unwrap();
    let mut ring = *Box::new(ring);
    let from = ring.position();
    assert_eq!(Some(ring.chase(100)), ring.position_after(from, 100));
}

#[test]
fn an_arena_does_as_well() {
    let arena = kernels::memory::Arena::reserve(1 << 16, kernels::memory::Pages::Base).unwrap();
    let mut ring = ChaseRing::new(arena, ChasePattern::PageRandom(4096), 5).unwrap();
    let from = ring.position();
    assert_eq!(Some(ring.chase(500)), ring.position_after(from, 500));
}

#[test]
fn a_borrowed_buffer_does_as_well() {
    let mut words = vec![0; 1024];
    let mut ring = ChaseRing::new(words.as_mut_slice(), ChasePattern::Strided(64), 0).unwrap();
    assert_eq!(ring.chase(3), 24);
    assert_eq!(ring.lap(), 128);
}

#[test]
fn a_word_outside_the_cycle_has_no_position() {
    let ring = ChaseRing::new(buffer(512), ChasePattern::Random, 1).unwrap();
    assert_eq!(ring.position_after(3, 1), None);
    assert_eq!(ring.position_after(512, 1), None);
    assert_eq!(ring.position_after(u64::MAX, 1), None);
}

#[test]
#[should_panic(expected = "is no cell of the cycle")]
fn a_chain_from_nowhere_is_refused() {
    ChaseRing::new(buffer(512), ChasePattern::Random, 1).unwrap().chase_parallel(&mut [1], 1);
}

#[test]
#[should_panic(expected = "not 17")]
fn too_many_chains_are_refused() {
    ChaseRing::new(buffer(512), ChasePattern::Strided(8), 1).unwrap().chase_parallel(&mut [0; 17], 1);
}

#[test]
fn too_small_a_buffer_is_refused() {
    assert!(ChaseRing::new(buffer(8), ChasePattern::Random, 1).is_none());
    assert!(ChaseRing::new(buffer(0), ChasePattern::Strided(8), 1).is_none());
}
