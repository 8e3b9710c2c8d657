//! One round of AES encryption, FIPS 197 section 5.1, from a table of the combined SubBytes and MixColumns.

/// Doubling in the field of AES.
const fn double(x: u8) -> u8 {
    (x << 1) ^ (if x & 0x80 != 0 { 0x1b } else { 0 })
}

/// The substitution box: the inverse in the field, then an affine map (FIPS 197, 5.1.1).
const SBOX: [u8; 256] = {
    let mut table = [0; 256];
    // p runs through all powers of 3, q through those of its inverse.
    let (mut p, mut q) = (1_u8, 1_u8);
    loop {
        p ^= double(p);
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        if q & 0x80 != 0 {
            q ^= 0x09;
        }
        let x = q ^ q.rotate_left(1) ^ q.rotate_left(2) ^ q.rotate_left(3) ^ q.rotate_left(4);
        table[p as usize] = x ^ 0x63;
        if p == 1 {
            break;
        }
    }
    table[0] = 0x63;
    table
};

/// Contribution of a byte of the first row to its column.
const COLUMN: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let s = SBOX[byte];
        table[byte] = u32::from_le_bytes([double(s), s, s, double(s) ^ s]);
        byte += 1;
    }
    table
};

/// SubBytes, ShiftRows, MixColumns, then the key added, as `aesenc` does. Byte 0 is the least significant.
pub(crate) fn round(state: u128, key: u128) -> u128 {
    let bytes = state.to_le_bytes();
    let mut next = 0;
    for column in 0..4 {
        let mut word = 0;
        for row in 0..4 {
            word ^= COLUMN[usize::from(bytes[(4 * (column + row) + row) % 16])].rotate_left(8 * row as u32);
        }
        next |= u128::from(word) << (32 * column);
    }
    next ^ key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_published_example() {
        // FIPS 197, appendix B: the state at the start of round 1, the round key, and the state at the start of round
        // 2.
        let state = |text: [u32; 4]| text.iter().rev().fold(0, |all, word| (all << 32) | u128::from(word.swap_bytes()));
        let start = state([0x193d_e3be, 0xa0f4_e22b, 0x9ac6_8d2a, 0xe9f8_4808]);
        let key = state([0xa0fa_fe17, 0x8854_2cb1, 0x23a3_3939, 0x2a6c_7605]);
        assert_eq!(round(start, key), state([0xa49c_7ff2, 0x689f_352b, 0x6b5b_ea43, 0x026a_5049]));
    }
}
