//! The published JSON Schema agrees with the types.

use std::path::Path;

/// Fails when the file is stale. `PRONY_BLESS=1 cargo test -p prony-model` rewrites it.
#[test]
fn the_published_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/run.schema.json");
    let current = model::json_schema();
    if std::env::var_os("PRONY_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, serde_json::to_string_pretty(&current).unwrap() + "\n").unwrap();
    }
    // Compared as values: the order of members depends on which other crates are built.
    let published: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap_or_default()).unwrap_or_default();
    assert!(
        published == current,
        "docs/reference/run.schema.json is stale; write it anew with PRONY_BLESS=1 cargo test -p prony-model"
    );
}
