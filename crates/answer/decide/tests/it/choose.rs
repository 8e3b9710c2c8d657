//! Choosing: known best plans, impossible demands, uncertain prices.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests and their helpers")]

use std::collections::BTreeMap;

use decide::choose::{Choice, ChooseAnswer, ChooseProblem, ChosenPlan, Uncertain, UnknownParameter, decide, parse};

pub(crate) const FARM: &str = r#"
currency = "USD"
draws = 200

[demand]
rate = "300 events/s"
years = "3 years"
energy_price = "0.10 USD/kWh"
spare_nodes = 1
power_limit = "9 kW"
rack_units = 60

[[demand.application]]
name = "sim"
share = 0.5

[[demand.application]]
name = "rec"
share = 0.5

[[offer]]
name = "small"
price = "1500 USD"
power = "200 W"
rack_units = 1
rate = { sim = "10 events/s", rec = "12 events/s" }

[[offer]]
name = "large"
price = "5200 USD"
power = "520 W"
rack_units = 2
maximum = 8
rate = { sim = "42 events/s", rec = "38 events/s" }

[[offer]]
name = "middle"
price = "2900 USD"
power = "330 W"
rack_units = 1
rate = { sim = "22 events/s", rec = "19 events/s" }
"#;

pub(crate) fn problem(text: &str) -> ChooseProblem {
    parse(text).unwrap().problem(&BTreeMap::new()).unwrap()
}

pub(crate) fn plan(choice: &Choice) -> &ChosenPlan {
    match &choice.answer {
        ChooseAnswer::Plan(chosen) => chosen,
        ChooseAnswer::Impossible(shortages) => panic!("{shortages:?}"),
    }
}

/// Cost of the cheapest plan that meets the demand of [`FARM`], found by exhaustive search.
fn brute_force() -> (u32, u32, u32, f64) {
    let mix = |sim: f64, rec: f64| 1.0 / (0.5 / sim + 0.5 / rec);
    let rates = [mix(10.0, 12.0), mix(42.0, 38.0), mix(22.0, 19.0)];
    let hours = 3.0 * 8766.0;
    let cost = |price: f64, watts: f64| price + hours * watts / 1000.0 * 0.10;
    let costs = [cost(1500.0, 200.0), cost(5200.0, 520.0), cost(2900.0, 330.0)];
    let mut best = (0, 0, 0, f64::INFINITY);
    for a in 0..40_u32 {
        for b in 0..=8_u32 {
            for c in 0..25_u32 {
                let [a_, b_, c_] = [a, b, c].map(f64::from);
                let total = a_ * rates[0] + b_ * rates[1] + c_ * rates[2];
                let fastest = [(a, rates[0]), (b, rates[1]), (c, rates[2])];
                let lost = fastest.iter().filter(|(n, _)| *n > 0).map(|(_, r)| *r).fold(0.0, f64::max);
                let fits = total - lost >= 300.0
                    && a_ * 200.0 + b_ * 520.0 + c_ * 330.0 <= 9000.0
                    && a_ + 2.0 * b_ + c_ <= 60.0;
                let cost = a_ * costs[0] + b_ * costs[1] + c_ * costs[2];
                if fits && cost < best.3 {
                    best = (a, b, c, cost);
                }
            }
        }
    }
    best
}

#[test]
fn the_best_plan_equals_that_of_exhaustive_search() {
    let choice = decide(&problem(FARM)).unwrap();
    let chosen = plan(&choice);
    let (a, b, c, cost) = brute_force();
    let counted =
        |name: &str| chosen.plan.iter().find(|counted| counted.offer == name).map_or(0, |counted| counted.count);
    assert!((chosen.costs.total / cost - 1.0).abs() < 1e-6, "{:?} against {a} {b} {c} for {cost}", chosen.plan);
    assert_eq!((counted("small"), counted("large"), counted("middle")), (a, b, c));
    assert!(chosen.rate >= 300.0 && chosen.reaches == 1.0 && chosen.probability_best == 1.0);
    assert!(chosen.expected_regret < 1e-6 && chosen.information.is_empty());
    choice.sentences().iter().for_each(|sentence| eprintln!("{sentence}"));
    assert!(chosen.front.iter().any(|point| point.chosen));
    // No other plan is better in both respects than one on the front.
    for point in chosen.front.iter().filter(|point| point.against == "rate" && !point.chosen) {
        assert!(!chosen.front.iter().any(|rival| rival.cost < point.cost && rival.rate > point.rate), "{point:?}");
    }
}

