//! A choice in words.

use model::percent;

use super::problem::{ChooseProblem, UnknownParameter};
use super::result::{Choice, ChooseAnswer, ChosenPlan, OfferCount, OneKind, Shortage};
use model::words::{amount, list};

impl Choice {
    /// The result, most important first.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = self.placeholders();
        sentences.extend(self.unknown_spreads());
        match &self.answer {
            ChooseAnswer::Plan(chosen) => {
                sentences.extend(self.plan_in_words(chosen));
                sentences.extend(self.against_cheapest(chosen));
                sentences.extend(chosen.one_kind.as_ref().map(one_kind));
            }
            ChooseAnswer::Impossible(shortages) => sentences.extend(self.impossible(shortages)),
        }
        sentences.extend(self.corrections());
        let excluded =
            self.excluded.iter().map(|excluded| format!("{} cannot be taken: {}.", excluded.offer, excluded.reason));
        sentences.extend(excluded);
        sentences
    }

    fn placeholders(&self) -> Vec<String> {
        let named = |offer: &super::problem::MachineOffer| {
            (!offer.placeholders.is_empty()).then(|| format!("{} of {}", list(&offer.placeholders), offer.name))
        };
        let found: Vec<String> = self.problem.offers.iter().filter_map(named).collect();
        if found.is_empty() {
            return found;
        }
        vec![format!("PLACEHOLDERS, to be replaced before this means anything: {}.", list(&found))]
    }

    fn unknown_spreads(&self) -> Option<String> {
        let named = |offer: &super::problem::MachineOffer| {
            (!offer.unknown_spread.is_empty()).then(|| format!("{} on {}", list(&offer.unknown_spread), offer.name))
        };
        let found: Vec<String> = self.problem.offers.iter().filter_map(named).collect();
        (!found.is_empty()).then(|| {
            format!(
                "NO SPREAD KNOWN of the rate of {}: the results behind them state none and are taken as they are, so every \
                 probability and interval below is too sure of itself.",
                list(&found)
            )
        })
    }

    fn corrections(&self) -> Option<String> {
        let named = self.corrected.iter().map(|corrected| {
            let sign = if corrected.factor < 1.0 { "less" } else { "more" };
            format!("{} {} {sign}", corrected.offer, percent((corrected.factor - 1.0).abs()))
        });
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| {
            format!(
                "An offer that looks cheap is likelier one whose rate is overestimated, so uncertain rates are reckoned nearer \
                 to what their costs let expect: {}.",
                list(&named)
            )
        })
    }

    /// Cost and rate of the plan, and how certain they are.
    fn costs_and_rate(&self, chosen: &ChosenPlan) -> [String; 3] {
        let demand = &self.problem.demand;
        let money = |value: f64| money(&self.problem, value);
        let costs = &chosen.costs;
        let (low, high) = (money(chosen.cost_spread.0), money(chosen.cost_spread.2));
        let spread = if low == high { String::new() } else { format!(", {low} to {high} in 90% of the cases") };
        let kept_up = chosen.kept_up.map_or_else(String::new, |kept_up| {
            let where_reached = if chosen.reaches < 1.0 { " where it is" } else { "" };
            format!(", and enough nodes are up {} of the time{where_reached}", percent(kept_up))
        });
        // Offers without power or failures state none, which is not that they have none.
        let parts = [(costs.purchase, "at the purchase"), (costs.energy, "energy"), (costs.running, "running")];
        let parts: Vec<(f64, &str)> = parts.into_iter().filter(|part| part.0 > 0.0).collect();
        let each: Vec<String> = parts.iter().map(|(cost, of)| format!("{} {of}", money(*cost))).collect();
        let parts = match parts.as_slice() {
            [] => String::new(),
            [(_, of)] => format!(" (all of it {of})"),
            _ => format!(" ({})", each.join(", ")),
        };
        let mut does =
            vec![format!("does {} {} where {} are asked for", amount(chosen.rate), demand.unit, amount(demand.rate))];
        does.extend((chosen.power > 0.0).then(|| format!("draws {} W", amount(chosen.power))));
        let failures = chosen.failures_per_year;
        does.extend((failures > 0.0).then(|| format!("has {} failures of nodes a year", amount(failures))));
        [
            format!(
                "Take {}: {} over {}{parts}{spread}.",
                plan_in_words(&chosen.plan),
                money(costs.total),
                demand.years_in_words(),
            ),
            format!(
                "It {}; the rate is reached with a probability of {}{kept_up}.",
                list(&does),
                percent(chosen.reaches)
            ),
            format!(
                "With a probability of {} no plan is cheaper; what is not known costs {} on average.",
                percent(chosen.unbeaten),
                money(chosen.expected_regret),
            ),
        ]
    }

    fn plan_in_words(&self, chosen: &ChosenPlan) -> Vec<String> {
        let problem = &self.problem;
        let mut sentences = Vec::from(self.costs_and_rate(chosen));
        if chosen.reaches < problem.demand.confidence {
            sentences.push(format!(
                "No plan within the limits reaches the rate with the confidence of {}: this one comes nearest.",
                percent(problem.demand.confidence)
            ));
            sentences.extend(chosen.shortages.iter().map(shortage_in_words));
        }
        let odds: Vec<String> = chosen
            .offers
            .iter()
            .filter(|odds| odds.best >= 0.005)
            .map(|odds| format!("{} {}", odds.offer, percent(odds.best)))
            .collect();
        sentences.push(format!("Probability of being the main part of the best plan: {}.", list(&odds)));
        for odds in chosen.offers.iter().filter(|odds| odds.enters_at.is_some_and(|cut| cut <= 0.5)) {
            let cut = odds.enters_at_in_words().unwrap_or_default();
            sentences.push(format!("{} would enter the cheapest plan if it cost {cut} less.", odds.offer));
        }
        for binding in &chosen.binding {
            sentences.push(format!(
                "It binds {}: without it {} would be saved.",
                binding.condition,
                money(problem, binding.saving)
            ));
        }
        sentences.push(self.information_in_words(chosen));
        sentences
    }

    /// The price of being sure: `It costs 4% more than the cheapest plan, 9 old, which reaches the rate with 51%`.
    fn against_cheapest(&self, chosen: &ChosenPlan) -> Option<String> {
        let cheapest = &chosen.against_cheapest;
        let asked = percent(self.problem.demand.confidence);
        let among = match cheapest.sure {
            _ if cheapest.considered < 2 => return None,
            0 => return None,
            1 => format!(
                "it is the only one of the {} plans considered that reaches it with {asked}",
                cheapest.considered
            ),
            sure => format!("of the {} plans considered {sure} reach it with {asked}", cheapest.considered),
        };
        if cheapest.plan == chosen.plan {
            return Some(format!("No plan considered is cheaper; {among}."));
        }
        // A mean over draws and a cost with middle values may differ in their order by a hair.
        let more_expensive = cheapest.more_expensive.max(0.0);
        let later = if cheapest.reaches < 1.0 {
            let mean = money(&self.problem, cheapest.expected_cost);
            format!(" and costs {mean} on average with what must then be bought later")
        } else {
            String::new()
        };
        Some(format!(
            "It costs {} more than the cheapest plan, {}, which reaches the rate with a probability of {}{later}; {among}.",
            percent(more_expensive),
            plan_in_words(&cheapest.plan),
            percent(cheapest.reaches),
        ))
    }

    fn impossible(&self, shortages: &[Shortage]) -> Vec<String> {
        let unknown = self.problem.offers.iter().flat_map(|offer| &offer.rates).any(|rate| !rate.is_known());
        let confidence = percent(self.problem.demand.confidence);
        let asked = if unknown { format!(" with a confidence of {confidence}") } else { String::new() };
        let mut sentences = vec![format!("No plan meets the demand{asked}.")];
        sentences.extend(shortages.iter().map(shortage_in_words));
        if shortages.is_empty() {
            sentences.push("No offer can be taken at all.".to_owned());
        }
        sentences
    }

    fn information_in_words(&self, chosen: &ChosenPlan) -> String {
        let Some(first) = chosen.information.iter().find(|information| information.value > 0.0) else {
            return "No further measurement would change the decision enough to be worth anything.".to_owned();
        };
        let what = about(&first.about);
        let value = money(&self.problem, first.value);
        let changes = percent(first.changes);
        let cost = money(&self.problem, first.cost);
        let verdict = match (first.worth, first.cost > 0.0) {
            (true, true) => format!("more than its cost of {cost}: do it first"),
            (true, false) => "so do it first if it costs less".to_owned(),
            (false, _) => format!("less than its cost of {cost}: not worth it"),
        };
        format!(
            "Most worth finding out: {what}; it would change the plan with a probability of {changes} and is worth {value}, {verdict}."
        )
    }
}

