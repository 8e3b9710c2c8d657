//! The pages: every link leads somewhere, every page has a twin, rows are bounded, names are only names, and a real
//! browser has no complaint.
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use model::{FactValue, Run};
use report::Document;
use serve::{Held, Server, ServerSettings, Views};
use store::{Access, Store};

use crate::common::{Place, PlainViews, TOKEN, get, pusher, recorded, settings, small};

/// A site with sessions on two machines; the kernel of one changes.
fn site(place: &Place) -> Server {
    let mut runs: Vec<Run> = (0..12).map(|at| small("web-1", at)).collect();
    for run in &mut runs[6..] {
        let kernel = run.machine.facts.iter_mut().find(|fact| fact.name == "kernel.release").unwrap();
        kernel.value = FactValue::Text("6.99.1".to_owned());
    }
    runs.push(small("web-2", 3));
    runs.push(recorded("alone"));
    runs.push(recorded("loaded"));
    store::open(&place.store(), Access::Write).unwrap().put_all(&runs).unwrap();
    place.serve()
}

/// Addresses of this site to which a page links.
fn links(page: &str) -> Vec<String> {
    let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    links.filter(|link| link.starts_with('/')).map(|link| link.replace("&amp;", "&")).collect()
}

/// Every address that can be reached from the first page.
fn all_pages(server: &Server) -> BTreeSet<String> {
    let (mut known, mut next) = (BTreeSet::new(), vec!["/".to_owned()]);
    while let Some(path) = next.pop() {
        if known.insert(path.clone()) {
            let answer = get(server, &path);
            assert_eq!(answer.status, 200, "{path}: {}", answer.body);
            next.extend(links(&answer.body));
        }
    }
    known
}

#[test]
fn every_link_leads_to_a_page_and_every_page_has_a_twin() {
    let place = Place::new();
    let server = site(&place);
    let pages = all_pages(&server);
    for kind in ["/machines/", "/runs/", "/compare/", "/history/", "/fleet/", "/metrics"] {
        assert!(pages.iter().any(|path| path.starts_with(kind)), "no page of {kind}");
    }
    let twins: Vec<&String> = pages.iter().filter(|path| path.contains(".json")).collect();
    assert!(twins.len() > 10, "{}", twins.len());
    for path in twins {
        let answer = get(&server, path);
        assert!(answer.head.contains("Content-Type: application/json"), "{path}");
        serde_json::from_str::<serde_json::Value>(&answer.body).unwrap();
    }
}

