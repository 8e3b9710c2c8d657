//! A real server that demands TLS, with a certificate of an authority made for this test.
#![allow(clippy::unwrap_used, reason = "tests, helpers included")]

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{SMALL, run, server};
use store::{Access, PostgresStore, Store};

/// Two authorities and a server that accepts only TLS with a password. The first authority signed its certificate for
/// localhost.
const SCRIPT: &str = r#"
    cd "$DIRECTORY"
    authority() {
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1 of a test" \
            -keyout $1.key -out $1.crt
    }
    { authority good && authority other &&
      openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -keyout server.key -out server.csr &&
      printf 'subjectAltName=DNS:localhost\n' > names &&
      openssl x509 -req -in server.csr -CA good.crt -CAkey good.key -CAcreateserial -days 2 -extfile names -out server.crt
    } > log 2>&1 || exit 1
    chmod 600 server.key
    printf 'hidden' > secret
    test -z "$ROOT" || chown -R 65534:65534 "$DIRECTORY"
    $GUISE "$PROGRAMS/initdb" -D data -U prony -A scram-sha-256 --pwfile secret -N -E UTF8 --locale=C >> log 2>&1 || exit 1
    printf 'hostssl all all 127.0.0.1/32 scram-sha-256\nhostssl all all ::1/128 scram-sha-256\n' > data/pg_hba.conf
    $GUISE "$PROGRAMS/postgres" -D data -k "$DIRECTORY" -h localhost -p "$PORT" -F -c ssl=on \
        -c ssl_cert_file="$DIRECTORY/server.crt" -c ssl_key_file="$DIRECTORY/server.key" >> log 2>&1 < /dev/null &
    cat
    kill -INT $!
    wait
"#;

/// A running server; it ends when the pipe of its keeper closes.
struct SecureServer {
    port: u16,
    folder: tempfile::TempDir,
    keeper: Child,
}

impl Drop for SecureServer {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

impl SecureServer {
    fn start() -> Option<Self> {
        let Some(programs) = server::programs() else {
            testing::skip!("no PostgreSQL server: initdb and postgres are not installed");
            return None;
        };
        if Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_err() {
            testing::skip!("no certificates: openssl is not installed");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("prony-tls-").tempdir().unwrap();
        let root = server::owner(folder.path()) == Some(0);
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let keeper = Command::new("sh")
            .args(["-c", SCRIPT])
            .env("ROOT", if root { "1" } else { "" })
            .env("GUISE", if root { "setpriv --reuid=65534 --regid=65534 --clear-groups" } else { "env" })
            .env("PROGRAMS", programs)
            .env("DIRECTORY", folder.path())
            .env("PORT", port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self { port, folder, keeper };
        let begun = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = || std::fs::read_to_string(server.folder.path().join("log")).unwrap_or_default();
            assert!(server.keeper.try_wait().unwrap().is_none(), "it ended: {}", log());
            assert!(begun.elapsed() < Duration::from_secs(60), "it did not start: {}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn address(&self, host: &str, parameters: &str) -> String {
        format!("postgres://prony@{host}:{}/postgres?passfile={}{parameters}", self.port, self.file("pass").display())
    }
}

fn passwords(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_server_is_reached_by_tls_with_its_certificate_verified_and_a_password_from_a_file() {
    let Some(server) = SecureServer::start() else { return };
    passwords(&server.file("pass"), &format!("# a comment\n*:{}:postgres:prony:hidden\n", server.port));
    let trusted = format!("&sslrootcert={}", server.file("good.crt").display());
    let open = |host: &str, parameters: &str| {
        PostgresStore::open(&server.address(host, parameters), Access::Write).map_err(|error| {
            let text = error.to_string();
            assert!(!text.contains('\n') && !text.contains("hidden"), "{text}");
            text
        })
    };
    let begun = Instant::now();
    let refused = |host: &str, parameters: &str| loop {
        let text = open(host, parameters).err().expect("it was connected with");
        if !text.contains("starting up") {
            break text;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{text}");
        std::thread::sleep(Duration::from_millis(50));
    };
    // In clear the server does not talk to anybody.
    let said = refused("localhost", "");
    assert!(said.contains("no permission"), "{said}");
    // The certificate is for another name, of an unknown authority, or of none that the system knows.
    for mode in ["require", "verify-ca", "verify-full"] {
        let said = refused("127.0.0.1", &format!("&sslmode={mode}{trusted}"));
        assert!(said.contains("verify failed"), "{mode}: {said}");
    }
    let other = format!("&sslmode=verify-full&sslrootcert={}", server.file("other.crt").display());
    assert!(refused("localhost", &other).contains("verify failed"));
    assert!(refused("localhost", "&sslmode=verify-full").contains("verify failed"));
    let mut store = open("localhost", &format!("&sslmode=verify-full{trusted}")).unwrap();
    assert_eq!(store.put(&run("m", 1, SMALL)).unwrap(), 1);
    assert!(!store.place().contains("hidden"), "{}", store.place());
    let mut plain = native_tls::TlsConnector::builder();
    plain.add_root_certificate(
        native_tls::Certificate::from_pem(&std::fs::read(server.file("good.crt")).unwrap()).unwrap(),
    );
    let tls = postgres_native_tls::MakeTlsConnector::new(plain.build().unwrap());
    let text = format!("postgres://prony:hidden@localhost:{}/postgres?sslmode=require", server.port);
    let mut client = postgres::Client::connect(&text, tls).unwrap();
    let encrypted =
        "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'prony'";
    assert!(client.query_one(encrypted, &[]).unwrap().get::<_, bool>(0), "the server sees a connection in clear");
    // A wrong password is refused, and not shown.
    passwords(&server.file("pass"), "*:*:*:*:hidden-not\n");
    refused("localhost", &format!("&sslmode=verify-full{trusted}"));
}
