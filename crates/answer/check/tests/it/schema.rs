//! The published JSON Schema agrees with the types.

use std::path::Path;

/// Fails when the file is stale. `PRONY_BLESS=1 cargo test -p prony-check` rewrites it.
#[test]
fn the_published_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/check.schema.json");
    let current = check::json_schema().to_value();
    if std::env::var_os("PRONY_BLESS").is_some() {
        std::fs::write(&path, serde_json::to_string_pretty(&current).unwrap() + "\n").unwrap();
    }
    let published: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap_or_default()).unwrap_or_default();
    assert!(
        published == current,
        "docs/reference/check.schema.json is stale; PRONY_BLESS=1 cargo test -p prony-check writes it"
    );
}
