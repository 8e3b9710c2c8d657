//! Every number that can move a value, in one place: what it is, its unit, why it is so, and where it comes from.
//!
//! A document holds the rules that it was measured with ([`Rules::values`]). `prony selftest --rules` prints this list.

use std::collections::BTreeMap;

/// One number that can move a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// `group.name`, as documents write it.
    pub name: &'static str,
    /// The number, in `unit`.
    pub value: f64,
    /// The unit: `samples`, `ns`, `1` for a plain ratio.
    pub unit: &'static str,
    /// Why the number is what it is.
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

// A rule is an f64 or a u32, so that it is a plain number in documents. Add a rule to the group of the code that uses it.
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
            "A result that seldom reaches its target does so by chance: the deciding interval must miss more seldom than that.",
            "tests recordings and coverage of prony-stats";
        widening_of_8: f64 = 2.5, "1",
            "Factor on the extremes of 8 undisturbed samples that makes an interval at 99% of them in the order of time.",
            "resampled recordings, test references of prony-measure";
        widening_of_10: f64 = 5.0 / 3.0, "1",
            "The same for 10 undisturbed samples.",
            "resampled recordings, test references of prony-measure";
        steady_batches: u32 = 4, "batches",
            "Warm-up is over when two groups of so many batches agree.",
            "Georges, Buytaert and Eeckhout, OOPSLA 2007, in a simple form";
        steady_difference: f64 = 0.02, "1",
            "Largest relative difference of the medians of two groups of batches that agree.",
            "Georges, Buytaert and Eeckhout, OOPSLA 2007, in a simple form";
    }
    /// How a worker times: warm-up, the length and number of its batches.
    worker: WorkerRules {
    }
    /// Which batches, samples and rounds are usable.
    quality: QualityRules {
    }
    /// When a result is done, and when it cannot converge.
    decide: DecideRules {
    }
    /// What is measured next under a time limit.
    schedule: ScheduleRules {
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
            "With fewer changes between two levels than this below the expected number, a level persists and is no mode: 1% by chance.",
            "Wald and Wolfowitz, Annals of Mathematical Statistics 11, 1940";
        throughout: f64 = 0.9, "1",
            "Least share of the slower samples that must be slow in nine of ten batches: preempted samples are slow in some batches only.",
            "recorded pipes beside builds, test judge of prony-measure";
    }
    /// How much a value differs from session to session, and how samples of one session depend on each other.
    noise: NoiseRules {
        persistence: f64 = 0.30, "1",
            "Correlation of neighbouring samples that few samples are taken to have: that of the mean inflation of the variance.",
            "79 recorded series, half of all, test persistence of prony-stats";
        persistence_weight: f64 = 28.0, "samples",
            "Number of samples whose own correlation weighs as much as that mean: one over the variance of the true correlations.",
            "79 recorded series, half of all, test persistence of prony-stats";
        shown: f64 = 0.05, "1",
            "Probability by chance up to which samples are shown to resemble their neighbours; their own correlation counts then.",
            "a convention";
        compute: f64 = 0.002, "1",
            "Standard deviation between sessions of a machine: four results in five of the class move less.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        fault: f64 = 0.03, "1",
            "The same of page faults and mappings.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        bandwidth: f64 = 0.07, "1",
            "The same of memory bandwidth.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        ipc: f64 = 0.07, "1",
            "The same of two parties: pipes, sockets, switches.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        memory_latency: f64 = 0.1, "1",
            "The same of the latency of memory beyond the caches near the core.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        process: f64 = 0.05, "1",
            "The same of processes and threads, whose noise is more than quiet recordings show: fork moved by 16% with the load.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        file_metadata: f64 = 0.15, "1",
            "The same of metadata and durability of files.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        file_data: f64 = 0.03, "1",
            "The same of data of files.",
            "recorded sessions of several guests, test session_noise of prony-stats";
        application: f64 = 0.05, "1",
            "The same of whole applications, of which no sessions were recorded: the median of the other classes.",
            "the rules of the other classes";
        network: f64 = 0.05, "1",
            "The same of transfers over a network, of which no sessions were recorded: the median of the other classes.",
            "the rules of the other classes";
        fewest_sessions: u32 = 3, "sessions",
            "From so many sessions of its own on, a machine tells the session noise of a result itself.",
            "two sessions have one difference, and Student's quantile of one degree is 12.7";
        newest_sessions: u32 = 12, "sessions",
            "Older sessions of a machine are no longer representative.",
            "a choice";
        level_ratio: f64 = 3.0, "1",
            "Values of a level of memory that lie further apart than this come from surveys that counted its levels differently.",
            "levels of caches are apart by more than its square";
        highest_level: f64 = 0.997, "1",
            "Level that an interval of unknown level is taken for, when its error is taken off the scatter of sessions.",
            "order statistics come in steps: the highest level that intervals at 95% usually have";
        most_correlation: f64 = 0.9, "1",
            "Largest correlation of neighbours that is used: beyond it samples do not determine how many of them are independent.",
            "a choice";
        fewest_correlated: u32 = 6, "samples",
            "Of fewer samples only a correlation counts that is shown: a quarter of five independent ones look as if worth less than one.",
            "test autocorrelation of prony-stats";
        least_degrees: f64 = 2.0, "degrees of freedom",
            "Least degrees of freedom of one side of a comparison: with fewer, what lies ten deviations apart would not be told apart.",
            "test correlated of prony-stats";
        drift_p: f64 = 0.01, "1",
            "Probability of a trend by chance below which values drift.",
            "a convention, for a flag";
        drift_one_way: f64 = 0.9, "1",
            "Kendall's tau from which values drift whatever the probability: a curved trend hides in the correction for correlation.",
            "test flags of prony-stats";
    }
    /// When two results differ.
    compare: CompareRules {
        band: f64 = 0.02, "1",
            "Results that differ by less count as the same.",
            "a convention; a comparison may ask for another one";
        cycles_band: f64 = 0.5, "1",
            "Part of the band within which cycles of one machine count as the same: they are known better than times.",
            "recorded sessions of one boot, test compare_same of prony-analyse";
        one_core: f64 = 0.02, "1",
            "Ratios of the contention sensor of two unshared cores that lie further apart come from cores that are built differently.",
            "recorded sessions, test references of prony-measure";
        clock_error: f64 = 0.0005, "1",
            "Standard deviation with which a sensor of 10 to 15 us, timed in nanoseconds, reads a clock: no clock is known better.",
            "resolution of the timer";
        unstated_clock: f64 = 0.029, "1",
            "Half the interval at 95% of a run's median clock where the run does not state it: the largest that was recorded.",
            "recorded sessions of a shared guest: 0.2 to 2.9%";
        good_run: f64 = 0.9, "1",
            "Share of the results with a value that reach their targets in a run that can be trusted well.",
            "a choice";
        fair_run: f64 = 0.5, "1",
            "The same for a run that can be trusted fairly.",
            "a choice";
        assumed_ratio: f64 = 1.3, "1",
            "What a ratio must exceed in addition to a spread that is assumed: an assumption is not a measurement.",
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
