//! From few senders to many: the time of an event at a number of senders that nobody measured, with its interval, or the
//! place where the limit changes and nothing is predicted.

use serde::Serialize;
use stats::distribution::normal_quantile;

/// A measured number of senders.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScalePoint {
    /// Senders.
    pub senders: u32,
    /// Time of an event, seconds: the inverse of a rate, or a quantile of completion times.
    pub seconds: f64,
    /// Its standard error, seconds.
    pub error: f64,
}

/// When events come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum ScaleLoad {
    /// As fast as they are built: the time of an event is the inverse of a rate.
    Unpaced,
    /// So many a second, at equal intervals.
    Regular(f64),
    /// So many a second, at random.
    Poisson(f64),
}

/// What is known of the network.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScaleDesign {
    /// Time that a fragment takes on the receiver's link, seconds; headers counted.
    pub fragment_seconds: Option<f64>,
    /// Buffer of the receiver's port, bytes.
    pub buffer: Option<f64>,
    /// Bytes in the buffer that one sender may have on their way to one receiver; 0 if the receiver bounds them for all
    /// together.
    pub outstanding: f64,
    /// Standard deviation of a fragment's size over its mean.
    pub spread: f64,
    /// Load.
    pub load: ScaleLoad,
}

/// What limits an event builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScaleLimit {
    /// The receiver's link.
    Port,
    /// The receiver: its time grows with each sender.
    Receiver,
    /// The senders, or the way to them: the time does not grow.
    Senders,
    /// The buffer of the receiver's port.
    Buffer,
    /// Events that wait for those before, for a time that is not known.
    Waiting,
}

/// A prediction, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum ScalePrediction {
    /// Time of an event, seconds.
    Predicted {
        /// Its value.
        value: f64,
        /// Low end of the interval.
        low: f64,
        /// High end of the interval.
        high: f64,
        /// What limits then.
        limit: ScaleLimit,
    },
    /// The limit changes on the way, and what it leaves is not known.
    Refused {
        /// The limit.
        limit: ScaleLimit,
        /// Fewest senders at which it holds.
        from: u32,
    },
}

/// Relative error of the law itself at the largest measured number of senders, and for each further multiple of it.
const LAW: [f64; 2] = [0.015, 0.01];
/// The same at random moments: a job of some hundred events has few of those that wait longest.
const QUEUED: f64 = 0.07;
/// Share of a link's time above which queues grow without a bound that few senders could show.
const SATURATED: f64 = 0.85;
/// Quantiles of the normal distribution that a hundredth, and a thousandth, exceed.
const HUNDREDTH: f64 = 2.33;
const RARE: f64 = 3.09;

impl ScaleDesign {
    /// Time that a receiver's link is busy with an event, seconds.
    fn busy(&self, senders: u32) -> Option<f64> {
        self.fragment_seconds.map(|seconds| seconds * f64::from(senders))
    }

    /// Fewest senders whose data on their way do not fit into the buffer: at random moments with that of the events
    /// that still wait.
    fn overflow(&self, most: u32) -> Option<u32> {
        let buffer = self.buffer.filter(|_| self.outstanding > 0.0)?;
        let held = |senders: u32| {
            let large = 1.0 + RARE * self.spread / f64::from(senders).sqrt();
            f64::from(senders) * self.outstanding * (large + self.waiting(senders, 1e-3))
        };
        (1..=most).find(|senders| held(*senders) > buffer)
    }

    /// Fewest senders that use a link for more than it can bear at this load.
    fn saturation(&self) -> Option<u32> {
        let (ScaleLoad::Regular(rate) | ScaleLoad::Poisson(rate)) = self.load else { return None };
        Some((SATURATED / (rate * self.fragment_seconds?)).floor() as u32 + 1)
    }

    /// Time that this share of the events waits longer for those before them, in times that an event is on the link. A
    /// queue with one server of fixed speed and random arrivals: P(W > t) -> C exp(-q t), where the load r is
    /// u / (exp(u) - 1) with u = q S, and C = (1 - r) / (r exp(u) - 1) (Tijms, A First Course in Stochastic Models, 2003,
    /// section 9.6).
    fn waiting(&self, senders: u32, share: f64) -> f64 {
        let (ScaleLoad::Poisson(rate), Some(busy)) = (self.load, self.busy(senders)) else { return 0.0 };
        let load = (rate * busy).clamp(1e-6, 0.99);
        let (mut low, mut high) = (1e-9, 60.0);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if middle / f64::exp_m1(middle) > load { low = middle } else { high = middle }
        }
        let factor = (1.0 - load) / (load * low.exp() - 1.0);
        let variance = 1.0 + self.spread.powi(2) / f64::from(senders);
        ((factor / share).ln() / low * variance).max(0.0)
    }

    /// What the time of an event is a line of: the time on the link, with that in the queue and that of large events.
    fn law(&self, senders: u32) -> f64 {
        let busy = self.busy(senders).unwrap_or(f64::from(senders));
        let large = match self.load {
            ScaleLoad::Unpaced => 1.0,
            _ => 1.0 + HUNDREDTH * self.spread / f64::from(senders).sqrt(),
        };
        busy * (large + self.waiting(senders, 1e-2))
    }
}

