//! The meaning of each operand of texture instructions: every form of operands against the
//! definition of sampling at equal coordinates, layer, level, offsets, reference and gradients.

use warploom::{Arg, EngineKind, ImagePool, LaunchOptions, Program};
use warploom_ir::image::layout::{Blocks, Layout};
use warploom_ir::image::sample::{Operation, Query, View};
use warploom_ir::image::sampler::{CompareFn, Filter, MipFilter, Sampler, Wrap};
use warploom_ir::image::{Image, Kind};
use warploom_maxwell::header::{self, Format};
use warploom_maxwell::sampler;
use warploom_runtime::memory::{Memory, MemoryConfig};

use super::case::{LANES, RESULT, kernel};

/// An instruction, and the contents of the registers from R4 and from R12 on, a letter each: `x`,
/// `y`, `z` coordinates, `l` the layer, `d` the level of detail, `o` offsets of four bits, `O` of
/// six in bytes, `r` the reference, `h` the handle, `X`, `Y` both gradients of a coordinate, `L`
/// the layer with offsets above it.
type Form = (&'static str, &'static str, &'static str);

const TWO_DIMENSIONS: [Form; 19] = [
    ("TEX.LZ R8, R4, 0x50, 2D, 0xf", "xy", ""),
    ("TEX.LL R8, R4, R12, 0x50, 2D, 0xf", "xy", "d"),
    ("TEX.LZ.AOFFI R8, R4, R12, 0x50, 2D, 0xf", "xy", "o"),
    ("TEX.LL.AOFFI R8, R4, R12, 0x50, 2D, 0xf", "xy", "do"),
    ("TEX.LZ.DC R8, R4, R12, 0x50, 2D, 0xf", "xy", "r"),
    ("TEX.LL.AOFFI.DC R8, R4, R12, 0x50, 2D, 0xf", "xy", "dor"),
    ("TEX.B.LZ R8, R4, R12, 0x0, 2D, 0xf", "xy", "h"),
    ("TEX.B.LL.AOFFI.DC R8, R4, R12, 0x0, 2D, 0xf", "xy", "hdor"),
    ("TLD.LZ R8, R4, 0x50, 2D, 0xf", "xy", ""),
    ("TLD.LL R8, R4, R12, 0x50, 2D, 0xf", "xy", "d"),
    ("TLD.LL.AOFFI R8, R4, R12, 0x50, 2D, 0xf", "xy", "do"),
    ("TLD.B.LL R8, R4, R12, 0x0, 2D, 0xf", "xy", "hd"),
    ("TLD.LL.CL R8, R4, R12, 0x50, 2D, 0xf", "xy", "d"),
    ("TLD4.G R8, R4, 0x50, 2D, 0xf", "xy", ""),
    ("TLD4.R.AOFFI R8, R4, R12, 0x50, 2D, 0xf", "xy", "O"),
    ("TLD4.R.AOFFI.DC R8, R4, R12, 0x50, 2D, 0xf", "xy", "Or"),
    ("TLD4.R.B R8, R4, R12, 0x0, 2D, 0xf", "xy", "h"),
    ("TXD R8, R4, R12, 0x50, 2D, 0xf", "xy", "XY"),
    ("TXD.AOFFI R8, R4, R12, 0x50, 2D, 0xf", "xyL", "XY"),
];
const LAYERS: [Form; 6] = [
    ("TEX.LZ R8, R4, 0x50, ARRAY_2D, 0xf", "lxy", ""),
    ("TEX.LL.DC R8, R4, R12, 0x50, ARRAY_2D, 0xf", "lxy", "dr"),
    ("TLD.LL R8, R4, R12, 0x50, ARRAY_2D, 0xf", "lxy", "d"),
    ("TLD4.B R8, R4, 0x50, ARRAY_2D, 0xf", "lxy", ""),
    ("TXD R8, R4, R12, 0x50, ARRAY_2D, 0xf", "xyL", "XY"),
    ("TXD.AOFFI R8, R4, R12, 0x50, ARRAY_2D, 0xf", "xyL", "XY"),
];
const VOLUMES: [Form; 3] = [
    ("TEX.LL R8, R4, R12, 0x50, 3D, 0xf", "xyz", "d"),
    ("TEX.LZ.AOFFI R8, R4, R12, 0x50, 3D, 0xf", "xyz", "o"),
    ("TLD.LL R8, R4, R12, 0x50, 3D, 0xf", "xyz", "d"),
];
const CUBES: [Form; 2] = [
    ("TEX.LL R8, R4, R12, 0x50, CUBE, 0xf", "xyz", "d"),
    ("TEX.LZ.DC R8, R4, R12, 0x50, CUBE, 0xf", "xyz", "r"),
];

/// Numerical Recipes' generator.
struct Draw(u32);

impl Draw {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % n
    }

    fn float(&mut self, least: f32, most: f32) -> u32 {
        (least + (most - least) * (self.below(1 << 16) as f32 / 65536.0)).to_bits()
    }
}

