//! Rates of the streaming kernels, variants in alternation: for tuning them, not for reports.
//!
//! `bandwidth [MiB per array] [threads] [base|huge|system] [rounds] [part of a name]` prints GB/s of payload: median,
//! best and mean (bytes over time) of the rounds.

#![expect(clippy::print_stdout, reason = "a program for people")]

use std::sync::Barrier;
use std::thread;

use kernels::memory::{Arena, Pages};
use kernels::stream::{self, StreamKind, Variant};

/// Bytes of one piece of the walk.
const PIECE: usize = 1 << 20;

struct Wish {
    bytes: usize,
    threads: usize,
    pages: Pages,
    rounds: usize,
    part: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |place: usize, default: &str| words.get(place).map_or(default, String::as_str).to_owned();
    let wish = Wish {
        bytes: word(0, "256").parse::<usize>()? << 20,
        threads: word(1, "1").parse()?,
        pages: word(2, "base").parse()?,
        rounds: word(3, "5").parse()?,
        part: word(4, ""),
    };
    let cpus = kernels::affinity::allowed()?;
    let barrier = Barrier::new(wish.threads);
    let rates = thread::scope(|scope| {
        let workers: Vec<_> =
            cpus.iter().take(wish.threads).map(|cpu| scope.spawn(|| work(*cpu, &wish, &barrier))).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect::<Result<Vec<_>, _>>()
    })?;
    for (place, (variant, _)) in rates[0].iter().enumerate() {
        let mut total: Vec<f64> =
            (0..wish.rounds).map(|round| rates.iter().map(|thread| thread[place].1[round]).sum()).collect();
        total.sort_unstable_by(f64::total_cmp);
        let (middle, best) = (total[total.len() / 2], total[total.len() - 1]);
        let mean = total.len() as f64 / total.iter().map(|rate| rate.recip()).sum::<f64>();
        println!("{:?} {:24} {middle:6.2} {best:6.2} {mean:6.2}", variant.kind, variant.name);
    }
    Ok(())
}

type VariantRates = Vec<(&'static Variant, Vec<f64>)>;

fn work(cpu: usize, wish: &Wish, barrier: &Barrier) -> kernels::Result<VariantRates> {
    kernels::affinity::pin(&[cpu])?;
    let mut arrays = [(); 3].map(|()| Arena::populated(wish.bytes, wish.pages));
    for array in arrays.iter_mut().flatten() {
        array.doubles_mut().fill(1.0);
    }
    let [a, b, c] = arrays;
    let (mut a, b, c) = (a?, b?, c?);
    let mut rates: VariantRates = StreamKind::ALL
        .into_iter()
        .flat_map(stream::variants)
        .filter(|variant| format!("{:?} {}", variant.kind, variant.name).contains(&wish.part))
        .map(|variant| (variant, Vec::new()))
        .collect();
    for _ in 0..wish.rounds {
        for (variant, rates) in &mut rates {
            barrier.wait();
            let start = kernels::clock::now();
            let pieces = a.doubles_mut().chunks_mut(PIECE / 8).zip(b.doubles().chunks(PIECE / 8));
            for ((a, b), c) in pieces.zip(c.doubles().chunks(PIECE / 8)) {
                std::hint::black_box(variant.run(a, b, c, 3.0, 1));
            }
            let nanos = kernels::clock::now() - start;
            let bytes = variant.iteration.bytes() * (wish.bytes / 8) as u64 / variant.iteration.elements;
            rates.push(bytes as f64 / nanos as f64);
        }
    }
    Ok(rates)
}