#[test]
fn random_farms_against_exhaustive_search() {
    use rand::Rng;
    let mut rng = stats::simulate::generator(5);
    for _ in 0..25 {
        let mut base = problem(FARM);
        base.demand.spare_nodes = 0;
        base.demand.rack_units = None;
        base.demand.rate = rng.random_range(40.0..120.0);
        base.demand.power_limit = Some(rng.random_range(1500.0..4000.0));
        for offer in &mut base.offers {
            offer.price = Uncertain::Fixed(rng.random_range(1000.0_f64..6000.0).round());
            let rate = rng.random_range(8.0..45.0);
            offer.rates = vec![Uncertain::Fixed(rate); 2];
            offer.power = Uncertain::Fixed(rng.random_range(100.0..600.0));
            offer.maximum = Some(rng.random_range(2..9));
        }
        let value = |i: usize| {
            let offer = &base.offers[i];
            let watts = offer.power.middle();
            (offer.rates[0].middle(), offer.price.middle() + 3.0 * 8766.0 * watts * 1e-4, watts, offer.maximum.unwrap())
        };
        let [x, y, z] = [value(0), value(1), value(2)];
        let mut best = f64::INFINITY;
        for a in 0..=x.3 {
            for b in 0..=y.3 {
                for c in 0..=z.3 {
                    let of = |pick: fn(&(f64, f64, f64, u32)) -> f64| {
                        f64::from(a) * pick(&x) + f64::from(b) * pick(&y) + f64::from(c) * pick(&z)
                    };
                    if of(|v| v.0) >= base.demand.rate && of(|v| v.2) <= base.demand.power_limit.unwrap() {
                        best = best.min(of(|v| v.1));
                    }
                }
            }
        }
        match decide(&ChooseProblem { draws: 2, ..base }).unwrap().answer {
            ChooseAnswer::Plan(chosen) => {
                assert!((chosen.costs.total / best - 1.0).abs() < 1e-6, "{} {best}", chosen.costs.total);
            }
            ChooseAnswer::Impossible(_) => assert!(best.is_infinite(), "a plan for {best} exists"),
        }
    }
}

#[test]
fn the_same_question_has_the_same_answer() {
    let text = FARM.replace("\"1500 USD\"", "\"1300 to 1700 USD\"").replace("\"42 events/s\"", "\"36 to 48 events/s\"");
    let text = text.replace("draws = 200", "draws = 40");
    let (a, b) = (decide(&problem(&text)).unwrap(), decide(&problem(&text)).unwrap());
    assert_eq!(a, b);
    let other = decide(&problem(&text.replace("draws = 40", "draws = 40\nseed = 2"))).unwrap();
    assert_ne!(plan(&a).cost_spread, plan(&other).cost_spread);
}

/// Two equal offers; the price of the second lies between 900 and 1100, below the price of the first with probability
/// `below`.
pub(crate) fn coin(below: f64) -> String {
    let price = 900.0 + 200.0 * below;
    format!(
        r#"
currency = "EUR"
draws = 1000
[demand]
rate = "100 events/s"
years = "1 years"
[[offer]]
name = "known"
price = "{price} EUR"
rate = {{ events = "10 events/s" }}
[[offer]]
name = "unknown"
price = "900 to 1100 EUR"
rate = {{ events = "10 events/s" }}
"#
    )
}

#[test]
fn planted_uncertainty_becomes_probability_and_money() {
    for below in [0.3, 0.5, 0.8] {
        let choice = decide(&problem(&coin(below))).unwrap();
        let chosen = plan(&choice);
        let unknown = chosen.offers.iter().find(|odds| odds.offer == "unknown").unwrap();
        assert!((unknown.best - below).abs() < 0.01, "{below}: {unknown:?}");
        // Ten nodes: the expected gain of knowing the price is the mean saving where the other offer is the cheaper
        // one.
        let gain = if below <= 0.5 { below * below } else { (1.0 - below) * (1.0 - below) } / 2.0 * 200.0 * 10.0;
        assert!((chosen.expected_regret / gain - 1.0).abs() < 0.03, "{below}: {} {gain}", chosen.expected_regret);
        let first = &chosen.information[0];
        assert_eq!(first.about, UnknownParameter::Price { offer: "unknown".to_owned() });
        // A quotation to 2% yields most of it, and never more than all.
        assert!(first.value <= gain * 1.1 && first.value > 0.4 * gain, "{below}: {first:?} {gain}");
    }
}

