//! Formats of numbers for explanations: counts of operations, percentages, ranges, results by benchmark.

use model::{ResultKey, number, significant};

use model::words::{digits, list};

/// A count of units: whole numbers unchanged, else one decimal below 10; two significant digits above 10,000.
pub(crate) fn count(value: f64) -> String {
    match value.abs() {
        size if size < 9999.5 && value.fract() == 0.0 => format!("{value:.0}"),
        size if size < 0.1 => digits(value),
        size if size < 9.95 => format!("{value:.1}"),
        size if size < 9999.5 => format!("{value:.0}"),
        // Above that, two digits are all that the arithmetic supports.
        _ => number(value, significant(value, 2), false),
    }
}

/// A factor as a signed percentage, with a typographic minus.
pub(crate) fn change(factor: f64, decimals: usize) -> String {
    let change = (factor - 1.0) * 100.0;
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{:.decimals$}%", change.abs())
}

/// A factor on time in words: `1.48x slower`, `1.04x faster`, `no change`.
pub(crate) fn slower(factor: f64) -> String {
    let size = digits(factor.max(1.0 / factor));
    match size.as_str() {
        "1.00" => "no change".to_owned(),
        _ => format!("{size}x {}", if factor < 1.0 { "faster" } else { "slower" }),
    }
}

/// The ends of several factors: `7.33x to 11.1x slower`.
pub(crate) fn slower_range(factors: &[f64]) -> String {
    let least = factors.iter().copied().fold(f64::INFINITY, f64::min);
    let most = factors.iter().copied().fold(0.0, f64::max);
    let ends = [least, most].map(slower);
    match ends.each_ref().map(|end| end.split_once(' ').unwrap_or((end, ""))) {
        _ if ends[0] == ends[1] => ends[0].clone(),
        [(low, one), (high, other)] if one == other && low.ends_with('x') => {
            let (low, high) = if one == "faster" { (high, low) } else { (low, high) };
            format!("{low} to {high} {one}")
        }
        _ => format!("from {} to {}", ends[0], ends[1]),
    }
}

/// Two numbers as a range, or one if they print equally.
pub(crate) fn range(low: f64, high: f64, print: impl Fn(f64) -> String) -> String {
    let (low, high) = (print(low), print(high));
    if low == high { low } else { format!("{low} to {high}") }
}

pub(crate) fn plural(one: &str) -> String {
    if one.ends_with("ch") || one.ends_with('s') { format!("{one}es") } else { format!("{one}s") }
}

/// Results by benchmark, with the sets of parameters of one benchmark together: `shell.script (concurrent 1, 2, 4 and
/// 8)`.
pub(crate) fn results(keys: &[ResultKey]) -> String {
    let mut benchmarks: Vec<(&str, Vec<&ResultKey>)> = Vec::new();
    for key in keys {
        match benchmarks.iter_mut().find(|(benchmark, _)| *benchmark == key.benchmark) {
            Some((_, points)) => points.push(key),
            None => benchmarks.push((&key.benchmark, vec![key])),
        }
    }
    let named = benchmarks.iter().map(|(benchmark, points)| match points.as_slice() {
        [one] => one.to_string(),
        many => {
            let parameters: Vec<&str> = many[0].parameters.iter().map(|(parameter, _)| parameter).collect();
            let varied = |parameter: &&str| {
                many.iter().any(|key| key.parameters.get(parameter) != many[0].parameters.get(parameter))
            };
            match parameters.into_iter().filter(varied).collect::<Vec<_>>().as_slice() {
                [parameter] => {
                    let values: Vec<String> =
                        many.iter().map(|key| key.parameters.get(parameter).unwrap_or("none").to_owned()).collect();
                    format!("{benchmark} ({parameter} {})", list(&values))
                }
                _ => format!("{benchmark} ({} sets of parameters)", many.len()),
            }
        }
    });
    list(&named.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words() {
        assert_eq!(count(1.906), "1.9");
        assert_eq!(count(349.4), "349");
        assert_eq!(count(18_843.0), "19000");
        assert_eq!(change(0.9625, 2), "−3.75%");
        assert_eq!(change(3.9335, 0), "+293%");
        assert_eq!(range(1.0, 1.0, digits), "1.00");
        assert_eq!([slower(1.48), slower(1.0 / 1.04), slower(1.001)], ["1.48x slower", "1.04x faster", "no change"]);
        assert_eq!(slower_range(&[11.1, 7.33]), "7.33x to 11.1x slower");
        assert_eq!(slower_range(&[0.5, 0.8]), "1.25x to 2.00x faster");
        assert_eq!(slower_range(&[0.5, 1.5]), "from 2.00x faster to 1.50x slower");
        assert_eq!(slower_range(&[1.5]), "1.50x slower");
    }
}
