//! The spread of a fleet, as plain data.

use model::{FigureKey, Metric, Point, Unit};
use serde::{Deserialize, Serialize};

/// Runs of machines that should be equal, set against the most typical of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetSpread {
    /// Names of the nodes, in the order of the runs.
    pub nodes: Vec<String>,
    /// The node nearest to the median of all figures, which the others are set against.
    pub typical: String,
    /// Comparisons that the verdicts are adjusted over.
    pub tests: usize,
    /// Every figure that at least two nodes measured.
    pub figures: Vec<FigureSpread>,
    /// Nodes that are odd in some figure, the oddest first. With fewer than three nodes nobody can be.
    pub odd: Vec<OddNode>,
}

/// One figure over all nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureSpread {
    /// Id of the probe.
    pub probe: String,
    /// Where on its axes.
    pub point: Point,
    /// What people call it.
    pub title: String,
    /// Unit and direction.
    pub metric: Metric,
    /// Value of each node, in the order of nodes; `None` where it has none.
    pub values: Vec<Option<f64>>,
    /// Middle value.
    pub median: f64,
    /// Smallest value.
    pub least: f64,
    /// Largest value.
    pub most: f64,
    /// Largest over smallest, less 1: 0.1 is 10% apart.
    pub range: f64,
    /// Names of the nodes that are DIFFERENT from the typical one: outside of what launches, sessions and the band allow.
    pub different: Vec<String>,
    /// Names of the nodes that are odd: different, while most others are not.
    pub odd: Vec<String>,
}

impl FigureSpread {
    /// The figure's name.
    #[must_use]
    pub fn key(&self) -> FigureKey {
        FigureKey::new(self.probe.clone(), self.point.clone())
    }
}

/// A node that is not like the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OddNode {
    /// Its name.
    pub node: String,
    /// The node that it is set against: a typical one.
    pub against: String,
    /// In which figures, the farthest first.
    pub figures: Vec<OddFigure>,
}

/// A figure in which a node is odd.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OddFigure {
    /// The figure.
    pub figure: FigureKey,
    /// What people call it.
    pub title: String,
    /// Unit of the figure.
    pub unit: Unit,
    /// The node's gain over the typical one: above 1 is better.
    pub gain: f64,
    /// Ends of its interval, session floor included, where there is one.
    pub interval: Option<(f64, f64)>,
    /// Whether it is for the worse.
    pub worse: bool,
}