/// A lane's query. The test removes the parts for which an instruction has no operand.
#[derive(Clone, Default)]
struct Asked {
    query: Query,
    gradients: [[u32; 2]; 2],
}

impl Asked {
    fn random(draw: &mut Draw, fetches: bool) -> Asked {
        let coordinate =
            |draw: &mut Draw| if fetches { draw.below(20) } else { draw.float(-0.75, 1.75) };
        let coords = [(); 3].map(|()| coordinate(draw));
        let offset = [(); 3].map(|()| draw.below(16) as i32 - 8);
        let lod = if fetches { draw.below(4) } else { draw.float(-0.5, 3.0) };
        let query =
            Query { coords, layer: draw.below(4), lod, reference: draw.float(0.0, 1.0), offset };
        Asked { query, gradients: [(); 2].map(|()| [(); 2].map(|()| draw.float(-0.2, 0.2))) }
    }

    /// Returns the registers of an operand.
    fn registers(&self, letters: &str, offsets: bool, layers: bool) -> [u32; 4] {
        let packed = |bits: u32, distance: u32| {
            (0..3).fold(0, |all, axis| {
                all | (self.query.offset[axis] as u32 & ((1 << bits) - 1))
                    << (distance * axis as u32)
            })
        };
        let mut words = Vec::new();
        for letter in letters.chars() {
            match letter {
                'x' | 'y' | 'z' => words.push(self.query.coords[letter as usize - 'x' as usize]),
                'l' => words.push(self.query.layer),
                'd' => words.push(self.query.lod),
                'o' => words.push(packed(4, 4)),
                'O' => words.push(packed(6, 8)),
                'r' => words.push(self.query.reference),
                'h' => words.push(HANDLE),
                'X' | 'Y' => words.extend(self.gradients[letter as usize - 'X' as usize]),
                'L' => {
                    let offsets = if offsets { packed(4, 4) << 16 } else { 0 };
                    words.push(offsets | if layers { self.query.layer } else { 0 });
                }
                _ => unreachable!(),
            }
        }
        std::array::from_fn(|i| words.get(i).copied().unwrap_or_default())
    }
}

const HANDLE: u32 = 1 << 20 | 1;

