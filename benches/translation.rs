//! The cost of translation: time per guest instruction, peak memory, and the translation of a
//! second launch. See `docs/benchmarking.md`. Each measurement has a process of its own, since the
//! peak of a process's memory never falls.

#[path = "suite/peak.rs"]
mod peak;

use std::process::Command;
use std::time::{Duration, Instant};

use arbitrary::Unstructured;
use peak::peak_kib;
use warploom::{Arg, Effort, Error, Kernel, LaunchOptions, Program, Stage};
use warploom_analysis::LaunchClass;
use warploom_replay::{Launch, Manifest, Session};
use warploom_testing::chain::{LINKS, chain, name};

/// The file and the name of each kernel.
const KERNELS: [(&str, &str); 2] = [
    ("benches/fixtures/unroll10k.sm_50.cubin", "unroll10k"),
    ("examples/mandelbrot/mandelbrot.sm_50.cubin", "mandelbrot"),
];

/// The manifests of the examples, one for each kernel.
const EXAMPLES: [&str; 17] = [
    "bitonic/bitonic.toml",
    "convolution/convolution.toml",
    "fft/fft.toml",
    "half/half.toml",
    "hashtable/hashtable-find.toml",
    "hashtable/hashtable.toml",
    "histogram/histogram-global.toml",
    "histogram/histogram.toml",
    "mandelbrot/mandelbrot.toml",
    "matmul/matmul.toml",
    "nbody/nbody.toml",
    "quicksort/quicksort.toml",
    "reduce/reduce.toml",
    "saxpy/saxpy.toml",
    "scan/scan-blocks.toml",
    "scan/scan.toml",
    "stencil/stencil.toml",
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|a| a == "--measure") {
        return measure(&arguments[at + 1]);
    }
    if let Some(at) = arguments.iter().position(|a| a == "--long") {
        return long(if arguments[at + 1] == "full" { Effort::Full } else { Effort::Quick });
    }
    if let Some(at) = arguments.iter().position(|a| a == "--table") {
        return table(&arguments[at + 1..]);
    }
    let this = std::env::current_exe().expect("the path of this program");
    for (_, kernel) in KERNELS {
        let status = Command::new(&this)
            .args(["--measure", kernel])
            .status()
            .expect("this program starts again");
        assert!(status.success(), "measuring {kernel}");
    }
    for effort in ["quick", "full"] {
        let status = Command::new(&this)
            .args(["--long", effort])
            .status()
            .expect("this program starts again");
        assert!(status.success(), "a long launch");
    }
    kernels();
    chains();
    variants();
}

/// Times blocks of operations that depend on each other: a block twice as long takes twice the
/// time.
fn chains() {
    println!("chains of operations, with full effort:");
    let mixed = [
        "sum of words",
        "sorted words",
        "masks crossed",
        "fused product of floats",
        "word found in memory",
    ];
    let kinds = (0..LINKS).map(|link| vec![link]);
    let mixed: Vec<usize> = (0..LINKS).filter(|&link| mixed.contains(&name(link))).collect();
    for links in kinds.chain([mixed]) {
        let times = [1_000, 2_000].map(|rounds| {
            let bytes = [0x5b; 64];
            let function = chain(&links, rounds, &mut Unstructured::new(&bytes))
                .expect("there are bytes enough");
            let start = Instant::now();
            let class =
                LaunchClass::of([64, 1, 1], function.lanes.into(), warploom_cranelift::CHUNK);
            let program = warploom_engine::Program::new(
                &function,
                class,
                true,
                warploom_cranelift::backend(),
            )
            .expect("a function that verifies");
            program.compile_all(Effort::Full).expect("code is made");
            start.elapsed()
        });
        let names: Vec<&str> = links.iter().map(|&link| name(link)).collect();
        println!(
            "  {}: {:.1?} for 1,000 rounds, {:.1?} for 2,000",
            names.join(", "),
            times[0],
            times[1]
        );
    }
}

