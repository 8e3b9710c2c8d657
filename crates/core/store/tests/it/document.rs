//! Run documents as files: they are read back as written. Malformed input gives one line with the position, and no
//! panic.
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use std::fs;
use std::path::Path;

use crate::common::{SMALL, run};
use crate::schema::faults;
use model::{Estimate, EstimateMethod, Fact, FactValue, Flag, Mode, Outcome, Parameters, Primitive, Run, Sample};
use proptest::prelude::*;
use store::{DOCUMENT_LIMIT, Error, StoreErrorKind, load_document, parse_document, render_document, save_document};

fn refused(path: &Path) -> String {
    let text = load_document(path).unwrap_err().to_string();
    assert!(text.contains(&path.display().to_string()) && !text.contains(['\n', '\u{1b}']), "{text}");
    text
}

#[test]
fn documents_are_read_back_as_saved_plain_and_compressed() {
    let home = tempfile::tempdir().unwrap();
    let one = run("m", 1, SMALL);
    for name in ["a.json", "b.json.zst", "no extension"] {
        let path = home.path().join(name);
        save_document(&path, &one).unwrap();
        save_document(&path, &one).unwrap();
        assert_eq!(load_document(&path).unwrap(), one);
    }
    let plain = fs::read_to_string(home.path().join("a.json")).unwrap();
    assert!(plain.starts_with("{\"schema\":1") && plain.ends_with("}\n"));
    assert!(fs::read(home.path().join("b.json.zst")).unwrap().starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 3, "nothing is left beside them");
}

#[test]
fn errors_name_their_position() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("x.json");
    let sound = render_document(&run("m", 1, SMALL)).unwrap();
    let cases: [(&str, Vec<u8>, &str); 10] = [
        ("empty", b" \n".to_vec(), "it is empty at line 1, column 1"),
        ("cut off", sound.as_bytes()[..sound.len() / 2].to_vec(), "at line 1, column"),
        ("of another schema", sound.replacen(":1,", ":7,", 1).into_bytes(), "its schema is 7"),
        ("of no schema", sound.replacen(":1,", ":0,", 1).into_bytes(), "its schema is 0"),
        ("no UTF-8", b"{\n\"schema\":\xff1}".to_vec(), "it is not UTF-8 at line 2, column 10"),
        ("of gzip", vec![0x1f, 0x8b, 8, 0], "gunzip"),
        ("of zstd, cut off", vec![0x28, 0xb5, 0x2f, 0xfd, 4], "it is damaged"),
        ("deep", "[".repeat(1 << 20).into_bytes(), "line 1, column"),
        ("steering the terminal", b"{\"schema\":1,\"\x1b[2J\n\":1}".to_vec(), "line 1, column"),
        ("a page", b"<html>\n".to_vec(), "line 1, column 1"),
    ];
    for (what, bytes, words) in cases {
        fs::write(&path, bytes).unwrap();
        let text = refused(&path);
        assert!(text.contains(words), "{what}: {text}");
    }
    assert!(refused(home.path()).contains("it is a directory"));
    assert!(refused(&home.path().join("none.json")).contains("it does not exist"));
}

#[test]
fn no_document_is_read_without_bound() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("x.json");
    fs::File::create(&path).unwrap().set_len(DOCUMENT_LIMIT + 1).unwrap();
    assert!(matches!(load_document(&path), Err(Error::TooLarge { .. })));
    assert!(refused(&path).contains("larger than 256 MiB"));
    let mut bomb = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(b' '), DOCUMENT_LIMIT + 1), &mut bomb).unwrap();
    fs::write(&path, bomb.finish().unwrap()).unwrap();
    assert!(refused(&path).contains("larger than 256 MiB"));
}

#[test]
fn links_are_followed_and_pipes_are_written_to() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (run("m", 1, SMALL), run("m", 2, SMALL));
    let (target, link) = (home.path().join("deep/target.json"), home.path().join("link.json"));
    fs::create_dir(home.path().join("deep")).unwrap();
    symlink("deep/target.json", &link).unwrap();
    for saved in [&one, &two] {
        save_document(&link, saved).unwrap();
        assert_eq!((load_document(&target).unwrap(), load_document(&link).unwrap()), (saved.clone(), saved.clone()));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
    fs::write(home.path().join("plain"), "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&target), mode(&home.path().join("plain")), "as any file of this user");
    symlink("loop.json", home.path().join("loop.json")).unwrap();
    assert!(load_document(&home.path().join("loop.json")).is_err());

    let pipe = home.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || load_document(&pipe).unwrap()
    });
    save_document(&pipe, &one).unwrap();
    assert_eq!(reader.join().unwrap(), one);
    save_document(Path::new("/dev/null"), &one).unwrap();
    let full = save_document(Path::new("/dev/full"), &one).unwrap_err();
    assert!(matches!(full, Error::Place { trouble: StoreErrorKind::Full, .. }), "{full}");
    assert!(matches!(save_document(home.path(), &one), Err(Error::Place { trouble: StoreErrorKind::Directory, .. })));
    let lost = save_document(&home.path().join("none/x.json"), &one).unwrap_err();
    assert!(lost.is_missing() && lost.to_string().contains("none/x.json"), "{lost}");
}