#[test]
fn the_twin_of_a_run_is_its_document_and_the_page_has_its_numbers() {
    let place = Place::new();
    let server = site(&place);
    let twin = get(&server, "/runs/14.json").body;
    let run = store::parse_document(twin.as_bytes(), "the twin").unwrap();
    assert_eq!(Run { label: None, ..run.clone() }, Run { label: None, ..recorded("alone") });
    // The values are loaded without the inside of samples, and the page is that of the whole document.
    let context = report::view::RunContext { handle: Some("14".to_owned()), ..Default::default() };
    let mut whole = report::view::run(&run, &context);
    let page = get(&server, "/runs/14").body;
    (whole.data, whole.records, whole.next) = (None, None, Vec::new());
    let mut text = Vec::new();
    report::ReportFormat::render(&report::Html, &whole, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let main = |page: &str| page.split("<main>").nth(1).unwrap().split("</main>").next().unwrap().to_owned();
    assert!(main(&page).starts_with(&main(&text)), "the same tables, and then the ways on");
}

#[test]
fn a_history_has_its_points_and_what_changed() {
    let place = Place::new();
    let server = site(&place);
    let machine = get(&server, "/machines/web-1-fingerprint").body;
    let history = links(&machine).into_iter().find(|link| link.starts_with("/history/")).unwrap();
    let page = get(&server, &history).body;
    assert!(page.contains("kernel.release") && page.contains("6.99.1") && page.contains("12 sessions"), "{page}");
    let twin: serde_json::Value = serde_json::from_str(&get(&server, &(history + ".json")).body).unwrap();
    assert_eq!(twin["metrics"][0]["points"].as_array().unwrap().len(), 12);
    let ledger = twin["ledger"].as_array().unwrap();
    let handle = |entry: &serde_json::Value| twin["runs"][entry["run"].as_u64().unwrap() as usize]["handle"].clone();
    assert_eq!((ledger.len(), handle(&ledger[0])), (1, "7".into()), "the first run with the new kernel");
    assert_eq!(ledger[0]["change"]["b"], "6.99.1");
}

#[test]
fn a_change_of_the_values_is_found_and_what_changed_with_it() {
    let place = Place::new();
    let mut runs: Vec<Run> = (0..40).map(|at| small("web-9", at)).collect();
    for (at, run) in (0..).zip(&mut runs) {
        run.results[0].outcome.scale((1.0 + 0.002 * f64::from(at * 7 % 5)) / if at < 20 { 1.0 } else { 1.3 });
        if at >= 20 {
            let kernel = run.machine.facts.iter_mut().find(|fact| fact.name == "kernel.release").unwrap();
            kernel.value = FactValue::Text("6.99.1".to_owned());
        }
    }
    store::open(&place.store(), Access::Write).unwrap().put_all(&runs).unwrap();
    let named: Vec<(String, &Run)> = runs.iter().zip(1..).map(|(run, at): (_, u64)| (at.to_string(), run)).collect();
    let whole = history::history(&named);
    let server = place.serve();
    let machine = get(&server, "/machines/web-9-fingerprint").body;
    let paths: Vec<String> = links(&machine).into_iter().filter(|link| link.starts_with("/history/")).collect();
    let page = get(&server, &paths[0]).body;
    assert!(page.contains("1.300x slower") && page.contains("at the same time: kernel.release"), "{page}");
    let twin: serde_json::Value = serde_json::from_str(&get(&server, &format!("{}.json", paths[0])).body).unwrap();
    assert_eq!(twin["events"].as_array().unwrap().len(), 1);
    let whole = serde_json::to_value(&whole).unwrap();
    let (event, other) = (&twin["events"][0], &whole["events"][0]);
    assert_eq!(
        (&event["run"], &event["members"], &twin["ledger"]),
        (&other["run"], &other["members"], &whole["ledger"])
    );
    assert!(get(&server, &paths[1]).body.contains("No change was found."));
}

#[test]
fn metrics_are_those_of_the_newest_run_of_each_machine() {
    let place = Place::new();
    let server = site(&place);
    let answer = get(&server, "/metrics");
    assert!(answer.head.contains("application/openmetrics-text; version=1.0.0"), "{}", answer.head);
    assert!(answer.body.ends_with("# EOF\n"));
    assert!(answer.body.contains("run=\"web-1-11\"") && !answer.body.contains("run=\"web-1-10\""), "the newest alone");
    assert!(answer.body.contains("run=\"web-2-3\""));
    // Every metric of the dashboard is one of these.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/site/grafana.json");
    let dashboard: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut named = 0;
    for target in targets {
        let query = target["expr"].as_str().unwrap();
        let name =
            query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').find(|word| word.starts_with("prony_"));
        let name = name.unwrap();
        assert!(answer.body.contains(&format!("\n{name}{{")), "{name} is no metric of the site");
        named += 1;
    }
    assert!(named > 2);
}

/// Views that make no fleet while the test holds them.
struct HeldViews(Arc<Mutex<()>>);

impl Views for HeldViews {
    fn run(&self, held: &Held) -> Result<Document, String> {
        PlainViews.run(held)
    }

    fn compare(&self, store: &dyn Store, runs: &[Held]) -> Result<Document, String> {
        PlainViews.compare(store, runs)
    }

    fn fleet(&self, store: &dyn Store, runs: &[Held]) -> Result<Document, String> {
        let _held = self.0.lock().unwrap();
        PlainViews.fleet(store, runs)
    }
}

#[test]
fn after_a_push_no_reader_waits_for_a_page_of_many_runs() {
    let place = Place::new();
    store::open(&place.store(), Access::Write).unwrap().put_all(&[small("a", 1), small("b", 1)]).unwrap();
    let hold = Arc::new(Mutex::new(()));
    let settings = settings(&place.store(), "127.0.0.1:0", Some(TOKEN), true);
    let views = Box::new(HeldViews(Arc::clone(&hold)));
    let server = Server::start(ServerSettings { views, ..settings }).unwrap();
    let before = get(&server, "/fleet/quick").body;
    let held = hold.lock().unwrap();
    let mut run = small("a", 2);
    run.results[0].outcome.scale(2.0);
    pusher(&server).push(&run).unwrap();
    // Twice as long as it takes until the site begins to make the next one, which has to wait.
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(get(&server, "/fleet/quick").body, before);
    drop(held);
    let deadline = Instant::now() + Duration::from_secs(60);
    while get(&server, "/fleet/quick").body == before {
        assert!(Instant::now() < deadline, "the run is not shown");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_long_list_has_pages_of_bounded_size() {
    let place = Place::new();
    let runs: Vec<Run> = (0..250).map(|at| small(&format!("m{}", at % 120), at)).collect();
    store::open(&place.store(), Access::Write).unwrap().put_all(&runs).unwrap();
    let server = place.serve();
    let rows = |path: &str, of: &str| {
        let page = get(&server, path).body;
        let found: BTreeSet<String> = links(&page).into_iter().filter(|link| link.starts_with(of)).collect();
        (found.len(), page.contains("page=2"), page.contains(">older<"))
    };
    assert_eq!(rows("/runs", "/runs/"), (100, true, true));
    assert_eq!(rows("/runs?page=3", "/runs/"), (50, true, false));
    assert_eq!(rows("/machines", "/machines/"), (100, true, true));
    assert_eq!(rows("/machines?page=2", "/machines/"), (20, true, false));
    assert_eq!(rows("/search?q=M7", "/machines/").0, 11, "m7 and m70 to m79");
    assert_eq!(rows("/search?q=%25", "/runs/").0, 0, "a sign of patterns is only a sign");
    assert_eq!(rows("/fleet/quick", "/runs/").0, 0);
    let metrics = get(&server, "/metrics").body;
    assert_eq!(metrics.matches("prony_run_info{").count(), 64, "a part of many machines");
    assert_eq!(get(&server, "/metrics?page=2").body.matches("prony_run_info{").count(), 56);
}

#[test]
fn names_are_only_names() {
    let place = Place::new();
    let evil = "<script>document.title='broken'</script><img src=x onerror=alert(1)>\"'&";
    let mut run = small("a", 1);
    run.machine.name = evil.to_owned();
    run.plan.suite = evil.to_owned();
    run.machine.fingerprint = format!("../{evil}");
    run.label = Some(evil.replace('/', "|"));
    let mut other = run.clone();
    other.id = format!("{evil}2");
    store::open(&place.store(), Access::Write).unwrap().put_all(&[run, other]).unwrap();
    let server = place.serve();
    let searched = format!("/search?q={}", "%3Cscript%3Edocument.title%3D'broken'%22%3E");
    for path in all_pages(&server).into_iter().chain([searched]) {
        let answer = get(&server, &path);
        if answer.head.contains("text/html") {
            assert!(!answer.body.contains("<img") && !answer.body.contains("<script>document"), "{path}");
            assert!(answer.body.contains("Content-Security-Policy"), "{path}");
        }
    }
}

/// Runs a browser on an address; what it prints on its two outputs.
fn browse(folder: &Path, address: &str, arguments: &[String]) -> Option<(String, String)> {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu"]);
    command.args(["--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"]);
    command.args([
        "--disable-extensions",
        "--disable-sync",
        "--no-first-run",
        "--no-proxy-server",
        "--hide-scrollbars",
    ]);
    command.args(["--allow-file-access-from-files", "--virtual-time-budget=6000", "--enable-logging=stderr", "--v=0"]);
    command.arg(format!("--user-data-dir={}", folder.join("profile").display())).args(arguments).arg(address);
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&output.stdout), text(&output.stderr)))
}

