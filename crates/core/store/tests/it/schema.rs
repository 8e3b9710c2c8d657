//! The part of JSON Schema (draft 2020-12) that the schema of a run uses; an unknown keyword fails the test. A complete
//! validator as a dependency took longer to build than this crate.
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use serde_json::Value;

/// Violations of the schema, as `path: reason`; empty when there are none.
pub(crate) fn faults(schema: &Value, document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(schema, schema, document, "$", &mut faults);
    faults
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        if schema == &Value::Bool(false) {
            faults.push(format!("{at}: nothing may be here"));
        }
        return;
    };
    let holds = |schema: &Value| {
        let mut faults = Vec::new();
        check(root, schema, value, at, &mut faults);
        faults.is_empty()
    };
    for (keyword, wanted) in keywords {
        let good = match keyword.as_str() {
            "$ref" => {
                check(root, root.pointer(&wanted.as_str().unwrap()[1..]).unwrap(), value, at, faults);
                true
            }
            "type" => wanted.as_array().map_or_else(|| is(value, wanted), |any| any.iter().any(|one| is(value, one))),
            "const" => value == wanted,
            "minimum" => value.as_f64().is_none_or(|value| value >= wanted.as_f64().unwrap()),
            "minItems" => value.as_array().is_none_or(|list| list.len() as u64 >= wanted.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|list| list.len() as u64 <= wanted.as_u64().unwrap()),
            "anyOf" => wanted.as_array().unwrap().iter().any(holds),
            "oneOf" => wanted.as_array().unwrap().iter().filter(|one| holds(one)).count() == 1,
            "required" => value.as_object().is_none_or(|object| {
                wanted.as_array().unwrap().iter().all(|name| object.contains_key(name.as_str().unwrap()))
            }),
            "properties" | "additionalProperties" | "items" | "prefixItems" => {
                parts(root, schema, keyword, value, at, faults);
                true
            }
            "$schema" | "$defs" | "title" | "description" | "default" | "format" => true,
            unknown => panic!("a keyword that this test does not know: {unknown}"),
        };
        if !good {
            faults.push(format!("{at}: {keyword} {wanted}"));
        }
    }
}

/// Checks the members of an object or the items of an array.
fn parts(root: &Value, schema: &Value, keyword: &str, value: &Value, at: &str, faults: &mut Vec<String>) {
    let wanted = &schema[keyword];
    for (name, value) in value.as_object().into_iter().flatten() {
        let own = match keyword {
            "properties" => wanted.get(name),
            "additionalProperties" => Some(wanted).filter(|_| schema["properties"].get(name).is_none()),
            _ => None,
        };
        if let Some(own) = own {
            check(root, own, value, &format!("{at}.{name}"), faults);
        }
    }
    let first = schema["prefixItems"].as_array().map_or(0, Vec::len);
    for (index, value) in value.as_array().into_iter().flatten().enumerate() {
        let own = match keyword {
            "prefixItems" => wanted.get(index),
            "items" => Some(wanted).filter(|_| index >= first),
            _ => None,
        };
        if let Some(own) = own {
            check(root, own, value, &format!("{at}[{index}]"), faults);
        }
    }
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        unknown => panic!("no type {unknown}"),
    }
}

#[test]
fn every_keyword_refuses_what_it_should() {
    for (schema, good, bad) in [
        (r#"{"type":"integer","minimum":0}"#, "3", "-1"),
        (r#"{"type":["integer","null"]}"#, "null", "1.5"),
        (r#"{"oneOf":[{"const":"a"},{"const":"b"}]}"#, r#""a""#, r#""c""#),
        (r#"{"oneOf":[{"type":"number"},{"type":"integer"}]}"#, "1.5", "1"),
        (r##"{"anyOf":[{"type":"null"},{"$ref":"#/$defs/x"}],"$defs":{"x":{"type":"string"}}}"##, r#""a""#, "1"),
        (r#"{"required":["a"],"properties":{"a":{"type":"string"}}}"#, r#"{"a":"x","b":1}"#, r#"{"b":1}"#),
        (r#"{"properties":{"a":{"type":"string"}}}"#, "{}", r#"{"a":1}"#),
        (r#"{"properties":{"a":true},"additionalProperties":false}"#, r#"{"a":1}"#, r#"{"a":1,"b":2}"#),
        (r#"{"additionalProperties":{"type":"number"}}"#, r#"{"a":1}"#, r#"{"a":"x"}"#),
        (r#"{"items":{"type":"number"}}"#, "[1,2]", r#"[1,"x"]"#),
        (r#"{"prefixItems":[{"type":"number"},{"type":"string"}],"minItems":2}"#, r#"[1,"x"]"#, r#"["x","x"]"#),
        (r#"{"minItems":2,"maxItems":2}"#, "[1,2]", "[1]"),
    ] {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(faults(&read(schema), &read(good)), Vec::<String>::new(), "{schema}");
        assert!(!faults(&read(schema), &read(bad)).is_empty(), "{schema} lets {bad} pass");
    }
}
