//! The design of an event builder: its numbers recomputed, and where published ones disagree.

use model::percent;
use serde::Serialize;

use super::{
    Framing, burst_seconds, frames_per_sender, lost_share, most_senders, port_rate, window_bytes, window_for_rate,
};

/// An event builder: senders, receivers, a switch between them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Design {
    /// Sources of fragments.
    pub senders: u32,
    /// Builders of events.
    pub receivers: u32,
    /// Events a second.
    pub events_per_second: f64,
    /// Bytes of an event.
    pub event_bytes: f64,
    /// Rate of every link, bytes a second.
    pub link_rate: f64,
    /// Buffer of an output port, bytes.
    pub output_buffer: u64,
    /// Buffer of an input port, bytes.
    pub input_buffer: u64,
    /// Round-trip time without queues, seconds.
    pub round_trip: f64,
}

/// A published number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PrintedNumber {
    /// The number, in the finding's unit.
    pub value: f64,
    /// Whether it agrees with the relation within 20%, the usual rounding of such numbers.
    pub agrees: bool,
}

/// One number of a design.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DesignFinding {
    /// Its name.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Base unit: `B`, `B/s`, `s`, `1`.
    pub unit: &'static str,
    /// The published number, if there is one.
    pub printed: Option<PrintedNumber>,
    /// A remark; may be empty.
    pub remark: String,
}

impl DesignFinding {
    fn new(name: &str, value: f64, unit: &'static str) -> Self {
        Self { name: name.to_owned(), value, unit, printed: None, remark: String::new() }
    }

    fn printed(mut self, value: f64) -> Self {
        let agrees = (self.value / value).ln().abs() < 1.2_f64.ln();
        self.printed = Some(PrintedNumber { value, agrees });
        self
    }

    fn remark(mut self, text: impl Into<String>) -> Self {
        self.remark = text.into();
        self
    }
}

/// `1 frame`, `11 frames`.
fn frames(count: u64) -> String {
    if count == 1 { "1 frame".to_owned() } else { format!("{count} frames") }
}

impl Design {
    /// The BaBar event builder of 1998: 22 senders, 15 receivers, 2 kHz of 32 kB, switched Fast Ethernet with 160 kB
    /// output and 32 kB input buffers for each port (Pavel, Millsom, Huffer and Day, CHEP 98).
    pub const BABAR: Self = Self {
        senders: 22,
        receivers: 15,
        events_per_second: 2_000.0,
        event_bytes: 32_000.0,
        link_rate: 12.5e6,
        output_buffer: 160_000,
        input_buffer: 32_000,
        round_trip: 0.5e-3,
    };

    /// Payload of one fragment, bytes.
    #[must_use]
    pub fn fragment(&self) -> f64 {
        self.event_bytes / f64::from(self.senders)
    }

    /// Payload of all links together, bytes a second.
    #[must_use]
    pub fn aggregate(&self) -> f64 {
        self.events_per_second * self.event_bytes
    }

    /// Bytes on the wire for each byte of payload, fragments as datagrams: small ones are mostly headers.
    fn on_wire(&self) -> f64 {
        Framing::UDP.wire(self.fragment().ceil() as u64) as f64 / self.fragment()
    }

    /// Limits of simultaneous bursts of all senders; nothing for one sender, which never loses a frame.
    fn bursts(&self) -> Vec<DesignFinding> {
        let (n, rate, buffer) = (self.senders, self.link_rate, self.output_buffer);
        let Some(each) = frames_per_sender(n, buffer, Framing::UDP) else { return Vec::new() };
        vec![
            DesignFinding::new("longest burst of all senders at once", burst_seconds(n, rate, buffer as f64), "s")
                .remark("BUF / ((N - 1) l)"),
            DesignFinding::new("data of each sender in it", buffer as f64 / f64::from(n.saturating_sub(1).max(1)), "B")
                .remark("BUF / (N - 1), headers counted"),
            DesignFinding::new("the same in whole datagrams", (each * u64::from(Framing::UDP.payload)) as f64, "B")
                .remark(format!(
                    "{}; one more loses {}",
                    frames(each),
                    percent(lost_share(n, each + 1, buffer, Framing::UDP))
                )),
        ]
    }

    /// Its numbers.
    #[must_use]
    pub fn findings(&self) -> Vec<DesignFinding> {
        let (n, rate, buffer) = (self.senders, self.link_rate, self.output_buffer);
        let each = self.aggregate() / f64::from(self.receivers);
        let window = window_bytes(n, buffer, Framing::TCP);
        let mut findings = vec![
            DesignFinding::new("payload of all links", self.aggregate(), "B/s"),
            DesignFinding::new("payload into each receiver", each, "B/s"),
            DesignFinding::new("payload out of each sender", self.aggregate() / f64::from(n), "B/s"),
            DesignFinding::new("fragment", self.fragment(), "B").remark(format!(
                "{} as a datagram, {} over TCP with timestamps",
                frames(Framing::UDP.frames(self.fragment().ceil() as u64)),
                Framing::TCP.frames(self.fragment().ceil() as u64)
            )),
            DesignFinding::new("load of a receiver's link", each * self.on_wire() / rate, "1"),
        ];
        findings.extend(self.bursts());
        findings.extend([
            DesignFinding::new("largest effective window without loss", window as f64, "B")
                .remark("whole frames, N x window within the output buffer"),
            DesignFinding::new(
                "most payload of one link with it",
                (window as f64 / self.round_trip).min(rate * Framing::TCP.efficiency()),
                "B/s",
            )
            .remark("window over round trip, or the link"),
            DesignFinding::new("window that one link alone needs", window_for_rate(rate, self.round_trip), "B"),
        ]);
        findings
    }

