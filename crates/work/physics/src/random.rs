//! Counter-based random numbers: a function of seed, event, stream and position.
//!
//! Philox 4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

const MULTIPLIER: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// One block of Philox 4x32-10: four words that depend on a counter and a key.
#[must_use]
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let ([mut a, mut b, mut c, mut d], mut key) = (counter, key);
    for _ in 0..ROUNDS {
        let left = u64::from(MULTIPLIER[0]) * u64::from(a);
        let right = u64::from(MULTIPLIER[1]) * u64::from(c);
        (a, b, c, d) = (high(right) ^ b ^ key[0], low(right), high(left) ^ d ^ key[1], low(left));
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    [a, b, c, d]
}

const fn high(x: u64) -> u32 {
    (x >> 32) as u32
}

const fn low(x: u64) -> u32 {
    x as u32
}

/// Random numbers of one stream of one event, drawn in order.
#[derive(Debug, Clone)]
pub struct EventRandom {
    key: [u32; 2],
    event: u64,
    stream: u32,
    block: u32,
    words: [u32; 4],
    used: usize,
    spare: Option<f64>,
}

impl EventRandom {
    /// The stream `stream` of an event under a seed.
    #[must_use]
    pub const fn new(seed: u64, event: u64, stream: u32) -> Self {
        Self { key: [low(seed), high(seed)], event, stream, block: 0, words: [0; 4], used: 4, spare: None }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        if self.used == 4 {
            self.words = philox([low(self.event), high(self.event), self.stream, self.block], self.key);
            self.block = self.block.wrapping_add(1);
            self.used = 0;
        }
        let pair = (u64::from(self.words[self.used]) << 32) | u64::from(self.words[self.used + 1]);
        self.used += 2;
        pair
    }

    /// Uniform in the open interval from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// Uniform between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Standard normal (Box and Muller, Annals of Mathematical Statistics 29, 1958).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (2.0 * self.exponential()).sqrt();
        let (sine, cosine) = libm::sincos(std::f64::consts::TAU * self.uniform());
        self.spare = Some(radius * sine);
        radius * cosine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers published with the authors' Random123.
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn moments_of_the_normal() {
        let mut random = EventRandom::new(1, 2, 3);
        let n = 100_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = random.normal();
            sum += x;
            squares += x * x;
        }
        let n = f64::from(n);
        assert!((sum / n).abs() < 0.015 && (squares / n - 1.0).abs() < 0.02);
    }
}
