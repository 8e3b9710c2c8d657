//! Any text is offers and demand or refused. The choice among few offers with few draws is a plan that can be printed,
//! or no plan.
#![no_main]

use std::collections::BTreeMap;

use decide::choose::{decide, parse};
use libfuzzer_sys::fuzz_target;
use report::by_name;

/// Draws of what is not known: the fewest that a text may ask for.
const DRAWS: usize = 20;
/// Offers among which is chosen: the time grows fast with them.
const OFFERS: usize = 5;

fuzz_target!(|text: &str| {
    let problem = parse(text).and_then(|specification| specification.problem(&BTreeMap::new()));
    let Ok(mut problem) = problem else { return };
    if problem.offers.len() > OFFERS {
        return;
    }
    problem.draws = DRAWS;
    // Numbers that the solver cannot handle are refused.
    let Ok(choice) = decide(&problem) else { return };
    for format in ["terminal", "json"] {
        let mut page = Vec::new();
        let document = report::view::choose(&choice);
        by_name(format, 100, false).and_then(|format| format.render(&document, &mut page)).expect("a page");
        let page = String::from_utf8_lossy(&page);
        assert!(text.to_lowercase().contains("nan") || !page.contains("NaN"), "{page}");
    }
});
