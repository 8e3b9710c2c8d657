//! Damaged ledgers: no flipped bit passes unnoticed, and no sound record is lost.
#![allow(clippy::unwrap_used, reason = "a test says so when it cannot go on")]

use std::path::Path;
use std::time::{Duration, SystemTime};

use farm::{
    ChunkResult, Commit, DAMAGED, Farm, FarmJob, HostClock, Incident, Ledger, OfferedResult, Product, ProductFolder,
    Published, Refusal, SharedFarm, SqliteLedger, Stamp, Story,
};
use rand::{Rng, SeedableRng};
use rusqlite::Connection;

const CHUNKS: u64 = 20;

fn make(path: &Path) {
    let job = FarmJob {
        name: "test".to_owned(),
        work: serde_json::json!({ "builtin": "simulate" }),
        seed: 3,
        first: 100,
        events: 3 * CHUNKS,
        chunk: 3,
        products: None,
    };
    let farm = Farm {
        id: "test".to_owned(),
        job,
        token: "0123456789abcdef".to_owned(),
        key: "fedcba9876543210".to_owned(),
        address: String::new(),
        created: 1.7e9,
        settings: serde_json::json!({ "lease": 10.0 }),
    };
    let mut ledger = SqliteLedger::create(path, &farm).unwrap();
    ledger.begin("127.0.0.1:1", &HostClock).unwrap();
    let offer = |chunk: u64, number| OfferedResult {
        chunk,
        number,
        node: format!("node-{}", number % 3),
        pilot: format!("pilot-{}", number % 3),
        done: ChunkResult {
            events: 3,
            digest: (chunk + 1).wrapping_mul(0xdead_beef_dead_beef),
            cpu: Some(1.0),
            wall: (chunk != 4).then_some(1.5),
            read: Some(7),
            written: None,
        },
        products: vec![Product { name: "a".to_owned(), bytes: chunk, sha256: "0".repeat(64) }],
        check: false,
    };
    for chunk in 0..CHUNKS {
        let when = Stamp { at: 1.7e9 + chunk as f64, since: chunk as f64 };
        ledger.record(&[offer(chunk, 10 + chunk)], when).unwrap();
    }
    ledger.record(&[offer(3, 50), offer(4, 51)], Stamp { at: 1.7e9, since: 60.0 }).unwrap();
    let joined = |node: &str| Incident {
        at: 1.7e9,
        since: 0.5,
        what: "joined".to_owned(),
        node: node.to_owned(),
        chunk: None,
        detail: "x".to_owned(),
    };
    ledger.note(&[joined("node-0"), joined("node-1")]).unwrap();
    ledger.describe("node-0", &serde_json::json!({ "cpus": 2 })).unwrap();
}

/// Everything that a ledger says.
#[derive(Debug, PartialEq)]
struct Contents {
    farm: Farm,
    commits: Vec<Commit>,
    refusals: Vec<Refusal>,
    incidents: Vec<Incident>,
    nodes: Vec<(String, serde_json::Value)>,
}

impl Contents {
    fn of(ledger: &SqliteLedger) -> farm::Result<Self> {
        let (mut commits, mut refusals) = (Vec::new(), Vec::new());
        ledger.commits(&mut |one| commits.push(one))?;
        ledger.refusals(&mut |one| refusals.push(one))?;
        let (farm, incidents, nodes) = (ledger.farm()?, ledger.incidents()?, ledger.descriptions()?);
        Ok(Self { farm, commits, refusals, incidents, nodes })
    }

    /// Whether all of it was in the original.
    fn is_part_of(&self, all: &Self) -> bool {
        self.farm == all.farm
            && self.commits.iter().all(|one| all.commits.contains(one))
            && self.refusals.iter().all(|one| all.refusals.contains(one))
            && self.incidents.iter().all(|one| one.what == DAMAGED || all.incidents.contains(one))
            && self.nodes.iter().all(|one| all.nodes.contains(one))
    }
}