#[test]
fn a_plan_reaches_the_rate_with_the_requested_probability() {
    let text = coin(0.5).replace("rate = { events = \"10 events/s\" }", "rate = { events = \"8 to 12 events/s\" }");
    let plan_of = |confidence: f64| {
        let text = text.replace("years = \"1 years\"", &format!("years = \"1 years\"\nconfidence = {confidence}"));
        let choice = decide(&problem(&text)).unwrap();
        plan(&choice).clone()
    };
    let (even, sure) = (plan_of(0.5), plan_of(0.99));
    assert!(even.reaches >= 0.5 && sure.reaches >= 0.99);
    assert!(sure.costs.total > even.costs.total);
}

/// Neither of two equal offers is likelier to be the best.
#[test]
fn equal_offers_are_equally_likely() {
    let one = |name: &str| {
        format!("[[offer]]\nname = \"{name}\"\nprice = \"1000 EUR\"\nrate = {{ events = \"90 to 110 events/s\" }}\n")
    };
    let demand = "currency = \"EUR\"\ndraws = 400\n[demand]\nrate = \"1000 events/s\"\nyears = \"3 years\"\n";
    let choice = decide(&problem(&format!("{demand}{}{}", one("a"), one("b")))).unwrap();
    let plan = plan(&choice);
    let odds: Vec<f64> = plan.offers.iter().map(|offer| offer.best).collect();
    assert!((odds[0] - odds[1]).abs() < 0.1 && (odds[0] + odds[1] - 1.0).abs() < 1e-9, "{odds:?}");
    let sum: f64 = plan.plans.iter().map(|odds| odds.probability).sum();
    assert!(sum < 1.0 + 1e-9, "{:?}", plan.plans);
}

/// A demand far below what one node does takes the cheapest node, and a spare one.
#[test]
fn a_small_demand_takes_one_node() {
    for rate in ["1e-30", "1e-9", "1e-3"] {
        let choice = decide(&problem(&FARM.replace("\"300 events/s\"", &format!("\"{rate} events/s\"")))).unwrap();
        let plan = plan(&choice);
        let counts: Vec<(&str, u32)> = plan.plan.iter().map(|one| (one.offer.as_str(), one.count)).collect();
        assert_eq!(counts, [("small", 2)], "{rate}: {:?}", choice.sentences());
    }
}

#[test]
fn failures_and_memory_count() {
    let failing = FARM.replace("maximum = 8", "maximum = 8\nfailures_per_year = 6\nrepair = \"30 days\"");
    let problem = problem(&failing);
    assert!((problem.offers[1].up - (1.0 - 6.0 * 30.0 / 365.25)).abs() < 1e-9);
    let chosen = decide(&problem).unwrap();
    assert!(plan(&chosen).kept_up.is_some_and(|kept_up| kept_up <= 1.0));
    let memory = FARM
        .replace("spare_nodes = 1", "spare_nodes = 1\nmemory_per_process = \"2 GiB\"")
        .replace("maximum = 8", "maximum = 8\nprocesses = 8\nmemory = \"8 GiB\"");
    let specification = parse(&memory).unwrap().problem(&BTreeMap::new()).unwrap();
    assert_eq!(specification.offers[1].rates[0].middle(), 21.0);
    let none = memory.replace("\"8 GiB\"", "\"1 GiB\"");
    let choice = decide(&parse(&none).unwrap().problem(&BTreeMap::new()).unwrap()).unwrap();
    assert_eq!(choice.excluded[0].offer, "large");
}

/// Two equal offers are equally good, and no plan is ever cheaper.
#[test]
fn equal_plans_share_their_odds_and_none_is_cheaper() {
    let text = r#"
currency = "EUR"
[demand]
rate = "100 events/s"
years = "1 year"
[[offer]]
name = "a"
price = "1000 EUR"
rate = { events = "10 events/s" }
[[offer]]
name = "b"
price = "2000 EUR"
rate = { events = "20 events/s" }
"#;
    let choice = decide(&problem(text)).unwrap();
    let chosen = plan(&choice);
    assert!(chosen.probability_best < 0.6 && chosen.unbeaten == 1.0, "{chosen:?}");
    let said = choice.sentences().join("\n");
    assert!(said.contains("It is the cheapest plan in 100% of simulated cases."), "{said}");
}
