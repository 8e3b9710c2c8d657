//! What to buy: the plan, its money, its odds, and what would change it.

use analyse::choose::{Answer, Choice, Chosen, Counted, FrontPoint, Parameter, PlanOdds};
use model::Unit;

use crate::{
    Axis, Block, Cell, Chart, Column, Data, Division, Document, Kind, Plot, Quantity, Records, Row, Scatter, Section,
    Table, Tone,
};

/// The report of `prony choose`; its JSON is the [`Choice`].
#[must_use]
pub fn choose(choice: &Choice) -> Document {
    let demand = &choice.problem.demand;
    let mut document = Document::new(format!("{} {} for {} years", demand.rate, demand.unit, demand.years));
    let items = choice.sentences();
    document.sections.push(Section::of("", Block::List { numbered: false, items }));
    match &choice.answer {
        Answer::Plan(chosen) => plan(&mut document, choice, chosen),
        Answer::Impossible(shortages) => {
            let columns = table_columns(&["what", "asked or allowed", "needed", "unit"]);
            let rows = shortages
                .iter()
                .map(|shortage| Row {
                    cells: vec![
                        Cell::text(&shortage.condition),
                        number(shortage.limit),
                        number(shortage.needed),
                        Cell::text(&shortage.unit),
                    ],
                })
                .collect();
            document.sections.push(Section::of("what cannot be met", Block::Table(Table::plain(columns, rows))));
        }
    }
    document.data = Data::of(choice).ok();
    document
}

fn plan(document: &mut Document, choice: &Choice, chosen: &Chosen) {
    let currency = &choice.problem.currency;
    let mut add = |title: String, block: Block| document.sections.push(Section::of(title, block));
    add(format!("plans by their odds, money in {currency}"), Block::Table(plans(chosen)));
    add("offers".to_owned(), Block::Table(offers(choice, chosen)));
    if chosen.information.iter().any(|information| information.value > 0.0) {
        add(format!("what finding out is worth, in {currency}"), Block::Table(information(chosen)));
    }
    let unit = &choice.problem.demand.unit;
    for (against, words) in [
        ("rate", format!("rate, {unit}")),
        ("power", "power, W".to_owned()),
        ("failures", "failures of nodes a year".to_owned()),
    ] {
        let points: Vec<&FrontPoint> = chosen.front.iter().filter(|point| point.against == against).collect();
        if points.len() > 1 {
            add(format!("cost against {words}"), Block::Table(front_table(&points, against)));
            add(String::new(), Block::Chart(front_chart(&points, against, &words, currency)));
        }
    }
    document.records = Some(records(chosen));
}

fn plans(chosen: &Chosen) -> Table {
    let columns = table_columns(&["plan", "best with", "mean cost", "regret", "reaches the rate"]);
    let row = |odds: &PlanOdds| {
        let tone = if odds.plan == chosen.plan { Tone::Strong } else { Tone::Plain };
        Row {
            cells: vec![
                Cell::Text(in_words(&odds.plan), tone),
                percent(odds.probability),
                number(odds.expected_cost),
                number(odds.expected_regret),
                percent(odds.reaches),
            ],
        }
    };
    Table::plain(columns, chosen.plans.iter().map(row).collect())
}

fn offers(choice: &Choice, chosen: &Chosen) -> Table {
    let titles = ["offer", "best with", "used with", "cost of one unit of rate", "enters when cheaper by"];
    let columns = table_columns(&titles);
    let rows = chosen
        .offers
        .iter()
        .map(|odds| {
            let excluded = choice.excluded.iter().find(|excluded| excluded.offer == odds.offer);
            if let Some(excluded) = excluded {
                let why = format!("cannot be taken: {}", excluded.reason);
                return Row { cells: vec![Cell::text(&odds.offer), Cell::Across(why, Tone::Muted)] };
            }
            Row {
                cells: vec![
                    Cell::text(&odds.offer),
                    percent(odds.best),
                    percent(odds.used),
                    odds.cost_per_rate.map_or(Cell::Empty, number),
                    odds.enters_at.map_or(Cell::Empty, percent),
                ],
            }
        })
        .collect();
    Table::plain(columns, rows)
}

fn information(chosen: &Chosen) -> Table {
    let columns = table_columns(&["what", "worth", "changes the plan with", "its cost"]);
    let rows = chosen
        .information
        .iter()
        .filter(|information| information.value > 0.0)
        .map(|information| Row {
            cells: vec![
                Cell::text(about(&information.about)),
                number(information.value),
                percent(information.changes),
                number(information.cost),
            ],
        })
        .collect();
    Table::plain(columns, rows)
}

fn about(parameter: &Parameter) -> String {
    match parameter {
        Parameter::Rate { offer, application } => format!("rate of {application} on {offer}"),
        Parameter::Price { offer } => format!("price of {offer}"),
        Parameter::Power { offer } => format!("power of {offer}"),
        Parameter::EnergyPrice => "price of energy".to_owned(),
    }
}

fn front_table(points: &[&FrontPoint], against: &str) -> Table {
    let columns = table_columns(&["plan", "cost", against]);
    let row = |point: &&FrontPoint| {
        let tone = if point.chosen { Tone::Strong } else { Tone::Plain };
        Row {
            cells: vec![Cell::Text(in_words(&point.plan), tone), number(point.cost), number(measure(point, against))],
        }
    };
    Table::plain(columns, points.iter().map(row).collect())
}

fn front_chart(points: &[&FrontPoint], against: &str, words: &str, currency: &str) -> Chart {
    let bare = |value: f64| Quantity::bare(value, Unit::Count);
    let name = |point: &FrontPoint| {
        if point.chosen { format!("{} (chosen)", in_words(&point.plan)) } else { in_words(&point.plan) }
    };
    let axis = |title: String| Axis { title, unit: Unit::Count, division: Division::Linear };
    Chart {
        title: format!("Pareto front: cost against {against}"),
        about: "No plan beats one of these in both respects; the chosen one is marked.".to_owned(),
        plot: Plot::Scatter(Scatter {
            x: axis(words.to_owned()),
            y: axis(format!("cost, {currency}")),
            points: points.iter().map(|p| (name(p), bare(measure(p, against)), bare(p.cost))).collect(),
            slope: None,
        }),
    }
}

fn measure(point: &FrontPoint, against: &str) -> f64 {
    match against {
        "power" => point.power,
        "failures" => point.failures_per_year,
        _ => point.rate,
    }
}

fn records(chosen: &Chosen) -> Records {
    let row = |counted: &Counted| vec![counted.offer.clone(), counted.count.to_string()];
    Records { header: vec!["offer", "count"], rows: chosen.plan.iter().map(row).collect() }
}

fn in_words(plan: &[Counted]) -> String {
    let parts: Vec<String> = plan.iter().map(|counted| format!("{} {}", counted.count, counted.offer)).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

fn table_columns(titles: &[&str]) -> Vec<Column> {
    let column =
        |(place, title): (usize, &&str)| Column::new(*title, if place == 0 { Kind::Label } else { Kind::Number });
    titles.iter().enumerate().map(column).collect()
}

fn number(value: f64) -> Cell {
    // Money and rates of a plan are sums of whole machines: four digits say all that can be meant.
    let step = if value == 0.0 { 1.0 } else { 10.0_f64.powf(value.abs().log10().floor() - 3.0) };
    Cell::Value(Quantity::bare((value / step).round() * step, Unit::Count))
}

fn percent(share: f64) -> Cell {
    Cell::text(format!("{:.1}%", 100.0 * share))
}
