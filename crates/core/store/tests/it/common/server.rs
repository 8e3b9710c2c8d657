//! A PostgreSQL server for tests: the one that `PRONY_TEST_POSTGRES` names (`postgres://user@host`; databases stay in
//! it), or one started for this process alone.
#![allow(clippy::unwrap_used, reason = "tests, which say when they cannot run")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};

/// A server, addressed without a database name.
struct Server {
    address: String,
    /// The server ends when this pipe closes, which the kernel does when this process ends.
    _keeper: Option<Child>,
}

/// Address of a new, empty database; `None`, reported as a skip, without a server.
pub(crate) fn new_database() -> Option<String> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let server = match SERVER.get_or_init(start) {
        Ok(server) => server,
        Err(reason) => {
            testing::skip!("no PostgreSQL server: {reason}");
            return None;
        }
    };
    let name = format!("prony_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let mut client = Client::connect(&format!("{}/postgres", server.address), NoTls).unwrap();
    client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")).unwrap();
    Some(format!("{}/{name}", server.address))
}

fn start() -> Result<Server, String> {
    if let Ok(address) = std::env::var("PRONY_TEST_POSTGRES") {
        return Ok(Server { address, _keeper: None });
    }
    let programs = programs().ok_or("initdb and postgres are not installed")?;
    let home = tempfile::Builder::new().prefix("prony-postgres-").tempdir().map_err(|error| error.to_string())?.keep();
    // The server refuses to run as root.
    let root = owner(&home) == Some(0);
    let guise = if root { "setpriv --reuid=65534 --regid=65534 --clear-groups" } else { "env" };
    let script = r#"
        test -z "$ROOT" || chown 65534:65534 "$DIRECTORY"
        if $GUISE "$PROGRAMS/initdb" -D "$DIRECTORY/data" -U prony -A trust -N -E UTF8 --locale=C > "$DIRECTORY/log" 2>&1; then
            $GUISE "$PROGRAMS/postgres" -D "$DIRECTORY/data" -k "$DIRECTORY" -h '' -F >> "$DIRECTORY/log" 2>&1 < /dev/null &
            cat
            kill -INT $!
            wait
        fi
        rm -rf "$DIRECTORY"
    "#;
    let mut keeper = Command::new("sh")
        .args(["-c", script])
        .env("ROOT", if root { "1" } else { "" })
        .env("GUISE", guise)
        .env("PROGRAMS", &programs)
        .env("DIRECTORY", &home)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let address = format!("postgres://prony@{}", home.display().to_string().replace('/', "%2F"));
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) && matches!(keeper.try_wait(), Ok(None)) {
        if Client::connect(&format!("{address}/postgres"), NoTls).is_ok() {
            return Ok(Server { address, _keeper: Some(keeper) });
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err("it did not start".to_owned())
}

/// Directory of initdb: on the path, or where Debian keeps every version.
pub(crate) fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    places.extend(versions.map(|entry| entry.path().join("bin")));
    places.into_iter().find(|place| place.join("initdb").is_file() && place.join("postgres").is_file())
}

pub(crate) fn owner(directory: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(directory).ok().map(|found| found.uid())
}
