//! The address of a server, how its connection is protected, and where the password comes from.
//!
//! `postgres://USER@HOST/DATABASE` with the parameters of libpq (PostgreSQL documentation, 34.1.2) that matter here.
//! `sslmode`: `verify-full` (the default except for localhost) encrypts, and verifies that a known authority signed the
//! server's certificate for this host name. `require` and `verify-ca` do the same, since encryption without
//! verification does not protect from an attacker on the path. `disable` sends everything in clear. `sslrootcert`: a
//! file with the authorities, in place of those of the system. `passfile`: a file of passwords (34.16).

use std::fs;
use std::path::{Path, PathBuf};

use native_tls::{Certificate, TlsConnector};
use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};
use postgres_native_tls::MakeTlsConnector;

/// A parsed address. Its printed form has no password.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    /// `None`: the connection is not encrypted, since it stays on this host or the user asked for that.
    tls: Option<MakeTlsConnector>,
}

impl Address {
    /// Parses the user's text, and reads the files that it names.
    ///
    /// # Errors
    /// A clause with the error, without the password.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Parts::of(text)?;
        let mut config: Config = parts.rest.parse().map_err(|error: postgres::Error| super::trouble::causes(&error))?;
        let local = config.get_hosts().iter().all(is_here);
        let encrypted = match parts.mode.as_deref() {
            Some("disable") => false,
            None => !local,
            Some("require" | "verify-ca" | "verify-full") => true,
            Some(other) => {
                return Err(format!(
                    "sslmode={other} is not known; write verify-full, or disable for a trusted network"
                ));
            }
        };
        if let Some(password) = parts.password(&config)? {
            config.password(password);
        }
        config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
        let tls = encrypted.then(|| connector(parts.authorities.as_deref())).transpose()?;
        Ok(Self { config, tls })
    }

    /// Connects once.
    pub(super) fn connect(&self) -> Result<Client, postgres::Error> {
        match &self.tls {
            Some(tls) => self.config.connect(tls.clone()),
            None => self.config.connect(NoTls),
        }
    }

    /// The address without user and password.
    pub(super) fn place(&self) -> String {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            Some(Host::Unix(directory)) => directory.display().to_string(),
            None => "localhost".to_owned(),
        };
        format!("postgres://{host}/{}", self.config.get_dbname().or(self.config.get_user()).unwrap_or_default())
    }
}

/// Whether bytes for this host leave the machine: sockets and loopback do not.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

/// A connector that verifies certificate and host name.
fn connector(authorities: Option<&Path>) -> Result<MakeTlsConnector, String> {
    let mut builder = TlsConnector::builder();
    if let Some(path) = authorities {
        let fail = |reason: &dyn std::fmt::Display| format!("sslrootcert {}: {reason}", path.display());
        let text = fs::read(path).map_err(|error| fail(&error))?;
        let all = Certificate::stack_from_pem(&text).map_err(|error| fail(&error))?;
        if all.is_empty() {
            return Err(fail(&"there is no certificate in it"));
        }
        builder.disable_built_in_roots(true);
        for one in all {
            builder.add_root_certificate(one);
        }
    }
    builder.build().map(MakeTlsConnector::new).map_err(|error| format!("TLS cannot be used here: {error}"))
}

/// An address, with the parameters that the library does not know taken out.
#[derive(Debug, Default, PartialEq)]
struct Parts {
    rest: String,
    mode: Option<String>,
    authorities: Option<PathBuf>,
    passwords: Option<PathBuf>,
}

