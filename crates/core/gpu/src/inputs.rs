//! Inputs whose contents decide what a kernel touches: they are made here, and checked.

use crate::{Buffer, Device, Error, Launch, kernel};

/// A closed chain of addresses in the memory of a device.
pub struct Ring {
    memory: Buffer,
    out: Buffer,
}

impl Ring {
    /// A chain from place to place, `stride` bytes apart, that visits all `order.len()` places in that order.
    ///
    /// # Errors
    /// When a place is beyond the memory, or there is too little memory.
    pub fn new(device: &Device, stride: usize, order: &[u32]) -> Result<Self, Error> {
        let places = order.len();
        if order.iter().any(|place| *place as usize >= places)
            || places == 0
            || !stride.is_multiple_of(8)
            || stride == 0
        {
            return Err(Error::new("the chain leaves its memory"));
        }
        let mut words = vec![0_u8; places * stride];
        for (at, place) in order.iter().enumerate() {
            let next = order[(at + 1) % places] as usize * stride;
            words[*place as usize * stride..][..8].copy_from_slice(&(next as u64).to_le_bytes());
        }
        let (memory, out) = (device.buffer(words.len())?, device.poisoned(16, 0xa5)?);
        memory.write(&words)?;
        let link = Launch {
            kernel: kernel("link"),
            blocks: 256,
            threads: 64,
            buffers: &[&memory],
            scalars: &[(words.len() / 8) as u64],
        };
        device.timed(&link, 1)?;
        Ok(Self { memory, out })
    }

    /// Follows `steps` addresses, a multiple of 8, from the first place of memory on. Returns the seconds and the clock
    /// cycles (0 if unknown), and the offset of the last place.
    ///
    /// # Errors
    /// When the device failed.
    pub fn follow(&self, device: &Device, steps: u64) -> Result<(f64, u64, u64), Error> {
        self.out.write(&[0xa5; 16])?;
        let buffers = [&self.memory, &self.out];
        let launch = Launch { kernel: kernel("chase"), blocks: 1, threads: 1, buffers: &buffers, scalars: &[steps] };
        let seconds = device.guarded(&launch, 1)?;
        let out = self.out.words(0, 2)?;
        Ok((seconds, out[1], out[0]))
    }
}

/// Tracks to fit: their hits and first guesses, in the memory of a device.
pub struct Tracks {
    hits: Buffer,
    first: Buffer,
    guess: Buffer,
    out: Buffer,
    count: usize,
}

impl Tracks {
    /// Of hits (x, y, signed drift), the index of the first hit of each track and the end, and a guess of each track
    /// (curvature, phi, d0).
    ///
    /// # Errors
    /// When the indices are not those of the hits, or there is too little memory.
    pub fn new(device: &Device, hits: &[[f64; 3]], first: &[u64], guess: &[[f64; 3]]) -> Result<Self, Error> {
        let ordered = first.windows(2).all(|two| two[0] <= two[1]);
        if !ordered || first.len() != guess.len() + 1 || first.last() != Some(&(hits.len() as u64)) {
            return Err(Error::new("the hits of the tracks are not those that there are"));
        }
        let bytes = |words: &mut dyn Iterator<Item = u64>| words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
        let of = |bytes: Vec<u8>| device.buffer(bytes.len()).and_then(|buffer| buffer.write(&bytes).map(|()| buffer));
        Ok(Self {
            hits: of(bytes(&mut hits.as_flattened().iter().map(|x| x.to_bits())))?,
            first: of(bytes(&mut first.iter().copied()))?,
            guess: of(bytes(&mut guess.as_flattened().iter().map(|x| x.to_bits())))?,
            out: device.buffer(32 * guess.len())?,
            count: guess.len(),
        })
    }

    /// Fits all tracks `times` times. Returns the seconds, and curvature, phi, d0 and chi-square of each.
    ///
    /// # Errors
    /// When the device failed.
    pub fn fit(&self, device: &Device, times: u32) -> Result<(f64, Vec<[f64; 4]>), Error> {
        self.out.write(&vec![0xa5; 32 * self.count])?;
        let blocks = u32::try_from(self.count.div_ceil(64)).unwrap_or(u32::MAX);
        let buffers = [&self.hits, &self.first, &self.guess, &self.out];
        let launch =
            Launch { kernel: kernel("fit"), blocks, threads: 64, buffers: &buffers, scalars: &[self.count as u64] };
        let seconds = device.guarded(&launch, times)?;
        let words = self.out.words(0, 4 * self.count)?;
        Ok((seconds, words.as_chunks::<4>().0.iter().map(|track| track.map(f64::from_bits)).collect()))
    }
}
