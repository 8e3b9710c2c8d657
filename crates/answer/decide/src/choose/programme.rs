//! The mixed-integer programme: the number of each offer, at the least cost.
//!
//! If only the rate decides, it is a covering knapsack ([`cover`](super::cover)). Its best plan is also that of the
//! programme if it keeps to all other limits. Otherwise it is branch and bound with the simplex method (the crate
//! microlp), limited in nodes rather than in time, so that the result does not depend on the machine.

use microlp::{ComparisonOp, OptimizationDirection, Problem as Programme, SolveOptions, SolveOutcome, Variable};

use super::cover::{CoverItem, cover, cover_besides};
use super::error::Error;
use super::problem::{ChooseProblem, MachineOffer, WorldState};

/// Nodes of branch and bound after which the best plan so far is taken.
const NODES: u64 = 20_000;

/// Most nodes of an offer in a plan.
pub(crate) const MOST_NODES: f64 = 1e6;

/// A node's rate is capped at this multiple of the demand. The solver's tolerance of 1e-6 for whole numbers would
/// otherwise be worth a node.
const MORE_THAN_ENOUGH: f64 = 1e3;

/// One condition that a plan must meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Condition {
    Rate,
    Nodes,
    Spare,
    Budget,
    Purchase,
    Power,
    Racks,
    /// Failures a year, at most; used for the Pareto front alone.
    Failures,
    /// Available number of an offer.
    Maximum(usize),
}

/// Quantity to be minimised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Aim {
    Cost,
    Power,
    Failures,
    /// By how much a condition is missed, in its own unit.
    Miss(Condition),
}

/// A variation of the problem.
#[derive(Debug, Clone)]
pub(crate) struct Question<'a> {
    pub(crate) problem: &'a ChooseProblem,
    pub(crate) world: &'a WorldState,
    pub(crate) aim: Aim,
    /// Conditions that are lifted.
    pub(crate) lifted: Vec<Condition>,
    /// Rate to reach.
    pub(crate) rate: f64,
    /// Limit of power, watts, in addition to the demand's own.
    pub(crate) power: Option<f64>,
    /// Limit of failures a year.
    pub(crate) failures: Option<f64>,
}

/// A plan and its value of the minimised quantity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Solved {
    pub(crate) plan: Vec<u32>,
    pub(crate) value: f64,
}

impl<'a> Question<'a> {
    /// The cheapest plan that meets all conditions.
    pub(crate) fn cheapest(problem: &'a ChooseProblem, world: &'a WorldState) -> Self {
        let rate = problem.demand.rate;
        Self { problem, world, aim: Aim::Cost, lifted: Vec::new(), rate, power: None, failures: None }
    }

    fn holds(&self, condition: Condition) -> bool {
        !self.lifted.contains(&condition)
    }

    /// Largest number of nodes of an offer that any plan could use.
    fn most(&self, offer: usize) -> u32 {
        let demand = &self.problem.demand;
        if self.problem.offers[offer].excluded.is_some() || self.world.rate[offer] <= 0.0 {
            return 0;
        }
        let needed = (self.rate / self.world.rate[offer]).ceil().min(MOST_NODES);
        // Finite and positive, since rates are.
        let needed = if needed.is_finite() { needed as u32 } else { 0 };
        let enough = needed.max(demand.nodes).saturating_add(demand.spare_nodes).saturating_add(1);
        let maximum = self.problem.offers[offer]
            .maximum
            .filter(|_| self.holds(Condition::Maximum(offer)) && self.aim != Aim::Miss(Condition::Maximum(offer)));
        maximum.map_or(enough, |maximum| maximum.min(enough))
    }

