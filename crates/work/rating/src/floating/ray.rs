//! A scene of spheres, traced with shadows and reflections.

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

const SPHERES: usize = 60;
const WIDTH: usize = 600;
const BOUNCES: u32 = 3;

type V = [f64; 3];

fn add(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn scaled(a: V, s: f64) -> V {
    a.map(|x| s * x)
}

fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn unit(a: V) -> V {
    scaled(a, 1.0 / dot(a, a).sqrt())
}

struct Sphere {
    centre: V,
    radius: f64,
    shine: f64,
}

pub(crate) struct Scene(Vec<Sphere>);

impl Scene {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut random = SplitMix::new(23);
        let sphere = |_| Sphere {
            centre: [6.0 * random.uniform() - 3.0, 6.0 * random.uniform() - 3.0, 4.0 + 6.0 * random.uniform()],
            radius: 0.2 + 0.4 * random.uniform(),
            shine: random.uniform(),
        };
        Box::new(Self((0..SPHERES).map(sphere).collect()))
    }

    fn nearest(&self, from: V, along: V) -> Option<(f64, &Sphere)> {
        let mut best: Option<(f64, &Sphere)> = None;
        for sphere in &self.0 {
            let gap = add(sphere.centre, scaled(from, -1.0));
            let closest = dot(gap, along);
            let inside = sphere.radius * sphere.radius - (dot(gap, gap) - closest * closest);
            if inside <= 0.0 {
                continue;
            }
            let distance = closest - inside.sqrt();
            if distance > 1e-6 && best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, sphere));
            }
        }
        best
    }

    fn light(&self, from: V, along: V, bounces: u32) -> f64 {
        let sun = unit([0.5, 1.0, -0.7]);
        let Some((distance, sphere)) = self.nearest(from, along) else { return 0.3 + 0.2 * along[1] };
        let parameters = add(from, scaled(along, distance));
        let normal = unit(add(parameters, scaled(sphere.centre, -1.0)));
        let lit = if self.nearest(parameters, sun).is_none() { dot(normal, sun).max(0.0) } else { 0.0 };
        if bounces == 0 {
            return lit;
        }
        let mirrored = add(along, scaled(normal, -2.0 * dot(along, normal)));
        (1.0 - sphere.shine) * lit + sphere.shine * self.light(parameters, mirrored, bounces - 1)
    }
}

impl RatingWork for Scene {
    fn run(&mut self) -> Result<u64, String> {
        let mut sum = Checksum::default();
        for row in 0..WIDTH {
            let mut total = 0.0;
            for column in 0..2 * WIDTH {
                let at = |pixel: usize, of: usize| 1.4 * (pixel as f64 / of as f64 - 0.5);
                let along = unit([at(column, 2 * WIDTH), at(row, WIDTH), 1.0]);
                total += self.light([0.0; 3], along, BOUNCES);
            }
            sum.rounded(total);
        }
        Ok(sum.value())
    }
}
