//! The question in numbers: money in one currency, rates in one unit, watts, bytes, days.

use serde::{Deserialize, Serialize};

use super::uncertain::Uncertain;

/// Hours of a year.
pub(crate) const HOURS: f64 = 8766.0;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// Events a second, of the whole mix.
    pub rate: f64,
    /// What is counted: `events/s`.
    pub unit: String,
    /// Name and share of each application; shares sum to 1. Every node does its share of each.
    pub mix: Vec<(String, f64)>,
    /// Years of use.
    pub years: f64,
    /// Fewest nodes.
    pub nodes: u32,
    /// Nodes that may fail at once, the fastest ones, without the rate falling below the demand.
    pub spare_nodes: u32,
    /// Price of a kilowatt-hour.
    pub energy_price: Uncertain,
    /// Watts drawn from the grid for each watt of a node.
    pub cooling: f64,
    /// Most that everything may cost over the years.
    pub budget: Option<f64>,
    /// Most that may be paid at the purchase.
    pub purchase_limit: Option<f64>,
    /// Most watts of all nodes, cooling not counted.
    pub power_limit: Option<f64>,
    /// Rack units there are.
    pub rack_units: Option<f64>,
    /// Probability with which the rate must be reached, as far as rates are not known.
    pub confidence: f64,
    /// How much dearer it is to buy later what turns out missing: 0.2 is 20%.
    pub late_premium: f64,
}

/// One kind of machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineOffer {
    /// Its name.
    pub name: String,
    /// Events a second of one node for each application of the mix, when it does nothing else.
    pub rates: Vec<Uncertain>,
    /// Price of one.
    pub price: Uncertain,
    /// Network: ports and cards of one.
    pub network: Uncertain,
    /// Price of an hour of one, where it is rented.
    pub hourly: Uncertain,
    /// Watts of one.
    pub power: Uncertain,
    /// Rack units of one.
    pub rack_units: f64,
    /// Most that can be had.
    pub maximum: Option<u32>,
    /// Share of time that one is up, repairs counted.
    pub up: f64,
    /// Failures a year of one.
    pub failures_per_year: f64,
    /// Days until a failed one is back.
    pub repair_days: f64,
    /// Cost of a repair.
    pub repair_cost: f64,
    /// Cost of measuring one beforehand.
    pub measurement_cost: f64,
    /// Why it cannot be taken at all.
    pub excluded: Option<String>,
    /// Fields whose numbers the reader must supply.
    pub placeholders: Vec<String>,
    /// Applications whose rate comes from figures that state no spread: taken as they are, though nobody knows how exact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_spread: Vec<String>,
}

/// The whole question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChooseProblem {
    /// What all money is counted in.
    pub currency: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Draws of what is not known.
    pub draws: usize,
    /// What is wanted.
    pub demand: Demand,
    /// What can be had.
    pub offers: Vec<MachineOffer>,
}

/// Something that is not known and could be found out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownParameter {
    /// Rate of an application on an offer, by measuring it there.
    Rate {
        /// The offer.
        offer: String,
        /// The application.
        application: String,
    },
    /// Price of an offer, network included, by asking for a firm one.
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

/// One possible state of the world: what each offer turns out to do and to cost.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorldState {
    /// Events a second of one node for the mix, up-time counted.
    pub(crate) rate: Vec<f64>,
    /// Cost of one node over the years.
    pub(crate) cost: Vec<f64>,
    /// Of that, what is paid at the purchase.
    pub(crate) purchase: Vec<f64>,
    /// Of it, energy.
    pub(crate) energy: Vec<f64>,
    /// Watts of one node.
    pub(crate) power: Vec<f64>,
}

/// Number of values of one offer beside its rates: price, network, hourly, power.
const OTHERS: usize = 4;

impl ChooseProblem {
    /// Everything that may be uncertain: for each offer its rates, price, network, hourly price and power; then energy.
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

    /// The world where every value is at the middle.
    pub(crate) fn middle(&self) -> WorldState {
        self.world(&self.values().iter().map(|(_, value)| value.middle()).collect::<Vec<_>>())
    }

    /// The world of some values, in the order of [`Problem::values`].
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
            // A node gives each application the time that its share of the events takes.
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

    /// Rate of a plan in a world, with the fastest `spare_nodes` nodes lost.
    pub(crate) fn rate(&self, plan: &[u32], world: &WorldState) -> f64 {
        let total: f64 = plan.iter().zip(&world.rate).map(|(&count, rate)| f64::from(count) * rate).sum();
        let mut used: Vec<(f64, u32)> = plan
            .iter()
            .zip(&world.rate)
            .filter(|(count, _)| **count > 0)
            .map(|(&count, &rate)| (rate, count))
            .collect();
        used.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut spare = self.demand.spare_nodes;
        let mut lost = 0.0;
        for (rate, count) in used {
            let here = count.min(spare);
            lost += f64::from(here) * rate;
            spare -= here;
        }
        total - lost
    }

    /// Cost of a plan in a world: of the plan itself, and of what must be bought later because the rate falls short.
    pub(crate) fn costs(&self, plan: &[u32], world: &WorldState) -> (f64, f64) {
        let cost: f64 = plan.iter().zip(&world.cost).map(|(&count, cost)| f64::from(count) * cost).sum();
        let missing = self.demand.rate - self.rate(plan, world);
        if missing <= 1e-9 * self.demand.rate {
            return (cost, 0.0);
        }
        let later = (0..self.offers.len())
            .filter(|&i| self.offers[i].excluded.is_none())
            .map(|i| (missing / world.rate[i]).ceil() * world.cost[i])
            .min_by(f64::total_cmp);
        (cost, later.unwrap_or(f64::INFINITY) * (1.0 + self.demand.late_premium))
    }
}
