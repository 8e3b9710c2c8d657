//! Manifests are accepted as a whole, or refused with the line and the cause.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use application::{BUILTIN, DigestScope, Manifest, Rate, TEMPLATE, matrix};

fn parse(text: &str) -> Result<Manifest, String> {
    Manifest::parse(text, "m.toml", Path::new("/")).map_err(|error| error.to_string())
}

fn refused(text: &str, line: usize, reason: &str) {
    let said = parse(text).err().unwrap_or_else(|| panic!("accepted: {text}"));
    assert!(said.contains(&format!("line {line}:")) && said.contains(reason), "{text}\n-> {said}");
}

#[test]
fn built_in_manifests_are_valid() {
    let names = |text| parse(text).unwrap().applications.into_iter().map(|a| a.name).collect::<Vec<_>>();
    assert_eq!(names(BUILTIN), ["reconstruct", "simulate", "analyse"]);
    assert_eq!(names(TEMPLATE), ["hello"]);
}

/// A manifest cut at a limit would lack its last applications.
#[test]
fn a_manifest_is_read_whole_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.toml");
    let of = |blanks: usize| {
        std::fs::write(&path, [TEMPLATE, &"\n".repeat(blanks)].concat()).unwrap();
        Manifest::read(&path).map_err(|error| error.to_string())
    };
    assert_eq!(of(1).unwrap().applications.len(), 1);
    let said = of(1 << 20).unwrap_err();
    assert!(said.contains("it is longer than 1048576 bytes"), "{said}");
}

#[test]
fn examples_are_valid_and_their_sources_exist() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/manifests"));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let manifest = Manifest::read(&entry).unwrap_or_else(|error| panic!("{error}"));
        for application in manifest.applications {
            assert!(application.directory.is_dir(), "{}: {}", application.name, application.directory.display());
            names.push(application.name);
        }
    }
    names.sort();
    for wanted in ["acts", "pythia", "sieve"] {
        assert!(names.iter().any(|name| name == wanted), "{wanted} of {names:?}");
    }
}

#[test]
fn a_complete_manifest_is_parsed() {
    let text = r#"
[application.x]
builds = { compiler = ["gcc", "clang"], level = ["-O0", "-O3 -march=native"] }
exclude = [{ compiler = "clang", level = "-O0" }]
build = ["{compiler}", "{level...}", "-o", "{out}/x", "x.c"]
run = ["{out}/x", "{events}", "{seed}"]
work = { events = 500, unit = "event" }
rate = "rate=([0-9.]+)"
verify = { digest = "d=([0-9a-f]+)", digest_scope = "application" }
timeout = "2m"
copies = [1, 2]
"#;
    let application = parse(text).unwrap().applications.remove(0);
    let names: Vec<String> = matrix(&application).into_iter().map(|build| build.name).collect();
    assert_eq!(names, ["gcc -O0", "gcc -O3 -march=native", "clang -O3 -march=native"]);
    assert!(matches!(application.rate, Rate::Printed(_)) && application.verify.scope == DigestScope::Application);
    assert_eq!((application.work.amount, application.patience.as_secs()), (500.0, 120));
    assert!(application.version.is_some() && application.binary.is_some());
}

#[test]
fn errors_name_their_line() {
    let base =
        |more: &str| format!("[application.x]\nrun = [\"true\"]\nwork = {{ runs = 1, unit = \"run\" }}\n{more}\n");
    refused("", 1, "application");
    refused("[application.x]\nrun = [\"true\"\n", 2, "unclosed array");
    refused(&base("nonsense = 1"), 4, "nonsense");
    refused(&base("build = [\"{nowhere}\"]"), 4, "{nowhere} is unknown; known are");
    refused(&base("build = [\"{out\"]"), 4, "without a }");
    refused(&base("rate = \"(\""), 4, "not a regular expression");
    refused(&base("rate = \"x\""), 4, "has no group");
    refused(&base("sources = \"not-there-at-all\""), 4, "could not find the source");
    refused(&base("builds = { a = [] }"), 4, "no values");
    refused(&base("builds = { a = [\"x,y\"] }"), 4, "comma");
    refused(&base("exclude = [{ b = \"x\" }]"), 4, "not an axis");
    refused(&base("timeout = \"soon\""), 4, "not a duration");
    refused(&base("copies = [0]"), 4, "from 1");
    refused(&base("verify = { expect = \"x\" }"), 4, "needs digest");
    refused("[application.X-1]\nrun = [\"true\"]\nwork = { runs = 1, unit = \"run\" }", 1, "not a name");
    refused("[application.x]\nrun = []\nwork = { runs = 1, unit = \"run\" }", 2, "run is empty");
    refused("[application.x]\nrun = [\"true\"]\nwork = { runs = 0, unit = \"run\" }", 3, "above 0");
    refused("[application.x]\nrun = [\"true\"]\nwork = { runs = 1 }", 3, "unit");
}

/// 2 to the power of 64 is 0 in a machine word.
#[test]
fn parameters_whose_builds_no_number_counts_are_too_many() {
    let axes: String = (0..64).map(|axis| format!("builds.a{axis} = [\"x\", \"y\"]\n")).collect();
    let text = format!("[application.a]\nrun = [\"x\"]\nwork = {{ events = 1, unit = \"event\" }}\n{axes}");
    refused(&text, 4, "the limit is 500");
}

/// 400 expressions of this size took 15 s and 1.9 GB.
#[test]
fn expressions_are_bounded() {
    let one = |name: usize, expression: &str| {
        format!(
            "[application.a{name}]\nrun = [\"x\"]\nwork = {{ events = 1, unit = \"event\" }}\nstartup = '{expression}'\n"
        )
    };
    refused(&one(0, r"(\w{80})"), 4, "it is too large");
    parse(&one(0, r"took (\d+\.\d+) s of \w+ on \S+")).unwrap();
    let many: String = (0..201).map(|name| one(name, "(x)")).collect();
    refused(&many, 1, "it has 201 applications; the limit is 200");
}
