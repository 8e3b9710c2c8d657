//! Running a farm: a coordinator, pilots that are started and restarted, and the end.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use ::farm::{Coordinator, CoordinatorSettings, Farm, Incident, Ledger, PilotConfig, PilotLauncher, Story};
use anyhow::{Context, Result};
use measure::{Saver, Stopper};

use super::display::{Display, Show};
use super::ledger_location::LedgerLocation;
use super::setup::FarmSetup;
use super::view;
use crate::cli::CommonOptions;
use crate::run_saver::RunSaver;
use crate::{ExitStatus, output};

/// Interval of checks.
const LOOK: Duration = Duration::from_millis(100);
/// Restarts of the pilot of a node: a node on which none survives must not be tried forever.
const MAX_RESTARTS: u32 = 5;
/// Lifetime of a pilot after which its node counts as reliable and earlier restarts are forgotten.
const RELIABLE_AFTER: Duration = Duration::from_secs(600);
/// Time for pilots of an earlier coordinator to reconnect before others are started: more than their longest pause.
const RETURN: Duration = Duration::from_secs(4);
/// Time in which late results are refused and pilots end.
const FINAL_WAIT: Duration = Duration::from_secs(2);
/// Time for which the port of a dead coordinator may still be in use.
const PORT_WAIT: Duration = Duration::from_secs(10);

/// How a farm ended.
#[derive(Debug)]
pub(super) enum FarmEnd {
    /// No chunks remain.
    Finished,
    /// A stop was requested.
    Stopped,
    /// It cannot continue.
    Stuck(String),
}

/// Parameters of a running farm.
pub(super) struct Drive<'a> {
    pub(super) setup: FarmSetup,
    pub(super) book: &'a LedgerLocation,
    pub(super) show: &'a Show,
    pub(super) stopper: &'a Stopper,
}

/// The pilot of one node.
#[derive(Debug, Clone)]
struct PilotSeat {
    started: bool,
    again: u32,
    due: Instant,
    since: Instant,
}

impl Drive<'_> {
    /// Runs until no chunks remain, or it cannot continue.
    pub(super) fn go(&self, ledger: Box<dyn Ledger>, farm: &Farm) -> Result<(FarmEnd, Box<dyn Ledger>)> {
        let story = ledger.incidents()?;
        let resumed = !farm.address.is_empty();
        let address = if resumed {
            farm.address.parse().with_context(|| format!("could not understand the address {}", farm.address))?
        } else {
            self.setup.address()?
        };
        let settings = CoordinatorSettings {
            rules: self.setup.rules(),
            beat: (self.setup.lease / 4.0).clamp(0.05, 5.0),
            connections: 4096.max(self.setup.nodes * 256).min(65_536),
            ..CoordinatorSettings::at(address)
        };
        let coordinator = self.start(ledger, settings, resumed)?;
        let resumed = coordinator.begin().resumed;
        let mut nodes = self.nodes(&coordinator, &story)?;
        let mut display = Display::new(self.show, &farm.job);
        let ending = self.look_after(&coordinator, nodes.as_mut(), resumed, &mut display);
        coordinator.stop();
        if let FarmEnd::Finished = ending {
            let until = Instant::now() + FINAL_WAIT;
            while coordinator.connected() > 0 && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        display.end(&coordinator.snapshot());
        nodes.end();
        let ledger = coordinator.end()?;
        Ok((ending, ledger))
    }

    /// A coordinator that has just died may still hold its port. One that died on another host cannot be replaced at
    /// its address: with a shared ledger, its pilots connect to any coordinator.
    fn start(&self, ledger: Box<dyn Ledger>, mut settings: CoordinatorSettings, resumed: bool) -> Result<Coordinator> {
        let until = Instant::now() + PORT_WAIT;
        let mut ledger = Some(ledger);
        loop {
            let this = match ledger.take() {
                Some(ledger) => ledger,
                None => self.book.open()?,
            };
            match Coordinator::start(this, settings.clone()) {
                Err(::farm::Error::Io { source, .. })
                    if resumed && self.book.is_shared() && source.kind() == ErrorKind::AddrNotAvailable =>
                {
                    settings.address = self.setup.address()?;
                }
                Err(::farm::Error::Io { .. }) if resumed && Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(200));
                }
                other => return Ok(other?),
            }
        }
    }

    /// Pilots of a dead coordinator are taken over; those of a live one are not.
    fn nodes(&self, coordinator: &Coordinator, story: &[Incident]) -> Result<Box<dyn PilotLauncher>> {
        let begin = coordinator.begin();
        let prefix = if self.book.is_shared() { format!("c{}-", begin.coordinator) } else { String::new() };
        let mut nodes = self.setup.nodes(&prefix)?;
        for one in story.iter().filter(|one| begin.resumed && one.what == "launched") {
            if let Some((node, name)) = one.detail.split_once(": ")
                && let Ok(node) = node.parse()
            {
                nodes.adopt(node, name);
            }
        }
        Ok(nodes)
    }

    fn look_after(
        &self,
        coordinator: &Coordinator,
        nodes: &mut dyn PilotLauncher,
        resumed: bool,
        display: &mut Display,
    ) -> FarmEnd {
        let due = Instant::now() + if resumed { RETURN } else { Duration::ZERO };
        let mut seats = vec![PilotSeat { started: false, again: 0, due, since: Instant::now() }; self.setup.nodes];
        loop {
            if coordinator.finished() {
                return FarmEnd::Finished;
            }
            if self.stopper.asked() {
                return FarmEnd::Stopped;
            }
            if let Some(trouble) = coordinator.trouble() {
                return FarmEnd::Stuck(trouble);
            }
            for ended in nodes.look() {
                coordinator.note("ended", &nodes.name(ended.node), &ended.said);
                let seat = &mut seats[ended.node];
                if seat.started && seat.since.elapsed() > RELIABLE_AFTER {
                    seat.again = 0;
                }
                (seat.started, seat.due) = (false, Instant::now() + Duration::from_secs(1 << seat.again.min(5)));
                seat.again += 1;
            }
            let snapshot = coordinator.snapshot();
            if let Err(reason) = self.fill(&mut seats, coordinator, nodes, &snapshot) {
                return FarmEnd::Stuck(reason);
            }
            display.show(&snapshot);
            std::thread::sleep(LOOK);
        }
    }

    /// Starts the pilots that are due. An error if none is left and none may be started.
    fn fill(
        &self,
        seats: &mut [PilotSeat],
        coordinator: &Coordinator,
        nodes: &mut dyn PilotLauncher,
        snapshot: &::farm::FarmSnapshot,
    ) -> Result<(), String> {
        let mut last = String::new();
        for (node, seat) in seats.iter_mut().enumerate() {
            if seat.started || seat.again > MAX_RESTARTS || Instant::now() < seat.due {
                continue;
            }
            let name = nodes.name(node);
            // A pilot of an earlier coordinator has reconnected.
            let here = snapshot.nodes.iter().any(|one| one.node == name && one.slots > 0);
            if here || nodes.is_there(node) {
                seat.started = true;
                continue;
            }
            let order = PilotConfig {
                address: coordinator.address().to_string(),
                token: coordinator.token().reveal().to_owned(),
                node: name.clone(),
                slots: self.setup.slots,
                patience: self.setup.patience,
            };
            match nodes.start(node, &order) {
                Ok(text) => {
                    (seat.started, seat.since) = (true, Instant::now());
                    coordinator.note("launched", &name, &format!("{node}: {text}"));
                }
                Err(error) => {
                    last = error.to_string();
                    coordinator.note("not launched", &name, &last);
                    seat.due = Instant::now() + Duration::from_secs(1 << seat.again.min(5));
                    seat.again += 1;
                }
            }
        }
        let hopeless = seats.iter().all(|seat| !seat.started && seat.again > MAX_RESTARTS);
        if hopeless && snapshot.nodes.iter().all(|node| node.slots == 0) {
            let why = if last.is_empty() { "their pilots ended; prony farm status says why".to_owned() } else { last };
            return Err(format!("no node is left: {why}"));
        }
        Ok(())
    }
}

