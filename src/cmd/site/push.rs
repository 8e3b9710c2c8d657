//! `prony push`: runs of this store go to a site. What cannot be sent now waits in the store.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use report::words::plural;
use serde_json::{Value, json};
use serve::{PushError, Pusher, Receipt};
use store::{Detail, Selector, Store};

use super::TOKEN_VARIABLE;
use crate::cli::CommonOptions;
use crate::cmd::net::shared_token;
use crate::{ExitStatus, output, run_finder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony push https://perf.example:7117
  prony push https://perf.example:7117 1 2 --token-file token")]
pub(crate) struct Arguments {
    /// The site: its address
    #[arg(value_name = "URL")]
    url: String,
    /// Runs: numbers, labels, files [default: those that wait for the site, else latest]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Read the shared token from this file, readable by you alone [default: PRONY_SITE_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Read the TLS certificate to trust from this PEM file [default: the system's]
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let pusher = pusher(&arguments.url, arguments.token_file.as_deref(), arguments.certificate.as_deref())?;
    let (files, mut stored): (Vec<String>, Vec<String>) =
        arguments.runs.iter().cloned().partition(|name| store::is_path(name) || name.contains(':'));
    let mut delivery = Delivery::default();
    for named in run_finder::find(&files, common, Detail::Whole)? {
        match pusher.push(&named.run) {
            Ok(receipt) => delivery.sent.push((named.handle, receipt)),
            Err(PushError::Refused { reason, .. }) => delivery.refused.push((named.handle, reason)),
            Err(error) => return Err(anyhow::Error::new(error).context(format!("{} was not sent", named.handle))),
        }
    }
    if !stored.is_empty() || files.is_empty() {
        let mut store = run_finder::write(common)?;
        if stored.is_empty() && store.queued(pusher.site())?.is_empty() {
            stored.push("latest".to_owned());
        }
        let selector = Selector::new(store.as_ref())?;
        let ids: Vec<String> =
            stored.iter().map(|name| Ok(selector.resolve(name)?.id.clone())).collect::<Result<_, store::Error>>()?;
        store.enqueue(pusher.site(), &ids.iter().map(String::as_str).collect::<Vec<_>>())?;
        delivery.of_queue(store.as_mut(), &pusher)?;
    }
    delivery.tell(&pusher, common)
}

/// The way to a site.
fn pusher(url: &str, token_file: Option<&Path>, trusted: Option<&Path>) -> Result<Pusher> {
    let token = shared_token(token_file, TOKEN_VARIABLE)?;
    let token = token.with_context(|| {
        format!("could not push without a token; give it with --token-file, or set {TOKEN_VARIABLE}")
    })?;
    let pusher = Pusher::new(url, token, trusted)?;
    if pusher.is_open() {
        output::remark(&format!(
            "warning: {} is not https, so others on the network can read the token",
            pusher.site()
        ));
    }
    Ok(pusher)
}

/// The way to the site of `run --push`, whose token the environment has.
pub(crate) fn pusher_of_run(url: &str) -> Result<Pusher> {
    pusher(url, None, None)
}

/// Sends the run of an id, after those that wait already, and says what became of it. The measurement has succeeded
/// either way.
pub(crate) fn after_run(store: &mut dyn Store, pusher: &Pusher, id: &str) -> Result<()> {
    store.enqueue(pusher.site(), &[id])?;
    let mut delivery = Delivery::default();
    output::remark(&match delivery.of_queue(store, pusher) {
        Ok(()) => delivery.words(pusher),
        Err(error) => format!("{error:#}"),
    });
    Ok(())
}

/// What became of runs.
#[derive(Default)]
struct Delivery {
    /// Names of the runs here, and their receipts.
    sent: Vec<(String, Receipt)>,
    /// Names of the runs here, and why the site does not want them.
    refused: Vec<(String, String)>,
}

impl Delivery {
    /// Sends what waits for the site. A run leaves the queue when the site has it, or never wants it.
    fn of_queue(&mut self, store: &mut dyn Store, pusher: &Pusher) -> Result<()> {
        let waiting = store.queued(pusher.site())?;
        for (sent, summary) in waiting.iter().enumerate() {
            let name = summary.number.to_string();
            match pusher.push(&store.get(&summary.id, Detail::Whole)?) {
                Ok(receipt) => self.sent.push((name, receipt)),
                Err(PushError::Refused { reason, .. }) => self.refused.push((name, reason)),
                Err(error) => {
                    let left = plural(waiting.len() - sent, "run");
                    let later =
                        format!("{left} in the queue of this store; send later with: prony push {}", pusher.site());
                    return Err(anyhow::anyhow!("{error}; {later}"));
                }
            }
            store.dequeue(pusher.site(), &summary.id)?;
        }
        Ok(())
    }

    fn words(&self, pusher: &Pusher) -> String {
        let mut words = format!("Pushed {} to {}", plural(self.sent.len(), "run"), pusher.site());
        if let [(_, receipt)] = self.sent.as_slice() {
            words.push_str(&format!(": it is run {} there", receipt.run));
        }
        for (name, reason) in &self.refused {
            words.push_str(&format!("; run {name} was refused: {reason}"));
        }
        words
    }

    fn tell(&self, pusher: &Pusher, common: &CommonOptions) -> Result<ExitStatus> {
        let sent = self.sent.iter().map(|(name, receipt)| {
            json!({ "run": name, "id": receipt.id, "site_run": receipt.run, "outcome": receipt.taken, "reason": null })
        });
        let refused = self.refused.iter().map(|(name, reason)| {
            json!({ "run": name, "id": null, "site_run": null, "outcome": "refused", "reason": reason })
        });
        let data: Value = sent.chain(refused).collect();
        let next: Vec<String> = Vec::new();
        output::done(self.words(pusher), next, ("run id site_run outcome reason", &data), common)?;
        Ok(if self.refused.is_empty() { ExitStatus::Fine } else { ExitStatus::Failed })
    }
}
