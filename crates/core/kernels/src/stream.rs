//! All streaming kernels of this program, and the choice among them.

use super::portable;

pub use super::stream_variant::{Stores, StreamKind, Variant, Width};

/// All variants of a kind in this program, whether or not this CPU has the instructions.
pub fn all(kind: StreamKind) -> impl Iterator<Item = &'static Variant> {
    portable::stream::VARIANTS.iter().chain(native()).filter(move |variant| variant.kind == kind)
}

/// All variants of a kind that can run here.
pub fn variants(kind: StreamKind) -> impl Iterator<Item = &'static Variant> {
    all(kind).filter(|variant| variant.is_available())
}

/// The few variants that are worth a brief trial: the two widest registers (wider is not always faster), each kind of
/// store, one stream and four.
pub fn candidates(kind: StreamKind) -> impl Iterator<Item = &'static Variant> {
    let mut widths: Vec<Width> = variants(kind).map(|variant| variant.width).collect();
    widths.sort_unstable();
    widths.dedup();
    let least = widths[widths.len().saturating_sub(2)];
    variants(kind).filter(move |variant| variant.width >= least)
}

/// The variant of a kind with these properties, if it can run here.
#[must_use]
pub fn find(kind: StreamKind, width: Width, stores: Stores, streams: usize) -> Option<&'static Variant> {
    variants(kind).find(|v| v.width == width && v.stores == stores && v.streams == streams)
}

#[cfg(target_arch = "x86_64")]
fn native() -> impl Iterator<Item = &'static Variant> {
    super::native::stream::VARIANTS.iter().flat_map(|family| family.iter())
}

#[cfg(target_arch = "aarch64")]
fn native() -> impl Iterator<Item = &'static Variant> {
    super::native::stream::VARIANTS.iter().flat_map(|set| set.iter()).flat_map(|family| family.iter())
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn native() -> impl Iterator<Item = &'static Variant> {
    std::iter::empty()
}
