//! Generated input, the same on every machine, without any library.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Debug, Clone)]
pub(crate) struct SplitMix(u64);

impl SplitMix {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    pub(crate) const fn below(&mut self, end: u64) -> u64 {
        ((self.next() as u128 * end as u128) >> 64) as u64
    }

    /// Uniform from 0 to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A checksum of words in order.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Checksum(u64);

impl Checksum {
    pub(crate) const fn word(&mut self, word: u64) {
        self.0 = mix(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ word);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        for eight in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..eight.len()].copy_from_slice(eight);
            self.word(u64::from_le_bytes(word));
        }
        self.word(bytes.len() as u64);
    }

    /// Adds a number rounded to six digits: a library's floating point may differ in the last bits between machines.
    pub(crate) fn rounded(&mut self, value: f64) {
        self.bytes(format!("{value:.5e}").as_bytes());
    }

    pub(crate) const fn value(self) -> u64 {
        self.0
    }
}

/// Text of words with uneven frequencies, like a natural language.
pub(crate) fn prose(seed: u64, bytes: usize) -> String {
    let mut random = SplitMix::new(seed);
    let words: Vec<String> = (0..4000)
        .map(|_| {
            let length = 2 + random.below(9);
            (0..length)
                .map(|_| char::from(b"etaoinshrdlucmfwypvbgkqjxz"[(random.below(26).min(random.below(26))) as usize]))
                .collect()
        })
        .collect();
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        // A product of two uniform draws favours words at the head of the list, roughly by Zipf's law.
        let at = random.below(4000) * random.below(4000) / 4000;
        text.push_str(&words[at as usize]);
        match random.below(40) {
            0 => text.push_str(". "),
            1 => text.push_str(",\n"),
            2 => text.push_str(&format!(
                " {}-{:02}-{:02} ",
                1990 + random.below(40),
                1 + random.below(12),
                1 + random.below(28)
            )),
            3 => text.push_str(&format!(" user{}@host{}.example.org ", random.below(1000), random.below(50))),
            _ => text.push(' '),
        }
    }
    text.truncate(bytes);
    text
}
