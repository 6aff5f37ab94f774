//! Makes the lanes of vertex, tessellation and geometry programs.
//!
//! Fixed function puts vertices and primitives into waves. Here they come in order, and two
//! primitives share no vertex. A workgroup of GFX9's merged stages has its vertices (LS, ES) in the
//! lanes from 0 on, and then its threads of primitives (HS, GS) in the same lanes. Source: facts,
//! `graphics.md`, sections 1.7 and 2.1.

use std::collections::BTreeMap;

use super::groups::{Lanes, Plan};
use super::keys::{Primitives, Strips, Tessellation, Vertices};
use super::read::{MAX_LANES, words};
use super::{Input, OfPrimitives, Rows, Shader, Stage, WAVE, WaveInput, name_of};
use crate::Error;
use crate::array::Dtype;
use crate::resolve::Source;

/// The most vertices or threads of a primitive.
const MAX_THREADS: u32 = 32;
const MAX_VERTICES: u32 = 1024;
/// The address of a primitive's number in the attribute space.
const PRIMITIVE_ID: u32 = 0x60;

impl Source<'_> {
    /// Makes the launch of a program of any stage but the fragment stage.
    pub(super) fn of_vertices(
        &self,
        stage: Stage,
        vertices: &Vertices,
        primitives: Option<&Primitives>,
        tessellation: Option<Tessellation>,
        gfx9: bool,
    ) -> Result<Shader, Error> {
        let all = u64::from(vertices.count) * u64::from(vertices.instances);
        if !(1..=MAX_LANES).contains(&all) {
            let problem = format!("{all} vertices of all instances: expected 1 to {MAX_LANES}");
            return Err(self.wrong("vertices.count", problem));
        }
        let rows = all as u32;
        let patch = vertices
            .patch
            .as_ref()
            .map(|file| self.lanes_of(file, rows as usize, "vertex"))
            .transpose()?;
        let patch = patch.map(|(_, array)| {
            words(&array).map_err(|problem| self.wrong("vertices.patch", problem))
        });
        let tessellation_given = tessellation.is_some();
        let mut plan = Plan {
            stage,
            vertices,
            rows,
            primitives,
            tessellation: tessellation.unwrap_or_default(),
            gfx9,
            patch: patch.transpose()?,
            indices: vec![],
            threads: 1,
        };
        if stage == Stage::Vertex && (primitives.is_some() || tessellation_given) {
            let key = if primitives.is_some() { "primitives" } else { "tessellation" };
            return Err(self.wrong(key, "a vertex program has [vertices] alone"));
        }
        let foreign = match (gfx9, stage) {
            (true, Stage::TessEval) if primitives.is_some() => Some("primitives"),
            (false, _) if tessellation_given => Some("tessellation"),
            _ => None,
        };
        if let Some(key) = foreign {
            return Err(self.wrong(key, "it belongs to programs of another instruction set"));
        }
        let of_primitives = match (stage, primitives) {
            (Stage::TessControl | Stage::Geometry, None) => {
                return Err(self.wrong(
                    "primitives",
                    "missing: the program's threads are those of primitives",
                ));
            }
            (Stage::TessEval, None) if !gfx9 => {
                return Err(
                    self.wrong("primitives", "missing: it has the control points of patches")
                );
            }
            (_, Some(primitives)) => Some(self.primitives(&mut plan, primitives)?),
            (_, None) => None,
        };
        let lanes = self.lanes(&plan)?;
        self.shader_of(&plan, &lanes, of_primitives)
    }

    /// Checks and returns the facts of `[primitives]`.
    fn primitives(&self, plan: &mut Plan<'_>, given: &Primitives) -> Result<OfPrimitives, Error> {
        let key = |name: &str| format!("primitives.{name}");
        let within = |name: &str, value: u32, most: u32| {
            let problem = format!("{value}: expected 1 to {most}");
            if (1..=most).contains(&value) {
                Ok(value)
            } else {
                Err(self.wrong(key(name), problem))
            }
        };
        let Primitives {
            indices,
            threads,
            max_vertices,
            group,
            item_words,
            ring_words,
            attribute,
            patch,
            ..
        } = given;
        let of_geometry = [
            ("max_vertices", max_vertices.is_some()),
            ("group", group.is_some()),
            ("item_words", item_words.is_some()),
            ("ring_words", ring_words.is_some()),
            ("strips", given.strips != Strips::default()),
        ];
        let of_gfx9 = [of_geometry[1], of_geometry[2], of_geometry[3]];
        if let Some((name, _)) = of_gfx9.iter().find(|(_, given)| *given && !plan.gfx9) {
            return Err(self.wrong(key(name), "it belongs to programs of another instruction set"));
        }
        let of_evaluation = [("attribute", !attribute.is_empty()), ("patch", !patch.is_empty())];
        let of_threads = [("indices", indices.is_some()), ("threads", threads.is_some())];
        let mut others: Vec<(&str, bool)> = vec![];
        if plan.stage != Stage::Geometry {
            others.extend(of_geometry);
        }
        others.extend(if plan.stage == Stage::TessEval { of_threads } else { of_evaluation });
        if let Some((name, _)) = others.iter().find(|(_, given)| *given) {
            return Err(self.wrong(key(name), "it belongs to programs of other stages"));
        }
        let vertices = within("vertices", given.vertices, MAX_THREADS)?;
        plan.threads = match (plan.stage, threads) {
            (_, Some(threads)) => within("threads", *threads, MAX_THREADS)?,
            (Stage::TessControl, None) => vertices,
            (_, None) => 1,
        };
        let max_vertices = match (plan.stage, max_vertices) {
            (Stage::Geometry, Some(most)) => within("max_vertices", *most, MAX_VERTICES)?,
            (Stage::Geometry, None) => return Err(self.wrong(key("max_vertices"), "missing")),
            _ => 0,
        };
        let count = if plan.stage == Stage::TessEval {
            let patches = plan.patch.as_ref();
            let patches = patches
                .ok_or_else(|| self.wrong("vertices.patch", "missing: [primitives] are patches"))?;
            patches.iter().max().map_or(0, |last| last.saturating_add(1))
        } else {
            plan.indices = match indices {
                Some(file) => {
                    let (path, array) = self.given(file, Dtype::U32)?;
                    let indices = words(&array)
                        .map_err(|problem| Error::Array { path: path.clone(), problem })?;
                    if let Some(index) = indices.iter().find(|&&index| index >= plan.rows) {
                        let problem = format!("vertex {index}: there are {}", plan.rows);
                        return Err(Error::Array { path, problem });
                    }
                    indices
                }
                None => (0..plan.rows).collect(),
            };
            let count = plan.indices.len() as u32;
            if count == 0 || !count.is_multiple_of(vertices) {
                let problem = format!("{count} vertices: expected {vertices} for each primitive");
                return Err(self.wrong(key("vertices"), problem));
            }
            count / vertices
        };
        let most =
            u64::from(count) * u64::from(plan.threads) * u64::from(max_vertices.max(vertices));
        if most > MAX_LANES {
            return Err(self.wrong(
                "primitives",
                format!("{most} vertices in all: expected at most {MAX_LANES}"),
            ));
        }
        let (threads, ring_words) = (plan.threads, *ring_words);
        Ok(OfPrimitives {
            vertices,
            threads,
            first: vec![],
            max_vertices,
            strips: given.strips,
            ring_words,
        })
    }

    fn shader_of(
        &self,
        plan: &Plan<'_>,
        lanes: &Lanes,
        of: Option<OfPrimitives>,
    ) -> Result<Shader, Error> {
        let of_threads = matches!(plan.stage, Stage::TessControl | Stage::Geometry);
        let rows: Vec<u32> = if of_threads {
            lanes.below(|group| group.threads.len()).collect()
        } else {
            let mut rows: Vec<(u32, u32)> = {
                let vertices = lanes.groups.iter().flat_map(|group| group.vertices.iter().copied());
                vertices.zip(lanes.below(|group| group.vertices.len())).collect()
            };
            rows.sort_unstable();
            rows.into_iter().map(|(_, lane)| lane).collect()
        };
        let identity =
            rows.len() == lanes.count() && rows.iter().zip(0..).all(|(&lane, row)| lane == row);
        let mut covered = vec![false; lanes.count()];
        let taken = lanes.below(|group| group.vertices.len().max(group.threads.len()));
        taken.for_each(|lane| covered[lane as usize] = true);
        let of = of.map(|of| OfPrimitives {
            first: rows.iter().copied().step_by(of.threads as usize).collect(),
            ..of
        });
        let merged = plan.gfx9 && of_threads;
        let mut shader = Shader {
            stage: plan.stage,
            lanes: lanes.count(),
            block: if merged { lanes.unit } else { WAVE },
            rows: (!identity).then_some(rows),
            covered,
            inputs: self.inputs(plan, lanes)?,
            waves: BTreeMap::new(),
            attributes: BTreeMap::new(),
            patches: BTreeMap::new(),
            of_primitives: of,
            primitive: vec![],
            drawn: None,
            interpolated: vec![],
            parameters: None,
            vertices: None,
            exports: vec![],
            written: None,
            picture: None,
            places: vec![],
        };
        if plan.gfx9 {
            shader.waves = self.waves(plan, lanes)?;
        } else {
            self.words_of_vertices(plan, lanes, &mut shader)?;
        }
        Ok(shader)
    }

    /// Returns the inputs of lanes.
    fn inputs(&self, plan: &Plan<'_>, lanes: &Lanes) -> Result<BTreeMap<Input, Rows>, Error> {
        let Plan { vertices, stage, .. } = plan;
        let of_row =
            |of: &dyn Fn(u32) -> u32| lanes.of_vertices(|group, lane| of(group.vertices[lane]));
        let mut inputs = BTreeMap::from([
            (Input::VertexId, of_row(&|row| vertices.first.wrapping_add(row % vertices.count))),
            (Input::InstanceId, of_row(&|row| row / vertices.count)),
        ]);
        for (&input, file) in &vertices.inputs {
            let key = format!("vertices.{}", name_of(input));
            if !matches!(input, Input::TessU | Input::TessV | Input::RingVertex) {
                return Err(self.wrong(key, "expected `tess_u`, `tess_v` or `ring_vertex`"));
            }
            let given = self.rows(&key, file, plan.rows as usize)?;
            if given.components() != 1 {
                return Err(self.wrong(
                    key,
                    format!("{} numbers for each vertex: expected 1", given.components()),
                ));
            }
            inputs.insert(input, of_row(&|row| given.words[row as usize]));
        }
        if let Some(patch) = &plan.patch {
            inputs.insert(Input::PatchId, of_row(&|row| patch[row as usize]));
            if let Some(group) = plan.tessellation.group {
                inputs.insert(Input::PatchInGroup, of_row(&|row| patch[row as usize] % group));
            }
        }
        if !matches!(stage, Stage::TessControl | Stage::Geometry) {
            return Ok(inputs);
        }
        inputs.insert(Input::VertexInGroup, lanes.of_vertices(|_, lane| lane as u32));
        let of_thread = |of: &dyn Fn(u32, [u32; 2]) -> u32| {
            lanes.of_threads(|group, lane| {
                of(group.threads[lane][0] - group.threads[0][0], group.threads[lane])
            })
        };
        inputs.insert(Input::PrimitiveId, of_thread(&|_, [primitive, _]| primitive));
        inputs.insert(Input::InvocationId, of_thread(&|_, [_, thread]| thread));
        let given = plan.primitives.map_or((0, None), |given| (given.vertices, given.item_words));
        match (stage, given) {
            (Stage::TessControl, _) => {
                inputs.insert(
                    Input::PatchThread,
                    of_thread(&|patch, [_, thread]| patch | thread << 8),
                );
            }
            (_, (count, Some(item))) => {
                let last =
                    lanes.groups.iter().map(|group| group.vertices.len()).max().unwrap_or(0) as u64;
                if last * u64::from(item) > 1 << 16 {
                    let problem = format!("{item}: {last} vertices take more than 65,536 words");
                    return Err(self.wrong("primitives.item_words", problem));
                }
                for (pair, input) in [Input::Vertices01, Input::Vertices23, Input::Vertices45]
                    .into_iter()
                    .enumerate()
                {
                    let place = |primitive: u32, vertex: u32| {
                        if vertex < count { (primitive * count + vertex) * item } else { 0 }
                    };
                    let low = 2 * pair as u32;
                    let word =
                        |primitive, _| place(primitive, low) | place(primitive, low + 1) << 16;
                    inputs.insert(input, of_thread(&word));
                }
            }
            _ => {}
        }
        Ok(inputs)
    }

    /// Returns the inputs of GFX9 waves.
    fn waves(
        &self,
        plan: &Plan<'_>,
        lanes: &Lanes,
    ) -> Result<BTreeMap<WaveInput, Vec<u32>>, Error> {
        let Tessellation { offchip_bytes, factor_bytes, group } = plan.tessellation;
        let of_group = lanes.unit / WAVE;
        let mut waves: BTreeMap<WaveInput, Vec<u32>> = BTreeMap::new();
        for (i, at) in lanes.groups.iter().enumerate() {
            for wave in 0..of_group {
                let number = i * of_group + wave;
                let part = |count: usize| count.saturating_sub(wave * WAVE).min(WAVE) as u32;
                let halves = part(at.vertices.len()) | part(at.threads.len()) << 8;
                let info = halves
                    | (number as u32 & 0xff) << 16
                    | (wave as u32) << 24
                    | (of_group as u32) << 28;
                let first = at.threads.first().map_or(0, |&[primitive, _]| primitive);
                let ring_words = plan.primitives.and_then(|given| given.ring_words);
                let made =
                    plan.stage == Stage::TessControl || plan.patch.is_some() && group.is_some();
                let offsets = [
                    (
                        WaveInput::OffchipOffset,
                        offchip_bytes.filter(|_| made).map(|bytes| (bytes, at.patches)),
                    ),
                    (WaveInput::FactorOffset, factor_bytes.map(|bytes| (bytes, first))),
                    (
                        WaveInput::RingOffset,
                        ring_words.map(|words| (words, (4 * WAVE * number) as u32)),
                    ),
                ];
                waves.entry(WaveInput::WaveInfo).or_default().push(info);
                for (input, offset) in offsets {
                    let Some((bytes, number)) = offset else { continue };
                    let offset = bytes.checked_mul(number).ok_or_else(|| {
                        let problem =
                            format!("{number} times {bytes}: expected an offset of 32 bits");
                        self.wrong(name_of(input), problem)
                    })?;
                    waves.entry(input).or_default().push(offset);
                }
            }
        }
        let has = |input: WaveInput| match input {
            WaveInput::WaveInfo => matches!(plan.stage, Stage::TessControl | Stage::Geometry),
            WaveInput::FactorOffset => plan.stage == Stage::TessControl,
            _ => true,
        };
        waves.retain(|&input, _| has(input));
        Ok(waves)
    }

    /// Fills the attribute space of Maxwell.
    fn words_of_vertices(
        &self,
        plan: &Plan<'_>,
        lanes: &Lanes,
        shader: &mut Shader,
    ) -> Result<(), Error> {
        let rows = plan.rows as usize;
        let of_vertices = self.attributes("vertices", &plan.vertices.attribute, rows)?;
        let Some(given) = plan.primitives else {
            shader.attributes = of_vertices;
            return Ok(());
        };
        // The primitive of each lane.
        let primitives = match (plan.stage, &plan.patch) {
            (Stage::TessEval, Some(patch)) => Rows { lanes: rows, words: patch.clone() },
            _ => lanes.of_threads(|group, lane| group.threads[lane][0]),
        };
        let (count, room) = (given.vertices as usize, shader.room());
        let primitive =
            |lane: usize| primitives.words.get(lane).map(|&primitive| primitive as usize);
        // Rows of vertices, each as long as the launch's lanes in memory.
        let planes = |of: &dyn Fn(usize, usize) -> u32| {
            let lane = |vertex| {
                (0..room)
                    .map(move |lane| primitive(lane).map_or(0, |primitive| of(primitive, vertex)))
            };
            (0..count).flat_map(lane).collect::<Vec<u32>>()
        };
        let all = |words: Vec<u32>| Rows { lanes: count * room, words };
        shader.attributes.insert(PRIMITIVE_ID, all(planes(&|primitive, _| primitive as u32)));
        let made = plan.stage == Stage::TessEval;
        let patches = primitives.words.iter().max().map_or(0, |&last| last as usize + 1);
        let points = if made {
            self.attributes("primitives", &given.attribute, patches * count)?
        } else {
            of_vertices
        };
        for (address, rows) in points {
            let of = |primitive: usize, vertex: usize| {
                let at = primitive * count + vertex;
                if made { at } else { plan.indices[at] as usize }
            };
            let components = 0..rows.components();
            let words = components
                .flat_map(|i| planes(&|primitive, vertex| rows.row(i)[of(primitive, vertex)]));
            shader.attributes.insert(address, all(words.collect()));
        }
        for (address, rows) in self.attributes("primitives.patch", &given.patch, patches)? {
            let lane = |i: usize| primitives.words.iter().map(move |&patch| (i, patch as usize));
            let words = (0..rows.components())
                .flat_map(lane)
                .map(|(i, patch)| rows.row(i)[patch])
                .collect();
            shader.patches.insert(address, Rows { lanes: primitives.words.len(), words });
        }
        Ok(())
    }
}

