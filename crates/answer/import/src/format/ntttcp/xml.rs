//! The XML of both programs: one element for each value, with its unit as an attribute.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::NtttcpEnd;
use crate::error::SourcePosition;
use crate::format::SourceText;
use crate::sheet::{SourceSheet, number as fact, text};
use crate::text::{MOST_ITEMS, MOST_NAMES, SourceFault, number, parameter_value};

/// Largest depth of elements; the format has three levels.
const DEEPEST: usize = 16;

/// What was read so far.
#[derive(Default)]
struct NtttcpXml {
    sheet: SourceSheet,
    end: NtttcpEnd,
    role: &'static str,
    threads: usize,
    udp: bool,
    six: bool,
    unread: BTreeSet<String>,
}

pub(super) fn parse(source: &SourceText<'_>) -> Result<SourceSheet, SourceFault> {
    // What a page says above the document is none of it.
    let start = ["<ntttcps ", "<ntttcpr "].iter().filter_map(|name| source.text.find(name)).min().unwrap_or_default();
    let skipped = source.text[..start].matches('\n').count();
    let mut reader = Reader::from_str(&source.text[start..]);
    let (mut path, mut unit, mut words) = (Vec::<String>::new(), String::new(), String::new());
    let mut read = NtttcpXml::default();
    loop {
        let before = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let fault = |reason: String| SourceFault { reason, place: place(&source.text[start..], before, skipped) };
        let event = match reader.read_event() {
            // A page says more below it, which need not be XML.
            Err(_) if path.is_empty() && !read.sheet.readings.is_empty() => break,
            event => event.map_err(|error| fault(error.to_string()))?,
        };
        match event {
            Event::Start(element) => {
                if path.len() == DEEPEST {
                    return Err(fault(format!("elements nest deeper than {DEEPEST}")));
                }
                let name = element.name().as_ref().to_owned();
                if path.is_empty() {
                    read.begin(&name, &element).map_err(fault)?;
                }
                unit = attribute(&element, "metric");
                path.push(name);
                words.clear();
            }
            Event::Text(part) => words.push_str(&part),
            Event::End(_) => {
                let name = path.pop().unwrap_or_default();
                let value = std::mem::take(&mut words).trim().to_owned();
                read.take(&path, &name, &unit, value).map_err(fault)?;
                if path.is_empty() {
                    read.finish(source.text.lines().count())?;
                }
            }
            Event::Eof if path.is_empty() => break,
            Event::Eof => return Err(fault(format!("it ends inside <{}>", parameter_value(&path[path.len() - 1])))),
            _ => {}
        }
    }
    source.ledger.skipped(read.unread.len(), read.unread.first().cloned());
    Ok(read.sheet)
}

impl NtttcpXml {
    /// The outermost element: which end it is, and of which machine.
    fn begin(&mut self, name: &str, element: &BytesStart<'_>) -> Result<(), String> {
        self.role = match name {
            "ntttcps" => "sender",
            "ntttcpr" => "receiver",
            _ => return Err(format!("its element <{}> is none of NTttcp", parameter_value(name))),
        };
        let machine = attribute(element, "computername");
        if !self.sheet.machine.is_empty() && self.sheet.machine != machine {
            return Err("a document of another machine begins here: each needs a file of its own".to_owned());
        }
        self.sheet.machine = machine;
        self.sheet.version = Some(attribute(element, "version")).filter(|version| !version.is_empty());
        Ok(())
    }

    /// Takes the text of an element that ended inside of `path`.
    fn take(&mut self, path: &[String], name: &str, unit: &str, value: String) -> Result<(), String> {
        let end = &mut self.end;
        match (path.last().map(String::as_str), name) {
            (Some("thread"), "throughput") if self.threads == 0 => end.thread.push((unit.to_owned(), value)),
            (Some("parameters"), "udp") => self.udp = value == "True",
            (Some("parameters"), "use_ipv6") => self.six = value == "True",
            (Some("parameters" | "thread"), _) => {}
            (Some(_), "thread") => self.threads += 1,
            (Some(_), "throughput") if ["MB/s", "mbps", "Bps"].contains(&unit) => {
                end.throughput.push((unit.to_owned(), value));
            }
            (Some(_), "packets_retransmitted") => end.retransmitted = Some(value),
            // On Linux it is the time of the process.
            (Some(_), "cpu") if self.sheet.version.as_deref().is_some_and(|version| version.ends_with("linux")) => {
                end.busy = Some(value);
            }
            (Some(_), "cpu") => end.machine = Some(value),
            (Some(_), "cpu_busy_all") => end.busy = Some(value),
            (Some(_), "cycles" | "cycles_per_byte") => end.cycles = Some(value),
            (Some(_), "tcp_average_rtt") if unit == "us" => end.round_trip = Some(value),
            (Some(_), "cpu_cores" | "num_processors") => {
                self.sheet.fact(number(&value).map(|count| fact("cpu.count", count, "1", "NTttcp", &[])));
            }
            (Some(_), "os") => self.sheet.fact(text("os.name", &value, "NTttcp", &[])),
            (Some(_), _) if number(&value).is_some_and(|value| value != 0.0) && self.unread.len() < MOST_NAMES => {
                self.unread.insert(name.to_owned());
            }
            _ => {}
        }
        if self.threads > MOST_ITEMS {
            return Err(format!("it has more than {MOST_ITEMS} threads"));
        }
        Ok(())
    }

    /// The document has ended.
    fn finish(&mut self, line: usize) -> Result<(), SourceFault> {
        let end = std::mem::take(&mut self.end);
        let protocol = if self.udp { "udp" } else { "tcp" };
        self.sheet.begin_process();
        for reading in end.readings(line)? {
            let reading =
                reading.at("role", self.role).at("protocol", protocol).at("threads", self.threads.to_string());
            self.sheet.readings.push(if self.six { reading.at("family", "ipv6") } else { reading });
        }
        (self.threads, self.udp, self.six) = (0, false, false);
        Ok(())
    }
}

/// An attribute's text; empty if it is not there.
fn attribute(element: &BytesStart<'_>, name: &str) -> String {
    let found = element.attributes().flatten().find(|attribute| attribute.key.as_ref() == name);
    found.map(|attribute| parameter_value(&attribute.value)).filter(|value| value != "-").unwrap_or_default()
}

fn place(text: &str, byte: usize, skipped: usize) -> SourcePosition {
    let before = &text.as_bytes()[..byte.min(text.len())];
    let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let line = memchr::memchr_iter(b'\n', before).count() + 1 + skipped;
    SourcePosition { line, column: before.len() - start + 1 }
}