#[test]
fn no_flipped_bit_passes_unnoticed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, hurt) = (folder.path().join("ledger"), folder.path().join("hurt"));
    make(&path);
    let before = Contents::of(&SqliteLedger::read(&path).unwrap()).unwrap();
    assert_eq!((before.commits.len(), before.refusals.len(), before.incidents.len()), (20, 2, 2));
    let sound = std::fs::read(&path).unwrap();
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(8);
    let (mut told, mut refused) = (0, 0);
    for _ in 0..1500 {
        let mut bytes = sound.clone();
        let at = random.random_range(0..bytes.len());
        bytes[at] ^= 1 << random.random_range(0..8);
        std::fs::write(&hurt, bytes).unwrap();
        let Ok(ledger) = SqliteLedger::read(&hurt) else {
            refused += 1;
            continue;
        };
        let Ok(found) = Contents::of(&ledger) else {
            refused += 1;
            continue;
        };
        match ledger.damage() {
            None => assert!(found == before, "byte {at} was changed unnoticed"),
            Some(words) => {
                told += 1;
                assert!(!words.contains('\n') && found.is_part_of(&before), "byte {at}: {words}");
                let lost = before.commits.len() - found.commits.len();
                assert!(lost <= 1, "byte {at}: {lost} results lost: {words}");
            }
        }
    }
    assert!(told > 100 && refused > 10, "{told} told, {refused} refused");
}

#[test]
fn a_damaged_result_is_told_and_done_again_and_nothing_else_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    make(&path);
    let before = Contents::of(&SqliteLedger::read(&path).unwrap()).unwrap();
    assert!(SqliteLedger::read(&path).unwrap().damage().is_none());
    let open = SqliteLedger::open(&path).unwrap();
    open.check_records().unwrap();
    for change in [
        "UPDATE commits SET digest = digest + 1 WHERE chunk = 7",
        "UPDATE incidents SET node = 'node-9' WHERE node = 'node-1'",
    ] {
        Connection::open(&path).unwrap().execute(change, []).unwrap();
    }
    // Damage that appears while the ledger is open is reported at the end.
    let said = open.check_records().unwrap_err().to_string();
    assert!(said.contains("chunk 7 is damaged") && said.contains("prony farm resume"), "{said}");
    drop(open);
    let bytes = std::fs::read(&path).unwrap();
    let check = |ledger: &SqliteLedger| {
        let found = Contents::of(ledger).unwrap();
        assert!(found.is_part_of(&before));
        assert_eq!((found.commits.len(), found.refusals.len(), found.nodes.len()), (19, 2, 1));
        assert!(!ledger.counted().unwrap().contains(7) && ledger.counted_result(7).unwrap().is_none());
        let story = Story::read(ledger).unwrap();
        let told: Vec<_> = story.incidents.iter().filter(|one| one.what == DAMAGED).map(|one| one.chunk).collect();
        assert_eq!(told, [Some(7), None]);
        assert_eq!(story.invariants.broken().len(), 2, "19 of 20 chunks count");
    };
    let reader = SqliteLedger::read(&path).unwrap();
    check(&reader);
    let words = reader.damage().unwrap();
    assert!(words.starts_with("the record of chunk 7 is damaged, and 1 record of"), "{words}");
    assert!(words.contains(&format!("prony farm resume {} repeats it", path.display())), "{words}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "reading changed it");
    drop(reader);
    let mut ledger = SqliteLedger::open(&path).unwrap();
    check(&ledger);
    assert!(ledger.damage().unwrap().contains("repeating it, all other records are intact"));
    let again = before.commits.iter().find(|one| one.offer.chunk == 7).unwrap();
    ledger.record(&[OfferedResult { number: 99, ..again.offer.clone() }], again.when).unwrap();
    drop(ledger);
    let ledger = SqliteLedger::open(&path).unwrap();
    assert!(ledger.damage().is_none() && ledger.totals().unwrap().commits == CHUNKS);
}

#[test]
fn a_damaged_record_of_the_run_itself_is_told_and_leaves_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    make(&path);
    let change = "UPDATE farm SET job = replace(job, '\"seed\":3', '\"seed\":7')";
    assert_eq!(Connection::open(&path).unwrap().execute(change, []).unwrap(), 1);
    for open in [SqliteLedger::open, SqliteLedger::read] {
        let said = open(&path).unwrap_err().to_string();
        assert!(said.contains("the run itself is damaged"), "{said}");
    }
    let left: i64 =
        Connection::open(&path).unwrap().query_row("SELECT count(*) FROM commits", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 20);
}

