//! The tables that harnesses print for machines and for people, in addition to JSON.
#![allow(clippy::unwrap_used, reason = "what is missing in a test is a failure")]

use crate::common::refused_as;

#[test]
fn rows_of_tables_with_carriage_returns_are_named_by_their_own_lines() {
    for end in ["\n", "\r\n"] {
        let joined = |rows: &[&str]| rows.iter().map(|row| format!("{row}{end}")).collect::<String>();
        let error = refused_as("wide-csv", &joined(&["machine,x (s)", "a,1", "", "a,two"]));
        assert!(error.contains("'two' in column 'x (s)' is not a number at line 4"), "{error}");
        let error = refused_as("wide-csv", &joined(&["machine,x (s)", "a,1", "a,1,2"]));
        assert!(error.contains("differ in length at line 3"), "{error}");
        let error = refused_as("tidy-csv", &joined(&["run,benchmark,point,outcome,method", "", "r,p,,measured,none"]));
        assert!(error.contains("at line 3"), "{error}");
        let rows = ["command,mean,stddev,median,user,system,min,max", "sort,1,0,1,1,0,1,1", "sort,1,0,x,1,0,1,1"];
        let error = refused_as("hyperfine", &joined(&rows));
        assert!(error.contains("'x' is not a usable number at line 3"), "{error}");
    }
}