fn check(image: &Image, forms: &[Form]) {
    let mut draw = Draw(1);
    for &(text, a, b) in forms {
        let program = Program::new(
            kernel(text).unwrap_or_else(|e| panic!("{text}: {e}")),
            MemoryConfig::default(),
        );
        let program = program.unwrap();
        let memory = program.memory();
        let base = memory.alloc(image.total_bytes(), 1 << 16).unwrap();
        let texels: Vec<u8> =
            (0..image.total_bytes() / 4).flat_map(|_| draw.float(0.0, 1.0).to_le_bytes()).collect();
        memory.write(base, &texels).unwrap();
        let image = Image { base, ..*image };
        let with_sampler = Sampler {
            wrap: [Wrap::Repeat, Wrap::Mirror, Wrap::ClampToEdge],
            mag: Filter::Linear,
            min: Filter::Linear,
            mip: MipFilter::Linear,
            compare: Some(CompareFn::LessEqual),
            ..Sampler::default()
        };

        let compares = text.contains(".DC");
        let operation = match text.split(['.', ' ']).next().unwrap() {
            "TLD" if text.contains(".CL") => Operation::FetchNearest,
            "TLD" => Operation::Fetch,
            "TLD4" => Operation::Gather { component: "RGBA".find(&text[5..6]).unwrap() as u8 },
            _ => Operation::Sample,
        };
        let (offsets, layers) = (text.contains("AOFFI"), text.contains("ARRAY"));
        let mut inputs = [Vec::new(), Vec::new()];
        let mut expected = Vec::new();
        for _ in 0..LANES {
            let mut asked = Asked::random(&mut draw, text.starts_with("TLD."));
            for (words, letters) in inputs.iter_mut().zip([a, b]) {
                words.extend(
                    asked
                        .registers(letters, offsets, layers)
                        .into_iter()
                        .flat_map(u32::to_le_bytes),
                );
            }
            let given = |letters: [char; 2]| {
                letters.iter().any(|&letter| a.contains(letter) || b.contains(letter))
            };
            let query = &mut asked.query;
            query.offset = if offsets { query.offset } else { [0; 3] };
            query.layer = if layers { query.layer } else { 0 };
            query.lod = if given(['d', 'd']) { query.lod } else { 0 };
            query.reference = if compares { query.reference } else { 0 };
            if !given(['z', 'z']) {
                (query.coords[2], query.offset[2]) = (0, 0);
            }
            let sampler =
                Sampler { compare: with_sampler.compare.filter(|_| compares), ..with_sampler };
            let view = View::new(&image, &sampler);
            if given(['X', 'Y']) {
                let [[xx, xy], [yx, yy]] = asked.gradients.map(|both| both.map(f32::from_bits));
                query.lod = view.level_of_gradients([xx, yx, 0.0], [xy, yy, 0.0]).to_bits();
            }
            let read = &mut |address, bytes: &mut [u8]| memory.read(address, bytes).map(|()| false);
            expected.push(view.sample(operation, query, read).unwrap().0);
        }
        let found = run(&program, &image, &with_sampler, &inputs);
        for (engine, found) in found {
            for (lane, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found, expected, "{text}, {engine:?}, lane {lane}");
            }
        }
    }
}

type Results = Vec<(EngineKind, Vec<[u32; 4]>)>;

fn run(program: &Program, image: &Image, with_sampler: &Sampler, inputs: &[Vec<u8>; 2]) -> Results {
    let memory = program.memory();
    let put = |memory: &Memory, bytes: &[u8]| {
        let address = memory.alloc(bytes.len() as u64, 64).unwrap();
        memory.write(address, bytes).unwrap();
        address
    };
    let bytes =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let headers = put(memory, &bytes([[0; 8], header::encode(image).unwrap()].as_flattened()));
    let samplers = put(memory, &bytes([[0; 8], sampler::encode(with_sampler)].as_flattened()));
    let [a, b] = [0, 1].map(|i| put(memory, &inputs[i]));
    let output = memory.alloc(1 << 12, 64).unwrap();
    let args =
        [Arg::from(u64::from(HANDLE)), Arg::pointer(a), Arg::pointer(b), Arg::pointer(output)];
    let launch = |engine| {
        let mut options = LaunchOptions::new([1; 3], [LANES as u32, 1, 1]);
        options.engine = engine;
        options.images = Some(ImagePool { headers, last_header: 1, samplers, last_sampler: 1 });
        let outcome = program.kernel("case").unwrap().launch(&args, &options).unwrap();
        assert!(outcome.fault.is_none(), "{}", outcome.fault.unwrap());
        let mut bytes = vec![0; LANES * RESULT];
        memory.read(output, &mut bytes).unwrap();
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        bytes
            .chunks(RESULT)
            .map(|lane| std::array::from_fn(|i| word(&lane[4 * i..][..4])))
            .collect()
    };
    [EngineKind::Interp, EngineKind::Jit].map(|engine| (engine, launch(engine))).into()
}

