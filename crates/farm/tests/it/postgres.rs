//! The ledger that several coordinators share, on a real PostgreSQL server: a chunk counts once, whoever writes it when, and
//! a coordinator that was taken for dead writes nothing under its old number.
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
fn what_is_written_is_what_is_read() {
    let Some(lab) = PostgresLab::start() else { return };
    let address = lab.database("one");
    let wanted = farm("first", 95, 10);
    let (mut ledger, joined) = PostgresLedger::enter(&address, &wanted).unwrap();
    assert!(!joined);
    assert_eq!(ledger.farm().unwrap(), wanted);
    assert!(ledger.doubt().unwrap().unwrap().contains("fsync = off"));
    let begin = ledger.begin("127.0.0.1:1", 10.0).unwrap();
    assert_eq!((begin.coordinator, begin.resumed), (1, false));
    // The same job is the same run while it is not finished, under its first name; another job is another run.
    let (other, joined) = PostgresLedger::enter(&address, &farm("second", 95, 10)).unwrap();
    assert_eq!((other.id(), joined), ("first", true));
    let (third, joined) = PostgresLedger::enter(&address, &farm("third", 95, 20)).unwrap();
    assert_eq!((third.id(), joined), ("third", false));
    // First, again (its answer was lost), another that is equal, and one that differs; all in one step.
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
    assert_eq!(ledger.settle(&offers, 2.0).unwrap(), verdicts);
    assert_eq!(ledger.settle(&offers[..3], 3.0).unwrap(), verdicts[..3], "verdicts hold for ever");
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
    // Who looks changes nothing.
    let mut reader = PostgresLedger::read(&address, Some("first")).unwrap();
    assert_eq!(reader.totals().unwrap(), totals);
    assert!(reader.settle(&offers[..1], 5.0).is_err());
}

/// Four coordinators settle every chunk of a run, in orders and batches of their own: no two count one, none waits for ever.
#[test]
fn four_that_write_at_one_time_count_once() {
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
            let verdicts = ledger.settle(&batch, 1.0).unwrap();
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
fn blocks_are_one_coordinators_and_its_heirs() {
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
    // What one counts, the other hears of; what is done is left to nobody.
    one.settle(&[offer(0, 1, "a"), offer(5, 2, "a")], 1.0).unwrap();
    one.note(&[Incident { at: 1.0, what: "joined".into(), node: "n".into(), chunk: None, detail: "a".into() }])
        .unwrap();
    let heard = share(&mut two, vec![9], 0);
    assert_eq!((heard.counted.as_slice(), heard.left, blocks(&heard)), (&[5][..], 9, Vec::new()));
    assert_eq!((heard.elsewhere.chunks, heard.elsewhere.events), (2, 20));
    // One is silent: its blocks are the other's, with what it had counted, and its pilots left it.
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
    // It wakes: what it offers is settled, under a number that nobody had, and it is told that its blocks are gone.
    let verdicts = one.settle(&[offer(1, 3, "a"), offer(0, 4, "b")], 2.0).unwrap();
    assert_eq!(verdicts, [ChunkVerdict::Counted, ChunkVerdict::Duplicate]);
    assert_eq!(lab.sql("heirs", "SELECT coordinator FROM prony_farm.commits WHERE chunk = 1;"), "3");
    assert_eq!(lab.sql("heirs", "SELECT chunks FROM prony_farm.coordinators ORDER BY number;"), "2\n0\n1");
    let woken = share(&mut one, Vec::new(), 100);
    assert_eq!(woken.fenced, Some((3, 3 << 40)));
    assert_eq!(blocks(&woken), Vec::<u64>::new());
    assert_eq!(woken.elsewhere.chunks, 0, "its own work before is not somebody else's");
    // Who ends leaves its blocks at once.
    two.leave().unwrap();
    assert_eq!(blocks(&share(&mut one, Vec::new(), 100)).len(), 9);
    assert_eq!(share(&mut one, (0..10).collect(), 0).left, 0);
    let (next, joined) = PostgresLedger::enter(&address, &farm("next", 95, 10)).unwrap();
    assert_eq!((next.id(), joined), ("next", false), "a run that is finished is not gone on with");
}

#[test]
fn a_server_that_goes_away_for_a_moment_is_waited_for() {
    let Some(lab) = PostgresLab::start() else { return };
    let address = lab.database("away");
    let (mut ledger, _) = PostgresLedger::enter(&address, &farm("run", 95, 10)).unwrap();
    ledger.begin("127.0.0.1:1", 60.0).unwrap();
    ledger.settle(&[offer(0, 1, "a")], 1.0).unwrap();
    lab.tell(&["kill"]);
    let later = std::thread::scope(|scope| {
        let settling = scope.spawn(|| ledger.settle(&[offer(0, 2, "b"), offer(1, 3, "b")], 2.0).unwrap());
        std::thread::sleep(Duration::from_millis(300));
        lab.tell(&["again"]);
        settling.join().unwrap()
    });
    assert_eq!(later, [ChunkVerdict::Duplicate, ChunkVerdict::Counted]);
    // Its last coordinator was lost: who goes on is to listen where that one did. One that is heard of is not replaced.
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
fn what_cannot_be_used_is_told_in_a_line_without_the_password() {
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
    assert!(refused(&address, None).contains("form 99; this program knows form 1"));
}
