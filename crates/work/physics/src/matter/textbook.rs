//! Compares the whole transport with formulas of textbooks. Seeds are fixed, and bounds are four to five standard
//! errors of the number of particles.

use super::geometry::Detector;
use super::loss::{Motion, largest_transfer, stopping_power};
use super::material::{LEAD, Material, SILICON};
use super::particle::{ELECTRON_MASS, Particle, Species};
use super::scatter::highland;
use super::transport::Energies;
use crate::random::EventRandom;

fn along_x(species: Species, kinetic: f64) -> Particle {
    let charge = match species {
        Species::Photon => 0.0,
        Species::Electron => -1.0,
        _ => 1.0,
    };
    let (position, direction) = ([0.0; 3], [1.0, 0.0, 0.0]);
    Particle { species, charge, position, direction, kinetic, thickness: 0.0, primary: 0 }
}

/// The direction and energy of particles that leave a block of a material, cm. Their secondary particles are not
/// followed. `None` for those that do not.
fn through(material: Material, thickness: f64, start: Particle, count: u64) -> Vec<Option<Particle>> {
    // A thin shell of nothing around the block shows the particle as it comes out.
    let mut detector = Detector::block(material, thickness);
    detector.shells.push(super::geometry::Shell {
        outer: thickness + 0.5,
        material: super::material::VACUUM,
        role: super::Role::Passive,
    });
    let one = |number: u64| {
        let mut random = EventRandom::new(11, number, 0);
        let (mut energies, mut others) = (Energies::default(), Vec::new());
        let mut seen = None;
        let mut particle = start;
        if particle.charge == 0.0 {
            // A photon is not watched: it came through if nothing was made of it.
            detector.follow(particle, &mut random, (&mut energies, &mut others), &mut |_, _| {});
            return (others.is_empty() && energies.escaped > 0.0).then_some(particle);
        }
        particle.primary = 1;
        detector.follow(particle, &mut random, (&mut energies, &mut others), &mut |step, _| {
            if step.shell == 1 && seen.is_none() {
                seen = Some(step.from);
            }
        });
        seen
    };
    (0..count).map(one).collect()
}

fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    (mean, (variance / n).sqrt())
}

#[test]
fn scattering_has_highlands_width_whatever_the_steps() {
    let kinetic = 3000.0;
    for step in [0.1, 0.017] {
        let material = Material { step, ..SILICON };
        let (thickness, count) = (0.4, 6000);
        let out = through(material, thickness, along_x(Species::Muon, kinetic), count);
        let directions: Vec<[f64; 3]> = out.into_iter().flatten().map(|particle| particle.direction).collect();
        assert_eq!(directions.len() as u64, count);
        let squares: Vec<f64> = directions.iter().flat_map(|[x, y, z]| [y / x, z / x]).map(|t| t * t).collect();
        let width = mean(&squares).0.sqrt();
        let motion = Motion::of(Species::Muon.mass(), kinetic);
        let wanted = highland(motion, SILICON.radiation_lengths(thickness));
        // 12,000 angles know a width to 0.65%.
        assert!((width / wanted - 1.0).abs() < 0.03, "steps of {step} cm: {width} for {wanted}");
    }
}

/// The mean is Bethe's; the variance is that of the whole spectrum of collisions, and the most probable loss lies below
/// the mean, as Landau predicts.
#[test]
fn the_loss_has_bethes_mean_and_its_straggling() {
    let mass = Species::Muon.mass();
    let kinetic = (300.0f64 * 300.0 + mass * mass).sqrt() - mass;
    let thickness = 0.3;
    let out = through(SILICON, thickness, along_x(Species::Muon, kinetic), 20_000);
    let mut losses: Vec<f64> = out.into_iter().flatten().map(|particle| kinetic - particle.kinetic).collect();
    let (found, error) = mean(&losses);
    let wanted = SILICON.density * thickness * stopping_power(&SILICON, Species::Muon, kinetic);
    // Scattering makes the way longer by less than a thousandth, and the loss grows by as much as the muon slows down.
    assert!((found - wanted).abs() < 4.5 * error + 0.004 * wanted, "{found} +- {error} for {wanted}");
    let motion = Motion::of(mass, kinetic);
    let scale = 0.5 * 0.307_075 * SILICON.electrons * SILICON.density * thickness / motion.beta2;
    let variance = scale * largest_transfer(Species::Muon, kinetic) * (1.0 - 0.5 * motion.beta2);
    let spread = error * error * losses.len() as f64;
    assert!((spread / variance - 1.0).abs() < 0.15, "{spread} for {variance}");
    losses.sort_by(f64::total_cmp);
    assert!(losses[losses.len() / 2] < 0.95 * found, "no tail of large losses");
}