#[test]
fn a_file_is_replaced_as_a_whole_and_keeps_its_readers() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("report.html");
    store::write_file(&path, b"first").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    store::write_file(&path, b"second").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(store::write_file(Path::new("/dev/full"), b"third").is_err());
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn documents_conform_to_the_published_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&read("docs/reference/run.schema.json")).unwrap();
    let sample = read("crates/core/model/tests/run.json");
    let written = render_document(&model::parse_run(&sample).unwrap()).unwrap();
    for document in [sample, written] {
        assert_eq!(faults(&schema, &serde_json::from_str(&document).unwrap()), Vec::<String>::new());
    }
    for (what, document) in [("no results", r#"{"schema":1,"id":"x"}"#), ("no object", "[]")] {
        assert!(!faults(&schema, &serde_json::from_str(document).unwrap()).is_empty(), "{what}");
    }
}

fn number() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("JSON holds no other", |number| number.is_finite())
}

/// Possible values: none is below 0.
fn amount() -> impl Strategy<Value = f64> {
    number().prop_map(f64::abs)
}

fn estimate() -> impl Strategy<Value = Estimate> {
    let ends = prop::array::uniform3(amount()).prop_map(|mut ends| {
        ends.sort_by(f64::total_cmp);
        ends
    });
    (ends, 0.0..=1.0, (1..=u32::MAX, any::<u32>())).prop_map(|([low, value, high], level, (samples, batches))| {
        Estimate { value, low, high, level, samples, batches, method: EstimateMethod::Stated }
    })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let mode = (0.0..=1.0_f64, estimate()).prop_map(|(share, estimate)| Mode { share, estimate });
    prop_oneof![
        estimate().prop_map(Outcome::Measured),
        amount().prop_map(|bound| Outcome::Below { bound }),
        prop::collection::vec(mode, 0..3).prop_map(Outcome::Modes),
        any::<String>().prop_map(Outcome::NotMeasured),
        any::<String>().prop_map(Outcome::Failed),
    ]
}

fn any_run() -> impl Strategy<Value = Run> {
    let sample = (number(), prop::collection::vec(any::<u64>(), 0..4), prop::option::of((amount(), amount())))
        .prop_map(|(value, nanos, frequency)| Sample {
            value,
            nanos,
            frequency,
            began: value.abs() / 3.0,
            ..Sample::default()
        });
    let parameters = prop::collection::vec((any::<String>(), any::<String>()), 0..3).prop_map(|parameters| {
        parameters
            .into_iter()
            .fold(Parameters::none(), |parameters, (parameter, value)| parameters.with(parameter, value))
    });
    let result = (outcome(), parameters, prop::collection::vec(sample, 1..3), any::<(u64, String)>());
    let fact = prop_oneof![
        any::<String>().prop_map(FactValue::Text),
        number().prop_map(FactValue::Number),
        any::<Vec<String>>().prop_map(FactValue::List),
        any::<bool>().prop_map(FactValue::Truth),
    ];
    let results = prop::collection::vec(result, 0..4);
    (any::<(String, Option<String>, u64)>(), results, prop::collection::vec(fact, 0..3)).prop_map(
        |((id, label, seed), results, facts)| {
            let mut one = run("m", 1, SMALL);
            let model = one.results[0].clone();
            (one.id, one.label, one.plan.seed) = (id, label, seed);
            one.machine.facts = facts.into_iter().map(|value| Fact::new("x", value, "y", &[Primitive::Tlb])).collect();
            one.results = (0..)
                .zip(results)
                .map(|(index, (outcome, parameters, samples, (ops, title)))| model::BenchmarkResult {
                    benchmark: format!("a.b{index}"),
                    flags: vec![Flag::Drift],
                    outcome,
                    parameters,
                    samples,
                    ops,
                    title,
                    ..model.clone()
                })
                .collect();
            one
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: testing::trials(64, 256) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_run_is_read_back_exactly(one in any_run()) {
        let text = render_document(&one).unwrap();
        prop_assert_eq!(parse_document(text.as_bytes(), "x").unwrap(), one);
    }

    #[test]
    fn every_run_goes_through_a_store(one in any_run()) {
        let mut store = store::empty().unwrap();
        store.put(&one).unwrap();
        prop_assert_eq!(store.get(&one.id, store::Detail::Whole).unwrap(), one.clone());
        let values = store.get(&one.id, store::Detail::Values).unwrap();
        prop_assert!(values.results.iter().map(model::BenchmarkResult::values).eq(one.results.iter().map(model::BenchmarkResult::values)));
    }

    #[test]
    fn no_changed_byte_causes_a_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..4), 1..12),
        packed in any::<bool>(),
    ) {
        let text = render_document(&run("m", 1, SMALL)).unwrap();
        let mut bytes = if packed { zstd::bulk::compress(text.as_bytes(), 1).unwrap() } else { text.into_bytes() };
        for (at, byte, what) in changes {
            let at = at.index(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
            match what {
                0 if !bytes.is_empty() => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 if !bytes.is_empty() => drop(bytes.remove(at)),
                _ => bytes.truncate(bytes.len() - bytes.len() / 50),
            }
        }
        if let Err(error) = parse_document(&bytes, "x") {
            let words = error.to_string();
            prop_assert!(!words.contains('\n') && words.starts_with("could not "), "{}", words);
        }
    }

    #[test]
    fn no_bytes_cause_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(parse_document(&bytes, "x").is_err());
    }
}