/// A line through points of known errors.
struct KnownLine {
    slope: f64,
    mean: [f64; 2],
    /// Sum of the weights, and weighted squares of x about its mean.
    weight: f64,
    spread: f64,
    /// Sum of the squared residuals in standard errors.
    misfit: f64,
}

impl KnownLine {
    fn of(points: &[(f64, f64, f64)]) -> Option<Self> {
        let weights: Vec<f64> = points.iter().map(|(.., error)| error.powi(-2)).collect();
        let sum = |pick: &dyn Fn(&(f64, f64, f64)) -> f64| -> f64 {
            points.iter().zip(&weights).map(|(point, weight)| weight * pick(point)).sum()
        };
        let weight: f64 = weights.iter().sum();
        let mean = [sum(&|point| point.0) / weight, sum(&|point| point.1) / weight];
        let spread = sum(&|point| (point.0 - mean[0]).powi(2));
        let slope = sum(&|point| (point.0 - mean[0]) * (point.1 - mean[1])) / spread;
        let misfit = sum(&|point| (point.1 - mean[1] - slope * (point.0 - mean[0])).powi(2));
        (slope.is_finite() && misfit.is_finite()).then_some(Self { slope, mean, weight, spread, misfit })
    }

    fn at(&self, x: f64) -> (f64, f64) {
        let far = x - self.mean[0];
        (self.mean[1] + self.slope * far, (1.0 / self.weight + far.powi(2) / self.spread).sqrt())
    }
}

/// The time of an event at `senders`, with an interval of this level, from at least two measured numbers of senders.
/// `None` with fewer, or with numbers that are not positive.
#[must_use]
pub fn predict(points: &[ScalePoint], design: &ScaleDesign, senders: u32, level: f64) -> Option<ScalePrediction> {
    let most = points.iter().map(|point| point.senders).max()?;
    let is_sound = |point: &ScalePoint| point.seconds > 0.0 && point.error >= 0.0 && point.seconds.is_finite();
    if points.len() < 2 || !points.iter().all(is_sound) || senders <= most {
        return None;
    }
    let limits = [(ScaleLimit::Buffer, design.overflow(senders)), (ScaleLimit::Port, design.saturation())];
    let first = limits.into_iter().filter_map(|(limit, from)| Some((limit, from?))).min_by_key(|(_, from)| *from);
    if let Some((limit, from)) = first.filter(|(_, from)| *from <= senders) {
        return Some(ScalePrediction::Refused { limit, from });
    }
    if matches!(design.load, ScaleLoad::Poisson(_)) && design.fragment_seconds.is_none() {
        // How long events wait depends on what they wait for.
        return Some(ScalePrediction::Refused { limit: ScaleLimit::Waiting, from: most + 1 });
    }
    // No error is below that of the law.
    let known: Vec<(f64, f64, f64)> = points
        .iter()
        .map(|point| (design.law(point.senders), point.seconds, point.error.max(0.5 * LAW[0] * point.seconds)))
        .collect();
    let line = KnownLine::of(&known)?;
    let z = normal_quantile(0.5 + level / 2.0);
    let grows = line.slope > 2.0 / line.spread.sqrt();
    let (mut value, mut error) = line.at(design.law(senders));
    // Points that lie on no line say that the law is not theirs.
    let excess = (line.misfit / (points.len() as f64 - 2.0).max(1.0)).sqrt().max(1.0);
    error *= excess;
    let mut limit = if grows { ScaleLimit::Receiver } else { ScaleLimit::Senders };
    if !grows && design.fragment_seconds.is_none() && matches!(design.load, ScaleLoad::Unpaced) {
        // Nothing is known of what the link adds.
        return Some(ScalePrediction::Refused { limit: ScaleLimit::Port, from: most + 1 });
    }
    if let (ScaleLoad::Unpaced, Some(busy)) = (design.load, design.busy(senders)) {
        let share = design.busy(most).unwrap_or(0.0) / points.iter().find(|point| point.senders == most)?.seconds;
        if share >= SATURATED || busy >= value {
            limit = ScaleLimit::Port;
        }
        if !grows || busy > value {
            (value, error) = if busy > value { (busy, 0.0) } else { (line.mean[1], line.weight.powf(-0.5) * excess) };
        }
    }
    if let ScaleLoad::Regular(rate) = design.load
        && value * rate > SATURATED
    {
        // An event would wait for the one before.
        return Some(ScalePrediction::Refused { limit: ScaleLimit::Waiting, from: most + 1 });
    }
    let queued = if matches!(design.load, ScaleLoad::Poisson(_)) { QUEUED } else { 0.0 };
    let law = (LAW[0] + LAW[1] * f64::from(senders) / f64::from(most) + queued) * value;
    let half = z * error.hypot(law);
    let low = (value - half).max(0.0);
    Some(ScalePrediction::Predicted { value, low, high: value + half, limit })
}
