//! A figure's point as one text that does not depend on the order of its axes.

use model::{FigureKey, Point};

/// Axes sorted by name, `axis=value` joined by commas. A comma, an equals sign or a backslash in a part is escaped by a
/// backslash, so that two points never give the same text.
pub(crate) fn canonical(point: &Point) -> String {
    let mut pairs: Vec<_> = point.iter().collect();
    pairs.sort_unstable();
    let mut text = String::new();
    for (index, (axis, value)) in pairs.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        escape(axis, &mut text);
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

/// The key of a probe and a canonical text, with axes in alphabetical order.
pub(crate) fn figure_key(probe: &str, canonical: &str) -> FigureKey {
    let mut point = Point::origin();
    let (mut axis, mut part, mut escaped) = (None, String::new(), false);
    for character in canonical.chars() {
        match character {
            _ if escaped => {
                part.push(character);
                escaped = false;
            }
            '\\' => escaped = true,
            '=' => axis = Some(std::mem::take(&mut part)),
            ',' => point = point.with(axis.take().unwrap_or_default(), std::mem::take(&mut part)),
            _ => part.push(character),
        }
    }
    if let Some(axis) = axis {
        point = point.with(axis, part);
    }
    FigureKey::new(probe, point)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn order_of_axes_does_not_matter() {
        let a: Point = "working_set=64MiB,threads=1".parse().unwrap();
        let b: Point = "threads=1,working_set=64MiB".parse().unwrap();
        assert_eq!(canonical(&a), "threads=1,working_set=64MiB");
        assert_eq!(canonical(&a), canonical(&b));
        assert_eq!(canonical(&Point::origin()), "");
    }

    proptest! {
        #[test]
        fn every_point_is_read_back(pairs in prop::collection::vec(("[a-c=,\\\\]{0,4}", "[x-z=,\\\\]{0,4}"), 0..4)) {
            let point = pairs.into_iter().fold(Point::origin(), |point, (axis, value)| point.with(axis, value));
            prop_assert_eq!(figure_key("p", &canonical(&point)).point, point);
        }
    }
}
