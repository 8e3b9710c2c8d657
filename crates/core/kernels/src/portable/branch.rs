//! The data-dependent branch in Rust; the call prevents the compiler from turning it into arithmetic.

/// One of several copies. The bytes must not be empty.
#[inline(never)]
pub(crate) fn count_odd<const COPY: usize>(bytes: &[u8]) -> u64 {
    let mut odd = 0;
    for byte in bytes {
        if byte & 1 == 1 {
            odd = std::hint::black_box(odd + 1);
        }
    }
    odd
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts_as_the_native_one_does() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(super::count_odd::<0>(&bytes), 128);
        assert_eq!(super::count_odd::<1>(&bytes[..7]), crate::native::branch::count_odd::<1>(&bytes[..7]));
    }
}
