//! The driver of a fleet, with agents that are scripts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use launcher::Local;
use launcher::suite::{Heard, NodeEnd, NodeState, SuiteOrder, SuiteReply, gather};
use measure::Stopper;
use model::Run;

/// An agent that greets, takes its order, and runs `then`.
fn agents(then: &str, count: usize) -> Local {
    let hello = format!(
        r#"{{"version":"{}","host":"h","process":1,"clock":1,"cpus":1,"address":"127.0.0.1","can":["measure"]}}"#,
        env!("CARGO_PKG_VERSION")
    );
    // Seven questions about the clock, the duty, the order.
    let clocks = r#"for question in 1 2 3 4 5 6 7; do read line; echo '{"clock":1}'; done; read duty; read order"#;
    let script = format!("echo '{hello}'; {clocks}; {then}");
    let command = ["/bin/sh", "-c", &script].map(str::to_owned).to_vec();
    Local { commands: vec![command; count], addresses: Vec::new() }
}

fn line(reply: &SuiteReply) -> String {
    serde_json::to_string(reply).unwrap()
}

fn document(id: &str) -> Box<Run> {
    Box::new(Run { id: id.to_owned(), ..Run::default() })
}

#[test]
fn slow_saving_keeps_the_latest_documents_and_no_queue_of_all() {
    const SENT: usize = 300;
    let saved = line(&SuiteReply::Saved(document("early")));
    let last = line(&SuiteReply::Saved(document("last")));
    let ended = line(&SuiteReply::Ended(document("final"), NodeEnd::Complete));
    // The first node is lost with a document that was not asked for yet, the second one ends.
    let script = format!(
        "n=0; while [ $n -lt {SENT} ]; do echo '{saved}'; n=$((n+1)); done; echo '{last}'; \
         [ $PRONY_NODE_ENDS ] && echo '{ended}'"
    );
    let mut launcher = agents(&script, 2);
    let ends = ["env", "PRONY_NODE_ENDS=1"].map(str::to_owned);
    launcher.commands[1] = [&ends[..], &launcher.commands[1]].concat();
    let mut heard: Vec<(String, String)> = Vec::new();
    let mut over = Vec::new();
    let mut hear = |event: Heard<'_>| match event {
        Heard::Saved { node, run } => {
            std::thread::sleep(Duration::from_millis(20));
            heard.push((node.to_owned(), run.id.clone()));
        }
        Heard::Over { node, .. } => over.push(node.to_owned()),
        _ => {}
    };
    let order = |_: &str| SuiteOrder::default();
    let all = gather(&mut launcher, 2, 2, &order, &Stopper::default(), &mut hear).unwrap();
    assert!(heard.len() < SENT, "{} of {} documents were saved one after the other", heard.len(), 2 * SENT);
    let of = |node: usize| heard.iter().rfind(|(name, _)| *name == all[node].node).map(|(_, id)| id.as_str());
    assert_eq!([of(0), of(1)], [Some("last"), Some("final")], "what came last is saved last");
    let kept = |node: usize| all[node].run.as_ref().map(|run| run.id.as_str());
    assert_eq!([kept(0), kept(1)], [Some("last"), Some("final")]);
    assert!(matches!(all[0].state, NodeState::Lost(_)), "{:?}", all[0].state);
    assert_eq!(all[1].state, NodeState::Measured(NodeEnd::Complete));
    over.sort();
    assert_eq!(over, [all[0].node.clone(), all[1].node.clone()], "each ends once");
}
