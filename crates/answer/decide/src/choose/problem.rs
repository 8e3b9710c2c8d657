//! The problem in numbers: money in one currency, rates in one unit, watts, bytes, days.

use model::words::amount;
use serde::{Deserialize, Serialize};

use super::uncertain::Uncertain;

/// Hours in a year.
pub(crate) const HOURS: f64 = 8766.0;

/// The demand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// Events a second, of the whole mix.
    pub rate: f64,
    /// Unit of the rate: `events/s`.
    pub unit: String,
    /// Name and share of each application; shares sum to 1. Every node processes its share of each.
    pub mix: Vec<(String, f64)>,
    /// Years of use.
    pub years: f64,
    /// Fewest nodes.
    pub nodes: u32,
    /// Nodes, the fastest ones, that may fail at once without the rate falling below the demand.
    pub spare_nodes: u32,
    /// Price of a kilowatt-hour.
    pub energy_price: Uncertain,
    /// Watts drawn from the grid for each watt of a node.
    pub cooling: f64,
    /// Limit of the total cost over the years.
    pub budget: Option<f64>,
    /// Limit of the purchase.
    pub purchase_limit: Option<f64>,
    /// Limit of the power of all nodes without cooling, watts.
    pub power_limit: Option<f64>,
    /// Available rack units.
    pub rack_units: Option<f64>,
    /// Probability with which the rate must be reached, given the uncertainty of rates.
    pub confidence: f64,
    /// Premium on later purchases: 0.2 is 20%.
    pub late_premium: f64,
}

/// One kind of machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineOffer {
    /// Its name.
    pub name: String,
    /// Events a second of one node for each application of the mix when it runs alone.
    pub rates: Vec<Uncertain>,
    /// Price of one node.
    pub price: Uncertain,
    /// Price of network ports and cards for one node.
    pub network: Uncertain,
    /// Price of an hour of one node, if rented.
    pub hourly: Uncertain,
    /// Power of one node, watts.
    pub power: Uncertain,
    /// Rack units of one node.
    pub rack_units: f64,
    /// Available number.
    pub maximum: Option<u32>,
    /// Share of time that one node is up, including repairs.
    pub up: f64,
    /// Failures of one node a year.
    pub failures_per_year: f64,
    /// Days until a failed node is back.
    pub repair_days: f64,
    /// Cost of a repair.
    pub repair_cost: f64,
    /// Cost of measuring one node beforehand.
    pub measurement_cost: f64,
    /// Why it cannot be taken.
    pub excluded: Option<String>,
    /// Fields with placeholder numbers that the reader must replace.
    pub placeholders: Vec<String>,
    /// Applications whose rate comes from results without a spread, which are taken as exact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_spread: Vec<String>,
    /// For each application, the standard deviation of the common error of all offers' rates, as a logarithm, since all
    /// were shrunk to one mean. Empty if none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub common_error: Vec<f64>,
}

/// The whole problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChooseProblem {
    /// Currency of all money.
    pub currency: String,
    /// Seed of random numbers.
    pub seed: u64,
    /// Draws of unknown values.
    pub draws: usize,
    /// The demand.
    pub demand: Demand,
    /// The offers.
    pub offers: Vec<MachineOffer>,
}

/// An unknown value that could be determined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownParameter {
    /// Rate of an application on an offer, by a measurement.
    Rate {
        /// The offer.
        offer: String,
        /// The application.
        application: String,
    },
    /// Price of an offer including network, by a firm quotation.
    Price {
        /// The offer.
        offer: String,
    },
    /// Power of an offer, by a meter.
    Power {
        /// The offer.
        offer: String,
    },
    /// Price of energy, by a contract.
    EnergyPrice,
}

/// One possible state of the world: actual rates and costs of each offer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorldState {
    /// Events a second of one node for the mix, including downtime.
    pub(crate) rate: Vec<f64>,
    /// Cost of one node over the years.
    pub(crate) cost: Vec<f64>,
    /// Part of it paid at the purchase.
    pub(crate) purchase: Vec<f64>,
    /// Part of it for energy.
    pub(crate) energy: Vec<f64>,
    /// Power of one node, watts.
    pub(crate) power: Vec<f64>,
}

/// Number of values of one offer in addition to its rates: price, network, hourly price, power.
const OTHERS: usize = 4;

impl Demand {
    /// `1 year`, `2.5 years`.
    #[must_use]
    pub fn years_in_words(&self) -> String {
        let years = if (self.years - 1.0).abs() < 1e-9 { "year" } else { "years" };
        format!("{} {years}", amount(self.years))
    }
}

impl ChooseProblem {
    /// All uncertain values: for each offer its rates, price, network, hourly price and power; then energy.
    pub(crate) fn values(&self) -> Vec<(UnknownParameter, Uncertain)> {
        let mut found = Vec::new();
        for offer in &self.offers {
            let name = || offer.name.clone();
            for (rate, (application, _)) in offer.rates.iter().zip(&self.demand.mix) {
                found.push((UnknownParameter::Rate { offer: name(), application: application.clone() }, *rate));
            }
            found.push((UnknownParameter::Price { offer: name() }, offer.price));
            found.push((UnknownParameter::Price { offer: name() }, offer.network));
            found.push((UnknownParameter::Price { offer: name() }, offer.hourly));
            found.push((UnknownParameter::Power { offer: name() }, offer.power));
        }
        found.push((UnknownParameter::EnergyPrice, self.demand.energy_price));
        found
    }

