//! A purchase: the plan, its costs, its probabilities, and what would change it.

use decide::choose::{
    Choice, ChooseAnswer, ChosenPlan, FrontPoint, OfferCount, PlanOdds, UnknownParameter, plan_in_words,
};
use model::words::amount;
use model::{Unit, percent};

use crate::{
    Block, Cell, Chart, ChartAxis, ChartPlot, Column, Division, Document, DocumentSection, EmbeddedJson,
    PrintedQuantity, Records, ScatterPlot, Table, TableRow, Tone, VerdictCard,
};

/// The report of `prony choose`: the answer with its plans and offers, and on request everything behind it; its JSON is
/// the [`Choice`].
#[must_use]
pub fn choose(choice: &Choice, details: bool) -> Document {
    let demand = &choice.problem.demand;
    let mut document =
        Document::new(format!("{} {} for {}", amount(demand.rate), demand.unit, demand.years_in_words()));
    let items = choice.sentences();
    document.add("", Block::list(items));
    match &choice.answer {
        ChooseAnswer::Plan(chosen) => plan(&mut document, choice, chosen, details),
        ChooseAnswer::Impossible(shortages) => {
            let columns = Column::list("what|#asked or allowed|#needed|#unit");
            let rows = shortages
                .iter()
                .map(|shortage| {
                    TableRow::of(vec![
                        Cell::text(&shortage.condition),
                        number(shortage.limit),
                        number(shortage.sufficient()),
                        Cell::text(&shortage.unit),
                    ])
                })
                .collect();
            document.add("what cannot be met", Block::table(columns, rows));
        }
    }
    let behind = choice.details();
    if details && !behind.is_empty() {
        document.add("details", Block::list(behind));
    }
    document.data = EmbeddedJson::of(choice).ok();
    document
}

fn plan(document: &mut Document, choice: &Choice, chosen: &ChosenPlan, details: bool) {
    let currency = &choice.problem.currency;
    if details {
        document.sections.splice(0..0, [DocumentSection::of("", cards(choice, chosen))]);
        fronts(document, choice, chosen);
    }
    let mut add = |title: String, block: Block| document.add(title, block);
    add(format!("plans, money in {currency}"), Block::Table(plans(chosen)));
    add("offers".to_owned(), Block::Table(offers(choice, chosen)));
    document.records = Some(records(chosen));
    if !details {
        return;
    }
    let mut add = |title: String, block: Block| document.add(title, block);
    if chosen.information.iter().any(|information| information.value > 0.0) {
        add(format!("value of information, in {currency}"), Block::Table(information(chosen)));
    }
}

/// The chosen plan at a glance: what to take, what it costs, and how sure it is.
fn cards(choice: &Choice, chosen: &ChosenPlan) -> Block {
    let card = |value: String, label: &str| VerdictCard { value, label: label.to_owned(), tone: Tone::Plain };
    let mut cards: Vec<VerdictCard> =
        chosen.plan.iter().map(|one| card(format!("{} ×", one.count), &one.offer)).collect();
    let over = format!("over {}", choice.problem.demand.years_in_words());
    cards.push(card(format!("{} {}", amount(chosen.costs.total), choice.problem.currency), &over));
    if let Some(odds) = chosen.plans.iter().find(|odds| odds.plan == chosen.plan) {
        cards.push(card(percent(odds.reaches), "meets the demand"));
        cards.push(card(percent(odds.probability), "is the cheapest plan"));
    }
    Block::Cards(cards)
}

/// What each further property of a plan costs.
fn fronts(document: &mut Document, choice: &Choice, chosen: &ChosenPlan) {
    let currency = &choice.problem.currency;
    let mut add = |title: String, block: Block| document.add(title, block);
    let unit = &choice.problem.demand.unit;
    for (against, words) in [
        ("rate", format!("rate, {unit}")),
        ("power", "power, W".to_owned()),
        ("failures", "failures of nodes a year".to_owned()),
    ] {
        let points: Vec<&FrontPoint> = chosen.front.iter().filter(|parameters| parameters.against == against).collect();
        if points.len() > 1 {
            add(format!("cost against {words}"), Block::Chart(front_chart(&points, against, &words, currency)));
            add(String::new(), Block::Table(front_table(&points, against)));
        }
    }
}

fn plans(chosen: &ChosenPlan) -> Table {
    let columns = Column::list("plan|#P(cheapest)|#mean cost|#expected regret|#meets the demand");
    let row = |odds: &PlanOdds| {
        let tone = if odds.plan == chosen.plan { Tone::Strong } else { Tone::Plain };
        TableRow::of(vec![
            Cell::Text(plan_in_words(&odds.plan), tone),
            Cell::text(percent(odds.probability)),
            number(odds.expected_cost),
            number(odds.expected_regret),
            Cell::text(percent(odds.reaches)),
        ])
    };
    Table::plain(columns, chosen.plans.iter().map(row).collect())
}