/// The pages that a browser looks at: one of each kind.
fn kinds(server: &Server) -> Vec<(&'static str, String)> {
    let machine = get(server, "/machines/web-1-fingerprint").body;
    let history = links(&machine).into_iter().find(|link| link.starts_with("/history/")).unwrap();
    [
        ("machines", "/"),
        ("machine", "/machines/web-1-fingerprint"),
        ("runs", "/runs"),
        ("run", "/runs/14"),
        ("compare", "/compare/14,15"),
        ("history", history.as_str()),
        ("fleet", "/fleet/quick"),
        ("search", "/search?q=web"),
        ("missing", "/runs/999"),
    ]
    .map(|(name, path)| (name, path.to_owned()))
    .to_vec()
}

fn has_browser() -> bool {
    let there = Command::new("chromium").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !there {
        testing::skip!("no browser: chromium is not installed");
    }
    there
}

#[test]
fn a_browser_asks_for_nothing_else_and_does_not_complain() {
    if !has_browser() {
        return;
    }
    let place = Place::new();
    let server = site(&place);
    let brief = !testing::slow("a browser opens every kind of page, and not two");
    for (name, path) in kinds(&server).into_iter().filter(|(name, _)| !brief || ["machines", "history"].contains(name))
    {
        let address = format!("{}{}", server.url().trim_end_matches('/'), path);
        let log = place.path().join("net.json");
        let shots = std::env::var_os("PRONY_TEST_PICTURES").map(std::path::PathBuf::from);
        let mut arguments = vec![format!("--log-net-log={}", log.display()), "--window-size=1400,1000".to_owned()];
        arguments.push(match &shots {
            Some(folder) => format!("--screenshot={}", folder.join(format!("{name}.png")).display()),
            None => "--dump-dom".to_owned(),
        });
        let (dom, said) = browse(place.path(), &address, &arguments).unwrap();
        let complaints: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("CONSOLE") && !(name == "missing" && line.contains("404")))
            .collect();
        assert!(complaints.is_empty(), "{name}: {complaints:?}");
        assert!(shots.is_some() || dom.contains("class=\"site\""), "{name} was not drawn: {dom}");
        let net = std::fs::read_to_string(&log).unwrap();
        let own = ["googleapis.com", "google.com", "gstatic.com", "gvt1.com"];
        let asked = net.split("\"url\":\"").skip(1).filter_map(|rest| rest.split('"').next());
        let asked: Vec<&str> = asked.filter(|url| url.starts_with("http") || url.starts_with("ws")).collect();
        assert!(asked.iter().any(|url| url.starts_with(&server.url())), "{name}: {asked:?}");
        let outside: Vec<&&str> = asked
            .iter()
            .filter(|url| !url.starts_with(&server.url()) && !own.iter().any(|own| url.contains(own)))
            .collect();
        assert!(outside.is_empty(), "{name} asks elsewhere: {outside:?}");
    }
}