    /// Moves the rates among values, in the order of [`Self::values`], by their common error, in standard deviations.
    pub(crate) fn err_together(&self, values: &mut [f64], deviations: f64) {
        let of_one = self.demand.mix.len() + OTHERS;
        for (offer, values) in self.offers.iter().zip(values.chunks_mut(of_one)) {
            for (rate, error) in values.iter_mut().zip(&offer.common_error) {
                *rate *= (deviations * error).exp();
            }
        }
    }

    /// The world with every value at its middle.
    pub(crate) fn middle(&self) -> WorldState {
        self.world(&self.values().iter().map(|(_, value)| value.middle()).collect::<Vec<_>>())
    }

    /// The world of given values, in the order of [`Problem::values`].
    pub(crate) fn world(&self, values: &[f64]) -> WorldState {
        let applications = self.demand.mix.len();
        let demand = &self.demand;
        let energy_price = values.last().copied().unwrap_or(0.0);
        let mut world = WorldState {
            rate: Vec::new(),
            cost: Vec::new(),
            purchase: Vec::new(),
            energy: Vec::new(),
            power: Vec::new(),
        };
        for (place, offer) in self.offers.iter().enumerate() {
            let own = &values[place * (applications + OTHERS)..];
            // A node spends time on each application in proportion to its share of events over its rate.
            let time: f64 = demand.mix.iter().zip(own).map(|((_, share), rate)| share / rate).sum();
            let [price, network, hourly, power] = [0, 1, 2, 3].map(|k| own[applications + k]);
            let hours = demand.years * HOURS;
            let energy = hours * power / 1000.0 * demand.cooling * energy_price;
            let repairs = demand.years * offer.failures_per_year * offer.repair_cost;
            world.rate.push(offer.up / time);
            world.purchase.push(price + network);
            world.energy.push(energy);
            world.cost.push(price + network + energy + hourly * hours + repairs);
            world.power.push(power);
        }
        world
    }

    /// Rate of a plan in a world without its fastest `spare_nodes` nodes.
    pub(crate) fn rate(&self, plan: &[u32], world: &WorldState) -> f64 {
        let total: f64 = plan.iter().zip(&world.rate).map(|(&count, rate)| f64::from(count) * rate).sum();
        if self.demand.spare_nodes == 0 {
            return total;
        }
        total - self.lost(plan, &world.rate)
    }

    /// Rate of the fastest `spare_nodes` nodes of a plan, by the rate of one node of each offer.
    fn lost(&self, plan: &[u32], rates: &[f64]) -> f64 {
        let (mut spare, mut lost) = (self.demand.spare_nodes, 0.0);
        let mut before: Option<usize> = None;
        // The fastest kind mostly has enough nodes, so sorting all of them would be a waste.
        while spare > 0 {
            let slower = |offer: usize| match before {
                Some(last) => rates[offer] < rates[last] || rates[offer] == rates[last] && offer > last,
                None => true,
            };
            let left = (0..plan.len()).filter(|&offer| plan[offer] > 0 && slower(offer));
            let Some(next) = left.max_by(|&a, &b| rates[a].total_cmp(&rates[b]).then(b.cmp(&a))) else { break };
            let here = plan[next].min(spare);
            lost += f64::from(here) * rates[next];
            spare -= here;
            before = Some(next);
        }
        lost
    }

    /// Whether a plan keeps to all limits but the rate, at the prices and watts of a world.
    pub(crate) fn allows(&self, plan: &[u32], world: &WorldState) -> bool {
        let demand = &self.demand;
        let sum = |each: &[f64]| plan.iter().zip(each).map(|(&count, of_one)| f64::from(count) * of_one).sum::<f64>();
        let racks: Vec<f64> = self.offers.iter().map(|offer| offer.rack_units).collect();
        // A rounding error of money or watts makes no plan impossible.
        let within = |limit: Option<f64>, used: f64| limit.is_none_or(|limit| used <= limit * (1.0 + 1e-9));
        let had = |(offer, &count): (&MachineOffer, &u32)| {
            count == 0 || (offer.excluded.is_none() && offer.maximum.is_none_or(|maximum| count <= maximum))
        };
        self.offers.iter().zip(plan).all(had)
            && plan.iter().map(|count| u64::from(*count)).sum::<u64>() >= u64::from(demand.nodes)
            && within(demand.budget, sum(&world.cost))
            && within(demand.purchase_limit, sum(&world.purchase))
            && within(demand.power_limit, sum(&world.power))
            && within(demand.rack_units, sum(&racks))
    }

    /// Cost of a plan in a world: of the plan itself, and of later purchases if the rate falls short.
    pub(crate) fn costs(&self, plan: &[u32], world: &WorldState) -> (f64, f64) {
        (self.own_cost(plan, world), self.later(self.demand.rate - self.rate(plan, world), world))
    }

    /// Cost of the nodes of a plan in a world.
    pub(crate) fn own_cost(&self, plan: &[u32], world: &WorldState) -> f64 {
        plan.iter().zip(&world.cost).map(|(&count, cost)| f64::from(count) * cost).sum()
    }

    /// Cost of buying the missing rate later in a world.
    pub(crate) fn later(&self, missing: f64, world: &WorldState) -> f64 {
        if missing <= 1e-9 * self.demand.rate {
            return 0.0;
        }
        let later = (0..self.offers.len())
            .filter(|&i| self.offers[i].excluded.is_none())
            .map(|i| (missing / world.rate[i]).ceil() * world.cost[i])
            .min_by(f64::total_cmp);
        later.unwrap_or(f64::INFINITY) * (1.0 + self.demand.late_premium)
    }
}
