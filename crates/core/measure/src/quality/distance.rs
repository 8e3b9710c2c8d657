//! Samples during which the host had moved two of their CPUs, by the distance sensor.
//!
//! A host that does not pin the CPUs of its guests moves them. Two CPUs that share a last-level cache are then apart
//! for seconds: hand-overs take four times as long, and both together read memory twice as fast. This is another
//! machine rather than noise, so only samples with the usual distance count.

use model::{CpuDistance, Invalid, RULES, SampleSensors, Share};

/// Readings of pairs of CPUs.
#[derive(Debug, Clone, Default)]
pub(crate) struct DistanceReadings(Vec<([u32; 2], Vec<u32>)>);

impl DistanceReadings {
    pub(crate) fn add(&mut self, read: &SampleSensors) {
        for (pair, picos) in pairs(read) {
            match self.0.iter_mut().find(|(known, _)| *known == pair) {
                Some((_, all)) => all.push(picos),
                None => self.0.push((pair, vec![picos])),
            }
        }
    }

    /// The usual distance of every pair that was read often enough.
    pub(crate) fn usual(&self) -> Vec<CpuDistance> {
        self.0.iter().filter_map(|(cpus, readings)| usual(*cpus, readings)).collect()
    }
}

/// The pairs of CPUs of a sample with their readings.
fn pairs(read: &SampleSensors) -> impl Iterator<Item = ([u32; 2], u32)> {
    let cpus: Vec<u32> = read.tracks.iter().map(|track| track.cpu).collect();
    let others = cpus.len().saturating_sub(1).max(1);
    let pair = move |(at, picos): (usize, u32)| Some(([*cpus.first()?, *cpus.get(1 + at % others)?], picos));
    read.distances.0.clone().into_iter().enumerate().filter_map(pair)
}

fn usual(cpus: [u32; 2], readings: &[u32]) -> Option<CpuDistance> {
    if readings.len() < RULES.quality.distance_readings as usize {
        return None;
    }
    let mut sorted = readings.to_vec();
    sorted.sort_unstable();
    let median = |of: &[u32]| of.get(of.len() / 2).copied();
    let like = |picos: u32| {
        let centre = CpuDistance { cpus, picos, share: Share::ALL, elsewhere: None };
        let (alike, others): (Vec<u32>, Vec<u32>) = sorted.iter().partition(|one| centre.is_like(**one));
        let share = Share::of(alike.len() as f64, sorted.len() as f64)?;
        Some(CpuDistance { picos: median(&alike)?, share, elsewhere: median(&others), ..centre })
    };
    // Not the least one: a single reading may be wrong. Then around the middle of those like it.
    let nearest = like(like(sorted[sorted.len() / 20])?.picos)?;
    if nearest.share.get() >= RULES.quality.nearest_share { Some(nearest) } else { like(median(&sorted)?) }
}

/// Why a sample does not count, if its CPUs were further apart or nearer than usual before or after its batches.
pub(super) fn moved(read: &SampleSensors, usual: &[CpuDistance]) -> Option<Invalid> {
    pairs(read).find_map(|(pair, picos)| {
        let known = usual.iter().find(|known| known.cpus == pair)?;
        (!known.is_like(picos)).then_some(Invalid::Moved { picos, usual: known.picos })
    })
}

#[cfg(test)]
mod tests {
    use model::{SensorTrack, SmallSteps};

    use super::*;

    fn read(cpus: &[u32], distances: &[u32]) -> SampleSensors {
        let tracks = cpus.iter().map(|cpu| SensorTrack { cpu: *cpu, ..SensorTrack::default() }).collect();
        SampleSensors { tracks, distances: SmallSteps(distances.to_vec()), ..SampleSensors::default() }
    }

    fn of(distances: &[u32]) -> Vec<CpuDistance> {
        let mut readings = DistanceReadings::default();
        distances.iter().for_each(|picos| readings.add(&read(&[1, 0], &[*picos])));
        readings.usual()
    }

    #[test]
    fn a_sample_whose_cpus_were_moved_does_not_count() {
        let mut distances = vec![40_300; 80];
        distances.extend([180_000; 14]);
        let usual = of(&distances);
        assert_eq!((usual[0].cpus, usual[0].picos, usual[0].elsewhere), ([1, 0], 40_300, Some(180_000)));
        assert!((usual[0].share.get() - 80.0 / 94.0).abs() < 1e-9);
        assert_eq!(moved(&read(&[1, 0], &[40_000, 58_000]), &usual), None, "a busy link is no other place");
        for before_after in [[40_000, 181_000], [179_000, 40_000]] {
            assert!(matches!(moved(&read(&[1, 0], &before_after), &usual), Some(Invalid::Moved { usual: 40_300, .. })));
        }
        assert_eq!(moved(&read(&[1, 0], &[]), &usual), None, "not read");
        assert_eq!(moved(&read(&[2, 3], &[180_000; 2]), &usual), None, "other CPUs");
    }

    #[test]
    fn the_nearest_distance_is_usual_unless_it_is_rare() {
        let mixed = |near: usize| [vec![40_000; near], vec![180_000; 100 - near]].concat();
        assert_eq!(of(&mixed(40))[0].picos, 40_000, "two fifths of the time");
        let far = of(&mixed(20));
        assert_eq!((far[0].picos, far[0].elsewhere), (180_000, Some(40_000)), "a fifth");
        assert!(matches!(
            moved(&read(&[1, 0], &[40_000]), &far),
            Some(Invalid::Moved { picos: 40_000, usual: 180_000 })
        ));
        assert_eq!(of(&mixed(100))[0].elsewhere, None);
        assert_eq!(of(&[40_000; 9]), [], "too few");
        assert_eq!(of(&[vec![40_000; 90], vec![1]].concat())[0].picos, 40_000, "one wrong reading");
        let wide = of(&[vec![28_000; 10], vec![39_000; 85], vec![59_000; 5]].concat());
        assert_eq!((wide[0].picos, wide[0].elsewhere), (39_000, None), "one place, whose link is busy at times");
    }

    #[test]
    fn every_pair_has_its_distance() {
        let mut readings = DistanceReadings::default();
        // Two packages: CPU 2 is on the other one. Before the batches, then after them.
        (0..10).for_each(|_| readings.add(&read(&[0, 1, 2], &[40_000, 200_000, 41_000, 210_000])));
        let usual = readings.usual();
        assert_eq!(
            usual.iter().map(|one| (one.cpus, one.picos)).collect::<Vec<_>>(),
            [([0, 1], 41_000), ([0, 2], 210_000)]
        );
        assert_eq!(moved(&read(&[0, 1, 2], &[40_000, 200_000]), &usual), None);
        assert!(moved(&read(&[0, 1, 2], &[200_000, 200_000]), &usual).is_some());
    }
}
