//! A real sshd on loopback, with its own host key, user key and port, for one test.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test file uses its part")]

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub struct Sshd {
    place: TempDir,
    port: u16,
    server: Child,
}

impl Sshd {
    /// Starts it; `None`, with the reason on standard error, if that is impossible.
    pub fn start() -> Option<Self> {
        let server = PathBuf::from("/usr/sbin/sshd");
        let skip = |reason: &str| {
            testing::skip!("{reason}");
            None
        };
        if !server.exists() || Command::new("ssh").arg("-V").output().is_err() {
            return skip("there is no sshd or no ssh here (openssh-server, openssh-client)");
        }
        if os::process::own_pid() > 0
            && std::fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own)).ok() != Some(0)
        {
            return skip("sshd without root admits no user");
        }
        let place = tempfile::tempdir().unwrap();
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(place.path().join(key))
                .status();
            assert!(made.unwrap().success());
        }
        // Privilege separation requires its directory, which an init system would create.
        std::fs::create_dir_all("/run/sshd").unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = place.path().display();
        let text = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nAuthorizedKeysFile {folder}/user.pub\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nStrictModes no\n\
             UsePAM no\nMaxStartups 100\nSubsystem sftp internal-sftp\n"
        );
        std::fs::write(place.path().join("config"), text).unwrap();
        let server = Command::new(server)
            .args(["-D", "-e", "-f"])
            .arg(place.path().join("config"))
            .stdin(Stdio::null())
            .stderr(std::fs::File::create(place.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let sshd = Self { place, port, server };
        let deadline = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = std::fs::read_to_string(sshd.place.path().join("log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "sshd does not come up: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(sshd)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn key(&self) -> PathBuf {
        self.place.path().join("user")
    }

    /// The command that connects to it.
    pub fn client(&self) -> String {
        format!(
            "ssh -F none -p {} -i {} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
            self.port,
            self.key().display()
        )
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
