//! The kernels that are measured. Each has binaries, arguments, and the same work as plain loops,
//! which compute the expected results. `docs/benchmarking.md` lists the kernels.
//!
//! A [`Case`] defines a kernel once. [`Case::write`] makes its launch manifests, so that the
//! benchmarks, the command and `benches/peers` run the same launch.

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

/// The amount of work of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A launch takes the JIT one to ten milliseconds.
    Full,
    /// Less work, if an interpreter at a million instructions per second would need more than a
    /// second or two. Caches and pages should not notice the difference.
    Small,
}

impl Size {
    fn of<T>(self, full: T, small: T) -> T {
        if self == Size::Full { full } else { small }
    }
}

/// The argument that is passed for an image.
#[derive(Clone, Copy)]
enum Images {
    /// The address of an array.
    Arrays,
    /// The handle of a surface, in this layout.
    Surfaces(&'static str),
    /// OpenCL images, and buffers of counters.
    OpenCl,
}

/// A binary of the kernel.
pub struct Target {
    /// The instruction set, and the difference from other targets of that set.
    pub name: &'static str,
    /// The path relative to the repository.
    binary: String,
    entry: &'static str,
    images: Images,
}

/// How results are checked.
#[derive(Clone, Copy)]
enum Check {
    /// The results are not known.
    None,
    Exact,
    Within {
        rtol: f64,
        atol: f64,
    },
}

enum Arg {
    /// The type and the value, as in a manifest.
    Number(&'static str, String),
    Buffer(Buffer),
}

struct Buffer {
    name: &'static str,
    content: Content,
    check: Check,
    image: Option<Image>,
}

/// A buffer that some targets pass as an image, which has a width and a height. An image of
/// counters, which kernels add to, has a width only.
struct Image {
    size: Vec<u32>,
    format: &'static str,
}

/// A loop that does the kernel's work, on the buffers in the order of the arguments.
pub type Plain = Box<dyn FnMut(&mut [Content])>;

/// Makes a [`Plain`] from a pattern for the buffers and the work on them.
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
    /// The unit of work. The time of a launch is divided by `work` units.
    pub unit: &'static str,
    pub work: u64,
    pub targets: Vec<Target>,
    /// The OpenCL source of the kernel, relative to the repository.
    pub opencl: Option<String>,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    args: Vec<Arg>,
    /// The plain loops. The first one computes the expected results.
    pub plain: Vec<(&'static str, Plain)>,
    /// Whether the time of a launch depends on the content, so that every launch starts with the
    /// first content.
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

    /// Adds the targets of an example: Maxwell, Turing, PTX and GFX9.
    fn example(self, name: &str, entry: &'static str) -> Case {
        let folders = ["", "ptx/", "gfx9/"].map(|isa| format!("examples/{isa}{name}"));
        self.all(name, folders, entry)
    }

    /// Adds the targets of a kernel in `benches/fixtures`: Maxwell, Turing, PTX and GFX9.
    fn fixture(self, name: &str, entry: &'static str) -> Case {
        self.all(name, [(); 3].map(|()| "benches/fixtures".into()), entry)
    }

    /// `folders` are those of Maxwell, PTX and GFX9.
    fn all(self, name: &str, folders: [String; 3], entry: &'static str) -> Case {
        let [maxwell, ptx, gfx9] = folders.map(|folder| format!("{folder}/{name}"));
        let turing = format!("benches/fixtures/turing/{name}.sm_80.cubin");
        self.target("maxwell", format!("{maxwell}.sm_50.cubin"), entry, Images::Arrays)
            .target("turing", turing, entry, Images::Arrays)
            .target("ptx", format!("{ptx}.sm_70.ptx"), entry, Images::Arrays)
            .target("gfx9", format!("{gfx9}.gfx900.hsaco"), entry, Images::Arrays)
    }

    /// Adds the OpenCL kernel, compiled by Intel's compiler (`tools/igc.sh`) for a GPU with all
    /// features that the kernel needs.
    fn visa(self, gpu: &str, entry: &'static str) -> Case {
        let binary = format!("benches/fixtures/visa/{}.{gpu}.zebin", self.name);
        self.target("visa", binary, entry, Images::OpenCl)
    }

    /// Excludes the case from the comparison with other OpenCL implementations.
    fn without_opencl(mut self) -> Case {
        self.opencl = None;
        self
    }

    /// Sets the number of lanes and the lanes of a block.
    fn lanes(self, lanes: usize, block: usize) -> Case {
        self.grid([lanes.div_ceil(block), 1], [block, 1])
    }

    fn grid(mut self, grid: [usize; 2], block: [usize; 2]) -> Case {
        let axes = |[x, y]: [usize; 2]| [x as u32, y as u32, 1];
        (self.grid, self.block) = (axes(grid), axes(block));
        self
    }

    /// Sets one lane for each pixel of an image.
    fn pixels(self, [width, height]: [usize; 2]) -> Case {
        self.grid([width.div_ceil(32), height.div_ceil(8)], [32, 8])
    }

    fn i32(mut self, value: usize) -> Case {
        self.args.push(Arg::Number("i32", value.to_string()));
        self
    }

    /// Adds a null address as an argument.
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

    /// Adds a buffer that the kernel reads.
    fn reads(self, name: &'static str, content: impl Into<Content>) -> Case {
        self.buffer(name, content, Check::None)
    }

    /// Adds a buffer whose results equal the results of the plain loop, bit for bit.
    fn gives(self, name: &'static str, content: impl Into<Content>) -> Case {
        self.buffer(name, content, Check::Exact)
    }

    /// Makes the last buffer an image for targets that have images.
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

    /// Returns the initial content of the buffers.
    pub fn contents(&self) -> Vec<Content> {
        self.buffers().map(|buffer| buffer.content.clone()).collect()
    }

    fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.args.iter().filter_map(|arg| match arg {
            Arg::Buffer(buffer) => Some(buffer),
            Arg::Number(..) => None,
        })
    }

    /// Makes a folder of the case's name in `folder`, with a manifest `TARGET.toml` for each target
    /// and the buffers that manifests name. The first plain loop computes the expected results.
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
                    // An image that OpenCL reads is a texture. A `[surface]` describes its texels.
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
    /// Returns the kind of argument for the buffer, and the lines of the buffer's table.
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

/// Returns a case for each name in the table of `docs/benchmarking.md`.
pub fn cases(size: Size) -> Vec<Case> {
    [arithmetic::cases(size), memory::cases(size), sharing::cases(size), images::cases(size)]
        .into_iter()
        .flatten()
        .collect()
}
