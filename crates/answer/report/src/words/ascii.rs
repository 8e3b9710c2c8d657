//! Text in ASCII alone, for terminals and pipes whose locale has no other characters.

use unicode_width::UnicodeWidthChar;

/// What stands for a character of this program's own; `None` for all others.
fn stand_in(c: char) -> Option<&'static str> {
    Some(match c {
        'µ' | 'μ' => "u",
        '×' => "x",
        '±' => "+-",
        '–' | '—' | '−' | '‐' | '‑' | '─' | '▄' => "-",
        '…' => "...",
        '·' => ".",
        '►' => ">",
        '†' => "+",
        '‡' => "#",
        '│' | '▏' | '▕' => "|",
        '┌' | '┐' | '└' | '┘' => "+",
        // A bar of eight heights: the higher, the darker.
        '▁' => "_",
        '▂' | '░' => ".",
        '▃' => ":",
        '▅' | '▒' => "=",
        '▆' => "+",
        '▇' | '▓' => "*",
        '█' => "#",
        '‘' | '’' => "'",
        '“' | '”' => "\"",
        '\u{a0}' | '\u{202f}' => " ",
        _ => return None,
    })
}

/// The text with a stand-in for every character beyond ASCII, a question mark for each column of one that has none.
/// Columns stay where they are: what a stand-in is longer than its character is taken from the blanks that follow.
#[must_use]
pub fn ascii(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(line_in_ascii).collect();
    lines.join("\n")
}

fn line_in_ascii(line: &str) -> String {
    if line.is_ascii() {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len());
    let mut excess = 0;
    // In a picture a dot says that nothing is known, and the least shade has the dot of ASCII.
    let picture = line.contains(['▕', '░', '▒', '▓', '█']) || line.contains("··");
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        match stand_in(c) {
            // Of the blanks between two columns one stays.
            None if c == ' ' && excess > 0 && out.ends_with(' ') => excess -= 1,
            None if c.is_ascii() => out.push(c),
            None => out.extend(std::iter::repeat_n('?', c.width().unwrap_or(0))),
            // A list's bullet, and the separator of commands, beside which a dot would belong to one of them.
            Some(_) if c == '·' && picture => out.push('?'),
            Some(_) if c == '·' && letters.peek() == Some(&' ') && (out.is_empty() || out.ends_with(' ')) => {
                out.push(if out.trim_start().is_empty() { '-' } else { ';' });
            }
            Some(word) => {
                out.push_str(word);
                excess += word.len() - 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_this_program_has_a_stand_in() {
        assert_eq!(ascii("141 µs  139 – 144 (−3×), 14 within ±2% …"), "141 us  139 - 144 (-3x), 14 within +-2% ...");
        assert_eq!(ascii("  · Take 1\nNext: prony show 3 · prony runs"), "  - Take 1\nNext: prony show 3 ; prony runs");
        assert_eq!(ascii("┌─ all ─┐\n│ CPU 0 │\n└───────┘"), "+- all -+\n| CPU 0 |\n+-------+");
        assert_eq!(ascii("▕··▁▂▃▄▅▆▇█ ▏ 1"), "|??_.:-=+*# | 1");
        assert_eq!(ascii("Müller 漢字 e\u{301}"), "M?ller ???? e");
        // Shades of a matrix differ from each other, as heights do.
        assert_eq!(ascii("·░▒▓█"), "?.=*#");
    }

    #[test]
    fn columns_stay_where_they_are() {
        let lines =
            ["within ±2%     3.0  a", "beyond         4.0  b", "…              5.0  c", "µ×             6.0  d"];
        for line in lines.map(ascii) {
            assert!(line.is_ascii() && (line.find(".0"), line.len()) == (Some(16), 21), "{line}");
        }
        assert_eq!(ascii("±2% is ±2%"), "+-2% is +-2%", "single blanks stay");
    }

    #[test]
    fn ascii_stays_what_it_is() {
        let text = "a\u{1b}[1mb\u{1b}[0m  c\n\nd\n";
        assert_eq!(ascii(text), text);
    }
}
