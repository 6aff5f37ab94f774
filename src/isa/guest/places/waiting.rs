//! The places where lanes wait while others run.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;

/// The places where lanes may wait while a node runs, as positions in the order.
#[derive(Clone, Default)]
pub struct Waiting(FixedBitSet);

impl Waiting {
    pub fn insert(&mut self, place: u32) {
        self.0.grow_and_insert(place as usize);
    }

    pub fn remove(&mut self, place: u32) {
        self.0.set(place as usize, false);
    }

    /// Drops the places from one on.
    pub fn truncate(&mut self, place: usize) {
        let end = self.0.len();
        if place < end {
            self.0.set_range(place..end, false);
        }
    }

    pub fn contains(&self, place: u32) -> bool {
        self.0.contains(place as usize)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_clear()
    }

    pub fn len(&self) -> usize {
        self.0.count_ones(..)
    }

    pub fn first(&self) -> Option<u32> {
        self.iter().next()
    }

    /// Whether one of the places comes before this place.
    pub fn any_before(&self, place: u32) -> bool {
        self.first().is_some_and(|first| first < place)
    }

    /// Iterates over the places in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.ones().map(|place| place as u32)
    }

    /// Adds other places. Returns whether the set grew.
    fn add(&mut self, others: &Waiting) -> bool {
        let grows = !others.0.is_subset(&self.0);
        if grows {
            self.0.union_with(&others.0);
        }
        grows
    }
}

impl Extend<u32> for Waiting {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, places: I) {
        places.into_iter().for_each(|place| self.insert(place));
    }
}

impl FromIterator<u32> for Waiting {
    fn from_iter<I: IntoIterator<Item = u32>>(places: I) -> Self {
        let mut all = Waiting::default();
        all.extend(places);
        all
    }
}

/// A way on from the end of a node.
#[derive(Clone)]
pub struct Step {
    /// The places whose waiting lanes go on later.
    pub parked: Waiting,
    pub next: Next,
}

/// The lanes that run next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The running lanes go to this position. They wait there if others wait at an earlier
    /// position.
    To(u32),
    /// The lanes of the first place where lanes wait.
    First,
    /// The lanes of any place where lanes wait.
    Any,
}

/// Returns the places where lanes may wait at the start of each node, by position; `None` for a
/// node that lanes never reach. `steps` gives the ways on from a node with known waiting lanes.
///
/// Returns `None` if the search visits more than `budget` places, over all sets.
pub fn waiting(
    count: usize,
    mut budget: usize,
    steps: impl Fn(u32, &Waiting) -> Vec<Step>,
) -> Option<Vec<Option<Waiting>>> {
    let mut all: Vec<Option<Waiting>> = vec![None; count];
    let mut work = BTreeSet::new();
    if count > 0 {
        all[0] = Some(Waiting::default());
        work.insert(0);
    }
    while let Some(node) = work.pop_first() {
        let here = all[node as usize].clone().unwrap_or_default();
        for step in steps(node, &here) {
            let parked = step.parked.len();
            let size = if matches!(step.next, Next::To(_)) { 1 } else { parked };
            budget = budget.checked_sub(size * parked + 1)?;
            step.each_next(|next, rest| {
                let grows = match &mut all[next as usize] {
                    Some(known) => known.add(rest),
                    unknown => {
                        *unknown = Some(rest.clone());
                        true
                    }
                };
                if grows {
                    work.insert(next);
                }
            });
        }
    }
    Some(all)
}

impl Step {
    /// Visits the places that may run next, each with the places where lanes may then wait.
    fn each_next(self, mut visit: impl FnMut(u32, &Waiting)) {
        let Step { parked: mut left, next } = self;
        if next == Next::Any {
            for place in left.clone().iter() {
                left.remove(place);
                visit(place, &left);
                left.insert(place);
            }
            return;
        }
        let mut only_first = false;
        if let Next::To(to) = next {
            only_first = !left.any_before(to);
            left.insert(to);
        }
        while let Some(place) = left.first() {
            left.remove(place);
            visit(place, &left);
            if only_first {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_wait_at_a_join_while_an_arm_runs() {
        // 0 -> 1 | 2 (join); 1 -> 2.
        let steps = |node: u32, here: &Waiting| match node {
            0 => {
                let mut parked = here.clone();
                parked.insert(2);
                vec![
                    Step { parked, next: Next::To(1) },
                    Step { parked: here.clone(), next: Next::To(2) },
                ]
            }
            1 => vec![Step { parked: here.clone(), next: Next::To(2) }],
            _ => vec![],
        };
        let all = waiting(3, 100, steps).unwrap();
        let places = |node: usize| Vec::from_iter(all[node].as_ref().unwrap().iter());
        assert_eq!(places(1), [2]);
        assert_eq!(places(2), [0; 0]);
    }
}
