//! What a reader does with a page: sort, find, filter, open, link, point; and what a reader of the screen gets.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::browser::{self, Browser};
use crate::page;

/// The browser, or a skip.
fn found() -> Option<Browser> {
    let browser = browser::find();
    if browser.is_none() {
        testing::skip!("no chromium here, so that no page was used");
    }
    browser
}

/// The answers of a script, each a line `what: yes`.
fn holds(browser: &Browser, name: &str, text: &str, at: (u32, &str), script: &str) {
    let said = browser.ask(name, text, at, script);
    assert!(said.len() > 1 && said.iter().all(|line| line.ends_with(": true")), "{name}: {said:#?}");
}

#[test]
fn a_heading_sorts_its_table_and_details_stay_with_their_rows() {
    let Some(browser) = found() else { return };
    let script = r#"
      const table = document.querySelector(".results table");
      const head = [...table.tHead.rows[0].cells].find((one) => one.textContent.trim() === "value");
      const column = [...table.tHead.rows[0].cells].indexOf(head);
      const button = head.querySelector("button");
      button.focus();
      const focused = document.activeElement === button;
      const before = new Map([...table.querySelectorAll("tr.detail")].map((one) => [one, one.previousElementSibling]));
      const values = () => [...table.tBodies[0].rows].filter((row) => !row.matches(".group, .detail"))
        .map((row) => parseFloat(row.cells[column]?.dataset.v)).filter((value) => !Number.isNaN(value));
      const ordered = (way) => values().every((value, at, all) => !at || way * (value - all[at - 1]) >= 0);
      button.click();
      const up = ordered(1), said = head.getAttribute("aria-sort") === "ascending";
      button.click();
      const down = ordered(-1);
      const kept = [...before].every(([detail, row]) => detail.previousElementSibling === row);
      say([`keyboard: ${focused}`, `many: ${values().length > 2}`, `up: ${up}`, `said: ${said}`, `down: ${down}`, `details: ${before.size > 0 && kept}`]);
    "#;
    holds(&browser, "sort", &page::single(), (1400, ""), script);
}

#[test]
fn a_search_counts_filters_charts_and_stays_in_the_address() {
    let Some(browser) = found() else { return };
    let script = r##"
      const box = document.querySelector("input[type=search]");
      const type = (words) => { box.value = words; box.dispatchEvent(new Event("input")); };
      const count = () => document.querySelector(".tools [role=status]").textContent;
      const rows = (query) => [...document.querySelectorAll(query)].filter((row) => row.offsetParent);
      const all = rows(".results tr[id]").length, drawn = rows("table.forest tbody tr").length;
      type("system call");
      const some = rows(".results tr[id]").length, fewer = rows("table.forest tbody tr").length;
      const told = count().startsWith(some + " of "), address = location.hash === "#q=system+call";
      type("zzz");
      const nothing = count() === "nothing found" && !rows(".results tr[id]").length;
      type("");
      const family = document.querySelector("select[aria-label=family]");
      family.selectedIndex = 1;
      family.dispatchEvent(new Event("change"));
      const kin = rows(".results tr[id]").every((row) => row.dataset.f === family.value);
      family.selectedIndex = 0;
      family.dispatchEvent(new Event("change"));
      const changed = [...document.querySelectorAll(".tools button")].find((one) => one.textContent === "changed");
      changed.click();
      const only = rows(".results tr[id]").length && rows(".results tr[id]").every((row) => row.matches(".changed"));
      const pressed = changed.getAttribute("aria-pressed") === "true";
      changed.click();
      say([`some: ${some > 0 && some < all}`, `charts: ${fewer > 0 && fewer < drawn}`, `told: ${told}`, `address: ${address}`,
        `nothing: ${nothing}`, `family: ${kin}`, `changed: ${Boolean(only) && pressed}`, `all again: ${rows(".results tr[id]").length === all}`]);
    "##;
    holds(&browser, "search", &page::two(), (1400, ""), script);
}

