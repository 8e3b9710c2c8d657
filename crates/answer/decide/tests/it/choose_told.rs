//! What a choice reports: infeasible limits, binding constraints, and mistakes in the question.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests and their helpers")]

use std::collections::BTreeMap;

use super::choose::{FARM, coin, plan, problem};
use decide::choose::{ChooseAnswer, decide, parse};

fn refusal(text: &str) -> String {
    match parse(text).and_then(|specification| specification.problem(&BTreeMap::new())) {
        Ok(problem) => panic!("accepted: {problem:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn impossible_demands_name_the_limits_to_relax() {
    let tight = FARM.replace("\"9 kW\"", "\"3 kW\"");
    let choice = decide(&problem(&tight)).unwrap();
    let ChooseAnswer::Impossible(shortages) = &choice.answer else { panic!("{choice:?}") };
    let power = shortages.iter().find(|shortage| shortage.unit == "W").unwrap();
    assert!(power.needed > 3000.0 && power.needed < 9000.0, "{power:?}");
    let rate = shortages.iter().find(|shortage| shortage.unit == "events/s").unwrap();
    assert!(rate.needed < 300.0 && rate.needed > 100.0, "{rate:?}");
    // The stated amount is enough, and slightly less is not.
    let with = |watts: f64| decide(&problem(&FARM.replace("\"9 kW\"", &format!("\"{watts} W\"")))).unwrap();
    assert!(matches!(with(power.needed + 1.0).answer, ChooseAnswer::Plan(_)));
    assert!(matches!(with(power.needed - 1.0).answer, ChooseAnswer::Impossible(_)));
    assert!(choice.sentences()[0].contains("No plan"));
    // Two limits; neither alone is the cause.
    let both = tight.replace("rack_units = 60", "rack_units = 5");
    let ChooseAnswer::Impossible(shortages) = decide(&problem(&both)).unwrap().answer else { panic!() };
    assert!(shortages.iter().any(|shortage| shortage.unit == "rack units"), "{shortages:?}");
}

/// A rate that only a plan of nothing would reach is no value that would help.
#[test]
fn no_value_is_named_that_nothing_reaches() {
    let poor = FARM.replace("spare_nodes = 1", "spare_nodes = 1\nbudget = \"1 USD\"");
    let ChooseAnswer::Impossible(shortages) = decide(&problem(&poor)).unwrap().answer else { panic!() };
    assert!(shortages.iter().all(|shortage| shortage.unit != "events/s"), "{shortages:?}");
    assert!(shortages.iter().any(|shortage| shortage.unit == "USD" && shortage.needed > 1500.0), "{shortages:?}");
}

/// Rented machines state no power and no failures: none are claimed to be zero.
#[test]
fn only_what_offers_state_is_told_of_a_plan() {
    let rented = "currency = \"EUR\"\n[demand]\nrate = \"100 events/s\"\nyears = \"1 year\"\n\
                  [[offer]]\nname = \"rented\"\nprice_per_hour = \"1 EUR/h\"\nrate = { events = \"60 events/s\" }\n";
    let said = |text: &str| {
        let choice = decide(&problem(text)).unwrap();
        [choice.sentences(), choice.details()].concat().join("\n")
    };
    let of_rented = said(rented);
    assert!(of_rented.starts_with("Take 2 × \"rented\": "), "{of_rented}");
    assert!(of_rented.contains("It does 120 events/s and meets the demand of 100 in 100% of cases."), "{of_rented}");
    let silent = ["energy", "purchase", "draws", "failures"].iter().all(|word| !of_rented.contains(word));
    assert!(of_rented.contains("for running it") && silent, "{of_rented}");
    let bought = rented.replace("price_per_hour = \"1 EUR/h\"", "price = \"9 EUR\"\npower = \"200 W\"");
    let of_bought = said(&bought);
    assert!(of_bought.contains("It draws 400 W") && of_bought.contains("at the purchase."), "{of_bought}");
}

#[test]
fn what_binds_is_named_with_its_price() {
    let choice = decide(&problem(&FARM.replace("\"9 kW\"", "\"4.6 kW\""))).unwrap();
    let binding = &plan(&choice).binding;
    assert!(binding.iter().any(|binding| binding.condition.contains("spare")), "{binding:?}");
    assert!(binding.iter().all(|binding| binding.saving > 0.0));
}

#[test]
fn mistakes_are_named_by_line() {
    for (from, to, line, says) in [
        ("price = \"1500 USD\"\n", "", "line 22", "has no price"),
        ("price = \"1500 USD\"", "price = 1500", "line 23", "with its unit"),
        ("price = \"1500 USD\"", "price = \"1500 EUR\"", "line 23", "USD"),
        ("power = \"200 W\"", "power = \"200 GiB\"", "line 24", "W, kW, MW"),
        ("power = \"200 W\"", "pwer = \"200 W\"", "line 24", "unknown field"),
        ("power = \"200 W\"", "power = \"W\"", "line 24", "number"),
        ("sim = \"10 events/s\"", "sim = \"10 jobs/s\"", "line 26", "events/s"),
        ("sim = \"10 events/s\"", "simulation = \"10 events/s\"", "line 26", "no application"),
        ("share = 0.5\n\n[[offer", "share = 0.6\n\n[[offer", "line 14", "sum to 1.1"),
        ("name = \"middle\"", "name = \"large\"", "line 37", "twice"),
        ("rate = \"300 events/s\"", "rate = \"300 events\"", "line 6", "a second"),
        ("rate = { sim = \"10 events/s\", rec = \"12 events/s\" }", "rate = \"10 events/s\"", "line 26", "{ events ="),
        ("years = \"3 years\"", "years = ", "line 7", ""),
        ("years = \"3 years\"", "years = \"0 years\"", "line 7", "some time"),
        ("rate = \"300 events/s\"", "rate = \"0 events/s\"", "line 6", "above 0"),
        ("rate = \"300 events/s\"", "rate = \"1e30 events/s\"", "line 6", "a million nodes do not reach it"),
        ("draws = 200", "draws = 1", "line 3", "between 20 and 100000"),
        ("draws = 200", "draws = 1000000000", "line 3", "between 20 and 100000"),
        ("share = 0.5\n", "share = 1.5\n", "line 15", "between 0 and 1"),
        ("currency = \"USD\"", "currency = \" \"", "line 2", "a name is wanted"),
        ("years = \"3 years\"", "years = \"3 years\"\nnodes = 4000000000", "line 8", "a million nodes"),
        ("spare_nodes = 1", "spare_nodes = 4000000000", "line", "a million nodes"),
        ("rack_units = 60", "rack_units = nan", "line 11", "at least 0"),
        ("rack_units = 2", "rack_units = -2", "line", "at least 0"),
        ("name = \"large\"", "name = \"large\"\nfailures_per_year = -1", "line", "at least 0"),
        ("name = \"large\"", "name = \"large\"\nfailures_per_year = nan", "line", "at least 0"),
        ("name = \"large\"", "name = \"large\"\nports = inf", "line", "at least 0"),
        ("name = \"large\"", "name = \"\"", "line", "an offer has a name"),
        ("name = \"large\"", "name = \"large\"\nprice_per_hour = \"1e308 USD/h\"", "line", "beyond all numbers"),
        ("name = \"sim\"", "name = \"sim\"\nevents = 0", "line", "above 0"),
        ("name = \"sim\"", "name = \"sim\"\nevents = inf", "line", "above 0"),
    ] {
        let text = FARM.replacen(from, to, 1);
        assert_ne!(text, FARM, "{from}");
        let said = refusal(&text);
        assert!(said.contains(line) && said.contains(says), "{to}: {said}");
    }
    let missing = refusal(&FARM.replacen("sim = \"10 events/s\", ", "", 1));
    assert!(missing.contains("'small'") && missing.contains("'sim'") && missing.contains("line 22"), "{missing}");
}

#[test]
fn what_cannot_matter_is_worth_nothing() {
    // The third offer is far too expensive for its uncertain rate to matter, and the fourth cannot be delivered in
    // time.
    let text = coin(0.5).replace("years = \"1 years\"", "years = \"1 years\"\ndelivery_within = \"10 days\"")
        + r#"
[[offer]]
name = "expensive"
price = "90000 EUR"
rate = { events = "8 to 12 events/s" }
[[offer]]
name = "late"
price = "500 to 1500 EUR"
delivery = "30 days"
rate = { events = "5 to 20 events/s" }
"#;
    let choice = decide(&problem(&text)).unwrap();
    let chosen = plan(&choice);
    for information in &chosen.information {
        let about = format!("{:?}", information.about);
        assert!(!about.contains("late"), "{about}");
        assert!(!about.contains("expensive") || information.value == 0.0, "{information:?}");
    }
    assert_eq!(choice.excluded.len(), 1);
}