    /// Solves it; `None` when no plan meets the conditions.
    ///
    /// # Errors
    /// When the solver fails numerically or finds no plan within its limit.
    pub(crate) fn solve(&self) -> Result<Option<Solved>, Error> {
        if let Some(found) = self.covered() {
            return Ok(found);
        }
        let mut programme = Programme::new(OptimizationDirection::Minimize);
        let scale = self.scale();
        let counts: Vec<Variable> = (0..self.problem.offers.len())
            .map(|i| {
                let most = i64::from(self.most(i)).min(i64::from(i32::MAX)) as i32;
                // Of plans with equal weight the solver takes that of earlier offers.
                let tie = if self.aim == Aim::Cost { 1.0 + 1e-9 * i as f64 } else { 1.0 };
                programme.add_integer_var(self.weight(i) * tie / scale, (0, most))
            })
            .collect();
        self.impose(&mut programme, &counts);
        let mut options = SolveOptions::default();
        options.node_limit = Some(NODES);
        let outcome = match programme.solve_with(options) {
            Ok(outcome) => outcome,
            Err(microlp::Error::Infeasible) => return Ok(None),
            Err(error) => return Err(Error::Solver(error.to_string())),
        };
        let SolveOutcome::Solution(solution) = outcome else {
            return Err(Error::Solver(format!("no plan was found within {NODES} nodes of the search")));
        };
        let plan = counts.iter().map(|&count| solution.var_value(count).round().max(0.0) as u32).collect();
        Ok(Some(Solved { plan, value: solution.objective() * scale }))
    }

    /// The best plan by the rate and the numbers of offers alone, if it keeps to all other limits; no plan if the rate
    /// is infeasible. `None` if a solver is needed.
    fn covered(&self) -> Option<Option<Solved>> {
        if matches!(self.aim, Aim::Miss(_)) || !self.holds(Condition::Rate) {
            return None;
        }
        let spare = if self.holds(Condition::Spare) { self.problem.demand.spare_nodes } else { 0 };
        let item = |i: usize| CoverItem { weight: self.weight(i), rate: self.world.rate[i], most: self.most(i) };
        let items: Vec<CoverItem> = (0..self.problem.offers.len()).map(item).collect();
        let rate = self.rate * (1.0 - 1e-9);
        // The spare nodes count as the fastest kind in use.
        let found = if spare == 0 { cover(&items, rate) } else { cover_besides(&items, rate, spare) };
        let Some(plan) = found else { return Some(None) };
        let value = plan.iter().zip(&items).map(|(&count, item)| f64::from(count) * item.weight).sum();
        self.keeps(&plan).then_some(Some(Solved { plan, value }))
    }

    /// Contribution of one node of an offer to the minimised quantity.
    fn weight(&self, offer: usize) -> f64 {
        match self.aim {
            Aim::Cost => self.world.cost[offer],
            // Among plans with equal power or failures, the cheapest one wins.
            Aim::Power => self.world.power[offer] + 1e-6 * self.world.cost[offer],
            Aim::Failures => self.problem.offers[offer].failures_per_year + 1e-9 * self.world.cost[offer],
            Aim::Miss(_) => 0.0,
        }
    }