#[test]
fn an_address_restores_what_it_says_and_opens_a_result() {
    let Some(browser) = found() else { return };
    let text = page::two();
    let script = r#"
      const shown = [...document.querySelectorAll(".results tr[id]")].filter((row) => row.offsetParent);
      const relative = getComputedStyle(document.querySelector(".rel")).display !== "none";
      say([`found: ${shown.length > 0 && shown.every((row) => row.textContent.includes("pipe"))}`, `relative: ${relative}`,
        `box: ${document.querySelector("input[type=search]").value === "pipe"}`]);
    "#;
    holds(&browser, "address", &text, (1400, "q=pipe&view=relative"), script);
    let row = text.split("<tr ").find(|row| row.contains(" id=\"r-") && row.contains("<details class=\"row\">"));
    let id = row.and_then(|row| row.split(" id=\"").nth(1)?.split('"').next());
    let script = r##"
      const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      setTimeout(() => {
        const detail = row.nextElementSibling;
        const buttons = [...detail.querySelectorAll("button")].map((one) => one.textContent);
        const link = document.querySelector(`a[href="#${row.id}"]`);
        say([`open: ${row.querySelector("details").open}`, `seen: ${detail.offsetParent !== null}`,
          `drawn: ${detail.querySelector("svg.area") !== null}`, `copied: ${buttons.join() === "copy result,copy link"}`, `linked: ${link !== null}`]);
      }, 500);
    "##;
    holds(&browser, "anchor", &text, (1400, id.unwrap()), script);
}

#[test]
fn a_mark_says_its_value_and_a_click_keeps_it() {
    let Some(browser) = found() else { return };
    let script = r#"
      const marks = [...document.querySelectorAll("[data-t]")];
      const tip = document.querySelector(".tip");
      const fire = (mark, kind) => mark.dispatchEvent(new PointerEvent(kind, { bubbles: true, clientX: 50, clientY: 50 }));
      fire(marks[0], "pointermove");
      const said = !tip.matches(".hidden") && tip.textContent === marks[0].dataset.t;
      fire(marks[0], "click");
      fire(document.body, "pointermove");
      const kept = tip.matches(".kept") && !tip.matches(".hidden");
      dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
      say([`said: ${said}`, `kept: ${kept}`, `released: ${tip.matches(".hidden")}`, `many: ${marks.length > 20}`]);
    "#;
    holds(&browser, "point", &page::two(), (1400, ""), script);
}

/// On a phone no part of a page moves sideways in a chart, and a label stands above its bar.
#[test]
fn on_a_phone_labels_stand_above_bars() {
    let Some(browser) = found() else { return };
    let script = r#"
      const row = document.querySelector("table.forest tbody tr");
      const [label, plot] = [row.querySelector("th"), row.querySelector("td.plot")].map((cell) => cell.getBoundingClientRect());
      const small = [...document.querySelectorAll("figure svg text")].filter((text) => parseFloat(getComputedStyle(text).fontSize) < 12);
      const wide = [...document.querySelectorAll("figure")].filter((figure) => figure.scrollWidth > figure.clientWidth + 1);
      say([`above: ${label.bottom <= plot.top + 1}`, `room: ${plot.width > 300}`, `read: ${!small.length}`, `still: ${!wide.length}`]);
    "#;
    holds(&browser, "phone", &page::two(), (390, ""), script);
}

/// axe-core, if the registry has it.
fn axe() -> Option<String> {
    const VERSION: &str = "axe-core@4.10.3";
    let folder: PathBuf = std::env::temp_dir().join(format!("prony-axe-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut npm = Command::new("timeout");
    npm.args(["60", "npm", "install", "--no-save", "--no-audit", "--no-fund", "--prefix"]).arg(&folder).arg(VERSION);
    let done = npm.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let script = std::fs::read_to_string(folder.join("node_modules/axe-core/axe.min.js")).ok();
    let _ = std::fs::remove_dir_all(&folder);
    script.filter(|_| done.is_ok_and(|status| status.success()))
}

#[test]
fn no_page_breaks_the_rules_of_accessibility() {
    let Some(browser) = found() else { return };
    if !testing::slow("the rules of axe-core on pages of one, two and several runs") {
        return;
    }
    let Some(axe) = axe() else {
        testing::skip!("npm could not install axe-core");
        return;
    };
    // The last statement of the script is what a module would export.
    let run = r#"
      document.querySelectorAll("details").forEach((one) => { one.open = true; });
      axe.run(document, { resultTypes: ["violations"] }).then((found) => say(["checked", ...found.violations.map((one) =>
        `${one.id}: ${one.nodes.length}: ${one.nodes[0].html.slice(0, 200)}`)]), (error) => say(["failed", String(error)]));
    "#;
    let pages = [
        ("one", page::single(), 1400),
        ("two", page::two(), 1400),
        ("two", page::two(), 390),
        ("several", page::several(), 1400),
    ];
    for (name, text, width) in pages {
        let found = browser.ask(&format!("axe-{name}"), &text, (width, ""), &format!("{axe};{run}"));
        assert_eq!(found, ["checked"], "{name} at {width}");
    }
}
