//! Bremsstrahlung, pair production and Compton scattering.
//!
//! Bremsstrahlung in the limit of complete screening (Tsai, Reviews of Modern Physics 46 (1974) 815; Particle Data
//! Group, 2022, equation 34.29), where the spectrum depends on the share of the energy alone. Pair production with that
//! limit's spectrum (34.31) and the smaller of two rates. One is that of complete screening, a pair in 9/7 of a
//! radiation length on average. The other is that without screening, which holds at low energies (Heitler, The quantum
//! theory of radiation, 1954). Between the two, about 50 to 200 MeV in lead, both are too high by up to a quarter.
//! Compton scattering by Klein and Nishina (Zeitschrift fuer Physik 52 (1929) 853).

use super::loss::CUT;
use super::particle::ELECTRON_MASS;
use crate::random::EventRandom;

/// Pairs that a photon makes for each radiation length in the limit of complete screening.
const PAIRS: f64 = 7.0 / 9.0;
/// `2 pi` times the squared classical radius of the electron times Avogadro's number, cm^2/mol.
const COMPTON: f64 = 0.300_466;

/// Pairs that a photon of an energy, MeV, makes for each radiation length of a material with this atomic number.
pub(crate) fn pairs(energy: f64, atomic_number: f64) -> f64 {
    if energy <= 2.0 * ELECTRON_MASS {
        return 0.0;
    }
    let bare = PAIRS * libm::log(2.0 * energy / ELECTRON_MASS) - 109.0 / 54.0;
    let screened = PAIRS * libm::log(183.0 / libm::cbrt(atomic_number)) - 1.0 / 54.0;
    PAIRS * (bare / screened).clamp(0.0, 1.0)
}

/// Photons above the cut that an electron of a total energy, MeV, radiates for each radiation length.
pub(crate) fn photons(energy: f64) -> f64 {
    let least = CUT / energy;
    if least >= 1.0 {
        return 0.0;
    }
    -4.0 / 3.0 * libm::log(least) - 4.0 / 3.0 * (1.0 - least) + 0.5 * (1.0 - least * least)
}

/// Energy that it radiates in photons below the cut for each radiation length, MeV.
pub(crate) fn soft_radiation(energy: f64) -> f64 {
    let least = (CUT / energy).min(1.0);
    energy * least * (4.0 / 3.0 - 2.0 / 3.0 * least + least * least / 3.0)
}

/// Energy of a photon above the cut, MeV. No more than `kinetic` can be radiated.
pub(crate) fn photon(energy: f64, kinetic: f64, random: &mut EventRandom) -> f64 {
    let least = CUT / energy;
    loop {
        // 1/y from the least share to 1, accepted by 1 - y + 3/4 y^2.
        let share = libm::exp(libm::log(least) * random.uniform());
        if random.uniform() < 1.0 - share + 0.75 * share * share {
            return (share * energy).min(kinetic);
        }
    }
}

/// Share of a photon's energy that goes to the electron of a pair.
pub(crate) fn pair_share(random: &mut EventRandom) -> f64 {
    loop {
        let share = random.uniform();
        if random.uniform() < 1.0 - 4.0 / 3.0 * share * (1.0 - share) {
            return share;
        }
    }
}

/// Compton scatterings of a photon for each g/cm^2, by its energy, MeV, and the electrons of the material, mol/g.
pub(crate) fn compton(energy: f64, electrons: f64) -> f64 {
    let k = energy / ELECTRON_MASS;
    let (double, logarithm) = (1.0 + 2.0 * k, libm::log(1.0 + 2.0 * k));
    let first = (1.0 + k) / (k * k) * (2.0 * (1.0 + k) / double - logarithm / k);
    let rest = logarithm / (2.0 * k) - (1.0 + 3.0 * k) / (double * double);
    COMPTON * electrons * (first + rest)
}

/// Share of its energy that a scattered photon keeps, and the cosine of its angle (sampled as a mixture of 1/x and x:
/// J. C. Butcher and H. Messel, Nuclear Physics 20 (1960) 15).
pub(crate) fn compton_share(energy: f64, random: &mut EventRandom) -> (f64, f64) {
    let least = 1.0 / (1.0 + 2.0 * energy / ELECTRON_MASS);
    let (inverse, linear) = (-libm::log(least), 0.5 * (1.0 - least * least));
    loop {
        let share = if random.uniform() * (inverse + linear) < inverse {
            libm::exp(-inverse * random.uniform())
        } else {
            (least * least + (1.0 - least * least) * random.uniform()).sqrt()
        };
        let away = ELECTRON_MASS / energy * (1.0 - share) / share;
        let sine2 = away * (2.0 - away);
        if random.uniform() < 1.0 - share * sine2 / (1.0 + share * share) {
            return (share, 1.0 - away);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard error of `n` draws.
    fn mean(n: u32, mut draw: impl FnMut(&mut EventRandom) -> f64) -> (f64, f64) {
        let mut random = EventRandom::new(7, 7, 7);
        let values: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
        let mean = values.iter().sum::<f64>() / f64::from(n);
        let square = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
        (mean, (square / f64::from(n)).sqrt())
    }

    /// Lead at 10 MeV: 0.0497 cm^2/g with Compton scattering (NIST XCOM, total), including 1% of other processes; and
    /// 7/9 at high energies.
    #[test]
    fn pairs_are_fewer_at_low_energies() {
        let lead = pairs(10.0, 82.0) / 6.37 + compton(10.0, 0.39575);
        assert!((lead / 0.0497 - 1.0).abs() < 0.06, "{lead}");
        assert!(pairs(1.0, 82.0) == 0.0 && (pairs(1000.0, 4.0) - 7.0 / 9.0).abs() < 1e-12);
    }

    /// Soft and hard together radiate the energy itself in each radiation length.
    #[test]
    fn a_radiation_length_radiates_the_energy() {
        let energy = 1000.0;
        let (found, error) = mean(100_000, |random| photon(energy, energy, random));
        let radiated = (photons(energy) * found + soft_radiation(energy)) / energy;
        assert!((radiated - 1.0).abs() < 5.0 * error * photons(energy) / energy, "{radiated}");
    }

    #[test]
    fn pairs_share_their_energy_evenly_in_the_mean() {
        let (found, error) = mean(50_000, pair_share);
        assert!((found - 0.5).abs() < 5.0 * error, "{found}");
        // 9/7 of the integral of x^2 (1 - 4/3 x (1 - x)), less 1/4: 13/140.
        let (square, error) = mean(50_000, |random| {
            let share = pair_share(random) - 0.5;
            share * share
        });
        assert!((square - 13.0 / 140.0).abs() < 5.0 * error, "{square}");
    }

    #[test]
    fn compton_scattering_is_that_of_klein_and_nishina() {
        // Water at 1 MeV: 0.0707 cm^2/g (NIST XCOM, incoherent).
        let water = compton(1.0, 0.55508);
        assert!((water / 0.0707 - 1.0).abs() < 0.01, "{water}");
        // The electron gets 0.440 of 1 MeV and 0.684 of 10 MeV on average (tables of energy transfer).
        for (energy, wanted) in [(1.0, 0.440), (10.0, 0.684)] {
            let (kept, _) = mean(100_000, |random| compton_share(energy, random).0);
            assert!((1.0 - kept - wanted).abs() < 0.006, "{energy}: {}", 1.0 - kept);
        }
    }
}
