//! Parameters of timed commands: `{name}` in a command stands for every value of a list.

use anyhow::{Result, ensure};

/// Most commands that parameters may make of those given.
const MOST: usize = 1000;

/// A parameter and its values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimeParameter {
    /// Its name, which stands in braces in commands.
    pub(super) name: String,
    /// Its values, as they are written into commands.
    pub(super) values: Vec<String>,
}

/// The parameters of `--parameter-list NAME VALUES`.
///
/// # Errors
/// When a name is given twice.
pub(super) fn parameters(lists: &[String]) -> Result<Vec<TimeParameter>> {
    let mut found: Vec<TimeParameter> = Vec::new();
    for list in lists.chunks_exact(2) {
        let values = list[1].split(',').map(str::to_owned).collect();
        found.push(TimeParameter { name: list[0].clone(), values });
    }
    for (at, parameter) in found.iter().enumerate() {
        ensure!(
            found[..at].iter().all(|other| other.name != parameter.name),
            "the parameter '{}' has two lists of values; give one",
            parameter.name
        );
    }
    Ok(found)
}

/// Refuses a parameter that no command uses: its values would be times of one and the same command.
///
/// # Errors
/// When the name of a parameter stands in braces in none of the texts.
pub(super) fn all_used<'a>(
    parameters: &[TimeParameter],
    texts: impl Iterator<Item = &'a String> + Clone,
) -> Result<()> {
    for TimeParameter { name, .. } in parameters {
        let place = format!("{{{name}}}");
        ensure!(
            texts.clone().any(|text| text.contains(&place)),
            "no command uses the parameter '{name}'; write {place} where its values belong"
        );
    }
    Ok(())
}

/// Every combination of values, as pairs of name and value; one empty combination without parameters.
///
/// # Errors
/// When there are too many.
pub(super) fn combinations(parameters: &[TimeParameter]) -> Result<Vec<Vec<(String, String)>>> {
    let count = parameters.iter().try_fold(1_usize, |count, parameter| count.checked_mul(parameter.values.len()));
    ensure!(count.is_some_and(|count| count <= MOST), "the parameters make more than {MOST} commands");
    let mut all = vec![Vec::new()];
    for parameter in parameters {
        let with = |known: &Vec<(String, String)>| {
            let known = known.clone();
            parameter.values.iter().map(move |value| {
                let mut longer = known.clone();
                longer.push((parameter.name.clone(), value.clone()));
                longer
            })
        };
        all = all.iter().flat_map(with).collect();
    }
    Ok(all)
}

/// A text with the values of a combination in the place of their names in braces.
pub(super) fn filled(text: &str, combination: &[(String, String)]) -> String {
    combination.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lists_are_combined() {
        let found = parameters(&words(&["cc", "gcc,clang", "level", "1,2,3"])).unwrap();
        let all = combinations(&found).unwrap();
        assert_eq!(all.len(), 6);
        assert_eq!(filled("{cc} -O{level} {other}", &all[4]), "clang -O2 {other}");
        assert_eq!(combinations(&[]).unwrap(), [Vec::new()]);
        assert!(parameters(&words(&["n", "1", "n", "2"])).is_err());
    }

    #[test]
    fn a_parameter_that_no_command_uses_is_refused() {
        let found = parameters(&words(&["a", "1,2", "level", "1,2"])).unwrap();
        let used = |texts: &[&str]| all_used(&found, words(texts).iter());
        assert!(used(&["echo {level}", "make A={a}"]).is_ok());
        let refused = used(&["echo {level} {b}"]).unwrap_err().to_string();
        assert_eq!(refused, "no command uses the parameter 'a'; write {a} where its values belong");
    }
}
