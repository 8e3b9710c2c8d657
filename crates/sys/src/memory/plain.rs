//! Types for which all bytes are valid and that have no padding: the element types of an arena.

mod sealed {
    pub trait SealedPlain {}
}

/// An integer or floating-point number: every pattern of bits is a value. Implemented for these only.
pub trait Plain: sealed::SealedPlain + Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($number:ty)*) => { $(
        impl sealed::SealedPlain for $number {}
        impl Plain for $number {}
    )* };
}

plain!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);
