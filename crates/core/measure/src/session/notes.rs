//! Notes of a result: what its place and size say before it is measured, and what its samples say.

use std::collections::BTreeMap;

/// Notes on a result in this session.
#[derive(Debug, Clone, Default)]
pub(super) struct ResultNotes {
    /// Notes that hold for every sample.
    remarks: Vec<String>,
    /// How many samples said what.
    said: BTreeMap<String, u32>,
    samples: u32,
}

impl ResultNotes {
    /// Adds a note that holds for every sample.
    pub(super) fn remark(&mut self, note: String) {
        self.remarks.push(note);
    }

    /// Adds the notes of one more sample; returns the notes of the result. Notes of most samples hold. Rarer ones were
    /// accidents, unless only the newest sample has it: then it describes that sample, such as a time.
    pub(super) fn take(&mut self, newest: Vec<String>) -> Vec<String> {
        self.samples += 1;
        for note in &newest {
            *self.said.entry(note.clone()).or_default() += 1;
        }
        let most = |count: u32| 2 * count >= self.samples;
        let count = |note: &String| self.said.get(note).copied().unwrap_or(0);
        let of_newest = newest.iter().filter(|note| count(note) == 1 || most(count(note)));
        let of_most = self.said.iter().filter(|(_, count)| **count > 1 && most(**count)).map(|(note, _)| note);
        let mut notes = self.remarks.clone();
        for note in of_newest.chain(of_most) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        notes
    }

    /// Replaces the previous notes by those of all samples so far; returns the notes of the result.
    pub(super) fn replace(&mut self, newest: Vec<String>) -> Vec<String> {
        self.said.clear();
        self.samples = 0;
        self.take(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_most_samples_say_holds_whatever_the_newest_says() {
        let mut notes = ResultNotes::default();
        notes.remark("fits the cache".to_owned());
        let mut take = |said: &[&str]| notes.take(said.iter().map(|note| (*note).to_owned()).collect());
        assert_eq!(take(&["at least"]), ["fits the cache", "at least"]);
        assert_eq!(take(&["at least", "took 3 s"]), ["fits the cache", "at least", "took 3 s"]);
        assert_eq!(take(&["took 4 s"]), ["fits the cache", "took 4 s", "at least"]);
        assert_eq!(take(&[]), ["fits the cache", "at least"]);
        // Two of five samples are few: one more that says it is an accident too.
        assert_eq!(take(&[]), ["fits the cache"]);
        assert_eq!(take(&[]), ["fits the cache"]);
        assert_eq!(take(&[]), ["fits the cache"]);
        assert_eq!(take(&["at least"]), ["fits the cache"]);
    }

    /// The largest skew so far, which some samples leave as it is and others raise.
    #[test]
    fn what_is_said_of_all_samples_replaces_what_was_said() {
        let mut notes = ResultNotes::default();
        for said in ["within 1 ms", "within 1 ms", "within 1 ms", "within 2 ms", "within 2 ms"] {
            assert_eq!(notes.replace(vec![said.to_owned()]), [said]);
        }
    }

    /// A sum over all samples so far is the newest's alone.
    #[test]
    fn what_one_sample_said_is_replaced() {
        let mut notes = ResultNotes::default();
        assert_eq!(notes.take(vec!["none of 4".to_owned()]), ["none of 4"]);
        assert_eq!(notes.take(vec!["none of 8".to_owned()]), ["none of 8"]);
    }
}
