//! The covering knapsack: how many of which items do at least a rate, at the least weight.
//!
//! What a plan must do is mostly this alone, and lists of prices near proportionality make it hard for a general
//! solver: thousands of plans cost nearly the same, and none is ruled out by its bound. Items are therefore taken
//! in the order of their weight for a unit of rate, most of the best first, and every branch is bounded by what the
//! rest would weigh in parts (Martello and Toth, Knapsack Problems, 1990, chapter 3, for coverings). A step takes
//! some nanoseconds.

/// Steps of the search after which the best plan so far is taken; thus the result does not depend on the machine.
const STEPS: u64 = 50_000;
/// A plan must weigh less by more than this share to be better.
const TIE: f64 = 1e-12;

/// One kind of item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CoverItem {
    /// What one weighs: money, watts, failures a year.
    pub(crate) weight: f64,
    /// What one does.
    pub(crate) rate: f64,
    /// How many there are.
    pub(crate) most: u32,
}

/// How many of each item do `rate` at the least weight, by the order of the items; `None` where all do not suffice.
pub(crate) fn cover(items: &[CoverItem], rate: f64) -> Option<Vec<u32>> {
    let mut order: Vec<usize> = (0..items.len()).filter(|&i| items[i].most > 0 && items[i].rate > 0.0).collect();
    order.sort_by(|&a, &b| items[a].for_a_unit().total_cmp(&items[b].for_a_unit()));
    let sorted: Vec<CoverItem> = order.iter().map(|&i| items[i]).collect();
    let mut search = CoverSearch { items: &sorted, now: vec![0; sorted.len()], best: None, steps: 0 };
    search.descend(0, rate, 0.0);
    let (_, found) = search.best?;
    let mut plan = vec![0; items.len()];
    for (place, count) in order.into_iter().zip(found) {
        plan[place] = count;
    }
    Some(plan)
}

impl CoverItem {
    fn for_a_unit(&self) -> f64 {
        self.weight / self.rate
    }
}

/// A depth-first search over items by their weight for a unit of rate.
struct CoverSearch<'a> {
    items: &'a [CoverItem],
    /// The plan at hand.
    now: Vec<u32>,
    /// The best plan so far and its weight.
    best: Option<(f64, Vec<u32>)>,
    steps: u64,
}

impl CoverSearch<'_> {
    /// Looks for better plans with the items from `level` on, where `missing` is still to be done.
    fn descend(&mut self, level: usize, missing: f64, weight: f64) {
        if missing <= 0.0 {
            if self.may_be_better(weight) {
                self.best = Some((weight, self.now.clone()));
            }
            return;
        }
        let Some(item) = self.items.get(level).copied() else { return };
        let all = (missing / item.rate).ceil().min(f64::from(item.most)) as u32;
        for count in (0..=all).rev() {
            self.steps += 1;
            if self.steps > STEPS && self.best.is_some() {
                break;
            }
            let left = missing - f64::from(count) * item.rate;
            let so_far = weight + f64::from(count) * item.weight;
            if self.may_be_better(so_far + self.bound(level + 1, left)) {
                self.now[level] = count;
                self.descend(level + 1, left, so_far);
                self.now[level] = 0;
            } else if left > 0.0 {
                // Fewer of the item, and more of what weighs more for a unit, weigh more still.
                break;
            }
        }
    }

    fn may_be_better(&self, weight: f64) -> bool {
        weight.is_finite() && self.best.as_ref().is_none_or(|(best, _)| weight < best * (1.0 - TIE))
    }

    /// What the items from a level on would weigh at least, were they had in parts; infinite where they do not suffice.
    fn bound(&self, level: usize, mut missing: f64) -> f64 {
        let mut weight = 0.0;
        for item in &self.items[level..] {
            if missing <= 0.0 {
                return weight;
            }
            let part = (missing / item.rate).min(f64::from(item.most));
            weight += part * item.weight;
            missing -= part * item.rate;
        }
        // A rounding error of the last part is no rate.
        if missing <= 1e-12 { weight } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use stats::simulate::generator;

    fn weight(items: &[CoverItem], plan: &[u32]) -> f64 {
        items.iter().zip(plan).map(|(item, &count)| item.weight * f64::from(count)).sum()
    }

    fn rate(items: &[CoverItem], plan: &[u32]) -> f64 {
        items.iter().zip(plan).map(|(item, &count)| item.rate * f64::from(count)).sum()
    }

    /// The least weight by trying every plan.
    fn by_trying_all(items: &[CoverItem], wanted: f64) -> Option<f64> {
        let mut plans = vec![Vec::new()];
        for item in items {
            plans = plans
                .iter()
                .flat_map(|plan: &Vec<u32>| (0..=item.most).map(move |count| [plan.as_slice(), &[count]].concat()))
                .collect();
        }
        plans.iter().filter(|plan| rate(items, plan) >= wanted).map(|plan| weight(items, plan)).min_by(f64::total_cmp)
    }

    #[test]
    fn no_plan_of_all_weighs_less() {
        let mut rng = generator(7);
        let mut impossible = 0;
        for _ in 0..300 {
            let items: Vec<CoverItem> = (0..4)
                .map(|_| {
                    let rate: f64 = rng.random_range(1.0..9.0);
                    // Some free, some in proportion, some not.
                    let weight = [0.0, rate, rate * rng.random_range(0.8..1.2)][rng.random_range(0..3_usize)];
                    CoverItem { weight, rate, most: rng.random_range(0..7) }
                })
                .collect();
            let wanted = rng.random_range(5.0..70.0);
            match (cover(&items, wanted), by_trying_all(&items, wanted)) {
                (None, None) => impossible += 1,
                (Some(plan), Some(least)) => {
                    assert!(rate(&items, &plan) >= wanted * (1.0 - 1e-12));
                    assert!(plan.iter().zip(&items).all(|(count, item)| *count <= item.most));
                    assert!((weight(&items, &plan) - least).abs() <= 1e-9 * least, "{items:?} {wanted} {plan:?}");
                }
                (found, least) => panic!("{items:?} {wanted}: {found:?}, {least:?}"),
            }
        }
        assert!((10..200).contains(&impossible), "{impossible}");
    }

    /// Forty sizes at prices within a thousandth of proportionality, for thousands of nodes: the bound rules nothing
    /// out, and the plan is within a ten-thousandth of it all the same.
    #[test]
    fn prices_near_proportionality_end() {
        let mut rng = generator(11);
        let items: Vec<CoverItem> = (0..40)
            .map(|_| {
                let rate: f64 = rng.random_range(1.0..64.0);
                CoverItem { weight: rate * rng.random_range(0.9995..1.0005), rate, most: 100_000 }
            })
            .collect();
        let plan = cover(&items, 10_000.0).expect("there are enough");
        let least = items.iter().map(CoverItem::for_a_unit).fold(f64::INFINITY, f64::min) * 10_000.0;
        assert!(rate(&items, &plan) >= 10_000.0 * (1.0 - 1e-12));
        assert!(weight(&items, &plan) <= least * 1.0001, "{} for {least}", weight(&items, &plan));
    }

    #[test]
    fn a_free_item_is_not_taken_once_too_often() {
        let items = [CoverItem { weight: 5.0, rate: 10.0, most: 9 }, CoverItem { weight: 0.0, rate: 10.0, most: 9 }];
        assert_eq!(cover(&items, 45.0), Some(vec![0, 5]));
        assert_eq!(cover(&items, 95.0), Some(vec![1, 9]));
        assert_eq!(cover(&items, 185.0), None);
    }
}
