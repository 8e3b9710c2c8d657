//! Every streaming kernel of this CPU against a plain reference, at unaligned lengths and offsets, and its declared
//! bytes against those that affect something.

use kernels::stream::{self, Stores, StreamKind, Variant, Width};

const LENGTHS: [usize; 16] = [0, 1, 2, 7, 8, 9, 31, 63, 64, 65, 100, 255, 257, 512, 1000, 2053];
const Q: f64 = 3.0;

fn numbers(n: usize, salt: u64) -> Vec<f64> {
    (0..n as u64).map(|i| ((i * 37 + salt) % 1009 + 1) as f64).collect()
}

fn every_variant() -> impl Iterator<Item = &'static Variant> {
    StreamKind::ALL.into_iter().flat_map(stream::variants)
}

#[test]
fn every_variant_computes_what_a_plain_loop_does() {
    for variant in every_variant() {
        for n in LENGTHS {
            for offset in [0, 1, 3, 7] {
                agrees(variant, n, offset);
            }
        }
    }
}

fn agrees(variant: &Variant, n: usize, offset: usize) {
    let place = format!("{:?} {} of {n} from {offset}", variant.kind, variant.name);
    let (b, c) = (numbers(n + 2 * offset, 5), numbers(n + offset, 11));
    let (b, c) = (&b[2 * offset..], &c[offset..]);
    let mut a = vec![-1.0; n + offset + 8];
    let sum = variant.run(&mut a[offset..offset + n], b, c, Q, 3);
    assert_eq!(sum, variant.expected_sum(b, 3), "{place}");
    for i in 0..n {
        let expected = variant.kind.value(b[i], c[i], Q).unwrap_or(-1.0);
        assert_eq!(a[offset + i].to_bits(), expected.to_bits(), "{place}, element {i}");
    }
    assert!(a[..offset].iter().chain(&a[offset + n..]).all(|x| *x == -1.0), "{place} wrote outside its slice");
}

/// Arrays shorter than an iteration must make every pass. No machine makes ten a nanosecond, and noise only adds time.
#[test]
fn what_no_iteration_covers_is_walked_in_every_pass() {
    const PASSES: usize = 1_000_000;
    for variant in every_variant() {
        let (mut a, b, c) = ([0.0; 7], [1.0; 7], [2.0; 7]);
        let began = std::time::Instant::now();
        std::hint::black_box(variant.run(&mut a, &b, &c, Q, PASSES));
        let nanos = began.elapsed().as_nanos();
        assert!(nanos > PASSES as u128 / 10, "{:?} {}: {PASSES} passes in {nanos} ns", variant.kind, variant.name);
    }
}

#[test]
fn unused_slices_may_be_empty_and_no_pass_does_nothing() {
    for variant in every_variant() {
        let n = 777;
        let mut a = if variant.kind.writes() { vec![-1.0; n] } else { Vec::new() };
        let b = if variant.kind.inputs() > 0 { numbers(n, 1) } else { Vec::new() };
        let c = if variant.kind.inputs() > 1 { numbers(n, 2) } else { Vec::new() };
        assert_eq!(variant.run(&mut a, &b, &c, Q, 0), 0, "{:?} {}", variant.kind, variant.name);
        assert!(a.iter().all(|x| *x == -1.0), "{:?} {}", variant.kind, variant.name);
        assert_eq!(variant.run(&mut a, &b, &c, Q, 1), variant.expected_sum(&b, 1));
        assert!(a.iter().all(|x| *x != -1.0), "{:?} {}", variant.kind, variant.name);
    }
}

/// A double is read if changing it changes the result, and written if its previous value is replaced.
#[test]
fn declared_bytes_are_the_bytes_that_matter() {
    let n = 512;
    for variant in every_variant() {
        let iterations = n as u64 / variant.iteration.elements;
        let (b, c) = (numbers(n, 1), numbers(n, 2));
        let mut a = vec![f64::NAN; n];
        let sum = variant.run(&mut a, &b, &c, Q, 1);
        let written = 8 * a.iter().filter(|x| !x.is_nan()).count() as u64;
        assert_eq!(written, iterations * variant.iteration.bytes_written, "{:?} {}", variant.kind, variant.name);

        let mut read = 0;
        for changed in 0..2 * n {
            let mut inputs = [b.clone(), c.clone()];
            inputs[changed / n][changed % n] += 4096.0;
            let mut again = vec![f64::NAN; n];
            let sum_again = variant.run(&mut again, &inputs[0], &inputs[1], Q, 1);
            if sum != sum_again || a.iter().zip(&again).any(|(x, y)| x.to_bits() != y.to_bits() && !x.is_nan()) {
                read += 8;
            }
        }
        assert_eq!(read, iterations * variant.iteration.bytes_read, "{:?} {}", variant.kind, variant.name);
    }
}

#[test]
fn a_fault_in_one_element_shows_in_the_sum() {
    for variant in stream::variants(StreamKind::Read) {
        let mut b = numbers(4096, 3);
        let whole = variant.run(&mut [], &b, &[], Q, 1);
        assert_eq!(whole, variant.expected_sum(&b, 1));
        b[2049] += 1.0;
        assert_ne!(whole, variant.expected_sum(&b, 1), "{}", variant.name);
    }
}

#[test]
fn the_table_is_consistent() {
    for kind in StreamKind::ALL {
        let mut names: Vec<_> = stream::all(kind).map(|variant| variant.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{kind:?} has a name twice");
        assert!(stream::find(kind, Width::Compiled, Stores::Normal, 1).is_some(), "{kind:?} has no portable form");
        assert!(stream::candidates(kind).count() >= 1);
        assert!(stream::candidates(kind).all(Variant::is_available));
        for variant in stream::all(kind) {
            let doubles = 8 * variant.iteration.elements;
            assert_eq!(variant.iteration.bytes_read, doubles * kind.inputs() as u64, "{}", variant.name);
            assert_eq!(variant.iteration.bytes_written, if kind.writes() { doubles } else { 0 }, "{}", variant.name);
            assert_eq!(variant.iteration.flops, kind.flops() * variant.iteration.elements, "{}", variant.name);
        }
    }
}

#[test]
#[should_panic(expected = "c has 3 elements where 4 are needed")]
fn unequal_slices_are_refused() {
    stream::variants(StreamKind::Add).for_each(|variant| {
        variant.run(&mut [0.0; 4], &[0.0; 4], &[0.0; 3], Q, 1);
    });
}
