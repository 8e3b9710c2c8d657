//! Values that follow from what a source states: sums, products and brackets of numbers and names.

/// The value of a formula; none if a name has none, or the result is not a number.
pub(super) fn evaluate(formula: &str, value_of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut rest = formula;
    let value = sum(&mut rest, value_of)?;
    (rest.trim().is_empty() && crate::text::usable(value)).then_some(value)
}

/// Names in a formula.
pub(super) fn names(formula: &str) -> impl Iterator<Item = &str> {
    formula.split(|c: char| !is_word(c)).filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// The sign that comes next, if it is one of these.
fn sign(rest: &mut &str, signs: [char; 2]) -> Option<char> {
    *rest = rest.trim_start();
    let found = rest.chars().next().filter(|c| signs.contains(c))?;
    *rest = &rest[1..];
    Some(found)
}

fn sum(rest: &mut &str, value_of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut total = product(rest, value_of)?;
    while let Some(sign) = sign(rest, ['+', '-']) {
        let next = product(rest, value_of)?;
        total = if sign == '+' { total + next } else { total - next };
    }
    Some(total)
}

fn product(rest: &mut &str, value_of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut total = atom(rest, value_of)?;
    while let Some(sign) = sign(rest, ['*', '/']) {
        let next = atom(rest, value_of)?;
        total = if sign == '*' { total * next } else { total / next };
    }
    Some(total)
}

fn atom(rest: &mut &str, value_of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    if sign(rest, ['(', '(']).is_some() {
        let inside = sum(rest, value_of)?;
        return sign(rest, [')', ')']).map(|_| inside);
    }
    let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    let (word, behind) = rest.split_at(end);
    *rest = behind;
    word.parse().ok().or_else(|| value_of(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_computed_or_refused() {
        let value_of =
            |name: &str| [("a", 6.0), ("b_2", 2.0)].iter().find(|(known, _)| *known == name).map(|(_, v)| *v);
        assert_eq!(evaluate("100 * a / (a + b_2) - 1.5", &value_of), Some(73.5));
        for formula in ["", "a +", "a c", "(a", "c * 2", "a / (b_2 - 2)"] {
            assert_eq!(evaluate(formula, &value_of), None, "{formula}");
        }
        assert_eq!(names("2 * a / b_2").collect::<Vec<_>>(), ["a", "b_2"]);
    }
}
