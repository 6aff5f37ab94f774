//! The kernels that are measured: of each its binaries, its arguments, and the same work as plain loops, which say what it should
//! give. `docs/benchmarking.md` lists them.
//!
//! A kernel is written down once, as a [`Case`]. [`Case::write`] makes launch manifests of it: what the benchmarks, the command
//! and `benches/peers` run is the same launch.

mod arithmetic;
mod content;
#[path = "../../tests/kernels/draw.rs"]
#[allow(dead_code, reason = "shared with the kernel tests, which use more of it")]
mod draw;
pub mod growth;
mod images;
mod launch;
mod memory;
mod plain;
mod sharing;

use std::fmt::Write;
use std::path::{Path, PathBuf};

pub use content::Content;
pub use launch::Ready;

/// How much work there is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// One to ten milliseconds of the JIT's.
    Full,
    /// Less of it, where an interpreter that does a million instructions a second would need more than a second or two. Caches
    /// and pages should not notice.
    Small,
}

impl Size {
    fn of<T>(self, full: T, small: T) -> T {
        if self == Size::Full { full } else { small }
    }
}

/// What is passed for an image.
#[derive(Clone, Copy)]
enum Images {
    /// The address of an array.
    Arrays,
    /// A surface's handle, in this layout.
    Surfaces(&'static str),
    /// OpenCL's images, and buffers of counters.
    OpenCl,
}

/// A binary of the kernel.
pub struct Target {
    /// The instruction set that it is compiled for, and in what it differs from others of that.
    pub name: &'static str,
    /// Relative to the repository.
    binary: String,
    entry: &'static str,
    images: Images,
}

/// How results are checked.
#[derive(Clone, Copy)]
enum Check {
    /// They are not known.
    None,
    Exact,
    Within {
        rtol: f64,
        atol: f64,
    },
}

enum Arg {
    /// Type and value, as a manifest has them.
    Number(&'static str, String),
    Buffer(Buffer),
}

struct Buffer {
    name: &'static str,
    content: Content,
    check: Check,
    image: Option<Image>,
}

/// Of a buffer that some targets pass as an image: width and height; of counters, which are added to, the width only.
struct Image {
    size: Vec<u32>,
    format: &'static str,
}

/// A loop that does the kernel's work, on the buffers in the order of the arguments.
pub type Plain = Box<dyn FnMut(&mut [Content])>;

/// A [`Plain`] of a pattern for the buffers and what is done with them.
macro_rules! on {
    ([$($buffer:pat),*] => $work:expr) => {
        Box::new(move |buffers: &mut [Content]| {
            let [$($buffer),*] = buffers else { panic!("these are not the buffers of the case") };
            $work
        })
    };
}
use on;

/// A kernel with its arguments.
pub struct Case {
    pub name: &'static str,
    /// What the time of a launch is divided by: so many of these.
    pub unit: &'static str,
    pub work: u64,
    pub targets: Vec<Target>,
    /// The same kernel in OpenCL, relative to the repository.
    pub opencl: Option<String>,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    args: Vec<Arg>,
    /// The first one makes the expected results.
    pub plain: Vec<(&'static str, Plain)>,
    /// How long a launch takes depends on what it finds: every one finds the first content again.
    pub reset: bool,
}

impl Case {
    fn new(name: &'static str, unit: &'static str, work: usize) -> Case {
        Case {
            name,
            unit,
            work: work as u64,
            targets: vec![],
            opencl: Some(format!("benches/opencl/{name}.cl")),
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            args: vec![],
            plain: vec![],
            reset: false,
        }
    }

    fn target(
        mut self,
        name: &'static str,
        binary: impl Into<String>,
        entry: &'static str,
        images: Images,
    ) -> Case {
        self.targets.push(Target { name, binary: binary.into(), entry, images });
        self
    }

    /// One source for all instruction sets, in a folder of `examples`.
    fn example(self, name: &str, entry: &'static str) -> Case {
        self.all(["", "ptx/", "gfx9/"].map(|isa| format!("examples/{isa}{name}/{name}")), entry)
    }

    /// The same in `benches/fixtures`.
    fn fixture(self, name: &str, entry: &'static str) -> Case {
        self.all([(); 3].map(|()| format!("benches/fixtures/{name}")), entry)
    }

    fn all(self, [maxwell, ptx, gfx9]: [String; 3], entry: &'static str) -> Case {
        self.target("maxwell", format!("{maxwell}.sm_50.cubin"), entry, Images::Arrays)
            .target("ptx", format!("{ptx}.sm_70.ptx"), entry, Images::Arrays)
            .target("gfx9", format!("{gfx9}.gfx900.hsaco"), entry, Images::Arrays)
    }

    /// The same kernel in OpenCL through Intel's compiler (`tools/igc.sh`), for a GPU that has all that it needs.
    fn visa(self, gpu: &str, entry: &'static str) -> Case {
        let binary = format!("benches/fixtures/visa/{}.{gpu}.zebin", self.name);
        self.target("visa", binary, entry, Images::OpenCl)
    }

    /// Which is not compared with others' OpenCL.
    fn without_opencl(mut self) -> Case {
        self.opencl = None;
        self
    }

    /// So many lanes, in blocks of so many.
    fn lanes(self, lanes: usize, block: usize) -> Case {
        self.grid([lanes.div_ceil(block), 1], [block, 1])
    }

    fn grid(mut self, grid: [usize; 2], block: [usize; 2]) -> Case {
        let axes = |[x, y]: [usize; 2]| [x as u32, y as u32, 1];
        (self.grid, self.block) = (axes(grid), axes(block));
        self
    }