/// Reports the end: the invariants, the run as a document, and suggested commands.
pub(super) fn conclude(
    ending: &FarmEnd,
    ledger: &dyn Ledger,
    book: &LedgerLocation,
    expected: Option<u64>,
    mut saver: RunSaver,
    common: &CommonOptions,
) -> Result<ExitStatus> {
    let story = Story::read(ledger)?;
    let mut run = application::document("farm", story.farm.job.seed, 0.02, None, book.directory());
    saver.mark(&mut run);
    run.session.complete = story.invariants.broken().is_empty();
    run.session.seconds = story.seconds;
    run.figures = story.figures();
    let kept = saver.save(&run);
    let handle = saver.number.map(|number| number.to_string());
    output::print(&view::document(&story, &run, handle, expected), common)?;
    if let Err(reason) = kept {
        output::remark(&format!("the run could not be kept: {reason}; the ledger has everything"));
        return Ok(ExitStatus::Failed);
    }
    let resume = format!("resume with: {}", book.resume(&story.farm.id));
    match ending {
        FarmEnd::Stopped => {
            output::remark(&format!("stopped; what was committed is kept; {resume}"));
            return Ok(ExitStatus::Stopped);
        }
        FarmEnd::Stuck(reason) => {
            output::remark(&format!("could not go on: {reason}; {resume}"));
            return Ok(ExitStatus::Failed);
        }
        FarmEnd::Finished => {}
    }
    let mut broken = story.invariants.broken();
    let digest = story.invariants.totals.digest;
    if let Some(expected) = expected.filter(|expected| *expected != digest) {
        broken.push(format!("the digest is {digest:016x}, not {expected:016x}"));
    }
    if !broken.is_empty() {
        output::remark(&format!("could not verify the result: {}; {resume}", broken.join("; ")));
        return Ok(ExitStatus::Failed);
    }
    if story.invariants.totals.differing > 0 {
        output::remark(
            "some chunks were done twice with different results: one of the machines is wrong; see the table",
        );
        return Ok(ExitStatus::Found);
    }
    Ok(ExitStatus::Fine)
}