/// Tells whether an input is an array of `[pixels]`.
pub(super) fn is_of_pixels(input: Input) -> bool {
    (Input::PerspSample..=Input::CentroidOffset).contains(&input)
}

/// Returns the part of the manifest that gives lanes an input.
pub(crate) fn source_of(input: Input) -> String {
    match input {
        Input::VertexId | Input::InstanceId => "[vertices]".into(),
        Input::TessU | Input::TessV | Input::RingVertex => {
            format!("`{}` in [vertices]", name_of(input))
        }
        Input::PatchId => "`patch` in [vertices]".into(),
        Input::PatchInGroup => "`patch` in [vertices] and `group` in [tessellation]".into(),
        Input::VertexInGroup | Input::PrimitiveId | Input::InvocationId => {
            "a program of stage tess_control or geometry".into()
        }
        Input::PatchThread => "a program of stage tess_control".into(),
        Input::Vertices01 | Input::Vertices23 | Input::Vertices45 => {
            "a program of stage geometry with `item_words` in [primitives]".into()
        }
        _ => format!("`{}` in [pixels]", name_of(input)),
    }
}

/// Returns the part of the manifest that gives waves an input.
pub(crate) fn source_of_wave(input: WaveInput) -> &'static str {
    match input {
        WaveInput::PrimMask => "a program of stage fragment",
        WaveInput::WaveInfo => "a program of stage tess_control or geometry",
        WaveInput::OffchipOffset => {
            "`offchip_bytes` in [tessellation], and where a tessellator made the vertices `group` there and `patch` in [vertices]"
        }
        WaveInput::FactorOffset => {
            "a program of stage tess_control with `factor_bytes` in [tessellation]"
        }
        WaveInput::RingOffset => "a program of stage geometry with `ring_words` in [primitives]",
    }
}
