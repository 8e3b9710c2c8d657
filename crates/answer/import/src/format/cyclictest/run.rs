//! A process of cyclictest: its settings, its threads, and quantiles of its histogram.

use std::collections::BTreeMap;

use crate::differing::{Settings, differing};
use crate::sheet::{SourceReading, SourceSheet, SourceSpread, seconds};
use crate::text::{SourceFault, parameter_value};

/// The unit of its times, which it does not print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LatencyUnit {
    #[default]
    Unknown,
    Microseconds,
    Nanoseconds,
}

/// What one thread states, in the unit of its times.
#[derive(Default)]
pub(super) struct CyclicThread {
    pub(super) pid: String,
    pub(super) at: usize,
    pub(super) priority: String,
    /// Microseconds.
    pub(super) interval: String,
    pub(super) cycles: f64,
    pub(super) least: f64,
    pub(super) average: f64,
    pub(super) greatest: f64,
    pub(super) unit: LatencyUnit,
    /// What the last digit of the average is worth, which is cut off behind it.
    pub(super) digit: Option<f64>,
    /// Its processor, if stated.
    pub(super) cpu: Option<String>,
    /// Delays and how many of them, ascending, and all together.
    pub(super) counts: Vec<(u64, u64)>,
}

/// One process.
#[derive(Default)]
pub(super) struct CyclicRun {
    pub(super) settings: Settings,
    pub(super) threads: BTreeMap<u32, CyclicThread>,
    /// The rows of its histogram are open.
    pub(super) open: bool,
    pub(super) buckets: Vec<Vec<u64>>,
    /// Least, average, greatest and overflows of each thread.
    pub(super) lists: [Vec<f64>; 4],
    pub(super) at: usize,
    /// Its readings are those from here to the next process's.
    pub(super) first: usize,
    /// Its unit was told neither by its command nor by its layout.
    pub(super) assumed: bool,
}

/// Least delays from which microseconds and nanoseconds are told apart no more.
const DOUBTFUL: f64 = 1000.0;

/// Quantiles of a histogram.
const QUANTILES: [f64; 4] = [0.5, 0.99, 0.999, 0.9999];

impl CyclicRun {
    pub(super) fn stated(&self) -> bool {
        !self.threads.is_empty() || !self.lists[0].is_empty() || !self.buckets.is_empty()
    }

    /// Takes a line of values of all threads, which ends the histogram.
    pub(super) fn take(&mut self, name: &str, values: Vec<f64>, at: usize) {
        match name {
            "Min Latencies" => (self.lists[0], self.at) = (values, at),
            "Avg Latencies" => self.lists[1] = values,
            "Max Latencies" => self.lists[2] = values,
            "Histogram Overflows" => self.lists[3] = values,
            // The sum of each column.
            _ => {}
        }
        self.open = false;
    }

    /// Adds its results.
    pub(super) fn end(&mut self, sheet: &mut SourceSheet) -> Result<(), SourceFault> {
        sheet.begin_process();
        self.first = sheet.readings.len();
        if !self.lists[0].is_empty() {
            self.histogram()?;
        } else if !self.buckets.is_empty() {
            return Err(SourceFault::new("its histogram ends before the latencies of its threads", self.at));
        }
        let mut idle: usize = 0;
        for (number, thread) in &self.threads {
            // A thread that never woke up states a least delay of a second.
            if thread.cycles == 0.0 || thread.least > thread.greatest {
                idle += 1;
                continue;
            }
            let scale = match self.unit(thread)? {
                LatencyUnit::Nanoseconds => 1e-9,
                _ => 1e-6,
            };
            sheet.readings.extend(readings(*number, thread, scale, &self.settings));
        }
        self.assumed = self.threads.values().any(|thread| thread.unit == LatencyUnit::Unknown)
            && !self.settings.contains_key("options");
        if idle > 0 {
            let (noun, verb) = if idle == 1 { ("thread", "states") } else { ("threads", "state") };
            sheet.notes.push(format!("{idle} {noun} never woke up, and {verb} no delay"));
        }
        Ok(())
    }

