//! The ledger that several coordinators share, on a real PostgreSQL server: a chunk counts once, and a coordinator that
//! was taken for dead writes nothing under its old number.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test says so when it cannot go on")]

#[path = "../../../../tests/it/common/postgres.rs"]
mod lab;

use std::time::Duration;

use farm::{
    ChunkResult, ChunkVerdict, CoordinatorReport, CoordinatorShare, Farm, FarmJob, Incident, Ledger, LedgerSharing,
    OfferedResult, PostgresLedger,
};
use lab::PostgresLab;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

fn farm(id: &str, events: u64, chunk: u64) -> Farm {
    let work = serde_json::json!({ "a": [0.1, "\u{1f30d}"] });
    let job = FarmJob { name: "test".to_owned(), work, seed: u64::MAX, first: 100, events, chunk };
    Farm {
        id: id.to_owned(),
        job,
        token: "0123456789abcdef".to_owned(),
        key: "fedcba9876543210".to_owned(),
        address: String::new(),
        created: 1.5,
        settings: serde_json::json!({ "seconds": 0.25 }),
    }
}

fn offer(chunk: u64, number: u64, pilot: &str) -> OfferedResult {
    let done = ChunkResult { events: 10, digest: (chunk + 1).wrapping_mul(0xdead_beef_dead_beef), cpu: 0.5, wall: 1.0 };
    OfferedResult { chunk, number, node: format!("node-{pilot}"), pilot: pilot.to_owned(), done }
}

fn share(ledger: &mut PostgresLedger, done: Vec<u64>, want: u64) -> CoordinatorShare {
    ledger.share(&CoordinatorReport { done, want }).unwrap()
}

fn blocks(share: &CoordinatorShare) -> Vec<u64> {
    share.granted.iter().map(|grant| grant.block).collect()
}

#[test]
fn rows_are_read_back_as_written() {
    let Some(lab) = PostgresLab::start() else { return };
    let address = lab.database("one");
    let wanted = farm("first", 95, 10);
    let (mut ledger, joined) = PostgresLedger::enter(&address, &wanted).unwrap();
    assert!(!joined);
    assert_eq!(ledger.farm().unwrap(), wanted);
    assert!(ledger.doubt().unwrap().unwrap().contains("fsync = off"));
    let begin = ledger.begin("127.0.0.1:1", 10.0).unwrap();
    assert_eq!((begin.coordinator, begin.resumed), (1, false));
    // The same unfinished job is the same run, under its first name; another job is another run.
    let (other, joined) = PostgresLedger::enter(&address, &farm("second", 95, 10)).unwrap();
    assert_eq!((other.id(), joined), ("first", true));
    let (third, joined) = PostgresLedger::enter(&address, &farm("third", 95, 20)).unwrap();
    assert_eq!((third.id(), joined), ("third", false));
    // The first, the same again (its reply was lost), an equal one, and one that differs; all in one transaction.
    let mut differs = offer(3, 9, "c");
    differs.done.digest ^= 1;
    let offers = [offer(3, 7, "a"), offer(3, 7, "a"), offer(3, 8, "b"), differs, offer(0, 6, "a")];
    let verdicts = [
        ChunkVerdict::Counted,
        ChunkVerdict::Counted,
        ChunkVerdict::Duplicate,
        ChunkVerdict::Differs,
        ChunkVerdict::Counted,
    ];
    assert_eq!(ledger.record(&offers, 2.0).unwrap(), verdicts);
    assert_eq!(ledger.record(&offers[..3], 3.0).unwrap(), verdicts[..3], "verdicts must not change");
    let totals = ledger.totals().unwrap();
    assert_eq!((totals.commits, totals.distinct, totals.events), (2, 2, 20));
    assert_eq!((totals.refused, totals.differing, totals.wasted, totals.number), (2, 1, 1.0, 9));
    assert_eq!(totals.digest, offers[0].done.digest.wrapping_add(offers[4].done.digest));
    let counted = ledger.counted().unwrap();
    assert!(counted.contains(0) && counted.contains(3) && counted.count() == 2);
    let mut commits = Vec::new();
    ledger.commits(&mut |commit| commits.push(commit)).unwrap();
    assert_eq!(commits.iter().map(|one| one.offer.clone()).collect::<Vec<_>>(), [offer(0, 6, "a"), offer(3, 7, "a")]);
    let mut refusals = Vec::new();
    ledger.refusals(&mut |one| refusals.push((one.offer.pilot, one.differs))).unwrap();
    assert_eq!(refusals, [("b".to_owned(), false), ("c".to_owned(), true)]);
    let nodes = ledger.nodes().unwrap();
    assert_eq!((nodes[0].node.as_str(), nodes[0].totals.commits, nodes[0].span), ("node-a", 2, (2.0, 2.0)));
    let note =
        Incident { at: 4.0, what: "x".into(), node: "n".into(), chunk: Some(3), detail: "it's \u{e9} \"so\"".into() };
    ledger.note(std::slice::from_ref(&note)).unwrap();
    assert_eq!(ledger.incidents().unwrap(), [note]);
    ledger.describe("n", &serde_json::json!({ "x": 1 })).unwrap();
    ledger.describe("n", &serde_json::json!({ "x": "\0" })).unwrap();
    assert_eq!(ledger.descriptions().unwrap(), [("n".to_owned(), serde_json::json!({ "x": " " }))]);
    // Reading changes nothing.
    let mut reader = PostgresLedger::read(&address, Some("first")).unwrap();
    assert_eq!(reader.totals().unwrap(), totals);
    assert!(reader.record(&offers[..1], 5.0).is_err());
}

