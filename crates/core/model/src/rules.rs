//! Every number that can change a value, in one place: its meaning, unit, reason and source.
//!
//! A document holds the rules that it was measured with ([`Rules::values`]). `prony selftest --rules` prints this list.

use std::collections::BTreeMap;

use serde::Serialize;

/// One number that can move a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rule {
    /// `group.name`, as documents write it.
    pub name: &'static str,
    /// The number, in `unit`.
    pub value: f64,
    /// The unit: `samples`, `ns`, `1` for a plain ratio.
    pub unit: &'static str,
    /// The reason for the number.
    pub reason: &'static str,
    /// A publication, or the test or script that found it.
    pub source: &'static str,
}

macro_rules! rules {
    ($($(#[doc = $about:literal])+ $group:ident: $Group:ident {
        $($name:ident: $kind:ty = $value:expr, $unit:literal, $reason:literal, $source:literal;)*
    })*) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone, Copy, PartialEq)]
            pub struct $Group {
                $(#[doc = concat!($reason, " Unit: ", $unit, ". Source: ", $source, ".")] pub $name: $kind,)*
            }
        )*

        /// Every number that can move a value, by the part of Prony that uses it.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct Rules {
            $($(#[doc = $about])+ pub $group: $Group,)*
        }

        /// The rules of this version.
        pub const RULES: Rules = Rules { $($group: $Group { $($name: $value,)* },)* };

        impl Rules {
            /// All rules in the order of this file.
            pub fn list(&self) -> Vec<Rule> {
                vec![$($(Rule {
                    name: concat!(stringify!($group), ".", stringify!($name)),
                    value: f64::from(self.$group.$name),
                    unit: $unit,
                    reason: $reason,
                    source: $source,
                },)*)*]
            }
        }
    };
}

