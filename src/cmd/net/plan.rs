//! `prony net plan`: the buffers that a design needs, and a simulation of it.

use anyhow::{Context, Result};
use clap::Args;
use model::{Unit, percent};
use plan_network::{
    Burst, Design, DesignFinding, FlowControl, FragmentSizes, Framing, SimulationSetup, SimulationTally,
    TrafficPattern, Trigger, simulate,
};
use report::{Block, Cell, Column, Document, EmbeddedJson, PrintedQuantity, Table, TableRow, Tone};

use super::options::bits;
use super::stream::size;
use crate::ExitStatus;
use crate::cli::CommonOptions;
use crate::output;
use crate::value_parsers::seconds;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  prony net plan babar --events 200
  prony net plan --senders 500 --receivers 500 --link 100gbit --buffer 1000000")]
pub(crate) struct Arguments {
    /// A published design, whose numbers are taken
    #[arg(value_name = "DESIGN", value_parser = ["babar"])]
    design: Option<String>,
    /// Use this many senders of fragments
    #[arg(long, value_name = "N", default_value_t = 22, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    senders: u32,
    /// Use this many receivers that build events
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    receivers: u32,
    /// Set the rate of the switch's links, such as 100mbit or 100gbit
    #[arg(long, value_name = "RATE", default_value = "100mbit", value_parser = bits)]
    link: u64,
    /// Set the buffer of a switch's port, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 160_000)]
    buffer: u64,
    /// Build events of this many bytes
    #[arg(long, help_heading = "Traffic", value_name = "BYTES", default_value_t = 32_000, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    event: u64,
    /// Limit events per second; 0: as fast as the links allow
    #[arg(long, help_heading = "Traffic", value_name = "RATE", default_value_t = 2_000.0)]
    rate: f64,
    /// Set the time from one end to the other without queues
    #[arg(long, help_heading = "Traffic", value_name = "TIME", default_value = "0.00005s", value_parser = seconds)]
    latency: f64,
    /// Simulate this many events [default: none, only calculate the buffers]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    events: Option<u32>,
    /// Choose the pattern: who sends when; each is simulated
    #[arg(long, help_heading = "Traffic", value_name = "PATTERN", value_delimiter = ',', default_value = "in_order,barrel_shift,random,pull",
          value_parser = ["in_order", "barrel_shift", "random", "pull"])]
    pattern: Vec<String>,
    /// Set the receive buffer, which limits the TCP window; 0: datagrams
    #[arg(long, help_heading = "Traffic", value_name = "SIZE", default_value = "0B", value_parser = size)]
    window: u32,
    /// Allow a receiver this many open requests
    #[arg(long, help_heading = "Traffic", value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    credits: u32,
    /// Set the seed of random numbers
    #[arg(long, help_heading = "Traffic", default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments, common: &CommonOptions) -> Result<ExitStatus> {
    let events = arguments.rate;
    anyhow::ensure!((0.0..=1e9).contains(&events), "--rate takes 0 to 1000000000 events per second");
    let design = match arguments.design {
        Some(_) => Design::BABAR,
        None => Design {
            senders: arguments.senders,
            receivers: arguments.receivers,
            events_per_second: events,
            event_bytes: arguments.event as f64,
            link_rate: arguments.link as f64 / 8.0,
            output_buffer: arguments.buffer,
            input_buffer: 0,
            round_trip: 2.0 * arguments.latency,
        },
    };
    let published = arguments.design.is_some();
    let findings = if published { Design::babar_findings() } else { design.findings() };
    let mut document = Document::new(format!(
        "{} senders, {} receivers, {} Mbit/s links, {} B buffer per port",
        design.senders,
        design.receivers,
        design.link_rate * 8e-6,
        design.output_buffer
    ));
    document.add("Design", Block::Table(table(&findings, published)));
    document.add("Simultaneous bursts of all senders into one port", Block::Table(bursts(&design)));
    let mut tallies = Vec::new();
    let (mut steps, mut took) = (0.0, 0.0);
    if let Some(events) = arguments.events {
        anyhow::ensure!(
            design.fragment() <= f64::from(u32::MAX),
            "could not simulate: fragments have 4294967295 bytes at most; ask for smaller events or more senders"
        );
        for name in &arguments.pattern {
            let setup = setup(arguments, &design, name, events);
            let began = std::time::Instant::now();
            let tally = simulate(&setup).context(
                "could not simulate: the design has no traffic, more than 4194304 connections, or takes more than 69 days; \
                 ask for less",
            )?;
            steps += tally.steps as f64;
            took += began.elapsed().as_secs_f64();
            tallies.push((name.clone(), tally));
        }
        document.add("Simulation", Block::Table(simulated(&tallies)));
        document.summary.push(format!(
            "Simulated {:.1} million steps in {took:.2} s on one core ({:.1} million steps/s).",
            steps / 1e6,
            steps / took.max(1e-9) / 1e6
        ));
    }
    document.data =
        EmbeddedJson::of(&serde_json::json!({ "design": design, "findings": findings, "simulated": tallies })).ok();
    output::print(&document, common)
}