fn offers(choice: &Choice, chosen: &ChosenPlan) -> Table {
    let columns = Column::list("offer|#P(cheapest)|#P(used)|#cost per unit of rate|#discount needed");
    let rows = chosen
        .offers
        .iter()
        .map(|odds| {
            let excluded = choice.excluded.iter().find(|excluded| excluded.offer == odds.offer);
            if let Some(excluded) = excluded {
                let why = format!("cannot be taken: {}", excluded.reason);
                return TableRow::of(vec![Cell::text(&odds.offer), Cell::Across(why, Tone::Muted)]);
            }
            TableRow::of(vec![
                Cell::text(&odds.offer),
                Cell::text(percent(odds.best)),
                Cell::text(percent(odds.used)),
                odds.cost_per_rate.map_or(Cell::Empty, number),
                odds.enters_at_in_words().map_or(Cell::Empty, Cell::text),
            ])
        })
        .collect();
    Table::plain(columns, rows)
}

fn information(chosen: &ChosenPlan) -> Table {
    let columns = Column::list("what|#value of information|#P(changes the plan)|#cost");
    let rows = chosen
        .information
        .iter()
        .filter(|information| information.value > 0.0)
        .map(|information| {
            TableRow::of(vec![
                Cell::text(about(&information.about)),
                number(information.value),
                Cell::text(percent(information.changes)),
                // One that was not given is not free.
                if information.cost > 0.0 { number(information.cost) } else { Cell::Empty },
            ])
        })
        .collect();
    Table::plain(columns, rows)
}

fn about(parameter: &UnknownParameter) -> String {
    match parameter {
        UnknownParameter::Rate { offer, application } => format!("rate of {application} on {offer}"),
        UnknownParameter::Price { offer } => format!("price of {offer}"),
        UnknownParameter::Power { offer } => format!("power of {offer}"),
        UnknownParameter::EnergyPrice => "price of energy".to_owned(),
    }
}

fn front_table(points: &[&FrontPoint], against: &str) -> Table {
    let columns = Column::list(&format!("plan|#cost|#{against}"));
    let row = |parameters: &&FrontPoint| {
        let tone = if parameters.chosen { Tone::Strong } else { Tone::Plain };
        TableRow::of(vec![
            Cell::Text(plan_in_words(&parameters.plan), tone),
            number(parameters.cost),
            number(measure(parameters, against)),
        ])
    };
    Table::plain(columns, points.iter().map(row).collect())
}

fn front_chart(points: &[&FrontPoint], against: &str, words: &str, currency: &str) -> Chart {
    let bare = |value: f64| PrintedQuantity::bare(value, Unit::Count);
    let name = |parameters: &FrontPoint| {
        if parameters.chosen {
            format!("{} (chosen)", plan_in_words(&parameters.plan))
        } else {
            plan_in_words(&parameters.plan)
        }
    };
    let parameter = |title: String| ChartAxis { title, unit: Unit::Count, division: Division::Linear };
    let plans = match against {
        "rate" => "Plans for half to twice the rate that no other plan beats in both",
        _ => "Plans that reach the rate and that no other such plan beats in both",
    };
    Chart {
        title: format!("Pareto front: cost against {against}"),
        about: format!(
            "{plans}, by expected values. The chosen plan (ringed) must also reach the confidence, so it may lie off the \
             front."
        ),
        plot: ChartPlot::Scatter(ScatterPlot {
            x: parameter(words.to_owned()),
            y: parameter(format!("cost, {currency}")),
            points: points.iter().map(|p| (name(p), bare(measure(p, against)), bare(p.cost))).collect(),
            slope: None,
            marked: points.iter().position(|parameters| parameters.chosen),
        }),
    }
}

fn measure(parameters: &FrontPoint, against: &str) -> f64 {
    match against {
        "power" => parameters.power,
        "failures" => parameters.failures_per_year,
        _ => parameters.rate,
    }
}

fn records(chosen: &ChosenPlan) -> Records {
    let row = |counted: &OfferCount| vec![counted.offer.clone(), counted.count.to_string()];
    Records { header: vec!["offer", "count"], rows: chosen.plan.iter().map(row).collect() }
}

fn number(value: f64) -> Cell {
    // As the sentences print it.
    let rounded = amount(value).replace('\u{a0}', "").replace('−', "-").parse().unwrap_or(value);
    Cell::Value(PrintedQuantity::rounded(rounded, Unit::Count))
}
