//! The characters that readers can see, by the locale of the environment.

use std::ffi::OsString;

/// The variables that name the locale of characters, in the order in which the first that says something decides.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

/// Whether text for people is to be ASCII alone: the locale says so. Without a locale, as in many containers, text is
/// UTF-8, as on nearly every terminal.
pub(crate) fn is_ascii() -> bool {
    is_ascii_by(|name| std::env::var_os(name))
}

/// Text as this locale can show it.
pub(crate) fn shown(text: &str) -> String {
    if is_ascii() { report::words::ascii(text) } else { text.to_owned() }
}

fn is_ascii_by(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let named = VARIABLES.iter().filter_map(|name| variable(name)).find(|value| !value.is_empty());
    named.is_some_and(|locale| {
        let locale = locale.to_string_lossy().to_lowercase();
        // LANGUAGE.CHARACTERS@VARIANT; systems by Apple name the characters alone.
        let characters = locale.split('@').next().and_then(|name| name.rsplit('.').next()).unwrap_or_default();
        characters.replace('-', "") != "utf8"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_says_something_decides() {
        let ascii = |all: &str, characters: &str, lang: &str| {
            is_ascii_by(|name| {
                let value = match name {
                    "LC_ALL" => all,
                    "LC_CTYPE" => characters,
                    _ => lang,
                };
                (value != "unset").then(|| value.into())
            })
        };
        assert!(ascii("C", "en_US.UTF-8", "en_US.UTF-8") && ascii("POSIX", "unset", "unset"));
        assert!(ascii("", "C", "en_US.UTF-8") && ascii("unset", "unset", "cs_CZ.ISO8859-2"));
        assert!(ascii("unset", "unset", "de_DE@euro") && ascii("unset", "unset", "C"));
        for name in ["C.UTF-8", "en_US.utf8", "UTF-8", "ca_ES.UTF-8@valencia"] {
            assert!(!ascii(name, "C", "C") && !ascii("", name, "C") && !ascii("unset", "unset", name), "{name}");
        }
        assert!(!ascii("unset", "unset", "unset") && !ascii("", "", ""), "nothing says what the terminal lacks");
    }
}
