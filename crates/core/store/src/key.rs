//! A result's parameters as one text that does not depend on the order of its parameters.

use model::Parameters;

/// Parameters sorted by name, `parameter=value` joined by commas. A comma, an equals sign or a backslash in a part is
/// escaped by a backslash, so that two sets of parameters never give the same text.
pub(crate) fn canonical(parameters: &Parameters) -> String {
    let mut pairs: Vec<_> = parameters.iter().collect();
    pairs.sort_unstable();
    let mut text = String::new();
    for (index, (parameter, value)) in pairs.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        escape(parameter, &mut text);
        text.push('=');
        escape(value, &mut text);
    }
    text
}

fn escape(part: &str, text: &mut String) {
    for character in part.chars() {
        if matches!(character, ',' | '=' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn order_of_parameters_does_not_matter() {
        let a: Parameters = "working_set=64MiB,threads=1".parse().unwrap();
        let b: Parameters = "threads=1,working_set=64MiB".parse().unwrap();
        assert_eq!(canonical(&a), "threads=1,working_set=64MiB");
        assert_eq!(canonical(&a), canonical(&b));
        assert_eq!(canonical(&Parameters::none()), "");
    }

    proptest! {
        #[test]
        fn two_points_never_share_a_text(
            a in prop::collection::vec(("[a-c=,\\\\]{0,3}", "[x-z=,\\\\]{0,3}"), 0..3),
            b in prop::collection::vec(("[a-c=,\\\\]{0,3}", "[x-z=,\\\\]{0,3}"), 0..3),
        ) {
            let parameters = |pairs: Vec<(String, String)>| {
                pairs.into_iter().fold(Parameters::none(), |parameters, (parameter, value)| parameters.with(parameter, value))
            };
            let (a, b) = (parameters(a), parameters(b));
            prop_assert_eq!(canonical(&a) == canonical(&b), a == b);
        }
    }
}