impl Parts {
    fn of(text: &str) -> Result<Self, String> {
        let (front, query) = text.split_once('?').unwrap_or((text, ""));
        let mut parts = Self::default();
        let mut kept = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let plain = || {
                percent_encoding::percent_decode_str(value)
                    .decode_utf8()
                    .map_err(|_| format!("the value of {name} is not correctly encoded"))
            };
            match name {
                "sslmode" => parts.mode = Some(plain()?.into_owned()),
                "sslrootcert" => parts.authorities = Some(plain()?.into_owned().into()),
                "passfile" => parts.passwords = Some(plain()?.into_owned().into()),
                _ => kept.push(parameter),
            }
        }
        let mark = if kept.is_empty() { "" } else { "?" };
        parts.rest = format!("{front}{mark}{}", kept.join("&"));
        Ok(parts)
    }

    /// The password of the address, of `PGPASSWORD`, or of a file: `passfile`, `PGPASSFILE`, `~/.pgpass`.
    fn password(&mut self, config: &Config) -> Result<Option<String>, String> {
        if config.get_password().is_some() {
            return Ok(None);
        }
        let named = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty());
        if self.passwords.is_none()
            && let Some(password) = named("PGPASSWORD").and_then(|password| password.into_string().ok())
        {
            return Ok(Some(password));
        }
        let asked = self.passwords.take().or_else(|| named("PGPASSFILE").map(PathBuf::from));
        let usual = || named("HOME").map(|home| PathBuf::from(home).join(".pgpass")).filter(|path| path.exists());
        let must = asked.is_some();
        let Some(path) = asked.or_else(usual) else { return Ok(None) };
        if others_can_read(&path) {
            return Err(format!("other users can read the passwords in {}; chmod 600 it", path.display()));
        }
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(_) if !must => return Ok(None),
            Err(error) => return Err(format!("the passwords in {}: {error}", path.display())),
        };
        Ok(text.lines().find_map(|line| password_of(line, config)))
    }
}

fn others_can_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

/// The password in a line `HOST:PORT:DATABASE:USER:PASSWORD`, if the line is for this address. `*` fits everything, and
/// a backslash quotes the next character.
fn password_of(line: &str, config: &Config) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => fields.last_mut()?.extend(characters.next()),
            // The password is the rest.
            ':' if fields.len() < 5 => fields.push(String::new()),
            other => fields.last_mut()?.push(other),
        }
    }
    let user = config.get_user().unwrap_or_default();
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.as_str(),
        _ => "localhost",
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let wanted = [host, &port, config.get_dbname().unwrap_or(user), user];
    let fits = fields.len() == 5 && fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
    if fits { fields.pop() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_host_is_reached_without_encryption_unless_the_user_asks() {
        let encrypted = |text: &str| Address::parse(text).map(|address| address.tls.is_some());
        for here in ["postgres://me@localhost/b", "postgres://me@127.0.0.1:5433/b", "postgres://me@%2Frun%2Fpg/b"] {
            assert_eq!(encrypted(here), Ok(false), "{here}");
        }
        for mode in ["", "?sslmode=require", "?sslmode=verify-ca", "?sslmode=verify-full"] {
            assert_eq!(encrypted(&format!("postgres://me@db.example.org/b{mode}")), Ok(true), "{mode}");
        }
        assert_eq!(encrypted("postgres://me@localhost/b?sslmode=verify-full"), Ok(true));
        assert_eq!(encrypted("postgres://me@db.example.org/b?sslmode=disable"), Ok(false));
        // Modes that may silently fall back to clear text are not offered.
        for mode in ["prefer", "allow", "no"] {
            let said = encrypted(&format!("postgres://me:secret@h/b?sslmode={mode}")).unwrap_err();
            assert!(said.contains("verify-full") && !said.contains("secret"), "{said}");
        }
        let said = encrypted("postgres://me@h/b?sslrootcert=%2Fno%2Fsuch").unwrap_err();
        assert!(said.contains("sslrootcert /no/such"), "{said}");
        assert!(encrypted("postgres://me@h/b?sslrootcert=%2").is_err());
    }

    #[test]
    fn a_line_of_a_password_file_fits_its_server_alone() {
        let config: Config = "postgres://me@db.example.org:5433/runs".parse().unwrap();
        let found = |line: &str| password_of(line, &config);
        assert_eq!(found("db.example.org:5433:runs:me:a:b\\\\c").as_deref(), Some("a:b\\c"));
        assert_eq!(found("*:*:*:*:x").as_deref(), Some("x"));
        for other in ["db.example.org:5432:runs:me:x", "other:*:*:*:x", "*:*:*:you:x", "#*:*:*:*:x", "*:*:*:x", ""] {
            assert_eq!(found(other), None, "{other}");
        }
    }

    #[test]
    fn a_password_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("passwords");
        fs::write(&path, "*:*:*:*:hidden\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let text = format!("postgres://me@localhost/b?passfile={}", path.display());
        assert!(Address::parse(&text).err().unwrap().contains("chmod 600"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Address::parse(&text).unwrap().config.get_password(), Some(&b"hidden"[..]));
        let named = Address::parse(&text.replace("me@", "me:other@")).unwrap();
        assert_eq!(named.config.get_password(), Some(&b"other"[..]));
    }
}
