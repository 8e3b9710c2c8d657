//! Names next to points: within the drawing, and over no other name and no other point, in pixels.

/// Height of a letter over its base line, depth below it, and mean width of letters, at the size of the style sheet.
const HEIGHT: i32 = 10;
const DEPTH: i32 = 3;
const WIDTH: f64 = 7.2;
/// Distance around a point that names of others leave free.
const AROUND: i32 = 5;
/// Positions of a name, the best first: shift of its base line from the point, and the part of the name that is there.
const PLACES: [(i32, i32, LabelAnchor); 8] = [
    (8, 4, LabelAnchor::Start),
    (-8, 4, LabelAnchor::End),
    (0, -9, LabelAnchor::Middle),
    (0, 17, LabelAnchor::Middle),
    (5, -8, LabelAnchor::Start),
    (5, 16, LabelAnchor::Start),
    (-5, -8, LabelAnchor::End),
    (-5, 16, LabelAnchor::End),
];

/// The part of a name at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelAnchor {
    Start,
    Middle,
    End,
}

impl LabelAnchor {
    /// The word for it in SVG.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// A shift from a point and the part of the name that is there.
pub(super) type LabelPlace = (i32, i32, LabelAnchor);

/// Edges in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct LabelEdges {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) bottom: i32,
}

impl LabelEdges {
    const fn overlaps(self, other: Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    const fn is_within(self, area: Self) -> bool {
        self.left >= area.left && self.top >= area.top && self.right <= area.right && self.bottom <= area.bottom
    }
}

/// A position in the area for each name, from the drawn points; `None` if a name finds none. The name of `first` is
/// placed before all others, over them if it must be.
pub(super) fn place_labels(
    points: &[((i32, i32), &str)],
    first: Option<usize>,
    area: LabelEdges,
) -> Vec<Option<LabelPlace>> {
    let mut taken: Vec<LabelEdges> = Vec::new();
    let mut places = vec![None; points.len()];
    for index in first.into_iter().chain((0..points.len()).filter(|&index| Some(index) != first)) {
        let Some(&(at, name)) = points.get(index) else { continue };
        let free = |edges: LabelEdges| {
            let others = points.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, (at, _))| around(*at));
            !taken.iter().copied().chain(others).any(|other| edges.overlaps(other))
        };
        let inside: Vec<(LabelPlace, LabelEdges)> = PLACES
            .iter()
            .map(|place| (*place, edges(at, *place, name)))
            .filter(|(_, edges)| edges.is_within(area))
            .collect();
        let best = inside.iter().find(|(_, edges)| free(*edges));
        let any = inside.first().filter(|_| Some(index) == first);
        if let Some((place, edges)) = best.or(any) {
            taken.push(*edges);
            places[index] = Some(*place);
        }
    }
    places
}

const fn around((x, y): (i32, i32)) -> LabelEdges {
    let room = AROUND;
    LabelEdges { left: x - room, top: y - room, right: x + room, bottom: y + room }
}

#[expect(clippy::cast_possible_truncation, reason = "names are shorter than a page")]
fn edges((x, y): (i32, i32), (right, down, anchor): LabelPlace, name: &str) -> LabelEdges {
    let width = (name.chars().count() as f64 * WIDTH).ceil() as i32;
    let (x, y) = (x + right, y + down);
    let left = match anchor {
        LabelAnchor::Start => x,
        LabelAnchor::Middle => x - width / 2,
        LabelAnchor::End => x - width,
    };
    LabelEdges { left, top: y - HEIGHT, right: left + width, bottom: y + DEPTH }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: LabelEdges = LabelEdges { left: 50, top: 0, right: 760, bottom: 370 };

    fn placed<'a>(points: &[((i32, i32), &'a str)], first: Option<usize>) -> Vec<(usize, LabelEdges, &'a str)> {
        let places = place_labels(points, first, PAGE);
        let with = places.iter().enumerate().filter_map(|(index, place)| Some((index, (*place)?)));
        with.map(|(index, place)| (index, edges(points[index].0, place, points[index].1), points[index].1)).collect()
    }

    #[test]
    fn names_stay_in_the_drawing_and_off_each_other() {
        let name = "1 rented, 16 cores, 6 bought, 32 cores";
        let points = [((700, 20), name), ((695, 30), name), ((750, 40), name), ((350, 200), name), ((55, 360), name)];
        let placed = placed(&points, None);
        assert!(placed.len() >= 4, "{placed:?}");
        for (index, edges, _) in &placed {
            assert!(edges.is_within(PAGE), "{edges:?}");
            assert!(placed.iter().all(|(other, others, _)| other == index || !edges.overlaps(*others)), "{placed:?}");
        }
    }

    #[test]
    fn a_crowd_leaves_names_out_but_never_that_of_the_first() {
        let points: Vec<((i32, i32), &str)> =
            (0..100).map(|at| ((350 + at % 10, 200 + at / 10), "a name of some length")).collect();
        let all = placed(&points, Some(57));
        assert!(all.len() < 10 && all.iter().any(|(index, ..)| *index == 57), "{}", all.len());
        assert!(place_labels(&[], Some(3), PAGE).is_empty());
    }
}