fn image(kind: Kind, size: [u32; 3]) -> Image {
    let layout = Layout::Blocks(Blocks { height: 0, depth: 0 });
    let image = Format::named("r32_float").unwrap().image(kind, size, layout);
    Image { levels: 4, last_level: 3, normalized: true, ..image }
}

#[test]
fn operands_are_what_they_should_be() {
    check(&image(Kind::D2, [16, 8, 1]), &TWO_DIMENSIONS);
    check(&Image { array: true, layers: 3, ..image(Kind::D2, [16, 8, 1]) }, &LAYERS);
    check(&image(Kind::D3, [8, 16, 8]), &VOLUMES);
    check(&image(Kind::Cube, [8, 8, 1]), &CUBES);
}

/// Neighbours' coordinates give the level of an access with `.NDV`, and the level as a number.
#[test]
fn quads_have_levels() {
    let image = image(Kind::D2, [64, 64, 1]);
    for (text, answers) in [
        ("TMML.LOD.NDV R8, R4, 0x50, 2D, 0x3", true),
        ("TEX.NDV R8, R4, 0x50, 2D, 0x1", false),
        ("TEX R8, R4, 0x50, 2D, 0x1", false),
    ] {
        let program = Program::new(kernel(text).unwrap(), MemoryConfig::default()).unwrap();
        let memory = program.memory();
        let base = memory.alloc(image.total_bytes(), 1 << 16).unwrap();
        let image = Image { base, ..image };
        for level in 0..4 {
            let texels = image.plane(level).bytes() as usize / 4;
            let bytes: Vec<u8> =
                std::iter::repeat_n(f32::from(level), texels).flat_map(f32::to_le_bytes).collect();
            memory.write(base + image.level_offset(level), &bytes).unwrap();
        }
        let sampler = Sampler { mip: MipFilter::Linear, max_lod: 2.5, ..Sampler::default() };
        // Texels from lane to lane of each quad, to the right and downwards.
        let steps = [
            [1.0, 0.0],
            [0.5, 2.0],
            [8.0, 1.0],
            [0.0, 0.0],
            [0.25, 0.25],
            [4.0, 4.0],
            [16.0, 1.0],
            [1.0, 4.0],
        ];
        let coordinates = (0..LANES).flat_map(|lane| {
            let [beside, below] = steps[lane / 4];
            let (column, row) = ((lane & 1) as f32, (lane >> 1 & 1) as f32);
            [column * beside / 64.0, row * below / 64.0, 0.0, 0.0]
        });
        let coordinates: Vec<u8> = coordinates.flat_map(f32::to_le_bytes).collect();
        for (engine, found) in run(&program, &image, &sampler, &[coordinates, vec![0; 512]]) {
            for (lane, found) in found.iter().enumerate() {
                let [beside, below] = steps[lane / 4];
                let is_whole = text.contains(".NDV");
                let level = if is_whole { f32::max(beside, below).log2() } else { 0.0 };
                let clamped = level.clamp(0.0, 2.5);
                if answers {
                    let whole = (level.max(-128.0) * 256.0) as i32 as u32;
                    assert_eq!(
                        found[..2],
                        [whole, (clamped * 256.0) as u32],
                        "{engine:?}, lane {lane}"
                    );
                } else {
                    assert_eq!(f32::from_bits(found[0]), clamped, "{engine:?}, lane {lane}");
                }
            }
        }
    }
}
