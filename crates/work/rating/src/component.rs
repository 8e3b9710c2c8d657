//! The frozen table of components: names, checksums, reference times.

use crate::floating::{dynamics, gradient, nbody, nuclear, ray, stencil};
use crate::integer::{compress, database, json, search, sort};
use crate::work::RatingWork;

/// A frozen set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatingSet {
    /// Integer work.
    Int1,
    /// Floating point.
    Fp1,
}

/// The sets.
pub const SETS: [RatingSet; 2] = [RatingSet::Int1, RatingSet::Fp1];

impl RatingSet {
    /// Its name; any change of the set gets a new one.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int1 => "int-1",
            Self::Fp1 => "fp-1",
        }
    }

    /// Its name in ids of results.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Int1 => "int_1",
            Self::Fp1 => "fp_1",
        }
    }

    /// Its components.
    pub fn components(self) -> impl Iterator<Item = &'static Component> {
        COMPONENTS.iter().filter(move |component| component.set == self)
    }
}

/// One component of a set.
#[derive(Debug)]
pub struct Component {
    /// Its set.
    pub set: RatingSet,
    /// Its name.
    pub name: &'static str,
    /// Its work and library.
    pub about: &'static str,
    /// The benchmark of other suites that it corresponds to.
    pub stands_for: &'static str,
    /// Makes its input; not part of the timed work.
    pub make: fn() -> Box<dyn RatingWork>,
    /// Checksum of its output.
    pub checksum: u64,
    /// Time on the reference machine, seconds.
    pub reference: f64,
}

/// The machine of the reference times. It has rating 1 by definition, so it only sets the scale.
pub const REFERENCE_MACHINE: &str =
    "Intel Xeon (family 6, model 167, 2.6 GHz nominal), 2 CPUs as a KVM guest, one copy, rustc 1.95.0, 2026-11-21";

/// The compiler that built the components, the profile and the target: a rating is of a machine and its compiler
/// together.
pub const BUILD: &str = env!("RATING_BUILD");

/// Whether this is an optimised build; a debug build is several times slower and must not be rated.
#[must_use]
pub const fn optimised() -> bool {
    !cfg!(debug_assertions)
}

const fn integer(
    name: &'static str,
    about: &'static str,
    stands_for: &'static str,
    make: fn() -> Box<dyn RatingWork>,
    checksum: u64,
    reference: f64,
) -> Component {
    Component { set: RatingSet::Int1, name, about, stands_for, make, checksum, reference }
}

const fn floating(
    name: &'static str,
    about: &'static str,
    stands_for: &'static str,
    make: fn() -> Box<dyn RatingWork>,
    checksum: u64,
    reference: f64,
) -> Component {
    Component { set: RatingSet::Fp1, name, about, stands_for, make, checksum, reference }
}

/// Every component of every set.
pub static COMPONENTS: &[Component] = &[
    integer("zstd", "zstd level 9 and back, 6 MB of text", "xz", compress::Zstd::make, 0x1f5a_333f_38e3_428f, 0.1512),
    integer(
        "zlib",
        "zlib level 6 and back in pure Rust, 5 MB of text",
        "bzip2",
        compress::Zlib::make,
        0xa829_3d40_7a77_9441,
        0.1299,
    ),
    integer(
        "regex",
        "six expressions over 12 MB of text, twice",
        "perlbench",
        search::Search::make,
        0x434d_30d6_b071_0435,
        0.1489,
    ),
    integer(
        "json",
        "JSON parsed, changed and printed",
        "xalancbmk",
        json::JsonComponent::make,
        0x6c0a_d7a2_616a_3533,
        0.1189,
    ),
    integer(
        "sqlite",
        "SQLite in memory: rows, index, joins",
        "database",
        database::Database::make,
        0x8b23_11a1_952d_6c6c,
        0.1309,
    ),
    integer(
        "sort",
        "sorting, and a B-tree under changes (std)",
        "sorting",
        sort::SortComponent::make,
        0x1fa2_ea0a_d20b_ea56,
        0.2335,
    ),
    floating("nbody", "gravity of 1500 bodies, all pairs", "namd", nbody::Bodies::make, 0x3428_759f_fd61_b966, 0.1373),
    floating("ray", "spheres and their reflections, traced", "povray", ray::Scene::make, 0x222a_27e6_354c_2275, 0.1567),
    floating("stencil", "5-point stencil on 1024 x 1024", "lbm", stencil::Stencil::make, 0x1a6e_ed8d_f7d1_2b3a, 0.1463),
    floating(
        "gradient",
        "conjugate gradient on a sparse grid",
        "parest",
        gradient::Gradient::make,
        0xd028_8365_6ea6_bf5e,
        0.1246,
    ),
    floating(
        "montecarlo",
        "sines, logarithms and exponentials of random numbers (libm)",
        "nab",
        nuclear::MonteCarlo::make,
        0xf0b8_2d81_a4d3_e9c6,
        0.1434,
    ),
    floating(
        "dynamics",
        "Lennard-Jones molecular dynamics with cells",
        "namd",
        dynamics::Dynamics::make,
        0x8482_6dd4_62a2_bcb8,
        0.1746,
    ),
];

/// A component by name.
#[must_use]
pub fn component(name: &str) -> Option<&'static Component> {
    COMPONENTS.iter().find(|component| component.name == name)
}
