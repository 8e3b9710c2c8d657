//! A gain in words: the factor above one, and its direction.

use model::{Unit, number, significant};

use crate::PrintedQuantity;

/// `1.31x slower (1.22 – 1.40)`: the wording for a gain of 0.763 (0.714 – 0.820).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor {
    /// The factor with its ends, inverted if it is for the worse. An end below 1 is on the other side.
    pub quantity: PrintedQuantity,
    /// `faster` or `slower`, `better` or `worse`; empty if the factor prints as 1.
    pub way: &'static str,
}

/// The factor of a gain (above 1 is better) of a result in `unit`.
#[must_use]
pub fn factor(gain: PrintedQuantity, unit: Unit) -> Factor {
    let worse = gain.value < 1.0;
    let quantity = if worse {
        PrintedQuantity { value: gain.value.recip(), low: gain.high.recip(), high: gain.low.recip(), ..gain }
    } else {
        gain
    };
    let one = quantity.digits().value.parse() == Ok(1.0);
    let way = match (one, unit == Unit::Seconds || unit.is_rate(), worse) {
        (true, _, _) => "",
        (false, true, true) => "slower",
        (false, true, false) => "faster",
        (false, false, true) => "worse",
        (false, false, false) => "better",
    };
    Factor { quantity, way }
}

impl Factor {
    /// `1.31x slower`; `1.00x` if it prints as 1.
    #[must_use]
    pub fn text(&self) -> String {
        let value = self.quantity.digits().value;
        if self.way.is_empty() { format!("{value}x") } else { format!("{value}x {}", self.way) }
    }

    /// The factor among many: without an interval it has three digits all the same, so that `1.20x` stands beside
    /// `1.25x`.
    #[must_use]
    pub fn text_in_map(&self) -> String {
        if self.quantity.has_interval() {
            return self.text();
        }
        let value = number(self.quantity.value, significant(self.quantity.value, 3), false);
        if self.way.is_empty() { format!("{value}x") } else { format!("{value}x {}", self.way) }
    }

    /// `1.31x slower (1.22 – 1.40)`.
    #[must_use]
    pub fn text_with_interval(&self) -> String {
        if !self.quantity.has_interval() {
            return self.text();
        }
        let digits = self.quantity.digits();
        format!("{} ({}\u{a0}–\u{a0}{})", self.text(), digits.low, digits.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(value: f64, low: f64, high: f64, unit: Unit) -> String {
        factor(PrintedQuantity::ratio(value, low, high), unit).text_with_interval().replace('\u{a0}', " ")
    }

    #[test]
    fn a_loss_is_printed_as_an_inverted_factor_with_its_direction() {
        assert_eq!(said(1.0 / 1.31, 1.0 / 1.40, 1.0 / 1.22, Unit::Seconds), "1.31x slower (1.22 – 1.40)");
        assert_eq!(said(1.31, 1.22, 1.40, Unit::BytesPerSecond), "1.31x faster (1.22 – 1.40)");
        assert_eq!(said(0.498, 0.495, 0.501, Unit::Bytes), "2.008x worse (1.996 – 2.020)");
        assert_eq!(said(1.0 / 1.08, 1.0 / 1.18, 1.0 / 0.99, Unit::Seconds), "1.08x slower (0.99 – 1.18)");
        assert_eq!(said(0.999, 0.98, 1.02, Unit::Seconds), "1.00x (0.98 – 1.02)");
        assert_eq!(factor(PrintedQuantity::bare(1.0, Unit::Ratio), Unit::Seconds).text(), "1x");
        assert_eq!(factor(PrintedQuantity::bare(0.1, Unit::Ratio), Unit::Seconds).text(), "10x slower");
        assert_eq!(factor(PrintedQuantity::bare(11.0, Unit::Ratio), Unit::Seconds).text(), "11x faster");
    }

    #[test]
    fn factors_of_a_map_have_as_many_digits_as_each_other() {
        let mapped = |value| factor(PrintedQuantity::bare(value, Unit::Ratio), Unit::Seconds).text_in_map();
        let shown = [1.2, 1.25, 1.0 / 1.3, 11.0, 0.01, 1.0].map(mapped);
        assert_eq!(shown, ["1.20x faster", "1.25x faster", "1.30x slower", "11.0x faster", "100x slower", "1.00x"]);
        let known = factor(PrintedQuantity::ratio(1.203, 1.1, 1.3), Unit::Seconds);
        assert_eq!(known.text_in_map(), known.text(), "an interval says how many digits there are");
    }
}