#[test]
fn what_can_be_read_of_a_damaged_file_is_rescued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    make(&path);
    let page: u64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = 'incidents'", [], |row| row.get::<_, i64>(0))
        .unwrap()
        .cast_unsigned();
    let mut bytes = std::fs::read(&path).unwrap();
    let from = (page as usize - 1) * 4096;
    bytes[from..from + 4096].fill(0xee);
    std::fs::write(&path, bytes).unwrap();
    let said = SqliteLedger::read(&path).unwrap_err().to_string();
    assert!(said.contains("prony farm resume"), "{said}");
    let said = SqliteLedger::open(&path).unwrap_err().to_string();
    assert!(said.contains("20 committed chunks") && said.contains("ledger.rescued"), "{said}");
    let rescued = folder.path().join("ledger.rescued");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&rescued).unwrap().permissions());
    assert_eq!(mode & 0o077, 0, "others can read the token");
    let mut ledger = SqliteLedger::open(&rescued).unwrap();
    assert_eq!((ledger.totals().unwrap().commits, ledger.incidents().unwrap().len()), (CHUNKS, 0));
    assert!(ledger.begin("127.0.0.1:1", &HostClock).unwrap().resumed);
}

/// The leftovers of a coordinator that dies in a transaction: the file with a part of it, and the journal that undoes
/// it.
fn interrupted(path: &Path, into: &Path) {
    let connection = Connection::open(path).unwrap();
    // Changed pages do not wait in memory.
    connection.pragma_update(None, "cache_size", 1).unwrap();
    connection.execute_batch("BEGIN; DELETE FROM commits WHERE chunk < 15; DELETE FROM refusals").unwrap();
    for number in 0..200 {
        let text = "INSERT INTO incidents VALUES (0.0, 0.0, 'joined', 'n', NULL, ?1, 0)";
        connection.execute(text, [format!("{number}: {}", "x".repeat(200))]).unwrap();
    }
    for end in ["", "-journal"] {
        let (from, to) = (format!("{}{end}", path.display()), format!("{}{end}", into.display()));
        std::fs::copy(from, to).unwrap();
    }
}

/// An interrupted transaction is undone. A damaged, cut or missing journal never loses a result without a message.
#[test]
fn no_flipped_bit_of_a_journal_loses_a_result_unnoticed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, hurt, journal) =
        (folder.path().join("ledger"), folder.path().join("hurt"), folder.path().join("hurt-journal"));
    make(&path);
    let before = Contents::of(&SqliteLedger::read(&path).unwrap()).unwrap();
    interrupted(&path, &hurt);
    let (file, sound) = (std::fs::read(&hurt).unwrap(), std::fs::read(&journal).unwrap());
    assert!(sound.len() > 4096 && file != std::fs::read(&path).unwrap(), "no transaction was interrupted");
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(23);
    let (mut whole, mut told, mut refused) = (0, 0, 0);
    for round in 0..400 {
        let mut bytes = sound.clone();
        match round {
            0 => {}
            1 => bytes.clear(),
            2 => bytes.truncate(sound.len() / 2),
            _ => {
                // Half of them hit the header, on which all depends.
                let at = random.random_range(0..if round % 2 == 0 { 28 } else { bytes.len() });
                bytes[at] ^= 1 << random.random_range(0..8);
            }
        }
        std::fs::write(&hurt, &file).unwrap();
        std::fs::write(&journal, bytes).unwrap();
        let open = if round % 4 < 2 { SqliteLedger::open } else { SqliteLedger::read };
        let Ok((found, damage)) = open(&hurt).and_then(|ledger| Ok((Contents::of(&ledger)?, ledger.damage()))) else {
            refused += 1;
            continue;
        };
        assert!(found.is_part_of(&before), "round {round}");
        match damage {
            None => {
                whole += 1;
                let (there, all) = (found.commits.len(), before.commits.len());
                assert!(found.commits == before.commits, "round {round}: {there} of {all} results are there");
            }
            Some(_) => told += 1,
        }
        assert!(round > 0 || whole == 1, "a sound journal does not undo it");
    }
    assert!(whole > 0 && told + refused > 20, "{whole} whole, {told} told, {refused} refused");
}