fn setup(arguments: &Arguments, design: &Design, pattern: &str, events: u32) -> SimulationSetup {
    let pull = pattern == "pull";
    let windowed = arguments.window > 0 && !pull;
    SimulationSetup {
        senders: design.senders,
        receivers: design.receivers,
        link_rate: design.link_rate,
        latency: design.round_trip / 2.0,
        output_buffer: design.output_buffer,
        input_buffer: design.input_buffer,
        framing: if windowed { Framing::TCP } else { Framing::UDP },
        pattern: match pattern {
            "barrel_shift" => TrafficPattern::BarrelShift,
            "random" => TrafficPattern::Random,
            "pull" => TrafficPattern::Pull { credits: arguments.credits },
            _ => TrafficPattern::InOrder,
        },
        flow: if windowed { FlowControl::Window { bytes: arguments.window } } else { FlowControl::Datagrams },
        sizes: FragmentSizes::Fixed((design.fragment().round() as u32).max(1)),
        trigger: if design.events_per_second > 0.0 {
            Trigger::Every(1.0 / design.events_per_second)
        } else {
            Trigger::Unpaced
        },
        events,
        timeout: 0.2,
        seed: arguments.seed,
    }
}

fn quantity(value: f64, unit: &str) -> Cell {
    let unit = match unit {
        "B/s" => Unit::BytesPerSecond,
        "s" => Unit::Seconds,
        // Networks count bytes in powers of 1000, not of 1024.
        "B" => return Cell::text(format!("{value:.0} B")),
        _ => Unit::Ratio,
    };
    Cell::Value(PrintedQuantity::bare(value, unit))
}

fn table(findings: &[DesignFinding], published: bool) -> Table {
    let titles = if published { "|#calculated|#printed||~remarks" } else { "|#calculated|~remarks" };
    let row = |finding: &DesignFinding| {
        let mut cells = vec![Cell::text(&finding.name), quantity(finding.value, finding.unit)];
        if published {
            cells.extend(match finding.printed {
                Some(printed) if printed.agrees => [quantity(printed.value, finding.unit), Cell::text("agrees")],
                Some(printed) => {
                    [quantity(printed.value, finding.unit), Cell::Text("disagrees".to_owned(), Tone::Caution)]
                }
                None => [Cell::Empty, Cell::Empty],
            });
        }
        cells.push(Cell::Text(finding.remark.clone(), Tone::Muted));
        TableRow::of(cells)
    };
    Table::plain(Column::list(titles), findings.iter().map(row).collect())
}

fn bursts(design: &Design) -> Table {
    let columns = Column::list("#frames per sender|#payload|#in the buffer|#duration|#frames lost|#share lost");
    let row = |frames: u64| {
        let burst = Burst::of(design.senders, frames, design.link_rate, design.output_buffer, Framing::UDP);
        TableRow::of(vec![
            Cell::Count(frames),
            quantity(burst.payload as f64, "B"),
            quantity(burst.buffered as f64, "B"),
            quantity(burst.seconds, "s"),
            Cell::Count(burst.lost),
            Cell::text(percent(burst.lost_share)),
        ])
    };
    Table::plain(columns, [1, 2, 4, 5, 6, 8, 12, 16, 32].into_iter().map(row).collect())
}

fn simulated(tallies: &[(String, SimulationTally)]) -> Table {
    let columns = Column::list("|#events built|#payload|#frames lost|#peak queue|#p50|#p99|#last");
    let row = |(name, tally): &(String, SimulationTally)| {
        let time = |pick: fn(&simulate::LatencyQuantiles) -> f64| {
            tally.latency.as_ref().map_or(Cell::Empty, |latency| quantity(pick(latency), "s"))
        };
        TableRow::of(vec![
            Cell::text(name.replace('_', " ")),
            Cell::Count(tally.built),
            quantity(tally.payload_per_second(), "B/s"),
            Cell::text(percent(tally.lost_share())),
            quantity(tally.peak_output as f64, "B"),
            time(|latency| latency.p50),
            time(|latency| latency.p99),
            time(|latency| latency.max),
        ])
    };
    Table::plain(columns, tallies.iter().map(row).collect())
}
