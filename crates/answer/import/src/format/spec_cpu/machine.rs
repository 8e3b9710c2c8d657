//! What a report says of the system that was tested, of the date and of the suite's version.

use model::Primitive;

use crate::date;
use crate::sheet::{self, SourceSheet};
use crate::text::{first_number, name_value};

/// Names of the report, and what is kept under them. Editions of the suite name some things differently.
const NAMES: &[(&str, &str)] = &[
    ("CPU Name", "cpu.model"),
    ("Hardware Model", "system.model"),
    ("Hardware Vendor", "system.vendor"),
    ("Memory", "memory.kind"),
    ("OS", "os.name"),
    ("Operating System", "os.name"),
    ("Compiler", "compiler"),
    ("File System", "file_system.type"),
    ("Enabled", "cpu.enabled"),
    ("CPU(s) enabled", "cpu.enabled"),
    ("Cores", "cpu.cores"),
    ("Cache L1", "cache.l1"),
    ("Primary Cache", "cache.l1"),
    ("L2", "cache.l2"),
    ("Secondary Cache", "cache.l2"),
    ("L3", "cache.l3"),
    ("L3 Cache", "cache.l3"),
    ("Max MHz", "cpu.clock.max"),
    ("Nominal", "cpu.clock"),
    ("CPU MHz", "cpu.clock"),
    ("Date tested", "date"),
    ("Test date", "date"),
    ("Base Pointers", "base pointers"),
    ("Peak Pointers", "peak pointers"),
];

/// Names of the report that say nothing of the results.
const UNUSED: &[&str] = &[
    "Auto Parallel",
    "CPU Characteristics",
    "CPU(s) orderable",
    "CPU2006 License",
    "CPU2017 License",
    "Disk Subsystem",
    "FPU",
    "Firmware",
    "Hardware avail",
    "Orderable",
    "Other",
    "Other Cache",
    "Other Hardware",
    "Other Software",
    "Parallel",
    "Power Management",
    "Run number",
    "Software avail",
    "Storage",
    "System State",
    "Test sponsor",
    "Tested by",
];

/// What the report states of the system: names of facts with all lines of their values.
#[derive(Default)]
pub(super) struct SpecCpuSystem {
    stated: Vec<(&'static str, String)>,
    /// Whether the next line may continue what was stated last, and whether that is kept.
    open: bool,
    kept: bool,
    host: String,
    moment: String,
    version: Option<String>,
}

impl SpecCpuSystem {
    /// Takes a value; whether the name is a known one. The first statement counts.
    pub(super) fn state(&mut self, name: &str, value: &str) -> bool {
        let name = name.trim().trim_end_matches([':', '.']);
        let fact = NAMES.iter().find(|(known, _)| *known == name).map(|(_, fact)| *fact);
        self.open = fact.is_some() || UNUSED.contains(&name);
        let new = fact.filter(|fact| !value.trim().is_empty() && self.stated.iter().all(|(known, _)| known != fact));
        self.kept = new.is_some();
        if let Some(fact) = new {
            self.stated.push((fact, value.trim().to_owned()));
        }
        self.open
    }

    /// Takes a further line of the value that was stated last; whether there is one.
    pub(super) fn more(&mut self, value: &str) -> bool {
        if let Some((_, known)) = self.stated.last_mut().filter(|_| self.open && self.kept) {
            known.push(' ');
            known.push_str(value.trim());
        }
        self.open
    }

    /// What follows does not continue the value that was stated last.
    pub(super) const fn close(&mut self) {
        self.open = false;
    }

    /// Takes a line of the notes or of the footer that says when and where the run was; whether it does.
    pub(super) fn tested(&mut self, line: &str) -> bool {
        let line = line.trim();
        if let Some(host) = line.strip_prefix("running on ").and_then(|rest| rest.split_whitespace().next()) {
            // Sections of several runs may follow each other.
            if self.host.is_empty() {
                host.clone_into(&mut self.host);
            }
            return true;
        }
        let suite = line.strip_prefix("Tested with SPEC CPU");
        let Some(rest) = suite.or_else(|| line.strip_prefix("Result run")) else { return false };
        let numbered = |word: &&str| word.starts_with('v') && word.len() > 1;
        if let Some(version) = suite.and_then(|rest| rest.split_whitespace().find(numbered)) {
            self.version = Some(version[1..].trim_end_matches('.').to_owned());
        }
        if let Some((_, moment)) = rest.split_once(" on ") {
            self.at(date::iso(moment.trim_end_matches('.')));
        }
        true
    }

    /// The run began at a moment, RFC 3339; none if empty.
    pub(super) fn at(&mut self, moment: String) {
        if self.moment.is_empty() {
            self.moment = moment;
        }
    }

    pub(super) fn version(&mut self, version: &str) {
        self.version = Some(version.to_owned()).filter(|version| !version.is_empty());
    }

    /// Tells all of it to the sheet.
    pub(super) fn tell(self, sheet: &mut SourceSheet) {
        for (fact, value) in &self.stated {
            let value = determined(value);
            if !value.is_empty() {
                tell(sheet, fact, value);
            }
        }
        if !self.moment.is_empty() {
            sheet.started = self.moment;
            sheet.notes.retain(|note| !note.ends_with(NO_DAY));
        }
        if sheet.machine.is_empty() && !self.host.is_empty() {
            sheet.machine = name_value(&self.host);
        }
        sheet.version = self.version;
    }
}

const NO_DAY: &str = ": the day is not stated";

/// The value without what SPEC's tools write for the tester to fill in.
fn determined(value: &str) -> &str {
    let value = value.split("fixme").next().unwrap_or_default().trim();
    let open = ["", "--", "My Corporation", "Not Applicable"].contains(&value);
    if open || value.starts_with("could not determine") { "" } else { value }
}

fn tell(sheet: &mut SourceSheet, name: &str, value: &str) {
    let affects = match name {
        "cpu.model" | "cpu.clock" | "cpu.clock.max" => &[Primitive::CoreClock][..],
        "memory.kind" => &[Primitive::DramRead, Primitive::DramWrite][..],
        "cache.l1" | "cache.l2" | "cache.l3" => &[Primitive::CacheLatency][..],
        _ => &[],
    };
    let number = |name: &str, scale: f64, unit: &str, words: &str| {
        first_number(words).map(|number| sheet::number(name, number * scale, unit, "report", affects))
    };
    match name {
        "date" => {
            sheet.started = date::month_year(value);
            sheet.notes.push(format!("tested in {}{NO_DAY}", name_value(value)));
        }
        "base pointers" | "peak pointers" => sheet.notes.push(format!("{name}: {}", name_value(value))),
        "cpu.clock" | "cpu.clock.max" => sheet.fact(number(name, 1e6, "Hz", value)),
        "cpu.cores" => sheet.fact(number(name, 1.0, "1", value)),
        "cpu.enabled" => {
            let cores = value.split(',').find(|part| part.contains("core"));
            sheet.fact(cores.and_then(|cores| number("cpu.cores", 1.0, "1", cores)));
            // ` cores, 2 chips, threads/core` is a form with gaps.
            if value.split(',').all(|part| first_number(part).is_some()) {
                sheet.fact(sheet::text(name, value, "report", affects));
            }
        }
        _ => {
            if name == "system.model" {
                value.clone_into(&mut sheet.summary);
                sheet.machine = name_value(value);
            }
            sheet.fact(sheet::text(name, value, "report", affects));
        }
    }
}
