//! Running a farm: a coordinator, pilots that are started and restarted, and the end.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use ::farm::{
    Coordinator, CoordinatorSettings, Farm, FarmSnapshot, Incident, Ledger, PilotConfig, PilotLauncher, ProductFolder,
    Stamp,
};
use anyhow::{Context, Result};
use measure::Stopper;

use super::display::Display;
use super::setup::FarmSetup;
use crate::output;

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
    pub(super) quiet: bool,
    /// Time for a pilot to connect after it was started: a login that hangs would otherwise be waited for forever.
    pub(super) connect_wait: Duration,
    pub(super) stopper: &'a Stopper,
}

/// The pilot of one node.
#[derive(Debug, Clone)]
struct PilotSeat {
    started: bool,
    again: u32,
    due: Instant,
    since: Instant,
    /// It has connected since it was started.
    joined: bool,
    /// The last output of it or its launcher.
    said: String,
}

impl PilotSeat {
    fn new(due: Instant) -> Self {
        Self { started: false, again: 0, due, since: Instant::now(), joined: false, said: String::new() }
    }

    /// The pilot ended, or could not be started: another one is due later and later.
    fn end(&mut self, said: &str) {
        if self.started && self.since.elapsed() > RELIABLE_AFTER {
            self.again = 0;
        }
        (self.started, self.due) = (false, Instant::now() + Duration::from_secs(1 << self.again.min(5)));
        self.again += 1;
        said.clone_into(&mut self.said);
    }
}

impl Drive<'_> {
    /// Runs on a socket that listens until no chunks remain, or it cannot continue.
    pub(super) fn go(
        &self,
        mut ledger: Box<dyn Ledger>,
        farm: &Farm,
        listener: TcpListener,
    ) -> Result<(FarmEnd, Box<dyn Ledger>)> {
        let story = ledger.incidents()?;
        if let Some(folder) = &farm.job.products {
            repair(&ProductFolder::create(folder, &farm.id)?, &mut *ledger, farm.job.chunks())?;
        }
        let settings = CoordinatorSettings {
            rules: self.setup.rules(),
            beat: (self.setup.lease / 4.0).clamp(0.05, 5.0),
            connections: 4096.max(self.setup.nodes * 256).min(65_536),
            ..CoordinatorSettings::at(listener.local_addr().context("could not read the address of the coordinator")?)
        };
        let coordinator = Coordinator::start_on(listener, ledger, settings)?;
        let here = coordinator.address().to_string();
        let returning = coordinator.begin().resumed && farm.address == here;
        if coordinator.begin().resumed && !returning {
            let before = if self.setup.launcher == "slurm" {
                "the running jobs are cancelled".to_owned()
            } else {
                format!("running pilots still contact the old address and end after {} s", self.setup.patience)
            };
            output::remark(&format!("moved from {} to {here}: starting new pilots; {before}", farm.address));
        }
        let mut nodes = self.nodes(&coordinator, &story)?;
        let mut display = Display::new(self.quiet, &farm.job);
        let ending = self.look_after(&coordinator, nodes.as_mut(), returning, &mut display);
        coordinator.stop();
        if let FarmEnd::Finished = ending {
            let until = Instant::now() + FINAL_WAIT;
            while coordinator.connected() > 0 && Instant::now() < until {
                kernels::timer::sleep(Duration::from_millis(10));
            }
        }
        display.end();
        for left in nodes.end() {
            coordinator.note("left over", "", &left);
            output::remark(&left);
        }
        let ledger = coordinator.end()?;
        if let Some(folder) = &farm.job.products {
            ProductFolder::join(folder, &farm.id)?.settle_by(&*ledger)?;
        }
        Ok((ending, ledger))
    }

    /// The launcher. Pilots of a dead coordinator are taken over if they look for one at this address. Batch jobs that
    /// do not would hold their nodes idle, and are cancelled.
    fn nodes(&self, coordinator: &Coordinator, story: &[Incident]) -> Result<Box<dyn PilotLauncher>> {
        let (mut nodes, mut lost) = (self.setup.nodes()?, self.setup.nodes()?);
        let here = coordinator.address().to_string();
        let mut address = None;
        for one in story {
            if let Some(of_coordinator) = one.listened_at() {
                address = Some(of_coordinator);
            } else if one.what == "launched"
                && let Some((node, name)) = one.detail.split_once(": ")
                && let Ok(node) = node.parse()
            {
                let of_address = if address.is_none_or(|address| address == here) { &mut nodes } else { &mut lost };
                of_address.adopt(node, name);
            }
        }
        for left in lost.end() {
            coordinator.note("left over", "", &left);
            output::remark(&left);
        }
        Ok(nodes)
    }

    fn look_after(
        &self,
        coordinator: &Coordinator,
        nodes: &mut dyn PilotLauncher,
        returning: bool,
        display: &mut Display,
    ) -> FarmEnd {
        let due = Instant::now() + if returning { RETURN } else { Duration::ZERO };
        let mut seats = vec![PilotSeat::new(due); self.setup.nodes];
        // The most nodes at one time, and since when.
        let (mut most, mut came) = (0, Instant::now());
        coordinator.expect(seats.len());
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
            if let Some(nodes) = coordinator.hopeless() {
                let absent = missing(&seats, &coordinator.snapshot());
                let absent = match absent {
                    0 => String::new(),
                    count => format!(" ({count} more did not connect within {} s)", self.setup.patience),
                };
                return FarmEnd::Stuck(format!("every chunk fails on every node: {}{absent}", nodes.join(", ")));
            }
            for ended in nodes.look() {
                coordinator.note("ended", &nodes.name(ended.node), &ended.said);
                seats[ended.node].end(&ended.said);
            }
            let snapshot = coordinator.snapshot();
            end_silent(&mut seats, coordinator, nodes, &snapshot, self.connect_wait);
            if let Err(reason) = self.fill(&mut seats, coordinator, nodes, &snapshot) {
                return FarmEnd::Stuck(reason);
            }
            // Work that fails on the present nodes may succeed on those still to come.
            let here = live(&snapshot);
            if here > most {
                (most, came) = (here, Instant::now());
            }
            let waits = came.elapsed().as_secs_f64() < self.setup.patience;
            coordinator.expect(if waits { missing(&seats, &snapshot) } else { 0 });
            display.show(&snapshot);
            kernels::timer::sleep(LOOK);
        }
    }

    /// Starts the pilots that are due. An error if none is left and none may be started.
    fn fill(
        &self,
        seats: &mut [PilotSeat],
        coordinator: &Coordinator,
        nodes: &mut dyn PilotLauncher,
        snapshot: &FarmSnapshot,
    ) -> Result<(), String> {
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
                    (seat.started, seat.since, seat.joined) = (true, Instant::now(), false);
                    coordinator.note("launched", &name, &format!("{node}: {text}"));
                }
                Err(error) => {
                    let said = error.to_string();
                    coordinator.note("not launched", &name, &said);
                    seat.end(&said);
                }
            }
        }
        let hopeless = seats.iter().all(|seat| !seat.started && seat.again > MAX_RESTARTS);
        if hopeless && snapshot.nodes.iter().all(|node| node.slots == 0) {
            let last = seats.iter().rev().map(|seat| seat.said.as_str()).find(|said| !said.is_empty());
            let why =
                last.map_or_else(|| "their pilots ended without a message".to_owned(), |said| said.replace('\n', "; "));
            return Err(format!("no node is left: {why}"));
        }
        Ok(())
    }
}

