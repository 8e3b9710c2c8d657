//! The compression function of SHA-256, FIPS 180-4 section 6.2.2.

/// The first thirty-two bits of the fractional parts of the square roots of the first eight primes (5.3.3).
pub(crate) const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The same of the cube roots of the first sixty-four primes (4.2.2).
#[rustfmt::skip]
pub(crate) const ROUND: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// The hash value after one more block; the block is sixteen big-endian words, already read.
pub(crate) fn compress(hash: [u32; 8], block: [u32; 16]) -> [u32; 8] {
    let mut schedule = [0_u32; 64];
    schedule[..16].copy_from_slice(&block);
    for t in 16..64 {
        let (x, y) = (schedule[t - 15], schedule[t - 2]);
        let near = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
        let far = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
        schedule[t] = far.wrapping_add(schedule[t - 7]).wrapping_add(near).wrapping_add(schedule[t - 16]);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = hash;
    for (word, constant) in schedule.iter().zip(ROUND) {
        let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let one = h.wrapping_add(sum).wrapping_add(choice).wrapping_add(constant).wrapping_add(*word);
        let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let two = sum.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(two));
    }
    let last = [a, b, c, d, e, f, g, h];
    std::array::from_fn(|i| hash[i].wrapping_add(last[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "abc", padded to a block (FIPS 180-4, 5.1.1), and its digest (the example of FIPS 180-2, appendix B.1).
    const ABC: [u32; 16] = [0x6162_6380, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24];
    const DIGEST: [u32; 8] =
        [0xba78_16bf, 0x8f01_cfea, 0x4141_40de, 0x5dae_2223, 0xb003_61a3, 0x9617_7a9c, 0xb410_ff61, 0xf200_15ad];

    #[test]
    fn agrees_with_the_published_digest() {
        assert_eq!(compress(START, ABC), DIGEST);
    }
}
