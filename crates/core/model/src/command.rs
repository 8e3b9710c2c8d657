//! The command line as documents store it: without secrets.

/// The words of a command line without secrets. Addresses such as `postgres://user:password@host/base` lose their
/// password and everything after a question mark, which may hold one too (as RFC 3986, section 3.2.1, advises).
#[must_use]
pub fn presentable(words: impl IntoIterator<Item = String>) -> Vec<String> {
    words.into_iter().map(|word| without_password(&word)).collect()
}

/// The words of this process's command line. Invalid UTF-8, as in names of files, becomes U+FFFD.
#[must_use]
pub fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// An address without its password; any other text unchanged.
#[must_use]
pub fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let of_database = scheme.ends_with("postgres") || scheme.ends_with("postgresql");
    let plain = if of_database { rest.split('?').next().unwrap_or_default() } else { rest };
    match plain.rsplit_once('@') {
        Some((user, host)) => format!("{scheme}://{}@{host}", user.split(':').next().unwrap_or_default()),
        None => format!("{scheme}://{plain}"),
    }
}

/// Whether a text is the address of a database with a password in it.
#[must_use]
pub fn holds_password(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    if !scheme.ends_with("postgres") && !scheme.ends_with("postgresql") {
        return false;
    }
    let (plain, query) = rest.split_once('?').unwrap_or((rest, ""));
    plain.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
        || query.split('&').any(|parameter| parameter.starts_with("password="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_a_password_is_noticed() {
        for word in ["postgres://me:s@c/ret@host:1/base", "--store=postgresql://host/base?a=b&password=secret"] {
            assert!(holds_password(word), "{word}");
        }
        for word in ["postgres://me@host:1/base?passfile=/p", "https://me:secret@host", "postgres://host:5432/b", "a"] {
            assert!(!holds_password(word), "{word}");
        }
    }

    #[test]
    fn passwords_are_not_kept() {
        for (word, kept) in [
            ("postgres://me:s@c/ret@host:1/base?sslmode=disable", "postgres://me@host:1/base"),
            ("--store=postgresql://host/base?password=secret", "--store=postgresql://host/base"),
            ("postgres://me@%2Frun/base", "postgres://me@%2Frun/base"),
            ("https://host/page?question=1", "https://host/page?question=1"),
            ("a=b", "a=b"),
            ("ssh -p 22 me@host", "ssh -p 22 me@host"),
        ] {
            assert_eq!(presentable([word.to_owned()]), [kept]);
        }
    }
}
