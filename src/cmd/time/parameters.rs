//! Parameters of timed commands: `{name}` in a command stands for every value of a list or a range.

use anyhow::{Context, Result, ensure};

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

/// The parameters of `--parameter-scan NAME MIN MAX`, `--parameter-step-size` and `--parameter-list NAME VALUES`.
///
/// # Errors
/// When a number is none, a range is empty, a step is not positive, or a name is given twice.
pub(super) fn parameters(scan: &[String], step: Option<&str>, lists: &[String]) -> Result<Vec<TimeParameter>> {
    let mut found = Vec::new();
    if let [name, from, to] = scan {
        found.push(TimeParameter { name: name.clone(), values: range(from, to, step.unwrap_or("1"))? });
    }
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

/// The values from one number to another, with the decimals of the finest of the three.
fn range(from: &str, to: &str, step: &str) -> Result<Vec<String>> {
    let number = |text: &str| {
        let value: f64 = text.parse().with_context(|| format!("could not read '{text}' as a number"))?;
        ensure!(value.is_finite(), "'{text}' is no number that can be counted to");
        Ok(value)
    };
    let (first, last, width) = (number(from)?, number(to)?, number(step)?);
    ensure!(width > 0.0, "the step of a parameter is above 0, not {step}");
    ensure!(first <= last, "the range of a parameter begins at {from} and ends before it, at {to}");
    let steps = ((last - first) / width + 1e-9).floor();
    ensure!(steps < MOST as f64, "the range from {from} to {to} has more than {MOST} values");
    let decimals = [from, step].iter().map(|text| text.split_once('.').map_or(0, |(_, tail)| tail.len())).max();
    let value = |at: u32| format!("{:.*}", decimals.unwrap_or(0), f64::from(at).mul_add(width, first));
    Ok((0..=steps as u32).map(value).collect())
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
    fn a_range_has_the_decimals_of_its_texts() {
        let found = parameters(&words(&["delay", "0.3", "0.7"]), Some("0.2"), &[]).unwrap();
        assert_eq!(found[0].values, ["0.3", "0.5", "0.7"]);
        let found = parameters(&words(&["n", "1", "12"]), None, &[]).unwrap();
        assert_eq!((found[0].values.len(), found[0].values[11].as_str()), (12, "12"));
    }

    #[test]
    fn lists_are_combined() {
        let found = parameters(&[], None, &words(&["cc", "gcc,clang", "level", "1,2,3"])).unwrap();
        let all = combinations(&found).unwrap();
        assert_eq!(all.len(), 6);
        assert_eq!(filled("{cc} -O{level} {other}", &all[4]), "clang -O2 {other}");
        assert_eq!(combinations(&[]).unwrap(), [Vec::new()]);
    }

    #[test]
    fn a_parameter_that_no_command_uses_is_refused() {
        let found = parameters(&[], None, &words(&["a", "1,2", "level", "1,2"])).unwrap();
        let used = |texts: &[&str]| all_used(&found, words(texts).iter());
        assert!(used(&["echo {level}", "make A={a}"]).is_ok());
        let refused = used(&["echo {level} {b}"]).unwrap_err().to_string();
        assert_eq!(refused, "no command uses the parameter 'a'; write {a} where its values belong");
    }

    #[test]
    fn what_cannot_be_a_range_is_refused() {
        for (from, to, step) in
            [("1", "x", "1"), ("2", "1", "1"), ("1", "2", "0"), ("0", "1e9", "1"), ("nan", "1", "1")]
        {
            assert!(parameters(&words(&["n", from, to]), Some(step), &[]).is_err(), "{from} {to} {step}");
        }
        assert!(parameters(&[], None, &words(&["n", "1", "n", "2"])).is_err());
    }
}
