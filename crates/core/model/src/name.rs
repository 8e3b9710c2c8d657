//! Names on the command line: patterns, and suggestions for misspelt names.

use wildmatch::WildMatch;

/// Whether a text matches a pattern: `*` stands for any text, `?` for any one character.
#[must_use]
pub fn glob(pattern: &str, text: &str) -> bool {
    WildMatch::new(pattern).matches(text)
}

/// Up to three names that the user may have meant, nearest first. Distance counts letters changed, omitted, inserted or
/// exchanged with a neighbour: at most a quarter of them or two, and not all of them.
#[must_use]
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    let far = (length / 4).max(2).min(length.saturating_sub(1));
    let mut near: Vec<(usize, &str)> = names
        .map(|known| {
            let distance = |known: &str| strsim::osa_distance(&name, &known.to_lowercase());
            // The family is often omitted.
            let bare = known.split_once('.').map_or(usize::MAX, |(_, bare)| distance(bare));
            (distance(known).min(bare), known)
        })
        .filter(|(distance, _)| *distance <= far)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(3).map(|(_, known)| known.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match() {
        assert!(glob("memory.*", "memory.copy") && glob("*.c?py", "memory.copy") && glob("*", ""));
        assert!(!glob("memory.*", "os.fork") && !glob("memory.?", "memory.copy") && !glob("", "a"));
        assert!(glob("a*b*c*", "a--b-b-c") && !glob("a*b*d", "a--b-b-c"));
    }

    #[test]
    fn near_names_are_offered() {
        let names = ["memory.copy", "memory.scale", "os.fork_exit", "os.fork_exit"];
        assert_eq!(nearest("memory.copi", names.into_iter()), ["memory.copy"]);
        assert_eq!(nearest("Memory.cpoy", names.into_iter()), ["memory.copy"]);
        assert_eq!(nearest("fork_exi", names.into_iter()), ["os.fork_exit"]);
        assert!(nearest("zzzzzz", names.into_iter()).is_empty());
        assert_eq!(nearest("99", ["k4", "9", "x.3", "9a"].into_iter()), ["9", "9a"], "as long as what is changed");
    }
}
