//! A choice in words.

use model::percent;

use super::problem::{ChooseProblem, UnknownParameter};
use super::result::{Binding, Choice, ChooseAnswer, ChosenPlan, OfferCount, OneKind, Shortage};
use model::words::{amount, capital, list};

impl Choice {
    /// The answer, most important first: the plan, how sure it is, what it depends on, and what to measure.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = match &self.answer {
            ChooseAnswer::Plan(chosen) => self.plan_in_words(chosen),
            ChooseAnswer::Impossible(shortages) => self.impossible(shortages),
        };
        // What makes the answer worthless follows it at once.
        let warnings = [self.placeholders(), self.unknown_spreads()].into_iter().flatten();
        sentences.splice(1..1, warnings);
        sentences
    }

    /// What is behind the answer: the parts of the cost, the odds of each offer, what else costs money, corrections and
    /// exclusions.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if let ChooseAnswer::Plan(chosen) = &self.answer {
            sentences.extend(self.parts(chosen));
            sentences.extend(odds(chosen));
            sentences.extend(chosen.binding.iter().skip(BINDING).map(|binding| self.binding(binding)));
            sentences.extend(self.against_cheapest(chosen));
            sentences.extend(chosen.one_kind.as_ref().map(one_kind));
        }
        sentences.extend(self.corrections());
        let excluded = self
            .excluded
            .iter()
            .map(|excluded| format!("{} cannot be taken: {}.", quoted(&excluded.offer), excluded.reason));
        sentences.extend(excluded);
        sentences
    }

    fn placeholders(&self) -> Option<String> {
        let named = |offer: &super::problem::MachineOffer| {
            (!offer.placeholders.is_empty())
                .then(|| format!("{} of {}", list(&offer.placeholders), quoted(&offer.name)))
        };
        let found: Vec<String> = self.problem.offers.iter().filter_map(named).collect();
        (!found.is_empty()).then(|| format!("PLACEHOLDERS: replace {} by real numbers first.", list(&found)))
    }

    fn unknown_spreads(&self) -> Option<String> {
        let named = |offer: &super::problem::MachineOffer| {
            (!offer.unknown_spread.is_empty())
                .then(|| format!("{} on {}", list(&offer.unknown_spread), quoted(&offer.name)))
        };
        let found: Vec<String> = self.problem.offers.iter().filter_map(named).collect();
        (!found.is_empty()).then(|| {
            format!(
                "NO ERROR BARS: the rate of {} has none and is taken as exact, so the probabilities and intervals are \
                 too sure.",
                list(&found)
            )
        })
    }

    fn corrections(&self) -> Option<String> {
        let named = self.corrected.iter().map(|corrected| {
            let sign = if corrected.factor < 1.0 { "less" } else { "more" };
            format!("{} {} {sign}", quoted(&corrected.offer), percent((corrected.factor - 1.0).abs()))
        });
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| {
            format!(
                "Uncertain rates are corrected, since an offer that looks cheap often has an overestimated rate: {}.",
                list(&named)
            )
        })
    }

    fn plan_in_words(&self, chosen: &ChosenPlan) -> Vec<String> {
        let problem = &self.problem;
        let demand = &problem.demand;
        let money = |value: f64| money(problem, value);
        let (low, high) = (money(chosen.cost_spread.0), money(chosen.cost_spread.2));
        let spread = if low == high { String::new() } else { format!(" ({low} to {high} in 90% of cases)") };
        let mut sentences = vec![
            format!(
                "Take {}: {} over {}{spread}.",
                plan_in_words(&chosen.plan),
                money(chosen.costs.total),
                demand.years_in_words()
            ),
            format!(
                "It does {} {} and meets the demand of {} in {} of cases.",
                amount(chosen.rate),
                demand.unit,
                amount(demand.rate),
                percent(chosen.reaches)
            ),
        ];
        if chosen.reaches < demand.confidence {
            sentences.push(format!(
                "No plan within the limits meets the demand with a confidence of {}: this one comes nearest.",
                percent(demand.confidence)
            ));
            sentences.extend(chosen.shortages.iter().map(shortage_in_words));
        }
        let cheapest = format!("It is the cheapest plan in {} of simulated cases.", percent(chosen.unbeaten));
        let regret = chosen.expected_regret;
        sentences.push(match regret > NO_REGRET * chosen.costs.total {
            true => format!("{cheapest} With perfect information you would save {} on average.", money(regret)),
            false => cheapest,
        });
        sentences.push(self.information_in_words(chosen));
        sentences.extend(chosen.binding.iter().take(BINDING).map(|binding| self.binding(binding)));
        sentences
    }

    /// `The 2 spare nodes cost 24 846 EUR.`
    fn binding(&self, binding: &Binding) -> String {
        let costs = if binding.condition.ends_with("nodes") { "cost" } else { "costs" };
        format!("{} {costs} {}.", capital(&binding.condition), money(&self.problem, binding.saving))
    }

    /// The parts of the cost, the power, failures, and how long enough nodes are up.
    fn parts(&self, chosen: &ChosenPlan) -> Vec<String> {
        let costs = &chosen.costs;
        // Offers without power or failures state none, which is not that they have none.
        let parts =
            [(costs.purchase, "at the purchase"), (costs.energy, "for energy"), (costs.running, "for running it")];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|part| part.0 > 0.0)
            .map(|(cost, of)| format!("{} {of}", money(&self.problem, cost)))
            .collect();
        let mut does: Vec<String> = Vec::new();
        does.extend((chosen.power > 0.0).then(|| format!("draws {} W", amount(chosen.power))));
        let failures = chosen.failures_per_year;
        does.extend((failures > 0.0).then(|| format!("has {} node failures a year", amount(failures))));
        does.extend(chosen.kept_up.map(|kept_up| {
            let met = if chosen.reaches < 1.0 { " where it meets the demand" } else { "" };
            format!("has enough nodes up {} of the time{met}", percent(kept_up))
        }));
        let costs = (!parts.is_empty()).then(|| format!("The plan costs {}.", list(&parts)));
        let does = (!does.is_empty()).then(|| format!("It {}.", list(&does)));
        costs.into_iter().chain(does).collect()
    }

    /// What the confidence costs against the plan that is the cheapest with middle values.
    fn against_cheapest(&self, chosen: &ChosenPlan) -> Option<String> {
        let cheapest = &chosen.against_cheapest;
        if cheapest.considered < 2 || cheapest.sure == 0 {
            return None;
        }
        let asked = percent(self.problem.demand.confidence);
        let verb = if cheapest.sure == 1 { "meets" } else { "meet" };
        let among = format!("{} of {} plans {verb} your {asked} target.", cheapest.sure, cheapest.considered);
        if cheapest.plan == chosen.plan {
            return Some(format!("No other plan is nominally cheaper. {among}"));
        }
        // A mean over draws and a cost with middle values may differ in their order by a hair.
        let more_expensive = percent(cheapest.more_expensive.max(0.0));
        let later = if cheapest.reaches < 1.0 {
            let mean = money(&self.problem, cheapest.expected_cost);
            format!("; with later purchases it costs {mean} on average")
        } else {
            String::new()
        };
        Some(format!(
            "The nominally cheapest plan, {}, meets the demand in {} of cases{later}. The chosen plan costs {more_expensive} more. {among}",
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
            return "No measurement would change the plan enough to be worth it.".to_owned();
        };
        let what = about(&first.about);
        let [value, cost] = [first.value, first.cost].map(|value| money(&self.problem, value));
        let changes = percent(first.changes);
        match (first.worth, first.cost > 0.0) {
            (true, true) => format!(
                "Find out first: {what}. It costs {cost}, changes the plan in {changes} of cases and saves {value} on average."
            ),
            (true, false) => format!(
                "Find out first, if it costs less than {value}: {what}. It changes the plan in {changes} of cases."
            ),
            (false, _) => format!(
                "Nothing is worth finding out first: {what}, the best, costs {cost} and saves {value} on average."
            ),
        }
    }
}