    fn unit(&self, thread: &CyclicThread) -> Result<LatencyUnit, SourceFault> {
        match (self.settings.get("options"), thread.unit) {
            (Some(options), _) if in_nanoseconds(options) => Ok(LatencyUnit::Nanoseconds),
            (Some(_), LatencyUnit::Unknown) => Ok(LatencyUnit::Microseconds),
            (None, LatencyUnit::Unknown) if thread.least >= DOUBTFUL => {
                let reason = "it does not say whether its times are microseconds or nanoseconds; use its JSON \
                            (--json), which does";
                Err(SourceFault::new(reason, thread.at))
            }
            (_, stated) => Ok(stated),
        }
    }

    /// The threads that the lists below a histogram are of.
    fn histogram(&mut self) -> Result<(), SourceFault> {
        let [least, average, greatest, overflows] = &self.lists;
        let count = least.len();
        // With -H all threads together stand behind them.
        let fits = |list: &Vec<f64>| list.len() == count || list.len() == count + 1;
        if average.len() != count || !fits(greatest) || !(overflows.is_empty() || fits(overflows)) {
            return Err(SourceFault::new("its lists of latencies differ in length", self.at));
        }
        for row in &self.buckets {
            if !(row.len() == count + 1 || row.len() == count + 2) {
                let reason = format!("a row of its histogram has {} counts and it has {count} threads", row.len() - 1);
                return Err(SourceFault::new(reason, self.at));
            }
        }
        for place in 0..count {
            let mut counts: Vec<(u64, u64)> =
                self.buckets.iter().map(|row| (row[0], row[place + 1])).filter(|(_, count)| *count > 0).collect();
            let beyond = overflows.get(place).copied().unwrap_or_default();
            if beyond > 0.0 {
                counts.push((u64::MAX, beyond as u64));
            }
            let cycles: u64 = counts.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
            let thread = CyclicThread {
                at: self.at,
                // Without a histogram it is not known how often it woke up.
                cycles: if self.buckets.is_empty() { 1.0 } else { cycles as f64 },
                least: least[place],
                average: average[place],
                greatest: greatest[place],
                counts,
                ..CyclicThread::default()
            };
            self.threads.insert(u32::try_from(place).unwrap_or(u32::MAX), thread);
        }
        Ok(())
    }
}

/// The average, with the range and the quantiles, and the longest delay.
fn readings(number: u32, thread: &CyclicThread, scale: f64, settings: &Settings) -> [SourceReading; 2] {
    let digit = thread.digit.unwrap_or(1.0);
    let placed = |reading: SourceReading| {
        let reading = reading.at("thread", number.to_string());
        let stated = |parameter: &str, value: &str| {
            let known = (!value.is_empty()).then(|| value.to_owned());
            known.or_else(|| settings.get(parameter).cloned())
        };
        // Of a command it is the first thread's, and that of all only where they have one.
        let own = |_: &String| !thread.interval.is_empty() || number == 0 || settings.contains_key("even");
        let interval = stated("interval", &thread.interval).filter(own).map(|interval| format!("{interval}us"));
        let policy = settings.get("policy").filter(|policy| *policy != "fifo").cloned();
        let parameters =
            [("interval", interval), ("priority", stated("priority", &thread.priority)), ("policy", policy)];
        let parameters = parameters.into_iter().chain([("cpu", thread.cpu.clone())]);
        parameters.fold(reading, |reading, (parameter, value)| match value {
            Some(value) => reading.at(parameter, value),
            None => reading,
        })
    };
    let value = |id: &str, title: &str, value: f64, digit: f64| {
        let reading = SourceReading::new(id, title, value * scale, seconds("wake-up")).rounded(digit / value);
        // It cuts off behind the last digit.
        SourceReading { below: (value == 0.0).then_some(digit * scale), ..reading }
    };
    let mut average = value("cyclictest.average", "Delay of a wake-up, average", thread.average, digit);
    average = average.spread(SourceSpread::Range(thread.least * scale, thread.greatest * scale));
    let cycles = if thread.counts.is_empty() && thread.cycles == 1.0 { 1 } else { thread.cycles as u32 };
    average.quantiles = quantiles(&thread.counts, scale);
    let longest = value("cyclictest.longest", "Delay of a wake-up, longest", thread.greatest, 1.0);
    [placed(average.counts(1, cycles)), placed(longest)]
}