/// Nodes with pilots.
fn live(snapshot: &FarmSnapshot) -> usize {
    snapshot.nodes.iter().filter(|node| node.slots > 0).count()
}

/// Nodes that have no pilot yet, and were or will be started.
fn missing(seats: &[PilotSeat], snapshot: &FarmSnapshot) -> usize {
    let wanted = seats.iter().filter(|seat| seat.started || seat.again <= MAX_RESTARTS).count();
    wanted.saturating_sub(live(snapshot))
}

/// Listens for a run that is resumed. A coordinator that has just died may still hold its port.
pub(super) fn listen_again(address: SocketAddr) -> Result<TcpListener> {
    let until = Instant::now() + PORT_WAIT;
    loop {
        match Coordinator::listen(address) {
            Err(::farm::Error::Io { source, .. })
                if source.kind() == ErrorKind::AddrInUse && Instant::now() < until =>
            {
                kernels::timer::sleep(Duration::from_millis(200));
            }
            Err(error) => return Err(error).context("could not resume here; --listen ADDRESS resumes elsewhere"),
            Ok(listener) => return Ok(listener),
        }
    }
}

/// Ends pilots that were started and do not connect in time.
fn end_silent(
    seats: &mut [PilotSeat],
    coordinator: &Coordinator,
    nodes: &mut dyn PilotLauncher,
    snapshot: &FarmSnapshot,
    limit: Duration,
) {
    for (node, seat) in seats.iter_mut().enumerate().filter(|(_, seat)| seat.started && !seat.joined) {
        let name = nodes.name(node);
        seat.joined = snapshot.nodes.iter().any(|one| one.node == name && one.slots > 0);
        if seat.joined || seat.since.elapsed() < limit {
            continue;
        }
        if let Some(said) = nodes.end_one(node) {
            let (address, seconds) = (coordinator.address(), limit.as_secs_f64());
            let silent = format!("it did not connect to {address} within {seconds} s");
            let said = if said.is_empty() { silent } else { format!("{silent}: {said}") };
            coordinator.note("ended", &name, &said);
            seat.end(&said);
        }
    }
}

/// Makes products and ledger agree: lost or different products are done again. If no chunk is left to do, contents are
/// read too, since nothing waits for that.
fn repair(folder: &ProductFolder, ledger: &mut dyn Ledger, chunks: u64) -> Result<()> {
    let counted = ledger.counted()?.count();
    if counted > 0 && counted == chunks {
        output::remark("all chunks are committed; checking their files against the ledger");
    }
    let last = ledger.nodes()?.iter().map(|node| node.span.1).fold(0.0, f64::max);
    let repaired = folder.repair(ledger, counted == chunks, Stamp { at: ::farm::now(), since: last })?;
    if let [(chunk, fault), rest @ ..] = repaired.withdrawn.as_slice() {
        let more = if rest.is_empty() { String::new() } else { format!(", and {} more chunks", rest.len()) };
        output::remark(&format!("files do not match the ledger; repeating chunk {chunk}: {fault}{more}"));
    }
    if let [path, rest @ ..] = repaired.aside.as_slice() {
        let more = if rest.is_empty() { String::new() } else { format!(", and {} more there", rest.len()) };
        output::remark(&format!("moved files of uncommitted results to {}{more}", path.display()));
    }
    Ok(())
}