#[test]
fn results_that_are_missing_are_told_and_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    make(&path);
    Connection::open(&path).unwrap().execute("DELETE FROM commits WHERE chunk IN (4, 9)", []).unwrap();
    let ledger = SqliteLedger::read(&path).unwrap();
    let words = ledger.damage().unwrap();
    assert!(words.starts_with("2 committed results are missing; prony farm resume"), "{words}");
    drop(ledger);
    let mut ledger = SqliteLedger::open(&path).unwrap();
    assert!(ledger.damage().unwrap().ends_with("repeating them, all other records are intact"));
    assert!(
        ledger.begin("127.0.0.1:2", &HostClock).unwrap().lease == 2 << 40 && !ledger.counted().unwrap().contains(4)
    );
    assert!(
        ledger.incidents().unwrap().iter().any(|one| one.what == DAMAGED && one.detail.contains("2 committed results"))
    );
    drop(ledger);
    // One record in place of another leaves the number as it is.
    let swap = "UPDATE commits SET chunk = 4, sum = (SELECT sum FROM commits WHERE chunk = 5) WHERE chunk = 6";
    Connection::open(&path).unwrap().execute(swap, []).unwrap();
    assert!(SqliteLedger::read(&path).unwrap().damage().is_some());
    // Without the record of their number, lease numbers still never repeat.
    Connection::open(&path).unwrap().execute("UPDATE tally SET generation = 0", []).unwrap();
    let mut ledger = SqliteLedger::open(&path).unwrap();
    assert!(ledger.damage().unwrap().contains("some may be missing"));
    ledger.note(&[]).unwrap();
    assert!(ledger.begin("127.0.0.1:2", &HostClock).unwrap().lease >= 1 << 40);
}

/// Files that are lost, changed or added, and files of results that an older copy of the ledger does not have.
#[test]
fn files_and_ledger_that_do_not_agree_are_made_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let products = ProductFolder::create(&folder.path().join("p"), "test").unwrap();
    make(&path);
    let mut ledger = SqliteLedger::open(&path).unwrap();
    // The results of `make` name files that were never written.
    let when = Stamp { at: 1.7e9, since: 70.0 };
    let repaired = products.repair(&mut ledger, false, when).unwrap();
    assert_eq!((repaired.withdrawn.len(), ledger.totals().unwrap().commits), (20, 0));
    let publish = |ledger: &mut SqliteLedger, chunk: u64, number: u64| {
        let place = products.begin(chunk, number).unwrap();
        std::fs::write(place.join("a"), format!("{number:06}")).unwrap();
        let list = products.collect(chunk, number).unwrap();
        let offer = OfferedResult {
            chunk,
            number,
            node: "n".to_owned(),
            pilot: "n/p".to_owned(),
            done: ChunkResult { events: 3, digest: chunk, ..ChunkResult::default() },
            products: list.clone(),
            check: false,
        };
        assert_eq!(ledger.record(&[offer], when).unwrap()[0].verdict, farm::ChunkVerdict::Counted, "chunk {chunk}");
        products.publish(chunk, number, &list)
    };
    (0..4).for_each(|chunk| publish(&mut ledger, chunk, 100 + chunk).unwrap());
    drop(ledger);
    std::fs::copy(&path, folder.path().join("copy")).unwrap();
    let mut ledger = SqliteLedger::open(&path).unwrap();
    publish(&mut ledger, 4, 104).unwrap();
    std::fs::remove_file(products.of_chunk(0).join("a")).unwrap();
    std::fs::write(products.of_chunk(1).join("a"), "000999").unwrap();
    std::fs::write(products.of_chunk(2).join("b"), "added").unwrap();
    let chunks = |ledger: &mut SqliteLedger, contents: bool| -> Vec<u64> {
        products.repair(ledger, contents, when).unwrap().withdrawn.into_iter().map(|(chunk, _)| chunk).collect()
    };
    assert_eq!(chunks(&mut ledger, false), [0, 2]);
    assert_eq!(chunks(&mut ledger, true), [1], "contents are compared where they are to be");
    for chunk in 0..3 {
        assert!(!ledger.counted().unwrap().contains(chunk) && !products.of_chunk(chunk).exists());
        publish(&mut ledger, chunk, 200 + chunk).unwrap();
    }
    assert_eq!(chunks(&mut ledger, true), [0; 0]);
    assert!(ledger.incidents().unwrap().iter().filter(|one| one.what == "withdrawn").count() == 23);
    drop(ledger);
    // An older copy takes the place of the ledger. An earlier pilot publishes late; the chunk is done again.
    std::fs::rename(folder.path().join("copy"), &path).unwrap();
    let mut ledger = SqliteLedger::open(&path).unwrap();
    let mut repaired = products.repair(&mut ledger, true, when).unwrap();
    repaired.withdrawn.sort_unstable();
    assert_eq!(repaired.withdrawn.iter().map(|(chunk, _)| *chunk).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(repaired.aside.len(), 4, "{repaired:?}");
    std::fs::create_dir_all(products.of_chunk(4)).unwrap();
    std::fs::write(products.of_chunk(4).join("a"), "late").unwrap();
    publish(&mut ledger, 4, 304).unwrap_err();
    assert_eq!(products.settle_by(&ledger).unwrap().published, 1);
    assert_eq!(std::fs::read_to_string(products.of_chunk(4).join("a")).unwrap(), "000304");
    assert_eq!(chunks(&mut ledger, true), [0; 0]);
}

