//! The covering knapsack: the number of each item that reaches a rate at the least weight.
//!
//! The rate is mostly the only requirement, and proportional prices make it hard for a general solver: thousands of
//! plans cost nearly the same, and the bound excludes none. The search therefore takes items in the order of their
//! weight for a unit of rate, most of the best first, and bounds every branch by the fractional weight of the rest
//! (Martello and Toth, Knapsack Problems, 1990, chapter 3, for coverings). A step takes some nanoseconds.

/// Steps of the search before it takes the best plan so far. A limit in steps makes the result independent of the
/// machine.
const STEPS: u64 = 50_000;
/// A plan must weigh less by more than this share to be better.
const TIE: f64 = 1e-12;

/// One kind of item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CoverItem {
    /// Weight of one item: money, watts, failures a year.
    pub(crate) weight: f64,
    /// What one does.
    pub(crate) rate: f64,
    /// How many there are.
    pub(crate) most: u32,
}

/// How many of each item reach `rate` at the least weight; `None` if all do not suffice.
pub(crate) fn cover(items: &[CoverItem], rate: f64) -> Option<Vec<u32>> {
    Covering::of(items).below(rate, f64::INFINITY).map(|(_, plan)| plan)
}

/// How many of each item reach `rate` without `spare` of the fastest item in use, at the least weight; `None` if all do
/// not suffice.
///
/// It tries each item as the fastest one: the plan has one of it and none faster. The rest is a covering again. It
/// begins with the item whose plans could weigh least, and stops at the weight of the best plan found.
pub(crate) fn cover_besides(items: &[CoverItem], rate: f64, spare: u32) -> Option<Vec<u32>> {
    let mut fastest: Vec<FastestItem> = (0..items.len())
        .filter(|&place| items[place].most > 0 && items[place].rate > 0.0)
        .map(|place| FastestItem::of(items, place, rate, spare))
        .collect();
    fastest.sort_by(|a, b| a.least.total_cmp(&b.least));
    let mut best: Option<(f64, Vec<u32>)> = None;
    for one in fastest {
        let below = best.as_ref().map_or(f64::INFINITY, |(weight, _)| *weight);
        if !may_be_better(one.least, below) {
            break;
        }
        let own = items[one.place].weight;
        if let Some((weight, mut plan)) = one.rest.below(one.missing, below - own) {
            plan[one.place] += 1;
            best = Some((weight + own, plan));
        }
    }
    best.map(|(_, plan)| plan)
}

/// Plans in which one item is the fastest.
struct FastestItem {
    place: usize,
    /// Rate that is still missing with one of it.
    missing: f64,
    /// The other items of such a plan.
    rest: Covering,
    /// Lower bound of their weight.
    least: f64,
}

impl FastestItem {
    fn of(items: &[CoverItem], place: usize, rate: f64, spare: u32) -> Self {
        let own = items[place];
        let lost = f64::from(spare) * own.rate;
        // Even a tiny demand must count next to the lost rate.
        let missing = lost - own.rate + rate.max(lost * 1e-9);
        let left = |(at, item): (usize, &CoverItem)| CoverItem {
            most: if item.rate > own.rate { 0 } else { item.most - u32::from(at == place) },
            ..*item
        };
        let rest = Covering::of(&items.iter().enumerate().map(left).collect::<Vec<CoverItem>>());
        let least = own.weight + bound(&rest.sorted, missing);
        Self { place, missing, rest, least }
    }
}

/// Items in the order of their weight for a unit of rate.
struct Covering {
    /// All items, with or without any of them.
    all: usize,
    /// Position of each sorted item among all.
    order: Vec<usize>,
    sorted: Vec<CoverItem>,
}

impl Covering {
    fn of(items: &[CoverItem]) -> Self {
        let mut order: Vec<usize> = (0..items.len()).filter(|&i| items[i].most > 0 && items[i].rate > 0.0).collect();
        order.sort_by(|&a, &b| items[a].for_a_unit().total_cmp(&items[b].for_a_unit()));
        let sorted = order.iter().map(|&i| items[i]).collect();
        Self { all: items.len(), order, sorted }
    }

    /// The least weight that reaches `rate`, with the number of each item; `None` if it is not below `below`.
    fn below(&self, rate: f64, below: f64) -> Option<(f64, Vec<u32>)> {
        let sorted = &self.sorted;
        let mut search = CoverSearch { items: sorted, now: vec![0; sorted.len()], below, best: None, steps: 0 };
        search.descend(0, rate, 0.0);
        let found = search.best?;
        let mut plan = vec![0; self.all];
        for (&place, count) in self.order.iter().zip(found) {
            plan[place] = count;
        }
        Some((search.below, plan))
    }
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
    /// The weight that a plan must be below: that of the best one so far.
    below: f64,
    /// The best plan so far.
    best: Option<Vec<u32>>,
    steps: u64,
}