/// Four coordinators record every chunk of a run, in different orders and batches: no chunk counts twice, and none
/// waits for ever.
#[test]
fn four_concurrent_coordinators_count_each_chunk_once() {
    const CHUNKS: u64 = 300;
    let Some(lab) = PostgresLab::start() else { return };
    let address = lab.database("four");
    drop(PostgresLedger::enter(&address, &farm("run", CHUNKS * 10, 10)).unwrap());
    let write = |who: u64| {
        let mut ledger = PostgresLedger::open(&address, None).unwrap();
        let begin = ledger.begin(&format!("127.0.0.1:{who}"), 60.0).unwrap();
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(who);
        let pilot = format!("p{who}");
        let mut offers: Vec<OfferedResult> =
            (0..CHUNKS).map(|chunk| offer(chunk, begin.lease + chunk, &pilot)).collect();
        offers.shuffle(&mut random);
        let mut counted = 0;
        while !offers.is_empty() {
            let batch: Vec<OfferedResult> = offers.split_off(offers.len().saturating_sub(random.random_range(1..40)));
            let verdicts = ledger.record(&batch, 1.0).unwrap();
            counted += verdicts.iter().filter(|verdict| **verdict == ChunkVerdict::Counted).count() as u64;
        }
        (begin.coordinator, counted)
    };
    let mut all: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let running: Vec<_> = (1..=4).map(|who| scope.spawn(move || write(who))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    all.sort_unstable();
    assert_eq!(all.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(all.iter().map(|(_, counted)| counted).sum::<u64>(), CHUNKS);
    let totals = PostgresLedger::read(&address, None).unwrap().totals().unwrap();
    assert_eq!((totals.commits, totals.distinct, totals.refused), (CHUNKS, CHUNKS, 3 * CHUNKS));
    let sums = lab.sql("four", "SELECT sum(chunks), sum(events), sum(refused) FROM prony_farm.coordinators;");
    assert_eq!(sums, "300|3000|900");
}

#[test]
fn blocks_of_a_lost_coordinator_go_to_another() {
    let Some(lab) = PostgresLab::start() else { return };
    let address = lab.database("heirs");
    let (mut one, _) = PostgresLedger::enter(&address, &farm("run", 95, 10)).unwrap();
    let (mut two, _) = PostgresLedger::enter(&address, &farm("run", 95, 10)).unwrap();
    one.begin("127.0.0.1:1", 60.0).unwrap();
    let shared = two.begin("127.0.0.1:2", 60.0).unwrap();
    assert_eq!((shared.coordinator, shared.resumed), (2, false));
    let first = share(&mut one, Vec::new(), 4);
    assert_eq!((blocks(&first), first.left), (vec![0, 1, 2, 3], 10));
    assert_eq!(first.others, ["127.0.0.1:2"]);
    let second = share(&mut two, Vec::new(), 100);
    assert_eq!(blocks(&second), [4, 5, 6, 7, 8, 9]);
    assert_eq!(second.granted[5].chunks, 9..10);
    // A chunk that one has counted is reported to the other; a finished block is granted to neither.
    one.record(&[offer(0, 1, "a"), offer(5, 2, "a")], 1.0).unwrap();
    one.note(&[Incident { at: 1.0, what: "joined".into(), node: "n".into(), chunk: None, detail: "a".into() }])
        .unwrap();
    let heard = share(&mut two, vec![9], 0);
    assert_eq!((heard.counted.as_slice(), heard.left, blocks(&heard)), (&[5][..], 9, Vec::new()));
    assert_eq!((heard.elsewhere.chunks, heard.elsewhere.events), (2, 20));
    // One is silent: its blocks go to the other with its counted chunks, and its pilots are marked as gone.
    lab.sql("heirs", "UPDATE prony_farm.coordinators SET beat = beat - 100 WHERE number = 1;");
    let heir = share(&mut two, Vec::new(), 100);
    assert_eq!((blocks(&heir), heir.counted.as_slice()), (vec![0, 1, 2, 3], &[0, 5][..]));
    assert!(heir.others.is_empty());
    let story: Vec<(String, String)> = two
        .incidents()
        .unwrap()
        .into_iter()
        .map(|one| (one.what, one.detail))
        .filter(|(what, _)| what != "joined")
        .collect();
    assert_eq!(story[0], ("left".to_owned(), "a: its coordinator was lost".to_owned()));
    assert!(story[1].0 == "lost" && story[1].1.starts_with("coordinator 1 at 127.0.0.1:1"), "{story:?}");
    // It continues: its offers are recorded under a new number, and it is told that its blocks are gone.
    let verdicts = one.record(&[offer(1, 3, "a"), offer(0, 4, "b")], 2.0).unwrap();
    assert_eq!(verdicts, [ChunkVerdict::Counted, ChunkVerdict::Duplicate]);
    assert_eq!(lab.sql("heirs", "SELECT coordinator FROM prony_farm.commits WHERE chunk = 1;"), "3");
    assert_eq!(lab.sql("heirs", "SELECT chunks FROM prony_farm.coordinators ORDER BY number;"), "2\n0\n1");
    let woken = share(&mut one, Vec::new(), 100);
    assert_eq!(woken.fenced, Some((3, 3 << 40)));
    assert_eq!(blocks(&woken), Vec::<u64>::new());
    assert_eq!(woken.elsewhere.chunks, 0, "its own earlier work was counted as another's");
    // A coordinator that ends frees its blocks at once.
    two.leave().unwrap();
    assert_eq!(blocks(&share(&mut one, Vec::new(), 100)).len(), 9);
    assert_eq!(share(&mut one, (0..10).collect(), 0).left, 0);
    let (next, joined) = PostgresLedger::enter(&address, &farm("next", 95, 10)).unwrap();
    assert_eq!((next.id(), joined), ("next", false), "a finished run was joined");
}

#[test]
fn a_server_restart_is_waited_for() {
    let Some(lab) = PostgresLab::start() else { return };
    let address = lab.database("away");
    let (mut ledger, _) = PostgresLedger::enter(&address, &farm("run", 95, 10)).unwrap();
    ledger.begin("127.0.0.1:1", 60.0).unwrap();
    ledger.record(&[offer(0, 1, "a")], 1.0).unwrap();
    lab.tell(&["kill"]);
    let later = std::thread::scope(|scope| {
        let recording = scope.spawn(|| ledger.record(&[offer(0, 2, "b"), offer(1, 3, "b")], 2.0).unwrap());
        std::thread::sleep(Duration::from_millis(300));
        lab.tell(&["again"]);
        recording.join().unwrap()
    });
    assert_eq!(later, [ChunkVerdict::Duplicate, ChunkVerdict::Counted]);
    // The last coordinator was lost: the next one takes its address. One that is alive is not replaced.
    lab.sql("away", "UPDATE prony_farm.coordinators SET beat = beat - 100;");
    assert_eq!(PostgresLedger::open(&address, None).unwrap().farm().unwrap().address, "127.0.0.1:1");
    share(&mut ledger, Vec::new(), 0);
    let watching = std::thread::spawn(move || PostgresLedger::open(&address, None).unwrap().farm().unwrap().address);
    while !watching.is_finished() {
        std::thread::sleep(Duration::from_millis(100));
        share(&mut ledger, Vec::new(), 0);
    }
    assert_eq!(watching.join().unwrap(), "");
}

#[test]
fn errors_are_one_line_without_the_password() {
    let refused = |address: &str, id: Option<&str>| {
        let text = PostgresLedger::read(address, id).map(drop).unwrap_err().to_string();
        assert!(!text.contains('\n') && !text.contains("secret"), "{text}");
        text
    };
    assert!(refused("postgres://me:secret@%2Fnowhere/base", None).contains("postgres://me@%2Fnowhere/base"));
    assert!(refused("postgres://me:secret@127.0.0.1:1/base", None).contains("127.0.0.1:1"));
    refused("postgres://me:secret@host:no/base", None);
    refused("postgres://me@host/base?password=secret&nothing=x", None);
    let Some(lab) = PostgresLab::start() else { return };
    let address = lab.database("odd");
    assert!(refused(&address, None).contains("there is no run in it"));
    assert!(refused(&format!("{address}_none"), None).contains("does not exist"));
    drop(PostgresLedger::enter(&address, &farm("run", 95, 10)).unwrap());
    assert!(refused(&address, Some("other")).contains("there is no run other"));
    lab.sql("odd", "UPDATE prony_farm.ledger SET form = 99;");
    assert!(refused(&address, None).contains("schema version 99; this program knows version 1"));
}