#[test]
fn files_of_a_lost_result_make_room_for_those_of_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let products = ProductFolder::create(folder.path(), "test").unwrap();
    let publish = |number: u64, text: &str| {
        let place = products.begin(7, number).unwrap();
        std::fs::write(place.join("a"), text).unwrap();
        let list = products.collect(7, number).unwrap();
        products.publish(7, number, &list).map(|()| list)
    };
    publish(1, "first").unwrap();
    let aside = products.set_aside(7).unwrap().unwrap();
    assert_eq!(std::fs::read_to_string(aside.join("a")).unwrap(), "first");
    assert_eq!(products.set_aside(7).unwrap(), None);
    let list = publish(2, "second").unwrap();
    assert!(products.faults(7, &list, true).unwrap().is_empty());
    assert!(products.strangers(&|chunk| chunk == 7).unwrap().is_empty());
    assert_ne!(products.set_aside(7).unwrap().unwrap(), aside);
}

/// A run of two chunks in a shared directory.
fn shared(folder: &Path) -> SharedFarm {
    let job = FarmJob {
        name: "test".to_owned(),
        work: serde_json::Value::Null,
        seed: 3,
        first: 0,
        events: 4,
        chunk: 2,
        products: None,
    };
    SharedFarm::join(folder, &job, "a").unwrap()
}

#[test]
fn a_claim_of_a_dead_process_ends_although_the_clock_was_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut shared = shared(folder.path());
    let stale = Duration::from_secs(600);
    assert_eq!(shared.take(0, stale).unwrap(), Some(0));
    assert_eq!(shared.take(0, stale).unwrap(), Some(1));
    assert_eq!(shared.take(0, stale).unwrap(), None, "both are claimed");
    // The clock of the file system said tomorrow when the claim was made.
    let claim = std::fs::File::options().write(true).open(folder.path().join("claims/chunk-000000001")).unwrap();
    claim.set_modified(SystemTime::now() + Duration::from_secs(86_400)).unwrap();
    assert_eq!(shared.take(0, stale).unwrap(), Some(1));
    assert_eq!(shared.take(0, stale).unwrap(), None, "it was claimed anew");
}

#[test]
fn a_damaged_result_in_a_shared_directory_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut shared = shared(folder.path());
    let done = ChunkResult { events: 2, digest: 77, cpu: Some(1.25), wall: None, read: None, written: None };
    for chunk in 0..2 {
        shared.publish(&Published { chunk, node: "n1".to_owned(), done }).unwrap();
    }
    let before = shared.totals().unwrap();
    assert_eq!((before.commits, before.digest), (2, 154));
    let path = folder.path().join("results/chunk-000000001.json");
    let sound = std::fs::read(&path).unwrap();
    for at in 0..sound.len() {
        for bit in 0..8 {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << bit;
            std::fs::write(&path, bytes).unwrap();
            let said = shared.totals().unwrap_err().to_string();
            assert!(said.contains("chunk-000000001.json is damaged; remove it and run again"), "{said}");
        }
    }
    // As versions without checksums wrote it.
    let line = sound.split(|byte| *byte == b'\n').next().unwrap();
    std::fs::write(&path, line).unwrap();
    assert_eq!(shared.totals().unwrap(), before);
    std::fs::remove_file(&path).unwrap();
    assert!(!shared.is_done(1) && shared.totals().unwrap().commits == 1);
}