    fn scale(&self) -> f64 {
        let largest = (0..self.problem.offers.len()).map(|i| self.weight(i)).fold(0.0, f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    }

    fn impose(&self, programme: &mut Programme, counts: &[Variable]) {
        let demand = &self.problem.demand;
        self.impose_rate(programme, counts);
        let ones = vec![1.0; counts.len()];
        if demand.nodes > 0 {
            self.limit(programme, counts, Condition::Nodes, &ones, ComparisonOp::Ge, f64::from(demand.nodes));
        }
        for (condition, values, limit) in self.limits() {
            self.limit(programme, counts, condition, &values, ComparisonOp::Le, limit);
        }
        for (i, &count) in counts.iter().enumerate() {
            if self.aim == Aim::Miss(Condition::Maximum(i))
                && let Some(maximum) = self.problem.offers[i].maximum
            {
                let slack = programme.add_var(1.0, (0.0, f64::INFINITY));
                programme.add_constraint([(count, 1.0), (slack, -1.0)], ComparisonOp::Le, f64::from(maximum));
            }
        }
    }

    /// The limits: the use by one node of each offer, and the limit.
    fn limits(&self) -> Vec<(Condition, Vec<f64>, f64)> {
        let (demand, world) = (&self.problem.demand, self.world);
        let of_offers = |value: fn(&MachineOffer) -> f64| self.problem.offers.iter().map(value).collect::<Vec<f64>>();
        let all = [
            (Condition::Budget, world.cost.clone(), demand.budget),
            (Condition::Purchase, world.purchase.clone(), demand.purchase_limit),
            (Condition::Power, world.power.clone(), demand.power_limit),
            (Condition::Racks, of_offers(|offer| offer.rack_units), demand.rack_units),
            (Condition::Power, world.power.clone(), self.power),
            (Condition::Failures, of_offers(|offer| offer.failures_per_year), self.failures),
        ];
        all.into_iter().filter_map(|(condition, values, limit)| Some((condition, values, limit?))).collect()
    }

    /// Whether a plan has enough nodes and keeps to the limits that are not lifted.
    fn keeps(&self, plan: &[u32]) -> bool {
        let nodes = plan.iter().map(|count| u64::from(*count)).sum::<u64>();
        let enough = !self.holds(Condition::Nodes) || nodes >= u64::from(self.problem.demand.nodes);
        let used = |values: &[f64]| plan.iter().zip(values).map(|(&n, of_one)| f64::from(n) * of_one).sum::<f64>();
        let within = |(condition, values, limit): (Condition, Vec<f64>, f64)| {
            !self.holds(condition) || used(&values) <= limit * (1.0 + 1e-9)
        };
        enough && self.limits().into_iter().all(within)
    }

    /// A condition on a sum over nodes, scaled to 1; it has a slack variable if its violation is minimised.
    fn limit(
        &self,
        programme: &mut Programme,
        counts: &[Variable],
        condition: Condition,
        values: &[f64],
        sense: ComparisonOp,
        limit: f64,
    ) {
        if !self.holds(condition) {
            return;
        }
        let scale = if limit > 0.0 { limit } else { 1.0 };
        let mut terms: Vec<(Variable, f64)> = counts.iter().zip(values).map(|(&n, v)| (n, v / scale)).collect();
        self.miss(programme, condition, &mut terms, sense, scale);
        // A rounding error of money or watts must not make a plan impossible.
        let edge = if matches!(sense, ComparisonOp::Le) { 1.0 + 1e-9 } else { 1.0 - 1e-9 };
        programme.add_constraint(terms.as_slice(), sense, limit / scale * edge);
    }

    fn miss(
        &self,
        programme: &mut Programme,
        condition: Condition,
        terms: &mut Vec<(Variable, f64)>,
        sense: ComparisonOp,
        scale: f64,
    ) {
        if self.aim == Aim::Miss(condition) {
            let slack = programme.add_var(scale, (0.0, f64::INFINITY));
            terms.push((slack, if matches!(sense, ComparisonOp::Le) { -1.0 } else { 1.0 }));
        }
    }

    /// The rate without the fastest `spare` nodes. The loss is `spare` times the fastest kind in use: exact if at least
    /// `spare` of it are used, cautious otherwise.
    fn impose_rate(&self, programme: &mut Programme, counts: &[Variable]) {
        if !self.holds(Condition::Rate) {
            return;
        }
        let scale = self.rate.max(f64::MIN_POSITIVE);
        let spare = if self.holds(Condition::Spare) { self.problem.demand.spare_nodes } else { 0 };
        let rate = |i: usize| (self.world.rate[i] / scale).min(MORE_THAN_ENOUGH);
        let mut terms: Vec<(Variable, f64)> = counts.iter().enumerate().map(|(i, &n)| (n, rate(i))).collect();
        if spare > 0 {
            let fastest = programme.add_var(0.0, (0.0, f64::INFINITY));
            terms.push((fastest, -f64::from(spare)));
            for (i, &count) in counts.iter().enumerate() {
                let most = self.most(i);
                if most == 0 {
                    continue;
                }
                let used = programme.add_binary_var(0.0);
                programme.add_constraint([(count, 1.0), (used, -f64::from(most))], ComparisonOp::Le, 0.0);
                programme.add_constraint([(fastest, 1.0), (used, -rate(i))], ComparisonOp::Ge, 0.0);
            }
        }
        self.miss(programme, Condition::Rate, &mut terms, ComparisonOp::Ge, scale);
        programme.add_constraint(terms.as_slice(), ComparisonOp::Ge, self.rate / scale * (1.0 - 1e-9));
    }
}