/// Runs a launch that becomes hot, in a fresh process, twice. Prints the time of all translation
/// and of each launch.
fn long(effort: Effort) {
    let (cubin, kernel) = KERNELS[1];
    let program = load(cubin, kernel);
    let (width, height) = (640, 427);
    let image = program.memory().alloc(2 * width * height, 4).expect("memory for the image");
    let size = [width, height].map(|n| Arg::from(n as u32));
    let view = [-2.25f32, -1.0, 0.005, 0.0046875].map(Arg::from);
    let args = [&[Arg::pointer(image)][..], &size, &view, &[Arg::from(256)]].concat();
    let options = LaunchOptions { effort, ..LaunchOptions::new([20, 54, 1], [32, 8, 1]) };
    let [first, second] = [(); 2].map(|()| {
        program.kernel(kernel).expect("the kernel").launch(&args, &options).expect("a launch")
    });
    println!(
        "{kernel}, {width} x {height}, {effort:?}: {:.1?} of translation, {:.1?} in it; the second time {:.1?}, {:.1?}",
        first.translate, first.run, second.translate, second.run
    );
}

/// Translates all code of every kernel of the examples, in a process that has translated before:
/// the first translation also loads the code generator. The least of several times counts.
fn kernels() {
    const TIMES: usize = 20;
    println!("the examples, again and again:");
    let (mut all_instructions, mut all_quick, mut all_full) = (0, Duration::ZERO, Duration::ZERO);
    for manifest in EXAMPLES {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(manifest);
        let Manifest { kernel, launch, .. } =
            Manifest::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let cubin = path.with_file_name(&kernel.binary);
        let bytes = std::fs::read(&cubin).unwrap_or_else(|e| panic!("{}: {e}", cubin.display()));
        let mut instructions = 0;
        let mut translate = |effort| {
            let times = (0..TIMES).map(|_| {
                let program = Program::load(&bytes, kernel.entry.as_deref()).expect("a module");
                let kernel = match &kernel.entry {
                    Some(name) => program.kernel(name),
                    None => program.only_kernel(),
                };
                let kernel = kernel.expect("the kernel");
                instructions = kernel.function().size / 32 * 3;
                kernel.translate(launch.block, 1, effort).expect("a translation")
            });
            times.min().expect("several times")
        };
        let [quick, full] = [Effort::Quick, Effort::Full].map(&mut translate);
        let each = [quick, full].map(|time| per_instruction(time, instructions));
        println!(
            "  {manifest}: {instructions} instructions, {:.1} us each; {:.1} with full effort",
            each[0], each[1]
        );
        all_instructions += instructions;
        (all_quick, all_full) = (all_quick + quick, all_full + full);
    }
    let each = [all_quick, all_full].map(|time| per_instruction(time, all_instructions));
    println!("  together: {:.1} us each; {:.1} with full effort", each[0], each[1]);
}

/// Prints a line for each kernel of launches (TOML files) and GPU binaries: guest instructions,
/// then milliseconds of the thread's CPU time for all code with quick, likely and full effort, then
/// the three times in microseconds per guest instruction.
#[cfg(target_os = "linux")]
fn table(files: &[String]) {
    for file in files {
        let path = std::path::Path::new(file);
        let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{file}: {e}"));
        if file.ends_with(".toml") {
            let Ok(launch) =
                Manifest::read(path).and_then(|manifest| Launch::resolve(manifest, path))
            else {
                continue;
            };
            let make = |times: &mut Translation| {
                let session = Session::new(&launch)?;
                times.add(&session.kernel()?, launch.shape.block)
            };
            report(file, make);
        } else {
            let Ok(program) = Program::load(&bytes, None) else { continue };
            for name in program.module().kernel_names() {
                let make = |times: &mut Translation| {
                    let program = Program::load(&bytes, Some(name))?;
                    times.add(&program.kernel(name)?, [256, 1, 1])
                };
                report(&format!("{file} {name}"), make);
            }
        }
    }
}

#[cfg(target_os = "linux")]
struct Translation {
    instructions: u64,
    milliseconds: [f64; Effort::ALL.len()],
}

