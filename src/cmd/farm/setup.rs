//! Parameters with which a farm was started: stored in the ledger, so that resuming needs nothing else.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ::farm::{Farm, LeaseRules, PilotLauncher, Processes, SlurmPilots};
use anyhow::{Context, Result, bail};
use launcher::Local;
use serde::{Deserialize, Serialize};

use crate::cmd::node_options::by_ssh;

/// All parameters except the job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FarmSetup {
    pub(super) launcher: String,
    pub(super) nodes: usize,
    pub(super) slots: u32,
    pub(super) hosts: Vec<String>,
    pub(super) ssh: String,
    pub(super) listen: String,
    pub(super) program: String,
    pub(super) lease: f64,
    pub(super) speculate: f64,
    pub(super) patience: f64,
    pub(super) minutes: u64,
    pub(super) options: Vec<String>,
    /// The share of chunks that are done twice on purpose.
    #[serde(default)]
    pub(super) verify: f64,
}

/// An address without a port; an IPv6 address may have brackets, as before a port.
fn host_alone(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    bare.map_or_else(|| text.parse().ok(), |bare| bare.parse().ok().map(IpAddr::V6))
}

impl FarmSetup {
    /// The parameters in a ledger.
    pub(super) fn of(farm: &Farm) -> Result<Self> {
        serde_json::from_value(farm.settings.clone()).context("could not understand the ledger's settings")
    }

    pub(super) fn rules(&self) -> LeaseRules {
        LeaseRules { expiry: self.lease, speculate: self.speculate, verify: self.verify, ..LeaseRules::default() }
    }

    /// The address to listen on, which pilots can connect to.
    pub(super) fn address(&self) -> Result<SocketAddr> {
        let alone = host_alone(&self.listen).map(|address| SocketAddr::new(address, 0));
        let address = alone
            .map_or_else(|| self.listen.parse::<SocketAddr>(), Ok)
            .with_context(|| format!("could not listen on '{}'; write ADDRESS or ADDRESS:PORT", self.listen))?;
        if address.ip().is_unspecified() {
            bail!("could not listen on {}: name the one address that pilots reach", self.listen);
        }
        let here = self.launcher == "local" || !self.hosts.is_empty() && self.hosts.iter().all(|host| is_here(host));
        if !here && address.ip().is_loopback() {
            bail!("could not be reached from other hosts at {}; name this host's address with --listen", address.ip());
        }
        Ok(address)
    }

    /// Address of a resumed run: the earlier one (`before`), unless `--listen` moves it. Earlier pilots know no other
    /// address.
    pub(super) fn address_again(&self, before: &str, moved: Option<&str>) -> Result<SocketAddr> {
        let old = match before {
            "" => None,
            text => {
                let parsed: Result<SocketAddr, _> = text.parse();
                Some(parsed.with_context(|| format!("could not understand the address {text}"))?)
            }
        };
        let Some(listen) = moved else { return old.map_or_else(|| self.address(), Ok) };
        let new = Self { listen: listen.to_owned(), ..self.clone() }.address()?;
        // The same host without a port is the same place.
        Ok(old.filter(|old| host_alone(listen) == Some(old.ip())).unwrap_or(new))
    }

    /// The launcher of pilots.
    pub(super) fn nodes(&self) -> Result<Box<dyn PilotLauncher>> {
        Ok(match self.launcher.as_str() {
            "slurm" => {
                Box::new(SlurmPilots::new(&self.program, self.options.clone(), Duration::from_secs(60 * self.minutes)))
            }
            "ssh" => {
                let arguments = ["farm", "pilot"].map(str::to_owned).to_vec();
                let launcher = by_ssh(&self.ssh, &self.hosts, self.hosts.len(), self.program.clone(), arguments)?;
                Box::new(Processes::new(Box::new(launcher), self.hosts.clone()))
            }
            _ => {
                let local = Local {
                    commands: vec![[self.program.as_str(), "farm", "pilot"].map(str::to_owned).to_vec()],
                    addresses: Vec::new(),
                };
                Box::new(Processes::new(Box::new(local), (1..=self.nodes).map(|node| format!("n{node}")).collect()))
            }
        })
    }
}

/// Whether a host of ssh is this one, by its name.
fn is_here(host: &str) -> bool {
    let name = host.rsplit_once('@').map_or(host, |(_, name)| name);
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_run_listens_where_it_did_unless_it_is_moved() {
        let setup: FarmSetup = serde_json::from_value(serde_json::json!({
            "launcher": "local", "nodes": 1, "slots": 1, "hosts": [], "ssh": "ssh", "listen": "127.0.0.1",
            "program": "prony", "lease": 1.0, "speculate": 0.0, "patience": 1.0, "minutes": 1, "options": [],
        }))
        .unwrap();
        let again = |before, moved| setup.address_again(before, moved).map(|address| address.to_string());
        let before = "127.0.0.1:4000";
        assert_eq!(again(before, None).unwrap(), before);
        assert_eq!(again(before, Some("127.0.0.1")).unwrap(), before);
        assert_eq!(again(before, Some("127.0.0.1:0")).unwrap(), "127.0.0.1:0");
        assert_eq!(again(before, Some("127.0.0.2")).unwrap(), "127.0.0.2:0");
        assert_eq!(again(before, Some("[::1]")).unwrap(), "[::1]:0");
        assert_eq!(again("[::1]:4000", Some("[::1]")).unwrap(), "[::1]:4000");
        assert_eq!(again(before, Some("127.0.0.2:5000")).unwrap(), "127.0.0.2:5000");
        // A run that was made and never began.
        assert_eq!(
            (again("", None).unwrap(), again("", Some("[::1]:7")).unwrap()),
            ("127.0.0.1:0".into(), "[::1]:7".into())
        );
        for wrong in ["0.0.0.0", "nowhere", "[127.0.0.1]", "[::1"] {
            assert!(again(before, Some(wrong)).is_err(), "{wrong}");
        }
        let far = FarmSetup { launcher: "slurm".to_owned(), ..setup };
        assert!(far.address_again("10.0.0.1:4000", Some("127.0.0.1")).unwrap_err().to_string().contains("--listen"));
    }
}