#[test]
fn electrons_radiate_their_energy_in_a_radiation_length() {
    let kinetic = 10_000.0;
    let length = LEAD.radiation_length / LEAD.density;
    for lengths in [0.3, 1.0] {
        // Those that do not come through have nothing left.
        let out = through(LEAD, lengths * length, along_x(Species::Electron, kinetic), 3000);
        let left: Vec<f64> =
            out.iter().map(|particle| particle.map_or(0.0, |particle| particle.kinetic / kinetic)).collect();
        let (found, error) = mean(&left);
        let wanted = (-lengths).exp();
        // Ionisation takes some 10 MeV of 10,000.
        assert!((found - wanted).abs() < 4.5 * error + 0.004, "{lengths}: {found} +- {error} for {wanted}");
    }
}

#[test]
fn photons_make_a_pair_in_nine_sevenths_of_a_radiation_length() {
    let length = LEAD.radiation_length / LEAD.density;
    for lengths in [0.5f64, 9.0 / 7.0] {
        let count = 10_000;
        let out = through(LEAD, lengths * length, along_x(Species::Photon, 50_000.0), count);
        let found = out.iter().flatten().count() as f64 / count as f64;
        let wanted = (-7.0 / 9.0 * lengths).exp();
        let error = (wanted * (1.0 - wanted) / count as f64).sqrt();
        assert!((found - wanted).abs() < 4.5 * error + 0.001, "{lengths}: {found} +- {error} for {wanted}");
    }
}

/// Whatever happens in a shower, the energy of the particle that began it is somewhere.
#[test]
fn showers_keep_their_energy() {
    let detector = Detector::new(138.0, 1.5);
    for (number, species) in
        [Species::Photon, Species::Electron, Species::Positron, Species::Pion, Species::Muon].into_iter().enumerate()
    {
        let primary = along_x(species, 800.0);
        let mut random = EventRandom::new(3, number as u64, 0);
        let mut energies = Energies::default();
        detector.shower(primary, &mut random, &mut energies, &mut |_, _| {});
        let found = energies.deposited.iter().sum::<f64>() + energies.escaped;
        let wanted = primary.energy();
        assert!((found / wanted - 1.0).abs() < 1e-9, "{species:?}: {found} of {wanted}");
    }
}

/// The shower of an electron is deepest where Rossi's approximation B has it: ln(E / critical energy) - 1/2 radiation
/// lengths, 3.9 for 600 MeV in lead (critical energy 7.4 MeV).
#[test]
fn showers_have_their_maximum_where_it_should_be() {
    let length = LEAD.radiation_length / LEAD.density;
    let mut detector = Detector::block(LEAD, 0.5 * length);
    for half in 1..40 {
        let outer = 0.5 * length * f64::from(half + 1);
        detector.shells.push(super::geometry::Shell { outer, ..detector.shells[0].clone() });
    }
    let mut energies = Energies::default();
    for number in 0..60 {
        let mut random = EventRandom::new(5, number, 0);
        detector.shower(along_x(Species::Electron, 600.0), &mut random, &mut energies, &mut |_, _| {});
    }
    let profile = &energies.deposited;
    let deepest = profile.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(at, _)| at).unwrap();
    let depth = 0.5 * (deepest as f64 + 0.5);
    assert!((2.7..5.3).contains(&depth), "the maximum lies at {depth} radiation lengths: {profile:.0?}");
    assert!(energies.secondaries > 60 * 50, "{}", energies.secondaries);
    let electrons = 60.0 * (600.0 + ELECTRON_MASS);
    assert!(profile.iter().sum::<f64>() <= electrons);
}