/// The delays below which shares of all are; one beyond the histogram is not known.
fn quantiles(counts: &[(u64, u64)], scale: f64) -> Vec<(f64, f64)> {
    let all: u64 = counts.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
    let found = QUANTILES.iter().filter_map(|quantile| {
        let wanted = (quantile * all as f64).ceil().max(1.0);
        let mut sum: u64 = 0;
        let (delay, _) = counts.iter().find(|(_, count)| {
            sum = sum.saturating_add(*count);
            sum as f64 >= wanted
        })?;
        (*delay != u64::MAX).then_some((*quantile, *delay as f64 * scale))
    });
    found.collect()
}

/// Options without those that say how long it runs and what it prints; the interval and the priority by their names.
pub(super) fn options_of(words: &[&str]) -> Settings {
    // With a value behind them, and a letter of their own.
    const SILENT: [(&str, char); 6] =
        [("loops", 'l'), ("duration", 'D'), ("histogram", 'h'), ("histofall", 'H'), ("json", '\0'), ("histfile", '\0')];
    let mut settings = Settings::new();
    let mut kept: Vec<&str> = Vec::new();
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        let plain = |word: &&str| !word.starts_with('-');
        let of = |name: &str, letter: char| match word.strip_prefix("--") {
            Some(long) => long.split('=').next() == Some(name),
            None => word.strip_prefix('-').is_some_and(|short| short.starts_with(letter)),
        };
        let inside = word.split_once('=').map(|(_, value)| value);
        let short = word.get(2..).filter(|rest| !word.starts_with("--") && !rest.is_empty());
        let inside = inside.or(short).filter(|_| word.starts_with('-'));
        // Then all threads have one interval.
        let even =
            [("histogram", 'h'), ("histofall", 'H'), ("smp", 'S')].iter().any(|(name, letter)| of(name, *letter));
        if even || ["-d0", "--distance=0"].contains(&word) {
            settings.insert("even".to_owned(), "yes".to_owned());
        }
        if ["-q", "--quiet", "|", ">", "2>&1"].contains(&word) {
            if word.len() == 1 {
                break;
            }
        } else if SILENT.iter().any(|(name, letter)| of(name, *letter)) {
            if inside.is_none() {
                words.next_if(plain);
            }
        } else {
            kept.push(word);
            let known = [("interval", 'i'), ("priority", 'p')].into_iter().find(|(name, letter)| of(name, *letter));
            let value = inside.or_else(|| words.peek().copied().filter(|word| plain(word)));
            if let Some(((name, _), value)) = known.zip(value) {
                settings.insert(name.to_owned(), parameter_value(value));
            }
        }
    }
    settings.insert("options".to_owned(), parameter_value(&kept.join(" ")));
    settings
}

fn in_nanoseconds(options: &str) -> bool {
    options.split_whitespace().any(|word| {
        let letters = word.strip_prefix('-').filter(|word| !word.starts_with('-'));
        word == "--nsecs" || letters.is_some_and(|letters| letters.contains('N'))
    })
}

/// Makes parameters of the settings in which processes differ.
pub(super) fn settle(sheet: &mut SourceSheet, runs: &[CyclicRun]) {
    let found = differing(runs.iter().map(|run| (String::new(), &run.settings)));
    let names = found.values().next();
    for (place, run) in runs.iter().enumerate() {
        let end = runs.get(place + 1).map_or(sheet.readings.len(), |next| next.first);
        for reading in &mut sheet.readings[run.first..end] {
            // The interval, the priority and the policy are parameters already.
            for parameter in
                ["kernel", "options"].iter().filter(|parameter| names.is_some_and(|names| names.contains(**parameter)))
            {
                if let Some(value) = run.settings.get(*parameter) {
                    reading.parameters = std::mem::take(&mut reading.parameters).with(*parameter, value);
                }
            }
        }
    }
    if let ([run, ..], None) = (runs, names) {
        let kernel = run.settings.get("kernel");
        sheet.fact(kernel.and_then(|kernel| crate::sheet::text("kernel.release", kernel, "output", &[])));
    }
    if runs.iter().any(|run| run.assumed) {
        sheet.notes.push("the unit of its times is not printed, and is taken for its usual microsecond".to_owned());
    }
    let mute = |run: &&CyclicRun| !run.lists[0].is_empty() && !run.settings.contains_key("options");
    if runs.iter().filter(mute).count() > 1 {
        sheet
            .notes
            .push("histograms do not print the settings: what stands there again is taken for a sample".to_owned());
    }
}
