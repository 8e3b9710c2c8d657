//! Choosing with uncertain rates: the optimiser's curse, the price of being sure, and what plans reach.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests and their helpers")]

use decide::choose::{ChooseAnswer, ChooseProblem, Uncertain, decide};

use crate::choose::{plan, problem};

/// One application, free of all but prices: offers with an uncertain rate each.
fn uncertain_offers(offers: &[(&str, f64, f64, f64)]) -> ChooseProblem {
    let mut text =
        "currency = \"EUR\"\ndraws = 40\n[demand]\nrate = \"1000 events/s\"\nyears = \"1 years\"\n".to_owned();
    for (name, price, rate, _) in offers {
        text.push_str(&format!(
            "[[offer]]\nname = \"{name}\"\nprice = \"{price} EUR\"\nrate = {{ events = \"{rate} events/s\" }}\n"
        ));
    }
    let mut made = problem(&text);
    for (offer, (_, _, rate, spread)) in made.offers.iter_mut().zip(offers) {
        offer.rates = vec![Uncertain::interval(*rate, rate / spread, rate * spread, 0.9)];
    }
    made
}

#[test]
fn what_looks_cheap_for_its_error_is_corrected() {
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.1;
    // Five similar offers, and one that looks twice as fast for its price because its rate is unknown.
    let mut offers = vec![
        ("a", 940.0, 51.0, 1.02),
        ("b", 1010.0, 50.0, 1.02),
        ("c", 1080.0, 52.0, 1.02),
        ("unknown", 1000.0, 100.0, 3.0),
    ];
    let found = decide(&uncertain_offers(&offers)).unwrap();
    let [corrected] = found.corrected.as_slice() else { panic!("{:?}", found.corrected) };
    assert!(corrected.offer == "unknown" && corrected.factor < 0.75, "{corrected:?}");
    let rate = &found.problem.offers[3].rates[0];
    assert!(close(rate.middle(), 100.0 * corrected.factor), "{rate:?}");
    assert!(found.details().iter().any(|sentence| sentence.contains("looks cheap")), "{:?}", found.details());
    // The same offer measured well is believed.
    offers[3].3 = 1.02;
    let found = decide(&uncertain_offers(&offers)).unwrap();
    assert!(found.corrected.is_empty(), "{:?}", found.corrected);
    let most = plan(&found).plan.iter().max_by_key(|counted| counted.count).unwrap();
    assert!(most.offer == "unknown" && most.count >= 10, "{:?}", plan(&found).plan);
}

#[test]
fn the_price_of_being_sure_is_told() {
    let found = decide(&uncertain_offers(&[("old", 1000.0, 50.0, 1.02), ("new", 1000.0, 52.0, 1.4)])).unwrap();
    let chosen = plan(&found);
    let against = &chosen.against_cheapest;
    assert!(against.more_expensive >= 0.0 && against.considered >= against.sure, "{against:?}");
    assert!(chosen.reaches >= 0.9 && against.reaches <= chosen.reaches, "{chosen:?}");
    let sentences = found.details().join(" ");
    assert!(
        sentences.contains("The nominally cheapest plan") || sentences.contains("No other plan is nominally cheaper"),
        "{sentences}"
    );
}

/// If similar offers have independent errors, a mix is surer than one kind. If rates are known, or one offer is far
/// cheaper, mixing gains nothing.
#[test]
fn several_kinds_are_surer_than_one() {
    let alike = |spread: f64, last: f64| {
        decide(&uncertain_offers(&[
            ("a", 1000.0, 50.0, spread),
            ("b", 1010.0, 50.0, spread),
            ("c", last, 50.0, spread),
        ]))
        .unwrap()
    };
    let found = alike(1.4, 1020.0);
    let chosen = plan(&found);
    let one = chosen.one_kind.as_ref().unwrap();
    assert!(chosen.plan.iter().filter(|counted| counted.count > 0).count() > 1, "{:?}", chosen.plan);
    assert!(chosen.reaches >= 0.9 && one.more_expensive > 0.0, "{one:?}");
    let sentences = found.details().join(" ");
    assert!(sentences.contains("With a single type: ") && sentences.contains("same confidence"), "{sentences}");
    for found in [alike(1.0001, 1020.0), alike(1.4, 300.0)] {
        assert!(plan(&found).one_kind.is_none(), "{:?}", plan(&found));
    }
}

/// Machines whose application follows benchmarks with an error, so that predictions err by it.
fn table_with_errors(of_benchmarks: f64, of_application: f64) -> predict::PredictorTable {
    use predict::{PredictedApplication, PredictorColumn, PredictorMachine, PredictorTable};
    let mut rng = stats::simulate::generator(17);
    let mut normal = |spread: f64| spread * stats::simulate::standard_normal(&mut rng);
    let column = |name: &str| PredictorColumn {
        name: name.to_owned(),
        label: name.to_owned(),
        tool: name.to_owned(),
        better: model::Better::Higher,
        stresses: Vec::new(),
        working_set: None,
        fact: false,
    };
    let names = ["x", "y", "z", "u"];
    let machines: Vec<PredictorMachine> = (0..60)
        .map(|m| {
            let speed = normal(0.5);
            PredictorMachine {
                name: format!("m{m}"),
                runs: Vec::new(),
                model: format!("model {m}"),
                family: "family".to_owned(),
                benchmarks: names.iter().map(|_| Some(speed + normal(of_benchmarks))).collect(),
                application: Some(speed + normal(of_application)),
            }
        })
        .collect();
    PredictorTable {
        application: PredictedApplication {
            name: "application".to_owned(),
            metric: model::Metric::higher(model::Unit::PerSecond, "event"),
            stresses: Vec::new(),
            working_set: None,
            footprint: None,
        },
        columns: names.iter().map(|name| column(name)).collect(),
        machines,
    }
}

