//! Many nodes push at once while the server is killed: nothing acknowledged is lost, and nothing is there twice.
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use channel::Token;
use serve::{PushError, Pusher, Taken};
use store::Access;

use crate::common::{Place, TOKEN, pusher, serve, small};

const STORE: &str = "PRONY_SERVE_TEST_STORE";
const PORT: &str = "PRONY_SERVE_TEST_PORT";

/// The server of another test, in a process of its own that can be killed.
#[test]
fn a_server_for_others() {
    let (Some(store), Some(port)) = (std::env::var_os(STORE), std::env::var(PORT).ok()) else { return };
    let server = serve(Path::new(&store), port.parse().unwrap(), None);
    // The harness is told to show this.
    println!("\nlistening on port {}", server.address().port());
    std::thread::sleep(Duration::from_secs(600));
}

fn start(store: &Path, port: u16) -> (Child, u16) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "many::a_server_for_others", "--nocapture"])
        .env(STORE, store)
        .env(PORT, port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("listening on port ")?.parse().ok());
    (child, said.unwrap())
}

/// Nodes push while the server is killed `kills` times; each repeats its run until it is acknowledged.
fn nodes_push(store: &Path, nodes: u32, kills: usize) {
    let (child, port) = start(store, 0);
    let (child, done, acknowledged) = (Mutex::new(child), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let deadline = Instant::now() + Duration::from_secs(300);
    std::thread::scope(|scope| {
        for node in 0..nodes {
            let (done, acknowledged) = (&done, &acknowledged);
            let push = move || {
                let run = small(&format!("node-{node}"), 1);
                let token = Token::parse(TOKEN).unwrap();
                let site = Pusher::new(&format!("http://127.0.0.1:{port}"), token, None).unwrap();
                loop {
                    match site.push(&run) {
                        Ok(receipt) => {
                            assert_eq!(receipt.id, run.id);
                            acknowledged.lock().unwrap().push((receipt.id, receipt.run));
                            done.fetch_add(1, Ordering::SeqCst);
                            return;
                        }
                        Err(PushError::Later { .. }) => assert!(Instant::now() < deadline, "node {node} waits in vain"),
                        Err(other) => panic!("{other}"),
                    }
                    std::thread::sleep(Duration::from_millis(u64::from(node % 97) + 20));
                }
            };
            std::thread::Builder::new().stack_size(512 << 10).spawn_scoped(scope, push).unwrap();
        }
        for kill in 1..=kills {
            // Each time when a further part of the nodes has been answered.
            while done.load(Ordering::SeqCst) < nodes as usize * kill / (kills + 1) {
                assert!(Instant::now() < deadline);
                std::thread::sleep(Duration::from_millis(5));
            }
            let mut held = child.lock().unwrap();
            held.kill().unwrap();
            held.wait().unwrap();
            // Whatever was acknowledged until now is in the store, as it is after the kill.
            let before: Vec<(String, u64)> = acknowledged.lock().unwrap().clone();
            let there = ids(store);
            assert!(before.iter().all(|entry| there.contains(entry)), "an acknowledged run is lost");
            *held = start(store, port).0;
        }
    });
    child.lock().unwrap().kill().unwrap();
    child.lock().unwrap().wait().unwrap();
    let (acknowledged, there) = (acknowledged.into_inner().unwrap(), ids(store));
    assert_eq!(there.len(), nodes as usize, "every run is there once");
    assert_eq!(acknowledged.into_iter().collect::<BTreeSet<_>>(), there, "and under the number that was acknowledged");
}

/// Ids and numbers of the runs of a store; the documents can be read.
fn ids(store: &Path) -> BTreeSet<(String, u64)> {
    let store = store::open(store, Access::Read).unwrap();
    let all = store.summaries().unwrap();
    let sample = all.iter().step_by(50);
    assert!(sample.map(|run| store.get(&run.id, store::Detail::Whole)).all(|run| run.is_ok()));
    let count = all.len();
    let found: BTreeSet<(String, u64)> = all.into_iter().map(|run| (run.id, run.number)).collect();
    assert_eq!(found.iter().map(|(id, _)| id).collect::<BTreeSet<_>>().len(), count, "an id is there twice");
    found
}

#[test]
fn what_nodes_push_survives_a_killed_server() {
    nodes_push(&Place::new().store(), 40, 1);
}

#[test]
fn a_thousand_nodes_push_while_the_server_is_killed() {
    if testing::slow("1,000 nodes push to SQLite") {
        nodes_push(&Place::new().store(), 1000, 3);
    }
}

#[cfg(feature = "postgres")]
#[test]
fn nodes_push_to_postgres_while_the_server_is_killed() {
    let Some(address) = crate::postgres_server::new_database() else { return };
    let nodes = if testing::slow("1,000 nodes push to PostgreSQL, and not 40") { 1000 } else { 40 };
    nodes_push(address.as_ref(), nodes, 2);
}

#[test]
fn the_same_run_is_taken_once_and_other_content_is_refused() {
    let place = Place::new();
    let server = place.serve();
    let site = pusher(&server);
    let run = small("a", 1);
    let first = site.push(&run).unwrap();
    assert_eq!((first.run, first.taken), (1, Taken::New));
    let again = site.push(&run).unwrap();
    assert_eq!((again.run, again.taken), (1, Taken::Known));
    // A label belongs to each store.
    let labelled = model::Run { label: Some("web-1".to_owned()), ..run.clone() };
    assert_eq!(site.push(&labelled).unwrap().taken, Taken::Known);
    let mut forged = run.clone();
    forged.session.notes.push("something else".to_owned());
    assert!(matches!(site.push(&forged), Err(PushError::Refused { .. })));
    let mut resumed = run.clone();
    resumed.session.rounds += 3;
    assert_eq!(site.push(&resumed).unwrap().taken, Taken::Continued);
    assert!(matches!(site.push(&run), Err(PushError::Refused { .. })), "the earlier part does not replace the later");
    let stored = place.summaries();
    assert_eq!((stored.len(), stored[0].rounds), (1, resumed.session.rounds));
}
