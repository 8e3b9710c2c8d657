//! Converts a specification to numbers in common units; contradictions are reported with their line.

use std::collections::BTreeMap;

use toml::Spanned;

use super::error::Error;
use super::problem::{ChooseProblem, Demand, MachineOffer};
use super::programme::MOST_NODES;
use super::quantity::ParsedQuantity;
use super::specification::{OfferWanted, Specification};
use super::uncertain::Uncertain;
use model::words::digits;

/// Numbers of draws: fewer have no 5% and 95%, more fill the memory.
const DRAWS: std::ops::RangeInclusive<usize> = 20..=100_000;

/// Days in a year.
const DAYS: f64 = 365.25;

impl Specification {
    /// Checks relations between the fields.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let demand = &self.demand;
        if !demand.rate.get_ref().unit.ends_with("/s") {
            return Err(self.mistake(&demand.rate, "a rate is counted a second, such as \"300 events/s\"".to_owned()));
        }
        if demand.rate.get_ref().value.middle() <= 0.0 {
            return Err(self.mistake(&demand.rate, "nothing is asked for: a rate is above 0".to_owned()));
        }
        if !DRAWS.contains(self.draws.get_ref()) {
            let (least, most) = (DRAWS.start(), DRAWS.end());
            return Err(self.mistake(&self.draws, format!("the number of draws lies between {least} and {most}")));
        }
        if demand.years.get_ref().0.middle() <= 0.0 {
            return Err(
                self.mistake(&demand.years, "machines are bought for some time, such as \"3 years\"".to_owned())
            );
        }
        self.check_mix()?;
        for (share, least, most, what) in [
            (&demand.confidence, 0.0, 1.0, "the confidence lies between 0 and 1"),
            (&demand.cooling, 1.0, 10.0, "cooling is watts drawn for each watt of a node, at least 1, such as 1.4"),
            (&demand.late_premium, 0.0, 100.0, "the premium is a share of the price, such as 0.2"),
        ] {
            if let Some(share) = share
                && !(least..=most).contains(share.get_ref())
            {
                return Err(self.mistake(share, what.to_owned()));
            }
        }
        let mut seen: Vec<&str> = Vec::new();
        for offer in &self.offers {
            if seen.contains(&offer.name()) {
                return Err(self.mistake(&offer.name, format!("the offer '{}' occurs twice", offer.name())));
            }
            seen.push(offer.name());
            if offer.name().trim().is_empty() {
                return Err(self.mistake(&offer.name, "an offer has a name, and this one is empty".to_owned()));
            }
            self.check_offer(offer)?;
        }
        if self.offers.is_empty() {
            return Err(self.mistake(&demand.rate, "there is no [[offer]] to choose from".to_owned()));
        }
        Ok(())
    }

    fn check_mix(&self) -> Result<(), Error> {
        let applications = &self.demand.applications;
        let mut seen: Vec<&str> = Vec::new();
        for application in applications {
            if seen.contains(&application.name()) {
                return Err(
                    self.mistake(&application.name, format!("the application '{}' occurs twice", application.name()))
                );
            }
            seen.push(application.name());
            if applications.len() > 1 && application.share.is_none() {
                return Err(self.mistake(
                    &application.name,
                    format!("'{}' needs its share of the events, such as share = 0.6", application.name()),
                ));
            }
        }
        let shares = || applications.iter().filter_map(|application| application.share.as_ref());
        if let Some(share) = shares().find(|share| !(0.0..=1.0).contains(share.get_ref())) {
            return Err(self.mistake(share, "a share lies between 0 and 1".to_owned()));
        }
        let sum: f64 = shares().map(Spanned::get_ref).sum();
        if let Some(first) = applications.first()
            && (applications.len() > 1 || first.share.is_some())
            && (sum - 1.0).abs() > 1e-6
        {
            return Err(self.mistake(&first.name, format!("the shares of the applications sum to {sum:.4}, not to 1")));
        }
        Ok(())
    }

    fn check_offer(&self, offer: &OfferWanted) -> Result<(), Error> {
        if offer.price.is_none() && offer.price_per_hour.is_none() {
            return Err(self.mistake(
                &offer.name,
                format!(
                    "the offer '{}' has no price: write price = \"2000 {}\" or price_per_hour = \"0.5 {}/h\"",
                    offer.name(),
                    self.currency,
                    self.currency
                ),
            ));
        }
        for name in offer.rate.keys() {
            let known = self.names();
            if !known.iter().any(|known| known == name.get_ref()) {
                return Err(self.mistake(
                    name,
                    format!("there is no application '{}'; there are: {}", name.get_ref(), known.join(", ")),
                ));
            }
        }
        if let Some(availability) = &offer.availability
            && !(0.0..=1.0).contains(availability.get_ref())
        {
            return Err(self.mistake(availability, "the availability lies between 0 and 1".to_owned()));
        }
        if let Some(processes) = offer.processes.as_ref().filter(|count| *count.get_ref() == 0) {
            return Err(self.mistake(processes, "at least one process runs on a node".to_owned()));
        }
        Ok(())
    }

    /// Names of the applications; a single empty one if there are none.
    fn names(&self) -> Vec<String> {
        let names: Vec<String> = self.applications().iter().map(|application| application.name().to_owned()).collect();
        if names.is_empty() { vec!["events".to_owned()] } else { names }
    }

    /// Rates to be taken from runs: indices of offer and application.
    #[must_use]
    pub fn wanted(&self) -> Vec<(usize, usize)> {
        let names = self.names();
        let of = |o: usize| {
            let names = &names;
            (0..names.len()).filter(move |&a| !self.offers[o].has_rate(&names[a])).map(move |a| (o, a))
        };
        (0..self.offers.len()).flat_map(of).collect()
    }

    /// The problem in numbers. `rates` are events a second of one process for the pairs that [`Specification::wanted`]
    /// lists, or why there is none.
    ///
    /// # Errors
    /// When units or currencies do not agree, or a rate is missing.
    pub fn problem(&self, rates: &BTreeMap<(usize, usize), Result<Uncertain, String>>) -> Result<ChooseProblem, Error> {
        let wanted = &self.demand;
        let unit = wanted.rate.get_ref().unit.clone();
        let names = self.names();
        let shares = wanted
            .applications
            .iter()
            .map(|application| application.share.as_ref().map_or(1.0, |share| *share.get_ref()));
        let money = |quantity: &Option<Spanned<ParsedQuantity>>| {
            quantity.as_ref().map(|quantity| self.money(quantity, "")).transpose()
        };
        let fixed = |value: Option<Uncertain>| value.map(|value| value.middle());
        let demand = Demand {
            rate: wanted.rate.get_ref().value.middle(),
            unit: unit.clone(),
            mix: names.iter().cloned().zip(shares.chain(std::iter::repeat(1.0))).collect(),
            years: wanted.years.get_ref().0.middle(),
            nodes: wanted.nodes.unwrap_or(0),
            spare_nodes: wanted.spare_nodes,
            energy_price: match &wanted.energy_price {
                Some(price) => self.money(price, "/kWh")?,
                None => Uncertain::Fixed(0.0),
            },
            cooling: wanted.cooling.as_ref().map_or(1.0, |cooling| *cooling.get_ref()),
            budget: fixed(money(&wanted.budget)?),
            purchase_limit: fixed(money(&wanted.purchase_limit)?),
            power_limit: wanted.power_limit.map(|limit| limit.0.middle()),
            rack_units: wanted.rack_units,
            confidence: wanted.confidence.as_ref().map_or(0.9, |confidence| *confidence.get_ref()),
            late_premium: wanted.late_premium.as_ref().map_or(0.2, |premium| *premium.get_ref()),
        };
        let offers: Result<Vec<MachineOffer>, Error> =
            (0..self.offers.len()).map(|place| self.offer(place, &names, &unit, rates)).collect();
        let problem = ChooseProblem {
            currency: self.currency.clone(),
            seed: self.seed,
            draws: *self.draws.get_ref(),
            demand,
            offers: offers?,
        };
        let middle = problem.middle();
        let beyond = |place: &usize| !(middle.cost[*place].is_finite() && middle.power[*place].is_finite());
        if let Some(place) = (0..self.offers.len()).find(beyond) {
            let reason = format!("what '{}' costs over the years is beyond all numbers", self.offers[place].name());
            return Err(self.mistake(&self.offers[place].name, reason));
        }
        let fastest = middle.rate.into_iter().fold(0.0, f64::max);
        if fastest > 0.0 && problem.demand.rate > fastest * MOST_NODES {
            return Err(self.mistake(
                &wanted.rate,
                format!("a million nodes do not reach it: the fastest does {} {unit}", digits(fastest)),
            ));
        }
        Ok(problem)
    }

    fn offer(
        &self,
        place: usize,
        names: &[String],
        unit: &str,
        rates: &BTreeMap<(usize, usize), Result<Uncertain, String>>,
    ) -> Result<MachineOffer, Error> {
        let offer = &self.offers[place];
        let known = |quantity: &Option<Spanned<ParsedQuantity>>, suffix: &str| {
            quantity.as_ref().map_or(Ok(Uncertain::Fixed(0.0)), |quantity| self.money(quantity, suffix))
        };
        let processes = offer.processes.as_ref().map_or(1, |count| *count.get_ref());
        let (usable, mut excluded) = self.usable(offer, processes);
        let mut own: Vec<Uncertain> = Vec::new();
        for (a, name) in names.iter().enumerate() {
            own.push(match offer.rate.iter().find(|(given, _)| given.get_ref() == name) {
                Some((_, rate)) => self.in_unit(rate, unit)?.scaled(usable),
                None => self.of_runs(offer, name, rates.get(&(place, a)))?.scaled(usable * f64::from(processes)),
            });
        }
        excluded = excluded.or_else(|| self.too_late(offer)).or(self.too_slow(offer, &own, unit)?);
        let ports = offer.ports.unwrap_or(1.0);
        let network = [known(&offer.port, "")?, known(&offer.card, "")?];
        let repair_days = offer.repair.map_or(7.0, |repair| repair.0.middle());
        let availability = offer.availability.as_ref().map_or(1.0, |share| *share.get_ref());
        let down = (offer.failures_per_year * repair_days / DAYS).min(1.0);
        Ok(MachineOffer {
            name: offer.name().to_owned(),
            rates: own,
            price: known(&offer.price, "")?,
            network: sum(network[0], network[1]).scaled(ports),
            hourly: known(&offer.price_per_hour, "/h")?,
            power: offer.power.map_or(Uncertain::Fixed(0.0), |power| power.0),
            rack_units: offer.rack_units,
            maximum: offer.maximum,
            up: availability * (1.0 - down),
            failures_per_year: offer.failures_per_year,
            repair_days,
            repair_cost: known(&offer.repair_cost, "")?.middle(),
            measurement_cost: known(&offer.measurement_cost, "")?.middle(),
            excluded,
            placeholders: offer.placeholders.clone(),
            unknown_spread: Vec::new(),
            common_error: Vec::new(),
        })
    }

    /// Share of its processes that fit into memory, and a reason if none does.
    fn usable(&self, offer: &OfferWanted, processes: u32) -> (f64, Option<String>) {
        let (Some(memory), Some(each)) = (offer.memory, self.demand.memory_per_process) else { return (1.0, None) };
        let (memory, each) = (memory.0.middle(), each.0.middle());
        let fit = if each > 0.0 { (memory / each).floor() } else { f64::from(processes) };
        if fit < 1.0 {
            let reason = format!("its memory of {:.1} GiB does not hold one process", memory / 1_073_741_824.0);
            return (1.0, Some(reason));
        }
        ((fit / f64::from(processes)).min(1.0), None)
    }

    fn too_late(&self, offer: &OfferWanted) -> Option<String> {
        let (within, delivery) = (self.demand.delivery_within?.0.middle(), offer.delivery?.0.middle());
        (delivery > within).then(|| format!("delivery takes {delivery:.0} days, the limit is {within:.0}"))
    }

    fn too_slow(&self, offer: &OfferWanted, rates: &[Uncertain], unit: &str) -> Result<Option<String>, Error> {
        let Some(least) = &self.demand.rate_per_node else { return Ok(None) };
        let least = self.in_unit(least, unit)?.middle();
        let slowest = rates.iter().map(Uncertain::middle).fold(f64::INFINITY, f64::min);
        let reason = || format!("one {} does {slowest:.3} {unit}, and each node must do {least:.3}", offer.name());
        Ok((slowest < least).then(reason))
    }

    fn of_runs(
        &self,
        offer: &OfferWanted,
        application: &str,
        found: Option<&Result<Uncertain, String>>,
    ) -> Result<Uncertain, Error> {
        match found {
            Some(Ok(rate)) => Ok(*rate),
            other => Err(Error::NoRate {
                offer: offer.name().to_owned(),
                application: application.to_owned(),
                line: self.line(&offer.name),
                why: other.and_then(|found| found.as_ref().err()).map_or_else(String::new, |why| format!("; {why}")),
            }),
        }
    }

    /// Money in the currency of the text, with the denominator `suffix`.
    fn money(&self, quantity: &Spanned<ParsedQuantity>, suffix: &str) -> Result<Uncertain, Error> {
        let wanted = format!("{}{suffix}", self.currency);
        if quantity.get_ref().unit == wanted {
            return Ok(quantity.get_ref().value);
        }
        Err(self.mistake(
            quantity,
            format!(
                "the unit '{}' is wrong: it is given in {wanted}, such as \"100 {wanted}\"",
                quantity.get_ref().unit
            ),
        ))
    }

    fn in_unit(&self, quantity: &Spanned<ParsedQuantity>, unit: &str) -> Result<Uncertain, Error> {
        let found = quantity.get_ref();
        if found.unit != unit {
            let reason = format!("the unit '{}' is wrong: the demand is counted in {unit}", found.unit);
            return Err(self.mistake(quantity, reason));
        }
        if found.value.at(0.001) <= 0.0 {
            return Err(self.mistake(quantity, "a rate must be above 0".to_owned()));
        }
        Ok(found.value)
    }
}

/// Sum of two ranges, end by end: cautious, and exact if only one is a range.
fn sum(a: Uncertain, b: Uncertain) -> Uncertain {
    let ends = |value: Uncertain| match value {
        Uncertain::Between(low, high) => (low, high),
        other => (other.middle(), other.middle()),
    };
    let ((a, b), (c, d)) = (ends(a), ends(b));
    Uncertain::between(a + c, b + d)
}