fn at(curve: &[decide::choose::ReachedAt], asked: f64) -> decide::choose::ReachedAt {
    *curve.iter().find(|at| (at.asked - asked).abs() < 1e-9).unwrap()
}

#[test]
fn choices_reach_what_they_promise() {
    use decide::choose::evaluate;
    let table = table_with_errors(0.15, 0.15);
    let found = evaluate(std::slice::from_ref(&table), 12, testing::trials(6, 40), 1).unwrap();
    found.sentences().iter().for_each(|sentence| eprintln!("{sentence}"));
    let (rule, plain) = (at(&found.rule, 0.9), at(&found.uncorrected, 0.9));
    assert!(rule.reached >= 0.8 && rule.reached >= plain.reached - 0.05, "{rule:?} {plain:?}");
    // More confidence reaches more.
    assert!(at(&found.rule, 0.99).reached >= at(&found.rule, 0.5).reached);
    // A measurement saves the predicted amount or more: the prediction ignores that plans are made again.
    assert!(found.worth_measuring > 0.5 && found.worth_told > 0.0, "{found:?}");
    let measured = at(&found.measured, 0.9);
    assert!(measured.reached >= 0.8, "{measured:?}");
    if testing::slow("what a measurement saves in many trials; that it saves something stands for it") {
        assert!(found.worth_found > 0.7 * found.worth_told, "{found:?}");
        assert!(measured.regret < 0.8 * rule.regret, "{measured:?} {rule:?}");
    } else {
        assert!(found.worth_found > 0.0, "{found:?}");
    }
    assert!(evaluate(&[table], 58, 1, 1).is_err());
}

/// If predictions err by more than offers differ, all rates are shrunk to one mean, and share its error: plans of many
/// kinds are no surer than those of one.
#[test]
fn large_errors_do_not_cancel_between_offers() {
    use decide::choose::evaluate;
    let found = evaluate(&[table_with_errors(0.6, 0.4)], 12, testing::trials(10, 60), 3).unwrap();
    found.sentences().iter().for_each(|sentence| eprintln!("{sentence}"));
    let rule = at(&found.rule, 0.9);
    assert!(found.median_error > 0.25 && rule.reached >= 0.8, "{rule:?} of {}", found.median_error);
}

/// Limits raised to the reported values suffice, with the requested confidence.
#[test]
fn what_is_said_to_suffice_reaches_the_confidence() {
    let limited = |budget: f64, maximum: f64| {
        let text = format!(
            "currency = \"EUR\"\n[demand]\nrate = \"9000 events/s\"\nyears = \"2 years\"\nbudget = \"{budget} EUR\"\n\
             [[offer]]\nname = \"a\"\nrate = {{ events = \"100 to 120 events/s\" }}\nprice = \"100 EUR\"\nmaximum = {maximum}\n"
        );
        decide(&problem(&text)).unwrap()
    };
    // Neither at middle rates nor with confidence; then at middle rates alone.
    for (budget, maximum) in [(10.0, 3.0), (8200.0, 82.0)] {
        let found = limited(budget, maximum);
        let shortages = match &found.answer {
            ChooseAnswer::Impossible(shortages) => shortages,
            ChooseAnswer::Plan(chosen) => &chosen.shortages,
        };
        let said = found.sentences().join(" ");
        assert!(said.contains("confidence of 90%") && said.contains("it would have to be"), "{said}");
        let needed = |unit: &str| shortages.iter().find(|shortage| shortage.unit == unit).unwrap().sufficient();
        let enough = limited(needed("EUR"), needed("nodes"));
        let chosen = plan(&enough);
        assert!(chosen.reaches >= 0.9 && chosen.shortages.is_empty(), "{budget}: {:?} {}", chosen.plan, chosen.reaches);
        let less = limited(needed("EUR") - 200.0, needed("nodes"));
        assert!(plan(&less).reaches < 0.9, "{budget}: {:?}", plan(&less).plan);
    }
}

/// A failing node and an overestimated rate are two different things.
#[test]
fn nodes_that_never_fail_are_up_all_of_the_time() {
    let found = decide(&uncertain_offers(&[("old", 1000.0, 50.0, 1.2)])).unwrap();
    assert_eq!(plan(&found).kept_up, Some(1.0), "{:?}", plan(&found));
    let said = found.details().join(" ");
    assert!(said.contains("enough nodes up 100% of the time where it meets the demand"), "{said}");
}
