//! Failures of the PostgreSQL store: one clear line each, without the password.
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use std::time::Duration;

use crate::common::{SMALL, run, server};
use postgres::{Client, NoTls};
use store::{Access, Detail, Error, PostgresStore, Store, StoreErrorKind};

fn trouble(error: &Error) -> &StoreErrorKind {
    assert!(!error.to_string().contains('\n'), "{error}");
    match error {
        Error::Place { trouble, .. } => trouble,
        other => panic!("not of a place: {other}"),
    }
}

#[test]
fn an_unreachable_server_is_reported_without_the_password() {
    for address in ["postgres://me:secret@%2Fnowhere/base", "postgres://me:secret@127.0.0.1:1/base?sslmode=disable"] {
        let error = store::open(address.as_ref(), Access::Write).map(drop).unwrap_err();
        let text = error.to_string();
        assert!(matches!(trouble(&error), StoreErrorKind::Other(_)), "{text}");
        assert!(!text.contains("secret") && text.contains("/base") && text.contains("name another place"), "{text}");
    }
    let error = store::open("postgres://me:secret@host:no/base".as_ref(), Access::Write).map(drop).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn reading_creates_and_writes_nothing() {
    let Some(address) = server::new_database() else { return };
    let error = PostgresStore::open(&address, Access::Read).map(drop).unwrap_err();
    assert!(error.is_missing(), "{error}");
    let one = run("m", 1, SMALL);
    PostgresStore::open(&address, Access::Write).unwrap().put(&one).unwrap();
    let mut store = PostgresStore::open(&address, Access::Read).unwrap();
    assert_eq!(store.get(&one.id, Detail::Whole).unwrap(), one);
    assert_eq!(*trouble(&store.put(&one).unwrap_err()), StoreErrorKind::ReadOnly);
}

#[test]
fn another_version_is_refused() {
    let Some(address) = server::new_database() else { return };
    drop(PostgresStore::open(&address, Access::Write).unwrap());
    Client::connect(&address, NoTls).unwrap().batch_execute("UPDATE prony.store SET version = 99").unwrap();
    for access in [Access::Read, Access::Write] {
        let error = PostgresStore::open(&address, access).map(drop).unwrap_err();
        assert!(matches!(error, Error::StoreVersion { found: 99, .. }), "{error}");
    }
    let missing = PostgresStore::open(&format!("{address}_none"), Access::Write).map(drop).unwrap_err();
    assert!(missing.is_missing(), "{missing}");
}

#[test]
fn a_lost_connection_loses_no_round() {
    let Some(address) = server::new_database() else { return };
    let mut store = PostgresStore::open(&address, Access::Write).unwrap();
    store.put(&run("m", 1, SMALL)).unwrap();
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    Client::connect(&address, NoTls).unwrap().batch_execute(cut).unwrap();
    assert_eq!(store.put(&run("m", 2, SMALL)).unwrap(), 2);
    Client::connect(&address, NoTls).unwrap().batch_execute(cut).unwrap();
    assert_eq!(store.summaries().unwrap().len(), 2);
}

#[test]
fn another_writer_is_waited_for_and_then_reported() {
    let Some(address) = server::new_database() else { return };
    let mut store = PostgresStore::open_patiently(&address, Access::Write, Duration::from_millis(200)).unwrap();
    let mut other = Client::connect(&address, NoTls).unwrap();
    let mut holder = other.transaction().unwrap();
    holder.execute("SELECT pg_advisory_xact_lock(x'50726e79'::bigint)", &[]).unwrap();
    assert_eq!(*trouble(&store.put(&run("m", 1, SMALL)).unwrap_err()), StoreErrorKind::Locked);
    holder.rollback().unwrap();
    assert_eq!(store.put(&run("m", 1, SMALL)).unwrap(), 1);
}

#[test]
fn a_user_without_permission_gets_an_error() {
    let Some(address) = server::new_database() else { return };
    drop(PostgresStore::open(&address, Access::Write).unwrap());
    let name = format!("guest_{}", std::process::id());
    Client::connect(&address, NoTls).unwrap().batch_execute(&format!("CREATE ROLE {name} LOGIN")).unwrap();
    let guest = address.replace("prony@", &format!("{name}@"));
    let error = PostgresStore::open(&guest, Access::Write).map(drop).unwrap_err();
    assert_eq!(*trouble(&error), StoreErrorKind::Permission, "{error}");
}