/// The price of having one kind of machine.
fn one_kind(single: &OneKind) -> String {
    let plan = plan_in_words(&single.plan);
    let more_expensive = percent(single.more_expensive.max(0.0));
    format!("Of one kind, {plan} would be as sure as was asked, and cost {more_expensive} more.")
}

fn shortage_in_words(shortage: &Shortage) -> String {
    format!(
        "{} is {} {}; {}, it would have to be {} {}.",
        capital(&shortage.condition),
        amount(shortage.limit),
        shortage.unit,
        if shortage.alone { "with everything else as it is" } else { "even if the other limits give way" },
        amount(shortage.sufficient()),
        shortage.unit,
    )
}

/// `12 Athlon and 3 Xeon`.
#[must_use]
pub(crate) fn plan_in_words(plan: &[OfferCount]) -> String {
    let parts: Vec<String> = plan.iter().map(|counted| format!("{} {}", counted.count, counted.offer)).collect();
    if parts.is_empty() { "nothing".to_owned() } else { list(&parts) }
}

/// An unknown and how to determine it.
#[must_use]
pub(crate) fn about(parameter: &UnknownParameter) -> String {
    match parameter {
        UnknownParameter::Rate { offer, application } => {
            format!("the rate of {application} on {offer}, by running it there")
        }
        UnknownParameter::Price { offer } => format!("the price of {offer}, by a firm quotation"),
        UnknownParameter::Power { offer } => format!("the power of {offer}, by a meter"),
        UnknownParameter::EnergyPrice => "the price of energy, by a contract".to_owned(),
    }
}

fn money(problem: &ChooseProblem, value: f64) -> String {
    format!("{} {}", amount(value), problem.currency)
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
