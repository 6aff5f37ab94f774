//! Assigns vertices and threads of primitives to workgroups.

use std::collections::BTreeMap;

use super::keys::{Primitives, Tessellation, Vertices};
use super::read::MAX_LANES;
use super::{Rows, Stage, WAVE};
use crate::Error;
use crate::resolve::Source;

/// Lanes of a Maxwell warp: one warp has all threads of a patch.
const WARP: u32 = 32;
/// The most lanes of a workgroup: a four-bit number counts its waves.
const MAX_GROUP: u32 = 15 * WAVE as u32;

/// The manifest's facts for the launch, except arrays of words.
pub(super) struct Plan<'m> {
    pub stage: Stage,
    pub vertices: &'m Vertices,
    /// The number of vertices of all instances.
    pub rows: u32,
    pub primitives: Option<&'m Primitives>,
    pub tessellation: Tessellation,
    /// Whether the code is GFX9 code.
    pub gfx9: bool,
    pub patch: Option<Vec<u32>>,
    /// `[primitive][vertex]`: rows of vertices.
    pub indices: Vec<u32>,
    pub threads: u32,
}

/// The vertices and threads of a workgroup. Both start at lane 0.
#[derive(Default)]
pub(super) struct Group {
    /// Rows of vertices.
    pub vertices: Vec<u32>,
    /// The number of the primitive of each thread, and of the thread in the primitive.
    pub threads: Vec<[u32; 2]>,
    /// The number of the workgroup that made the patches of the group's vertices.
    pub patches: u32,
}

/// The lanes of the launch.
pub(super) struct Lanes {
    /// The number of lanes from a workgroup's first lane to the next workgroup's.
    pub unit: usize,
    pub groups: Vec<Group>,
}

impl Lanes {
    pub fn count(&self) -> usize {
        self.unit * self.groups.len()
    }

    /// Returns a value for each lane's vertex, 0 for lanes without one.
    pub fn of_vertices(&self, of: impl Fn(&Group, usize) -> u32) -> Rows {
        self.of(|group| group.vertices.len(), of)
    }

    /// Returns a value for each lane's thread, 0 for lanes without one.
    pub fn of_threads(&self, of: impl Fn(&Group, usize) -> u32) -> Rows {
        self.of(|group| group.threads.len(), of)
    }

    fn of(&self, count: impl Fn(&Group) -> usize, of: impl Fn(&Group, usize) -> u32) -> Rows {
        let mut words = Vec::with_capacity(self.count());
        for (i, group) in self.groups.iter().enumerate() {
            words.extend((0..count(group)).map(|lane| of(group, lane)));
            words.resize((i + 1) * self.unit, 0);
        }
        Rows { lanes: self.count(), words }
    }

    /// Returns, in order, the lanes whose number in their workgroup is below a count.
    pub fn below(&self, count: impl Fn(&Group) -> usize) -> impl Iterator<Item = u32> {
        let groups = self.groups.iter().enumerate();
        groups.flat_map(move |(i, group)| {
            (0..count(group)).map(move |lane| (i * self.unit + lane) as u32)
        })
    }
}

impl Source<'_> {
    /// Assigns vertices and threads to workgroups.
    pub(super) fn lanes(&self, plan: &Plan<'_>) -> Result<Lanes, Error> {
        let vertices = plan.primitives.map_or(0, |given| given.vertices);
        let all = plan.indices.len() as u32 / vertices.max(1);
        let threads = |primitives: std::ops::Range<u32>| {
            primitives
                .flat_map(|primitive| (0..plan.threads).map(move |thread| [primitive, thread]))
                .collect::<Vec<_>>()
        };
        let in_chunks = |size: u32| {
            (0..all).step_by(size as usize).map(move |first| first..all.min(first + size))
        };
        let patches = |row: u32| match (&plan.patch, plan.tessellation.group) {
            (Some(patch), Some(group)) => patch[row as usize] / group.max(1),
            _ => 0,
        };
        let (key, group) = match plan.stage {
            Stage::Geometry => ("primitives.group", plan.primitives.and_then(|given| given.group)),
            _ => ("tessellation.group", plan.tessellation.group),
        };
        let widest = vertices.max(plan.threads);
        let group = match group {
            Some(group) if !(1..=MAX_GROUP / widest).contains(&group) => {
                return Err(
                    self.wrong(key, format!("{group}: expected 1 to {}", MAX_GROUP / widest))
                );
            }
            Some(group) => group,
            None => WAVE as u32 / widest,
        };
        let one = |group: Group| Lanes {
            unit: group.vertices.len().max(group.threads.len()),
            groups: vec![group],
        };
        let lanes = match (plan.stage, plan.gfx9) {
            (Stage::TessEval, true)
                if plan.patch.is_some() && plan.tessellation.group.is_some() =>
            {
                let mut of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
                (0..plan.rows).for_each(|row| of.entry(patches(row)).or_default().push(row));
                let groups = of.iter().flat_map(|(&patches, rows)| {
                    let waves = rows.chunks(WAVE);
                    waves.map(move |rows| Group {
                        vertices: rows.to_vec(),
                        patches,
                        ..Group::default()
                    })
                });
                Lanes { unit: WAVE, groups: groups.collect() }
            }
            (Stage::Vertex | Stage::TessEval, _) => {
                one(Group { vertices: (0..plan.rows).collect(), ..Group::default() })
            }
            (Stage::TessControl, false) => {
                let groups = in_chunks(WARP / plan.threads).map(threads);
                let groups = groups.map(|threads| Group { threads, ..Group::default() }).collect();
                Lanes { unit: WARP as usize, groups }
            }
            (Stage::Geometry, false) => one(Group { threads: threads(0..all), ..Group::default() }),
            (Stage::TessControl | Stage::Geometry | Stage::Fragment, _) => {
                let mut groups: Vec<Group> = vec![];
                for primitive in 0..all {
                    let rows =
                        &plan.indices[(primitive * vertices) as usize..][..vertices as usize];
                    let of = if plan.stage == Stage::TessControl {
                        primitive / group
                    } else {
                        patches(rows[0])
                    };
                    if plan.stage == Stage::Geometry && rows.iter().any(|&row| patches(row) != of) {
                        let problem = format!(
                            "vertices of primitive {primitive} are of patches of two workgroups"
                        );
                        return Err(self.wrong("primitives.indices", problem));
                    }
                    let full = |last: &Group| {
                        last.patches != of || last.threads.len() as u32 >= group * plan.threads
                    };
                    if groups.last().is_none_or(full) {
                        groups.push(Group { patches: of, ..Group::default() });
                    }
                    if let Some(last) = groups.last_mut() {
                        last.vertices.extend(rows);
                        last.threads.extend(threads(primitive..primitive + 1));
                    }
                }
                let longest =
                    groups.iter().map(|group| group.vertices.len().max(group.threads.len())).max();
                Lanes { unit: longest.unwrap_or(1).next_multiple_of(WAVE), groups }
            }
        };
        // A row for each input vertex, or for each vertex that a thread may emit.
        let emitted =
            plan.primitives.and_then(|given| given.max_vertices).map_or(1, |most| most + 1);
        let rows = vertices.max(emitted) as usize;
        if (lanes.count() * rows) as u64 > MAX_LANES {
            let problem =
                format!("{} lanes: expected at most {}", lanes.count(), MAX_LANES as usize / rows);
            return Err(self.wrong("primitives", problem));
        }
        Ok(lanes)
    }
}