    /// The findings of [`Design::BABAR`] next to the paper's numbers, and where those do not follow.
    #[must_use]
    pub fn babar_findings() -> Vec<DesignFinding> {
        let design = Self::BABAR;
        let mut findings = design.findings();
        let mut print = |name: &str, value: f64, remark: &str| {
            if let Some(finding) = findings.iter_mut().find(|finding| finding.name == name) {
                *finding = finding.clone().printed(value);
                if !remark.is_empty() {
                    finding.remark = remark.to_owned();
                }
            }
        };
        let bits = design.link_rate * 80e-6;
        print("payload of all links", 64e6, "2 kHz x 32 kB = 512 Mbit/s");
        print("payload into each receiver", 4e6, "");
        let slip = format!(
            "80 us does not follow: in 80 us a link of 100 Mbit/s carries {bits:.0} B, that is 8000 bits, not 8 kB; the \
             printed data of each sender takes 0.64 ms"
        );
        print("longest burst of all senders at once", 80e-6, &slip);
        print("data of each sender in it", 8e3, "");
        print(
            "largest effective window without loss",
            8e3,
            "22 x 8 kB = 176 kB of payload and 183 kB in frames do not fit 160 kB; they fit with the input buffers",
        );
        let n = design.senders;
        findings.push(
            DesignFinding::new("senders for which 80 us holds", most_senders(design.link_rate, 80e-6, 160e3), "1")
                .printed(f64::from(n)),
        );
        findings.push(
            DesignFinding::new("link rate for which 80 us holds", port_rate(n, 80e-6, 160e3), "B/s").printed(12.5e6),
        );
        findings.extend(design.four_senders());
        findings
    }

    /// Four senders with 64 kB windows to one receiver, of whose 60000 packets 41 were lost.
    fn four_senders(&self) -> [DesignFinding; 2] {
        let frames = Framing::PLAIN_TCP.frames(65_536) * u64::from(Framing::PLAIN_TCP.full());
        let held = self.output_buffer + 4 * self.input_buffer;
        [
            DesignFinding::new("frames of 4 windows of 64 kB", (4 * frames) as f64, "B")
                .remark("more than the output buffer alone, which would lose far more than was seen"),
            DesignFinding::new("output buffer and the 4 senders' input buffers", held as f64, "B")
                .remark("nearly all of the windows fit: 41 of 60000 packets (0.07%) is what overshoot loses"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 22 fragments of 100 B of 60,000 events a second use 0.74 of a link in full frames. The simulator builds as many
    /// as a link carries, and no more.
    #[test]
    fn the_load_of_a_link_counts_the_headers_of_small_fragments() {
        let load = |design: Design| {
            design.findings().into_iter().find(|one| one.name == "load of a receiver's link").unwrap().value
        };
        let small = Design { events_per_second: 60_000.0, event_bytes: 2_200.0, ..Design::BABAR };
        // 166 B on the wire for 100 B, 4,000 events of 22 a second into each link of 12.5 MB/s.
        assert!((load(small) - 4_000.0 * 22.0 * 166.0 / 12.5e6).abs() < 1e-9, "{}", load(small));
        let whole = Design { event_bytes: 22.0 * 1472.0, ..Design::BABAR };
        let full_frames = whole.aggregate() / 15.0 / (12.5e6 * Framing::UDP.efficiency());
        assert!((load(whole) - full_frames).abs() < 1e-9);
    }

    #[test]
    fn the_printed_80_us_does_not_follow_and_the_rest_does() {
        let findings = Design::babar_findings();
        let get = |name: &str| findings.iter().find(|finding| finding.name == name).unwrap();
        let burst = get("longest burst of all senders at once");
        assert!((burst.value - 0.61e-3).abs() < 1e-5 && !burst.printed.unwrap().agrees, "{burst:?}");
        for name in ["payload of all links", "payload into each receiver", "data of each sender in it"] {
            assert!(get(name).printed.unwrap().agrees, "{name}");
        }
        assert_eq!(get("payload of all links").value, 64e6);
        assert!(!get("largest effective window without loss").printed.unwrap().agrees);
        assert!((get("senders for which 80 us holds").value - 161.0).abs() < 1e-9);
        assert!(get("fragment").remark.starts_with("1 frame as a datagram, 2 over TCP"));
        let large = Design { event_bytes: 22.0 * 16_000.0, ..Design::BABAR }.findings();
        let remark = |name: &str| large.iter().find(|finding| finding.name == name).unwrap().remark.clone();
        assert!(remark("fragment").starts_with("11 frames as a datagram, 12 over TCP"), "{}", remark("fragment"));
    }
}
