//! Effects as a designed experiment: two settings of one factor in every round, compared within the round.

use measure::Stopper;
use model::{BenchmarkResult, Metric, Outcome, Primitive, Sample, Unit};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::path::{Cpus, Path};
use crate::series::{SeriesTrial, result};
use crate::stream::StreamPlan;
use crate::{Error, Result};

/// One setting: a stream over a path.
#[derive(Debug, Clone)]
pub struct StudySetting {
    /// Value of the parameter.
    pub name: String,
    /// The stream.
    pub stream: StreamPlan,
    /// The path.
    pub path: Path,
}

/// The effect of one factor: throughput with `b` over throughput with `a`, each over a fresh connection, one after the
/// other in random order.
pub struct Effect {
    factor: String,
    a: StudySetting,
    b: StudySetting,
    random: ChaCha8Rng,
}

impl Effect {
    /// A factor with two settings.
    #[must_use]
    pub fn new(factor: impl Into<String>, a: StudySetting, b: StudySetting, seed: u64) -> Self {
        Self { factor: factor.into(), a, b, random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The factors of sockets and placement over one path: window, congestion control, Nagle, placement, one direction
    /// against both.
    #[must_use]
    pub fn of_sockets(path: &Path, base: &StreamPlan, allowed: &[usize], seed: u64) -> Vec<Self> {
        let setting =
            |name: &str, stream: StreamPlan| StudySetting { name: name.to_owned(), stream, path: path.clone() };
        let with = |change: &dyn Fn(&mut StreamPlan)| {
            let mut stream = base.clone();
            change(&mut stream);
            stream
        };
        let mut effects = vec![
            Self::new(
                "window",
                setting("8KiB", with(&|stream| stream.options.window = Some(8_192))),
                setting("automatic", base.clone()),
                seed,
            ),
            Self::new(
                "congestion",
                setting("reno", with(&|stream| stream.options.congestion = Some("reno".to_owned()))),
                setting("cubic", with(&|stream| stream.options.congestion = Some("cubic".to_owned()))),
                seed ^ 1,
            ),
            Self::new(
                "nagle",
                setting("on", with(&|stream| stream.record = 100)),
                setting("off", with(&|stream| (stream.record, stream.options.no_delay) = (100, true))),
                seed ^ 2,
            ),
            Self::new(
                "duplex",
                setting("one_way", base.clone()),
                setting("both_ways", with(&|stream| stream.direction = crate::stream::StreamDirection::Both)),
                seed ^ 3,
            ),
        ];
        if let (Some(same), Some(cross)) = (Cpus::of("same_cpu", allowed), Cpus::of("cross_cpu", allowed)) {
            let at = |cpus: Cpus| StudySetting {
                name: cpus.placement().to_owned(),
                stream: base.clone(),
                path: path.on(cpus),
            };
            effects.push(Self::new("placement", at(same), at(cross), seed ^ 4));
        }
        effects
    }

    fn rate(setting: &StudySetting, stopper: &Stopper) -> Result<f64> {
        Ok(setting.stream.measure_some(&setting.path, stopper)?.1.value)
    }
}

impl SeriesTrial for Effect {
    fn result(&self) -> BenchmarkResult {
        let mut parameters = self.a.path.parameters().without("placement").with("factor", self.factor.clone());
        if self.a.path.name != self.b.path.name {
            parameters = parameters.with("path", format!("{}+{}", self.a.path.name, self.b.path.name));
        }
        let parameters = parameters.with("from", self.a.name.clone()).with("to", self.b.name.clone());
        let metric = Metric::higher(Unit::Ratio, "throughput with one setting over the other");
        let mut result = result("network.effect", parameters, "effect on a TCP stream", metric, &[Primitive::TcpStack]);
        result.ops = 1;
        result
    }

    fn launch(&mut self, stopper: &Stopper) -> Result<Sample> {
        let (a, b) = if self.random.random() {
            let a = Self::rate(&self.a, stopper)?;
            (a, Self::rate(&self.b, stopper)?)
        } else {
            let b = Self::rate(&self.b, stopper)?;
            (Self::rate(&self.a, stopper)?, b)
        };
        if !(a > 0.0 && b > 0.0) {
            return Err(Error::Gone("no bytes arrived".to_owned()));
        }
        Ok(Sample { value: b / a, readings: vec![b / a], steady: true, ..Sample::default() })
    }
}

/// Marks the estimates of effects as paired: they come from differences within pairs.
pub fn mark_paired(results: &mut [BenchmarkResult]) {
    for result in results.iter_mut().filter(|result| result.benchmark == "network.effect") {
        if let Outcome::Measured(estimate) = &mut result.outcome {
            estimate.method = model::EstimateMethod::PairedOrderStatistic;
        }
    }
}
