//! Makes foreign text fit for one line of an error message.

/// Longest foreign text that an error prints, characters.
const LONGEST: usize = 240;

/// The text on one line, without control characters, truncated: text from a document or a database must neither break
/// the line nor control the terminal.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == LONGEST {
            line.push_str("...");
            break;
        }
        if character.is_control() { line.extend(character.escape_default()) } else { line.push(character) }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_on_one_short_line() {
        assert_eq!(one_line("a\nb\u{1b}[31m"), "a\\nb\\u{1b}[31m");
        assert_eq!(one_line(&"x".repeat(1000)).len(), LONGEST + 3);
        assert_eq!(one_line("naïve ü"), "naïve ü");
    }
}