    /// A lane for each pixel of an image.
    fn pixels(self, [width, height]: [usize; 2]) -> Case {
        self.grid([width.div_ceil(32), height.div_ceil(8)], [32, 8])
    }

    fn i32(mut self, value: usize) -> Case {
        self.args.push(Arg::Number("i32", value.to_string()));
        self
    }

    /// An address of nothing.
    fn null(mut self) -> Case {
        self.args.push(Arg::Number("u64", "0".into()));
        self
    }

    fn f32(mut self, value: f32) -> Case {
        self.args.push(Arg::Number("f32", format!("{value:?}")));
        self
    }

    fn f64(mut self, value: f64) -> Case {
        self.args.push(Arg::Number("f64", format!("{value:?}")));
        self
    }

    fn buffer(mut self, name: &'static str, content: impl Into<Content>, check: Check) -> Case {
        self.args.push(Arg::Buffer(Buffer { name, content: content.into(), check, image: None }));
        self
    }

    /// A buffer that is read.
    fn reads(self, name: &'static str, content: impl Into<Content>) -> Case {
        self.buffer(name, content, Check::None)
    }

    /// A buffer whose results are those of the plain loop, bit for bit.
    fn gives(self, name: &'static str, content: impl Into<Content>) -> Case {
        self.buffer(name, content, Check::Exact)
    }

    /// The last buffer is an image to targets that have images.
    fn image(mut self, size: &[usize], format: &'static str) -> Case {
        let Some(Arg::Buffer(buffer)) = self.args.last_mut() else {
            panic!("a buffer comes before")
        };
        buffer.image = Some(Image { size: size.iter().map(|&axis| axis as u32).collect(), format });
        self
    }

    fn plain(mut self, name: &'static str, plain: Plain) -> Case {
        self.plain.push((name, plain));
        self
    }

    /// What the buffers hold at first.
    pub fn contents(&self) -> Vec<Content> {
        self.buffers().map(|buffer| buffer.content.clone()).collect()
    }

    fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.args.iter().filter_map(|arg| match arg {
            Arg::Buffer(buffer) => Some(buffer),
            Arg::Number(..) => None,
        })
    }

    /// Makes a folder of the case's name in `folder`, with a manifest `TARGET.toml` for each target and what they name; expected
    /// are the first plain loop's results.
    pub fn write(&mut self, folder: &Path) -> PathBuf {
        let folder = folder.join(self.name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut after = self.contents();
        self.plain[0].1(&mut after);
        let put =
            |file: String, bytes: &[u8]| std::fs::write(folder.join(file), bytes).expect("a file");
        for (buffer, after) in self.buffers().zip(after) {
            put(format!("{}.bin", buffer.name), &buffer.content.bytes());
            put(format!("{}.expected.bin", buffer.name), &after.bytes());
        }
        for target in &self.targets {
            put(format!("{}.toml", target.name), self.manifest(target).as_bytes());
        }
        folder
    }

    fn manifest(&self, target: &Target) -> String {
        let binary = Path::new(env!("CARGO_MANIFEST_DIR")).join(&target.binary);
        let (grid, block, shared_bytes) = (self.grid, self.block, self.shared_bytes);
        let mut text = format!(
            "kernel = {{ binary = {binary:?}, entry = {:?} }}\n\
             launch = {{ grid = {grid:?}, block = {block:?}, shared_bytes = {shared_bytes} }}\n",
            target.entry
        );
        let mut tables = String::new();
        for arg in &self.args {
            let arg = match arg {
                Arg::Number(dtype, value) => format!("{dtype} = {value}"),
                Arg::Buffer(buffer) => {
                    let (kind, description) = buffer.described(target.images);
                    // What OpenCL reads is a texture, whose texels a `[surface]` describes.
                    let table = if kind == "texture" { "surface" } else { kind };
                    writeln!(tables, "[{table}.{}]\n{description}", buffer.name)
                        .expect("a string takes all");
                    format!("{kind} = {:?}", buffer.name)
                }
            };
            writeln!(text, "[[arg]]\n{arg}").expect("a string takes all");
        }
        text + &tables
    }
}

impl Buffer {
    /// What is passed for it, and the lines of its table.
    fn described(&self, images: Images) -> (&'static str, String) {
        let surface = |image: &Image, layout| {
            let size = [0, 1, 2].map(|axis| image.size.get(axis).copied().unwrap_or(1));
            let (dim, format) = (if image.size.len() == 1 { "1d" } else { "2d" }, image.format);
            format!("dim = {dim:?}\nsize = {size:?}\nformat = {format:?}\nlayout = {layout:?}\n")
        };
        let (kind, mut lines) = match (&self.image, images) {
            (Some(image), Images::Surfaces(layout)) => ("surface", surface(image, layout)),
            (Some(image), Images::OpenCl) if image.size.len() > 1 => match self.check {
                Check::None => ("texture", surface(image, "pitch")),
                _ => ("surface", surface(image, "pitch")),
            },
            _ => ("buffer", format!("dtype = {:?}\n", self.content.dtype().name())),
        };
        lines += &format!("file = \"{}.bin\"\n", self.name);
        if !matches!(self.check, Check::None) {
            lines += &format!("expect = \"{}.expected.bin\"\n", self.name);
        }
        if let Check::Within { rtol, atol } = self.check {
            lines += &format!("rtol = {rtol:?}\natol = {atol:?}\n");
        }
        (kind, lines)
    }
}

/// One for each name of `docs/benchmarking.md`'s table.
pub fn cases(size: Size) -> Vec<Case> {
    [arithmetic::cases(size), memory::cases(size), sharing::cases(size), images::cases(size)]
        .into_iter()
        .flatten()
        .collect()
}