/// Share of the cost below which perfect information saves nothing.
const NO_REGRET: f64 = 1e-4;

/// Conditions that cost money and stand in the answer; the others are details.
const BINDING: usize = 2;

/// Which offers the cheapest plan mainly consists of, and which would enter it at a lower price.
fn odds(chosen: &ChosenPlan) -> Vec<String> {
    let main: Vec<String> = chosen
        .offers
        .iter()
        .filter(|odds| odds.best >= 0.005)
        .map(|odds| format!("{} in {} of cases", quoted(&odds.offer), percent(odds.best)))
        .collect();
    let mut sentences = vec![format!("The cheapest plan consists mainly of {}.", list(&main))];
    for odds in chosen.offers.iter().filter(|odds| odds.enters_at.is_some_and(|cut| cut <= 0.5)) {
        let cut = odds.enters_at_in_words().unwrap_or_default();
        sentences.push(format!("A {cut} lower price would bring {} into the cheapest plan.", quoted(&odds.offer)));
    }
    sentences
}

/// The price of having one kind of machine.
fn one_kind(single: &OneKind) -> String {
    let plan = plan_in_words(&single.plan);
    let more_expensive = percent(single.more_expensive.max(0.0));
    format!("With a single type: {plan}, {more_expensive} more expensive, same confidence.")
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

/// `12 × "Athlon" + 3 × "Xeon"`.
#[must_use]
pub fn plan_in_words(plan: &[OfferCount]) -> String {
    let parts: Vec<String> =
        plan.iter().map(|counted| format!("{} × {}", counted.count, quoted(&counted.offer))).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(" + ") }
}

/// The name of an offer, which may hold commas.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// An unknown and how to determine it.
#[must_use]
pub(crate) fn about(parameter: &UnknownParameter) -> String {
    match parameter {
        UnknownParameter::Rate { offer, application } => {
            format!("the rate of {application} on {}, by running it there", quoted(offer))
        }
        UnknownParameter::Price { offer } => format!("the price of {}, by a firm quotation", quoted(offer)),
        UnknownParameter::Power { offer } => format!("the power of {}, by a meter", quoted(offer)),
        UnknownParameter::EnergyPrice => "the price of energy, by a contract".to_owned(),
    }
}

fn money(problem: &ChooseProblem, value: f64) -> String {
    format!("{} {}", amount(value), problem.currency)
}
