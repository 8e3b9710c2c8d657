//! What stands around the page of a report: the ways to the other pages, and the search.

use maud::{Markup, PreEscaped, html};
use report::{Document, Error, PageFrame};

use crate::address::Target;

const STYLE: &str = include_str!("frame.css");

/// The page of a document, with the site around it. Its data are in its twin and not in the page.
pub(crate) fn page(document: &Document, links: Vec<(String, String)>, target: &Target) -> Result<String, Error> {
    let page = report::page(document, &PageFrame { links, without_data: true })?;
    // The report's own policy allows no form; here there are two, which ask this site.
    let page = page.replacen("form-action 'none'", "form-action 'self'", 1);
    let page = page.replacen("</head>", &format!("<style>{STYLE}</style></head>"), 1);
    let page = page.replacen("<body>", &format!("<body>{}", head(target).into_string()), 1);
    let (before, after) = page.rsplit_once("</body>").unwrap_or((&page, ""));
    Ok(format!("{before}{}</body>{after}", foot(target).into_string()))
}

fn head(target: &Target) -> Markup {
    let places = [("/", "Machines"), ("/runs", "Runs"), ("/fleet", "Fleet")];
    let first = target.parts.first().map(String::as_str).unwrap_or_default();
    let here = |place: &str| place.trim_start_matches('/') == if first == "machines" { "" } else { first };
    html! {
        div.site role="navigation" aria-label="site" {
            @for (place, name) in places { a href=(place) aria-current=[here(place).then_some("page")] { (name) } }
            form action="/search" method="get" role="search" {
                input name="q" type="search" aria-label="Search runs, machines and results" placeholder="Search"
                    value=[target.asked("q")];
                button { "Search" }
            }
            form action="/compare" method="get" {
                input name="runs" aria-label="Numbers of runs to compare" placeholder="Runs: 1 2";
                button { "Compare" }
            }
        }
    }
}

fn foot(target: &Target) -> Markup {
    // The twin of the first page has a name of its own.
    let path = if target.path == "/" { "/machines" } else { target.path.trim_end_matches('/') };
    let query: Vec<String> = ["q", "page"]
        .iter()
        .filter_map(|name| Some(format!("{name}={}", crate::address::part(target.asked(name)?))))
        .collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    html! {
        p.site-foot { a href={ (path) ".json" (query) } { "This page as JSON" } " · " a href="/metrics" { "OpenMetrics" } }
        (PreEscaped("\n"))
    }
}