#[cfg(target_os = "linux")]
impl Translation {
    fn add(&mut self, kernel: &Kernel, block: [u32; 3]) -> Result<(), Error> {
        for (least, effort) in self.milliseconds.iter_mut().zip(Effort::ALL) {
            let start = cpu_milliseconds();
            kernel.translate(block, 1, effort)?;
            *least = least.min(cpu_milliseconds() - start);
        }
        let blocks = kernel.dump(Stage::Blocks, block, None)?;
        let counts = blocks
            .lines()
            .filter_map(|line| line.strip_prefix('b')?.split(", ").nth(1)?.split(' ').next());
        self.instructions = counts.filter_map(|count| count.parse::<u64>().ok()).sum();
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn report(name: &str, make: impl Fn(&mut Translation) -> Result<(), Error>) {
    let mut times = Translation { instructions: 0, milliseconds: [f64::INFINITY; _] };
    if (0..3).try_for_each(|_| make(&mut times)).is_ok() {
        print!("{}", times.instructions);
        times.milliseconds.iter().for_each(|ms| print!("\t{ms:.2}"));
        times
            .milliseconds
            .iter()
            .for_each(|ms| print!("\t{:.1}", ms * 1000.0 / times.instructions as f64));
        println!("\t{name}");
    }
}

/// Returns the CPU time of this thread in milliseconds.
#[cfg(target_os = "linux")]
fn cpu_milliseconds() -> f64 {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID)
        .expect("the thread's time");
    time.tv_sec() as f64 * 1e3 + time.tv_nsec() as f64 / 1e6
}

/// Returns the time per instruction in microseconds.
fn per_instruction(time: Duration, instructions: u64) -> f64 {
    time.as_nanos() as f64 / 1000.0 / instructions as f64
}

fn load(cubin: &str, kernel: &str) -> Program {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(cubin);
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Program::load(&bytes, Some(kernel)).expect("a module with this kernel")
}

/// Measures one translation in a fresh process, a launch with another grid and other parameters,
/// then a translation of the same module loaded again. The excess of the first translation is the
/// process's one-time cost of loading the code generator.
fn measure(name: &str) {
    let (cubin, kernel) =
        KERNELS.into_iter().find(|(_, kernel)| *kernel == name).expect("a known kernel");
    let program = load(cubin, kernel);
    let before = peak_kib();
    let instructions = program.kernel(kernel).expect("the kernel").function().size / 32 * 3;
    let first = launch(&program, kernel, 1);
    let after = peak_kib();
    let second = launch(&program, kernel, 3);
    let again = launch(&load(cubin, kernel), kernel, 1);
    let [each, each_again] = [first, again].map(|time| per_instruction(time, instructions));
    println!(
        "{kernel}: {instructions} instructions translated in {first:.1?}: {each:.2} us each, in a fresh process"
    );
    println!(
        "  loaded again and translated in {again:.1?}: {each_again:.2} us each (promised: at most 25)"
    );
    if let (Some(before), Some(after)) = (before, after) {
        println!(
            "  peak memory of the process {:.1} MiB, {:.1} MiB before",
            after as f64 / 1024.0,
            before as f64 / 1024.0
        );
    }
    println!(
        "  second launch, another grid and other parameters: {second:?} of translation (promised: none)"
    );
}

/// Launches over `blocks` blocks of 32 lanes and returns the time of translation.
fn launch(program: &Program, kernel: &str, blocks: u32) -> Duration {
    let n = blocks * 32 - 1;
    let zeros = |bytes: u32| {
        let address = program.memory().alloc(u64::from(bytes), 4).expect("memory for a buffer");
        Arg::pointer(address)
    };
    let args = if kernel == "unroll10k" {
        vec![zeros(4 * (n + 64)), zeros(4 * n * 48), Arg::from(n)]
    } else {
        let view = [-2.0f32, -1.0, 0.05 * blocks as f32, 0.05].map(Arg::from);
        [
            zeros(2 * n),
            Arg::from(n),
            Arg::from(1),
            view[0].clone(),
            view[1].clone(),
            view[2].clone(),
            view[3].clone(),
            Arg::from(50),
        ]
        .to_vec()
    };
    let outcome = program
        .kernel(kernel)
        .expect("the kernel")
        .launch(&args, &LaunchOptions::new([blocks, 1, 1], [32, 1, 1]))
        .expect("a launch");
    assert_eq!(outcome.fault, None);
    outcome.translate
}

/// Launches one kernel with forty block sizes.
fn variants() {
    let program = load("examples/saxpy/saxpy.sm_50.cubin", "saxpy");
    let buffers = [(); 2]
        .map(|()| Arg::pointer(program.memory().alloc(4 * 1024, 4).expect("memory for a buffer")));
    let mut translations = 0;
    for block in (1..=40).map(|k| k * 25 + k % 7) {
        let args = [Arg::from(1000), Arg::from(2.0f32), buffers[0].clone(), buffers[1].clone()];
        let options = LaunchOptions::new([1000u32.div_ceil(block), 1, 1], [block, 1, 1]);
        let outcome =
            program.kernel("saxpy").expect("the kernel").launch(&args, &options).expect("a launch");
        assert_eq!(outcome.fault, None);
        translations += u32::from(!outcome.translate.is_zero());
    }
    println!(
        "saxpy in 40 block sizes: {translations} launches translated something (promised: at most 4 variants)"
    );
}