// A rule is an f64 or a u32, so that it is a plain number in documents. Add a rule to the group of the code that uses
// it.
rules! {
    /// What an estimate is.
    estimate: EstimateRules {
        fewest_samples: u32 = 8, "samples",
            "Fewer samples cannot give an interval at 99% from order statistics.",
            "binomial distribution: 1 - 2 / 2^8 = 99.2%";
        target: f64 = 0.02, "1",
            "Half the interval, relative to the value, within which a result is precise enough to compare machines.",
            "a convention; a plan may ask for another one";
        deciding_level: f64 = 0.99, "1",
            "A result may reach its target by chance. The deciding interval must miss less often than that.",
            "tests recordings and coverage of prony-stats";
        widening_of_8: f64 = 2.5, "1",
            "Factor that widens the extremes of 8 clean samples to an interval at 99%.",
            "resampled recordings, test references of prony-measure";
        widening_of_10: f64 = 5.0 / 3.0, "1",
            "The same for 10 clean samples.",
            "resampled recordings, test references of prony-measure";
        steady_batches: u32 = 4, "batches",
            "Warm-up ends when two groups of this many batches agree.",
            "Georges, Buytaert and Eeckhout, OOPSLA 2007, in a simple form";
        steady_difference: f64 = 0.02, "1",
            "Largest relative difference of the medians of two groups of batches that agree.",
            "Georges, Buytaert and Eeckhout, OOPSLA 2007, in a simple form";
    }
    /// How a worker times: warm-up, the length and number of its batches.
    worker: WorkerRules {
        warmup_batches: u32 = 8, "batches",
            "A warm-up has at least this many batches of ordinary length.",
            "test a_steady_state_is_found of crates/core/stats";
        most_warmup: u32 = 40, "batches",
            "A warm-up ends after this many batches even without a steady state.",
            "convention";
        sample_nanos: f64 = 40e6, "ns",
            "Total time of the batches of a sample if one operation is longer than a batch.",
            "convention";
        long_batch: f64 = 1e9, "ns",
            "A batch this long hardly depends on warm-up, so a sample needs only one.",
            "convention";
        fewest_batches: u32 = 3, "batches",
            "A sample has at least this many batches unless one of them is long.",
            "least number with a median that one batch cannot move";
        longest_timed: f64 = 150e6, "ns",
            "A sample whose parties wait for busy CPUs ends after this time, several times the usual one.",
            "convention";
        sensor_batch: u32 = 200_000, "ns",
            "Length of a batch between two sensor readings, short so that a neighbour seldom starts within one.",
            "recorded samples of a guest whose core was shared for 38% of the time";
        filtered_nanos: f64 = 50e6, "ns",
            "Longest total time of the filtered batches of a sample.",
            "convention";
        enough_batches: u32 = 20, "batches",
            "A sample ends after this many clean batches (of a difference: pairs).",
            "recorded samples of a guest whose core was shared for 38% of the time";
        enough_of_core: u32 = 12, "batches",
            "The same for results in cycles. Processes differ by 1 to 3%, far more than the error of a dozen batches.",
            "test the_first_dozen_clean_batches_say_what_all_do";
        most_batches: u32 = 100, "batches",
            "A sample has at most this many batches, however few are clean.",
            "convention";
        unknown_batches: u32 = 40, "batches",
            "The same while the exclusive core is unknown, so readings cannot be evaluated.",
            "convention";
        none_after: u32 = 12, "batches",
            "A sample without a clean batch among this many ends: its core stays shared.",
            "recorded samples of a guest whose core was shared for 38% of the time";
        few_after: u32 = 40, "batches",
            "A sample with hardly any clean batch among this many ends.",
            "recorded samples of a guest whose core was shared for 38% of the time";
        few: u32 = 3, "batches",
            "Fewer clean batches than this are hardly any.",
            "recorded samples of a guest whose core was shared for 38% of the time";
        null_batches: u32 = 4, "batches",
            "Null batches of a sample. They show what the sensors read without work.",
            "convention";
        settling: f64 = 0.25, "1",
            "Untimed operations after a reading may take this share of a batch.",
            "convention";
        parties_sleep: u32 = 30_000, "ns",
            "Threads of a team sleep after this time; before, they would contend with a reading.",
            "spin time of crates/core/benchmarks/src/team.rs with a margin";
        turn_batches: u32 = 12, "batches",
            "Batches in a row of one member of a shared sample, if its first ones evict the others' cache lines.",
            "convention";
        unknown_cache: u32 = 33_554_432, "B",
            "Assumed size of the last-level caches if it is unknown.",
            "convention";
        single_nanos: f64 = 10e6, "ns",
            "Time of a sample of single operations.",
            "convention";
        single_most: f64 = 50e6, "ns",
            "Longest time of such a sample, to reach a quantile of 99.9%.",
            "convention";
    }
    /// Usable batches, samples and rounds.
    quality: QualityRules {
        near: f64 = 0.05, "1",
            "A reading is of an exclusive core if its ratio is within this distance of the known one.",
            "test a_value_that_hangs_on_the_threshold_says_so; each document states the sensitivity";
        steady: f64 = 0.01, "1",
            "Two readings of one clock differ by at most this.",
            "accuracy of the clock sensor: 0.05%";
        off_cpu: f64 = 0.01, "1",
            "A thread may be off its CPU for this share of a batch without having yielded it.",
            "convention";
        off_cpu_nanos: f64 = 3000.0, "ns",
            "The same in nanoseconds: reading both clocks takes time, and so do interrupts.",
            "convention";
        longest_batch: f64 = 3e6, "ns",
            "Longer batches are not filtered: that would select quiet minutes for long operations only.",
            "recorded samples of a guest whose core was shared for 38% of the time";
        most_parties: u32 = 4, "CPUs",
            "Results of more parties on separate CPUs are not filtered: seldom are all cores exclusive at once.",
            "convention";
        fewest_batches: u32 = 8, "batches",
            "A sample with fewer clean batches (of a difference: pairs) is excluded.",
            "recorded samples of a guest whose core was shared for 38% of the time";
        fewest_samples: u32 = 6, "samples",
            "A result with fewer clean samples at the end states what was observed.",
            "fewest values with an interval at 95%: 1 - 2 / 2^6";
        machine_samples: u32 = 20, "samples",
            "From this many samples on, contention or preemption can count as a property of the machine.",
            "convention";
        machine_share: f64 = 0.1, "1",
            "It is one if fewer samples than this share are free of it.",
            "convention";
        own_work: f64 = 0.5, "1",
            "Work disturbs its own readings if its batches are clean less often than null batches by this factor.",
            "convention";
        null_batches: u32 = 60, "batches",
            "This many null batches show that.",
            "convention";
        null_share: f64 = 0.2, "1",
            "At least this share of the null batches must be clean to show it.",
            "convention";
        excluded_share: f64 = 0.2, "1",
            "A reason that excludes more samples than this is a property of the machine.",
            "convention";
        taken_round: f64 = 0.02, "1",
            "Rounds from which steal time or a quota took a larger share are excluded.",
            "convention";
        steal_ticks: u32 = 50, "ticks",
            "Shares of steal time are judged over at least this many ticks: a tick may be almost nothing.",
            "a tick of 50 is 2%";
        taken_flag: f64 = 0.01, "1",
            "A result is flagged if a larger share of its time was taken.",
            "convention";
        preempted: f64 = 0.5, "1",
            "A sample is preempted if it ran for less than this share of the CPU time of the one that ran most.",
            "most of its batches then hold work of others";
        preempted_switches: f64 = 0.25, "1",
            "It also has at least this many involuntary switches in a batch.",
            "convention";
        busy: f64 = 0.8, "1",
            "Only results that use at least this share of their CPU can be preempted: others wait by themselves.",
            "convention";
        handed_over: f64 = 0.25, "1",
            "A sample is excluded if others took the CPU that it yielded in this share of its batches.",
            "a quarter moves the median of all";
        disturbed_batch: f64 = 1.5, "1",
            "A batch of more than this multiple of the median of its sample is disturbed.",
            "convention";
        noisy_share: f64 = 0.1, "1",
            "A result with a larger share of disturbed batches is flagged noisy.",
            "test a_result_is_noisy_from_a_tenth_of_its_batches_on";
        distance_readings: u32 = 10, "readings",
            "The usual distance of two CPUs is known from this many readings.",
            "convention";
        nearest_share: f64 = 0.333, "1",
            "The nearest of several distances is the usual one if it has this share of the readings.",
            "the topology states the nearest";
        slope_tolerance: f64 = 0.15, "1",
            "Samples contradict the declared domain beyond this distance of their slope over the clock.",
            "convention";
        slope_range: f64 = 0.02, "1",
            "The slope is used if the clock moved by at least this: readings are accurate to 0.05%.",
            "convention";
        slope_samples: u32 = 10, "samples",
            "A slope needs this many samples.",
            "convention";
        ratio_readings: u32 = 100, "readings",
            "The exclusive core is learnt from this many readings.",
            "convention";
        ratio_agrees: f64 = 0.01, "1",
            "A ratio is the known one within this distance.",
            "lower modes of several runs: 0.2493 to 0.2519";
        lower_mode: f64 = 0.05, "1",
            "A lower mode has at least this share of the readings.",
            "convention";
        mode_sharp: f64 = 0.35, "1",
            "A mode has at least this share of the readings around it; without a mode it is a seventh.",
            "convention";
        mode_beyond: f64 = 0.05, "1",
            "A mode is the lower of several if at least this share of the readings is above it.",
            "convention";
        single_mode: f64 = 0.005, "1",
            "The quartiles of a single mode are within this distance.",
            "convention";
        throughout: f64 = 0.95, "1",
            "A core is shared all the time if this share of the readings is beyond a known ratio.",
            "convention";
        at_known: f64 = 0.01, "1",
            "A known ratio is seen if this share of the readings is at it.",
            "convention";
        lowest_peak: f64 = 0.25, "1",
            "The ratio of a core that issues at its width is that of a peak with at least this share of such readings.",
            "recorded session: half of them";
        below_lowest_peak: f64 = 0.05, "1",
            "At most this share of them is below that peak.",
            "convention";
        issued_alone: f64 = 0.95, "1",
            "A core that issues this share of its documented width is exclusive.",
            "vendors: 2nd threads take a share";
        issued_at_most: f64 = 1.03, "1",
            "Beyond this share the clock stepped within the reading.",
            "convention";
        issued_by_another: f64 = 1.15, "1",
            "Beyond this share it is another core than it says: widths differ by a fifth or more.",
            "convention";
        another_share: f64 = 0.1, "1",
            "This share of such readings refutes the documented width.",
            "convention";
        issue_readings: u32 = 20, "readings",
            "This many readings at the width show an exclusive core.",
            "convention";
        reading_seconds: f64 = 0.1, "s",
            "Between samples, time from one sensor reading to the next.",
            "convention";
        readings: u32 = 3, "readings",
            "Readings that are taken at a time.",
            "one interrupt does not move the middle of three";
        first_readings: u32 = 60, "readings",
            "Readings that are taken before measuring begins.",
            "convention";
        parts: u32 = 20, "parts",
            "Values of the clock and of the core's sharing in a session.",
            "convention";
        part_readings: u32 = 3, "readings",
            "Each of them has at least this many readings on average.",
            "convention";
        observed_samples: u32 = 10, "samples",
            "The first samples of a result never wait for their core: they are what is observed.",
            "convention";
        waiting_seconds: f64 = 0.1, "s",
            "Longer samples do not wait for their core: neighbours come and go anyway.",
            "neighbours stay for hundredths to tenths of a second";
        waits: u32 = 150, "waits",
            "A round ends without the samples that still wait after this many waits of 2 ms.",
            "convention";
        patience: u32 = 4, "rounds",
            "A sample no longer waits after this many rounds without it.",
            "convention";
        other_cores: u32 = 3, "CPUs",
            "Other CPUs that are tried for a result in cycles.",
            "convention";
    }
    /// When a result is done, and when it cannot converge.
    decide: DecideRules {
        bound_samples: u32 = 20, "samples",
            "If there is no difference, its result becomes a bound after this many samples.",
            "convention";
        edge_batches: u32 = 4, "batches",
            "This many batches show whether a sample was slow throughout.",
            "convention";
        clock_steps: f64 = 10.0, "steps",
            "A result whose timed difference is below this many steps of the clock is flagged.",
            "convention";
        tighten: f64 = 0.25, "1",
            "In the time left, results in cycles are tightened to this part of their target.",
            "two intervals of half a band can be told to be the same within it";
    }
    /// The order of results under a time limit.
    schedule: ScheduleRules {
        part: u32 = 100, "results",
            "Results that share rounds. Their samples spread over minutes, and a round takes seconds.",
            "convention";
        calibration_share: f64 = 0.4, "1",
            "Calibration may take this share of a time limit; the rest of it waits.",
            "convention";
        infeasible_share: f64 = 0.1, "1",
            "Results that are not expected to converge get this share of the time.",
            "test what_is_infeasible_gets_a_share_of_the_time";
        round_seconds: f64 = 2.0, "s",
            "A round of a limited run is filled to this length, so that samples of one result do not all meet one neighbour.",
            "neighbours stay for a second or two";
        round_share: f64 = 0.012, "1",
            "A round is filled to at most this share of the limit.",
            "convention";
        tighten_limit: f64 = 60.0, "s",
            "Runs with a shorter limit tighten nothing.",
            "convention";
        sure_share: f64 = 0.8, "1",
            "Tightening begins if its rounds to the next checkpoint fit into this share of the time left.",
            "convention";
        attempts: u32 = 3, "samples",
            "An excluded sample is made at most this often in a round.",
            "convention";
        refusals: u32 = 5, "samples",
            "A result ends after this many failed samples in a row.",
            "convention";
    }
    /// When values form modes.
    modes: ModeRules {
        dip: f64 = 0.541, "1",
            "Limit of the dip for many samples, times their square root: 5% of as many uniform values exceed it.",
            "20,000 samples of uniform values of each size from 8 to 320, test modes of prony-stats";
        dip_of_few: f64 = 0.295, "1",
            "How much smaller that limit is for few samples, times the square root of their number once more.",
            "20,000 samples of uniform values of each size from 8 to 320, test modes of prony-stats";
        least_ratio: f64 = 1.05, "1",
            "Levels nearer than 5% are described well enough by one median and its interval.",
            "a choice: two and a half times the band within which results count as the same";
        least_share: f64 = 0.1, "1",
            "A smaller share of the samples is scatter and no level of its own.",
            "a choice; the dip test needs hundreds of samples to find less";
        few_runs: f64 = 2.326, "standard deviations",
            "If levels change less often than expected by this much, they persist and are not modes: 1% by chance.",
            "Wald and Wolfowitz, Annals of Mathematical Statistics 11, 1940";
        throughout: f64 = 0.9, "1",
            "Least share of the slower samples that must be slow in nine of ten batches: preempted samples are slow in some batches only.",
            "recorded pipes beside builds, test judge of prony-measure";
    }
    /// How much a value differs from session to session, and how samples of one session depend on each other.
    noise: NoiseRules {
        persistence: f64 = 0.30, "1",
            "Assumed correlation of neighbouring samples if there are few: that of the mean inflation of the variance.",
            "79 recorded series, half of all, test persistence of prony-stats";
        persistence_weight: f64 = 28.0, "samples",
            "Number of samples whose own correlation weighs as much as that mean: one over the variance of the true correlations.",
            "79 recorded series, half of all, test persistence of prony-stats";
        shown: f64 = 0.05, "1",
            "Probability by chance up to which samples are shown to resemble their neighbours; their own correlation counts then.",
            "a convention";
        compute: f64 = 0.002, "1",
            "Standard deviation between sessions of a machine: four in five results of compute move less.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        fault: f64 = 0.03, "1",
            "The same for page faults and mappings.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        bandwidth: f64 = 0.07, "1",
            "The same for memory bandwidth.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        ipc: f64 = 0.07, "1",
            "The same for two parties: pipes, sockets, switches.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        memory_latency: f64 = 0.1, "1",
            "The same for the latency of memory beyond the caches near the core.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        process: f64 = 0.05, "1",
            "The same for processes and threads. Quiet recordings show less: fork moved by 16% with the load.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        file_metadata: f64 = 0.15, "1",
            "The same for metadata and durability of files.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        file_data: f64 = 0.03, "1",
            "The same for data of files.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        application: f64 = 0.05, "1",
            "The same for whole applications: the median of the other classes, because no sessions were recorded.",
            "the rules of the other classes";
        network: f64 = 0.05, "1",
            "The same for network transfers: the median of the other classes, because no sessions were recorded.",
            "the rules of the other classes";
        accelerator: f64 = 0.01, "1",
            "The same for accelerators. No sessions were recorded; eight launches of one session differed by at most \
             0.3%.",
            "a choice";
        fewest_sessions: u32 = 3, "sessions",
            "From this many sessions on, a machine's own sessions give the noise of a result.",
            "two sessions have one difference, and Student's quantile of one degree is 12.7";
        newest_sessions: u32 = 12, "sessions",
            "Older sessions of a machine are no longer representative.",
            "a choice";
        level_ratio: f64 = 3.0, "1",
            "Values of a level of memory that lie further apart than this come from surveys that counted its levels differently.",
            "levels of caches are apart by more than its square";
        highest_level: f64 = 0.997, "1",
            "Assumed level of an interval of unknown level, when its error is subtracted from the scatter of sessions.",
            "order statistics come in steps: the highest level that intervals at 95% usually have";
        most_correlation: f64 = 0.9, "1",
            "Largest correlation of neighbours that is used. Beyond it, the number of independent samples is unknown.",
            "a choice";
        fewest_correlated: u32 = 6, "samples",
            "With fewer samples, only a correlation that a test shows counts: chance alone suggests one too often.",
            "test autocorrelation of prony-stats";
        least_degrees: f64 = 2.0, "degrees of freedom",
            "Least degrees of freedom of one side of a comparison. With fewer, not even ten deviations would be \
             significant.",
            "test correlated of prony-stats";
        drift_p: f64 = 0.01, "1",
            "Probability of a trend by chance below which values drift.",
            "a convention, for a flag";
        drift_one_way: f64 = 0.9, "1",
            "Kendall's tau from which values always count as drifting: a curved trend hides in the correction for \
             correlation.",
            "test flags of prony-stats";
    }
    /// When two results differ.
    compare: CompareRules {
        band: f64 = 0.02, "1",
            "Results that differ by less count as the same.",
            "a convention; a comparison may ask for another one";
        cycles_band: f64 = 0.5, "1",
            "Part of the band within which cycles of one machine count as the same: they are known better than times.",
            "recorded sessions of one boot, test same of prony-compare";
        one_core: f64 = 0.02, "1",
            "If contention-sensor ratios of two exclusive cores differ by more, the cores are built differently.",
            "recorded sessions, test references of prony-measure";
        clock_error: f64 = 0.0005, "1",
            "Standard deviation with which a sensor of 10 to 15 us, timed in nanoseconds, reads a clock: no clock is known better.",
            "resolution of the timer";
        unstated_clock: f64 = 0.029, "1",
            "Assumed half-interval at 95% of a run's median clock if the run does not state it: the largest recorded.",
            "recorded sessions of a shared guest: 0.2 to 2.9%";
        good_run: f64 = 0.9, "1",
            "Share of the results with a value that reach their targets in a run of good quality.",
            "a choice";
        fair_run: f64 = 0.5, "1",
            "The same for a run of fair quality.",
            "a choice";
        assumed_ratio: f64 = 1.3, "1",
            "A ratio must exceed this in addition to an assumed spread, because an assumption is not a measurement.",
            "a choice";
    }
}

impl Rules {
    /// The rules as a document holds them: each name with its number.
    pub fn values(&self) -> BTreeMap<String, f64> {
        self.list().into_iter().map(|rule| (rule.name.to_owned(), rule.value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_finite_number_a_unit_a_reason_and_a_source() {
        let rules = RULES.list();
        assert_eq!(RULES.values().len(), rules.len(), "two rules of one name");
        for rule in rules {
            assert!(rule.value.is_finite(), "{rule:?}");
            assert!([rule.unit, rule.reason, rule.source].iter().all(|text| !text.is_empty()), "{rule:?}");
        }
    }
}