/// Whether a weight is below another by more than a rounding error.
fn may_be_better(weight: f64, below: f64) -> bool {
    weight.is_finite() && weight < below * (1.0 - TIE)
}

/// Lower bound of the weight of items in the order of their weight for a unit, if fractions were allowed; infinite if
/// they do not suffice.
fn bound(items: &[CoverItem], mut missing: f64) -> f64 {
    let mut weight = 0.0;
    for item in items {
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

impl CoverSearch<'_> {
    /// Searches better plans with the items from `level` on, where `missing` is left.
    fn descend(&mut self, level: usize, missing: f64, weight: f64) {
        if missing <= 0.0 {
            if may_be_better(weight, self.below) {
                (self.below, self.best) = (weight, Some(self.now.clone()));
            }
            return;
        }
        let Some(item) = self.items.get(level).copied() else { return };
        let all = (missing / item.rate).ceil().min(f64::from(item.most)) as u32;
        for count in (0..=all).rev() {
            self.steps += 1;
            if self.steps > STEPS && self.below < f64::INFINITY {
                break;
            }
            let left = missing - f64::from(count) * item.rate;
            let so_far = weight + f64::from(count) * item.weight;
            if may_be_better(so_far + bound(&self.items[level + 1..], left), self.below) {
                self.now[level] = count;
                self.descend(level + 1, left, so_far);
                self.now[level] = 0;
            } else if left > 0.0 {
                // Fewer of this item need more of a heavier one, so the weight only grows.
                break;
            }
        }
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

    /// Rate of a plan without `spare` of its fastest items.
    fn besides(items: &[CoverItem], plan: &[u32], spare: u32) -> f64 {
        let used = items.iter().zip(plan).filter(|(_, count)| **count > 0);
        rate(items, plan) - f64::from(spare) * used.map(|(item, _)| item.rate).fold(0.0, f64::max)
    }

    /// The least weight by trying every plan.
    fn by_trying_all(items: &[CoverItem], wanted: f64, spare: u32) -> Option<f64> {
        let mut plans = vec![Vec::new()];
        for item in items {
            plans = plans
                .iter()
                .flat_map(|plan: &Vec<u32>| (0..=item.most).map(move |count| [plan.as_slice(), &[count]].concat()))
                .collect();
        }
        plans
            .iter()
            .filter(|plan| besides(items, plan, spare) >= wanted)
            .map(|plan| weight(items, plan))
            .min_by(f64::total_cmp)
    }

    /// Random items: some free, some in proportion, some not.
    fn random_items(count: usize, most: u32, rng: &mut impl Rng) -> Vec<CoverItem> {
        (0..count)
            .map(|_| {
                let rate: f64 = rng.random_range(1.0..9.0);
                let weight = [0.0, rate, rate * rng.random_range(0.8..1.2)][rng.random_range(0..3_usize)];
                CoverItem { weight, rate, most: rng.random_range(0..most) }
            })
            .collect()
    }

    #[test]
    fn no_plan_of_all_weighs_less() {
        let mut rng = generator(7);
        let mut impossible = 0;
        for _ in 0..300 {
            let items = random_items(4, 7, &mut rng);
            let wanted = rng.random_range(5.0..70.0);
            match (cover(&items, wanted), by_trying_all(&items, wanted, 0)) {
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

    #[test]
    fn no_plan_of_all_that_can_lose_its_fastest_weighs_less() {
        let mut rng = generator(8);
        let mut impossible = 0;
        for trial in 0..200 {
            let items = random_items(4, 7, &mut rng);
            let (wanted, spare) = (rng.random_range(5.0..50.0), 1 + trial % 3);
            match (cover_besides(&items, wanted, spare), by_trying_all(&items, wanted, spare)) {
                (None, None) => impossible += 1,
                (Some(plan), Some(least)) => {
                    assert!(besides(&items, &plan, spare) >= wanted * (1.0 - 1e-12));
                    assert!(plan.iter().zip(&items).all(|(count, item)| *count <= item.most));
                    assert!((weight(&items, &plan) - least).abs() <= 1e-9 * least, "{items:?} {wanted} {plan:?}");
                }
                (found, least) => panic!("{items:?} {wanted} {spare}: {found:?}, {least:?}"),
            }
        }
        assert!((10..150).contains(&impossible), "{impossible}");
    }

    /// Forty sizes at prices within a thousandth of proportionality, for thousands of nodes: the bound excludes
    /// nothing, but the plan is still within a ten-thousandth of it.
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