/// What a page says of itself in a frame as narrow as a phone: whether it is wider, and which links and fields the
/// keyboard does not reach or does not show.
const CHECK: &str = r#"
    const found = [];
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
    const page = document.documentElement;
    if (page.scrollWidth > page.clientWidth) found.push(`the page is ${page.scrollWidth} wide of ${page.clientWidth}`);
    const all = [...document.querySelectorAll("a[href], button, input")];
    if (all.length < 6) found.push("hardly a link");
    for (const one of all) {
        const shown = one.getClientRects().length > 0;
        one.focus({ focusVisible: true });
        const name = `${one.tagName} ${one.textContent || one.getAttribute("aria-label")}`;
        if (!shown || one.tabIndex < 0 || document.activeElement !== one) found.push(`out of reach: ${name}`);
        else if (getComputedStyle(one).outlineStyle === "none") found.push(`focus is not seen: ${name}`);
        if (one.tagName === "INPUT" && !one.getAttribute("aria-label")) found.push(`no name: ${name}`);
    }
    document.activeElement.blur();
    window.scrollTo(0, 0);
    window.parent.scrollTo(0, 0);
    const answer = document.createElement("pre");
    answer.id = "found";
    answer.textContent = `${found.join("\n")}\nEND`;
    window.parent.document.body.append(answer);
"#;

#[test]
fn a_phone_has_room_for_every_page_and_the_keyboard_reaches_everything() {
    if !has_browser() {
        return;
    }
    let place = Place::new();
    let server = site(&place);
    let brief = !testing::slow("every kind of page on a phone, and not two");
    for (name, path) in kinds(&server).into_iter().filter(|(name, _)| !brief || ["runs", "history"].contains(name)) {
        let page = get(&server, &path).body;
        // The page's own policy allows no script but its own, and no page may frame one of the site.
        let (before, policy) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
        let after = policy.split_once('>').unwrap().1;
        std::fs::write(place.path().join("page.html"), format!("{before}{after}<script>{CHECK}</script>")).unwrap();
        let frame = "<!DOCTYPE html><body style='margin:0'><iframe src='page.html' \
                     style='border:0;width:390px;height:2000px'></iframe></body>";
        let file = place.path().join("frame.html");
        std::fs::write(&file, frame).unwrap();
        let address = format!("file://{}", file.display());
        let (dom, said) = browse(place.path(), &address, &["--dump-dom".to_owned()]).unwrap();
        let answer = dom.split("<pre id=\"found\">").nth(1).and_then(|rest| rest.split("\nEND").next());
        assert_eq!(answer, Some(""), "{name}: {said}");
        if let Some(folder) = std::env::var_os("PRONY_TEST_PICTURES") {
            let shot = Path::new(&folder).join(format!("{name}-phone.png"));
            let arguments = ["--window-size=500,1100".to_owned(), format!("--screenshot={}", shot.display())];
            browse(place.path(), &address, &arguments).unwrap();
        }
    }
}
