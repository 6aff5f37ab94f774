//! Kernels of every instruction set through the JIT, through the interpreter and as plain loops of Rust. See
//! `docs/benchmarking.md`.

#[path = "../../tests/kernels/draw.rs"]
#[allow(dead_code, reason = "shared with the kernel tests, which use more of it")]
mod draw;
mod guest;
mod plain;
mod ratios;

use criterion::{BenchmarkId, Criterion, Throughput};
use draw::Draw;
use guest::{Captured, Guest, Launches, Number};
use std::hint::black_box;
use std::time::Duration;
use warploom::exec::EngineKind;

/// One group: the plain loops and the kernels, which do `work` units.
struct Group<'a> {
    name: &'a str,
    work: u64,
    kernels: Vec<Kernel>,
    /// The interpreter is measured with so many samples.
    interp_samples: usize,
    two_threads: bool,
}

/// One kernel of the group.
struct Kernel {
    /// The instruction set that it is compiled for, or in what it differs from the others.
    name: &'static str,
    guest: Box<dyn Launches>,
}

impl Kernel {
    fn new(name: &'static str, guest: impl Launches + 'static) -> Kernel {
        Kernel { name, guest: Box::new(guest) }
    }
}

/// The same source for all instruction sets; `example` is a folder and a file name in `examples`.
fn example(example: &str, entry: &'static str, set_up: impl Fn(Guest) -> Guest) -> Vec<Kernel> {
    kernels(&format!("examples/{example}/{example}"), &format!("examples/gfx9/{example}/{example}"), entry, set_up)
}

fn fixture(name: &str, entry: &'static str, set_up: impl Fn(Guest) -> Guest) -> Vec<Kernel> {
    let path = format!("benches/fixtures/{name}");
    kernels(&path, &path, entry, set_up)
}

fn kernels(maxwell: &str, gfx9: &str, entry: &'static str, set_up: impl Fn(Guest) -> Guest) -> Vec<Kernel> {
    vec![
        Kernel::new("maxwell", set_up(Guest::new(&format!("{maxwell}.sm_50.cubin"), entry))),
        Kernel::new("gfx9", set_up(Guest::new(&format!("{gfx9}.gfx900.hsaco"), entry))),
    ]
}

impl Group<'_> {
    fn run(&self, c: &mut Criterion, plain: &mut [(&str, &mut dyn FnMut())]) {
        let mut group = c.benchmark_group(self.name);
        group.throughput(Throughput::Elements(self.work)).warm_up_time(Duration::from_millis(500));
        for (name, plain) in plain {
            group.bench_function(*name, |b| b.iter(&mut **plain));
        }
        let mut threads = vec![1];
        if self.two_threads {
            threads.push(2);
        }
        for Kernel { name, guest } in &self.kernels {
            for &threads in &threads {
                let first = guest.launch(EngineKind::Jit, threads);
                let outcome = guest.launch(EngineKind::Jit, threads);
                assert!(
                    outcome.translate.is_zero(),
                    "{}, {name}: the second launch translated for {:?}",
                    self.name,
                    outcome.translate
                );
                println!(
                    "{}, {name} ({threads} threads): translated in {:?}; a launch: {} guest instructions, {} helper calls, {} in the interpreter",
                    self.name,
                    first.translate,
                    outcome.counts.instructions,
                    outcome.counts.helper_calls,
                    outcome.counts.interp_instructions
                );
                group.bench_function(BenchmarkId::new(*name, threads), |b| {
                    b.iter(|| guest.launch(EngineKind::Jit, threads))
                });
            }
        }
        group.sample_size(self.interp_samples);
        for Kernel { name, guest } in &self.kernels {
            group.bench_function(BenchmarkId::new(*name, "interp"), |b| b.iter(|| guest.launch(EngineKind::Interp, 1)));
        }
        group.finish();
    }
}

fn mandelbrot(c: &mut Criterion) {
    let (w, h, limit) = (640, 427, 256);
    let kernels = example("mandelbrot", "mandelbrot", |guest| {
        guest
            .grid([20, 54, 1], [32, 8, 1])
            .zeros(w * h * 2)
            .arg(w as i32)
            .arg(h as i32)
            .arg(-2.25f32)
            .arg(-1.0f32)
            .arg(0.005f32)
            .arg(0.0046875f32)
            .arg(limit)
    });
    let mut out = vec![0u16; w * h];
    let mut plain = || plain::mandelbrot(black_box(&mut out), w, limit);
    Group { name: "mandelbrot", work: (w * h) as u64, kernels, interp_samples: 10, two_threads: true }
        .run(c, &mut [("plain", &mut plain)]);
}

/// A loop over elements that does each `rounds` times over.
type Rounds<T> = fn(&[T], &mut [T], usize);

/// Kernels with much work on each element, against a scalar loop and one over vectors. An element has `units` of work a round.
fn rounds<T: Number + Default>(
    c: &mut Criterion,
    name: &str,
    entry: &'static str,
    x: &[T],
    units: usize,
    loops: [Rounds<T>; 2],
) {
    let (n, rounds) = (x.len(), 64);
    let kernels = fixture(name, entry, |guest| {
        guest
            .grid([n as u32 / 256, 1, 1], [256, 1, 1])
            .numbers(x)
            .zeros(size_of_val(x))
            .arg(n as i32)
            .arg(rounds as i32)
    });
    let (mut y, mut z) = (vec![T::default(); n], vec![T::default(); n]);
    let mut plain = || loops[0](black_box(x), black_box(&mut y), rounds);
    let mut vector = || loops[1](black_box(x), black_box(&mut z), rounds);
    Group { name, work: (n * rounds * units) as u64, kernels, interp_samples: 10, two_threads: false }
        .run(c, &mut [("plain", &mut plain), ("plain_vector", &mut vector)]);
}

/// Elements of the kernels with rounds.
const ELEMENTS: u16 = 16_384;

fn fma(c: &mut Criterion) {
    let x: Vec<f32> = (0..ELEMENTS).map(|i| f32::from(i) / f32::from(ELEMENTS)).collect();
    rounds(c, "fma", "fma_chains", &x, 16, [plain::fma_chains, plain::fma_chains_vector]);
}

fn dfma(c: &mut Criterion) {
    let x: Vec<f64> = (0..ELEMENTS).map(|i| f64::from(i) / f64::from(ELEMENTS)).collect();
    rounds(c, "dfma", "dfma_chains", &x, 16, [plain::dfma_chains, plain::dfma_chains_vector]);
}

fn mix(c: &mut Criterion) {
    let x = Draw::new(2).vec(ELEMENTS.into(), Draw::u64);
    rounds(c, "mix", "mix", &x, 1, [plain::mix, plain::mix_vector]);
}

/// In blocks of the greatest size and of a usual one: what a block costs by itself is much of a kernel as short as this.
fn saxpy(c: &mut Criterion) {
    let n = 131_072;
    // Small, so that no number of launches makes y infinite.
    let a = 1e-6f32;
    let x: Vec<f32> = (0..n).map(|i| (i % 17) as f32 - 8.0).collect();
    for (name, lanes) in [("saxpy", 1024), ("saxpy_256", 256)] {
        let kernels = example("saxpy", "saxpy", |guest| {
            guest.grid([n as u32 / lanes, 1, 1], [lanes, 1, 1]).arg(n).arg(a).numbers(&x).numbers(&x)
        });
        let mut y = x.clone();
        let mut plain = || plain::saxpy(a, black_box(&x), black_box(&mut y));
        Group { name, work: n as u64, kernels, interp_samples: 20, two_threads: false }
            .run(c, &mut [("plain", &mut plain)]);
    }
}

fn histogram(c: &mut Criterion) {
    let n = 1usize << 20;
    // Around 128 with a deviation of 30, as the example's data: how long the plain loop takes depends on how often a bin
    // follows itself.
    let mut draw = Draw::new(1);
    let data = draw.vec(n, |d| (128 + (0..6).map(|_| d.below(74) as i32 - 37).sum::<i32>() * 4 / 7) as u8);
    let kernels = example("histogram", "histogram_shared", |guest| {
        guest.grid([16, 1, 1], [256, 1, 1]).buffer(&data).zeros(1024).arg(n as i32)
    });
    let mut bins = [0u32; 256];
    let mut plain = || plain::histogram(black_box(&data), black_box(&mut bins));
    Group { name: "histogram", work: n as u64, kernels, interp_samples: 10, two_threads: false }
        .run(c, &mut [("plain", &mut plain)]);
}

fn nbody(c: &mut Criterion) {
    let (n, dt, softening2) = (2_048, 0.01f32, 0.01f32);
    let coordinate = |i: usize, period: usize| (i * 37 % period) as f32 / period as f32;
    let positions: Vec<[f32; 4]> =
        (0..n).map(|i| [coordinate(i, 1009), coordinate(i, 1013), coordinate(i, 1019), 1.0]).collect();
    let velocities = vec![[0.0f32; 4]; n];
    let kernels = example("nbody", "nbody", |guest| {
        guest
            .grid([n as u32 / 256, 1, 1], [256, 1, 1])
            .shared_bytes(256 * 16)
            .numbers(positions.as_flattened())
            .numbers(velocities.as_flattened())
            .zeros(16 * n)
            .zeros(16 * n)
            .zeros(4 * 64 * 64)
            .arg(n as i32)
            .arg(dt)
            .arg(softening2)
            .arg(64i32)
            .arg(64i32)
            .arg(32.0f32)
    });
    let (mut p, mut v) = (positions.clone(), velocities.clone());
    let mut plain = || plain::nbody(black_box(&positions), &velocities, &mut p, black_box(&mut v), dt, softening2);
    Group { name: "nbody", work: (n * n) as u64, kernels, interp_samples: 10, two_threads: true }
        .run(c, &mut [("plain", &mut plain)]);
}

/// Every item goes through one table, which a kernel for GFX9 reads by scalar loads: from an address, and through a buffer
/// resource.
fn table(c: &mut Criterion) {
    let (rows, items, group) = (1_024, 16_384, 256);
    let mut draw = Draw::new(3);
    let table: Vec<[u32; 4]> = (0..rows).map(|_| [(); 4].map(|()| draw.u32())).collect();
    let kernel = |name, binary| {
        let guest = Guest::new(binary, "table")
            .grid([items as u32 / group, 1, 1], [group, 1, 1])
            .numbers(table.as_flattened())
            .arg(rows)
            .zeros(4 * items)
            .arg(items as i32);
        Kernel::new(name, guest)
    };
    let kernels = vec![
        kernel("gfx9", "examples/gfx9/table/table.gfx900.hsaco"),
        kernel("gfx9_buffer", "benches/fixtures/table_buffer.gfx900.hsaco"),
    ];
    let mut out = vec![0; items];
    let mut plain = || plain::table(black_box(&table), black_box(&mut out), group);
    Group { name: "table", work: (rows as usize * items) as u64, kernels, interp_samples: 10, two_threads: false }
        .run(c, &mut [("plain", &mut plain)]);
}

/// What the kernels of the surface fixture find: images of words, row by row or in tiles.
fn surfaces(entry: &str, grid: [u32; 2], block: [u32; 2], rest: &str) -> Captured {
    let [(grid_x, grid_y), (block_x, block_y)] = [grid, block].map(|[x, y]| (x, y));
    Captured::new(&format!(
        r#"
        kernel = {{ binary = "surface.sm_50.cubin", entry = "{entry}" }}
        launch = {{ grid = [{grid_x}, {grid_y}, 1], block = [{block_x}, {block_y}, 1] }}
        {rest}
        "#
    ))
}

/// An image of floats is copied: through surfaces, and as an array.
fn copy(c: &mut Criterion) {
    let side = 1024;
    let image: Vec<f32> = (0..side * side).map(|i| i as f32).collect();
    let (grid, block) = ([side / 32, side / 8], [32, 8]);
    let surface = |layout: &str| {
        let surface =
            format!(r#"{{ dim = "2d", size = [{side}, {side}, 1], format = "r32_float", layout = "{layout}" }}"#);
        let rest = format!(
            r#"
            arg = [{{ surface = "in" }}, {{ surface = "out" }}, {{ i32 = {side} }}, {{ i32 = {side} }}]
            surface = {{ in = {surface}, out = {surface} }}
            "#
        );
        surfaces("copy_surface", grid, block, &rest)
    };
    let global = Guest::new("benches/fixtures/surface.sm_50.cubin", "copy_global")
        .grid([grid[0], grid[1], 1], [block[0], block[1], 1])
        .numbers(&image)
        .zeros(image.len() * 4)
        .arg(side as i32)
        .arg(side as i32);
    let kernels = vec![
        Kernel::new("global", global),
        Kernel::new("pitch", surface("pitch")),
        Kernel::new("block_linear", surface("block_linear")),
    ];
    let mut out = vec![0.0f32; image.len()];
    let mut plain = || black_box(&mut out).copy_from_slice(black_box(&image));
    Group { name: "copy", work: image.len() as u64, kernels, interp_samples: 10, two_threads: false }
        .run(c, &mut [("plain", &mut plain)]);
}

/// Every thread adds to 64 of 4,096 counters and uses what they were: in a buffer, and on a surface.
fn atomics(c: &mut Criterion) {
    let (blocks, block, rounds) = (64, 256, 64);
    let threads = (blocks * block) as usize;
    let global = Guest::new("benches/fixtures/surface.sm_50.cubin", "add_global")
        .grid([blocks, 1, 1], [block, 1, 1])
        .zeros(4 * plain::COUNTERS)
        .zeros(4 * threads)
        .arg(rounds as i32);
    let rest = format!(
        r#"
        arg = [{{ surface = "counters" }}, {{ buffer = "olds" }}, {{ i32 = {rounds} }}]
        surface = {{ counters = {{ dim = "1d", size = [{}, 1, 1], format = "r32_uint", layout = "pitch" }} }}
        buffer = {{ olds = {{ zeros = {} }} }}
        "#,
        plain::COUNTERS,
        4 * threads
    );
    let surface = surfaces("add_surface", [blocks, 1], [block, 1], &rest);
    let kernels = vec![Kernel::new("atom", global), Kernel::new("suatom", surface)];
    let counters: Vec<_> = (0..plain::COUNTERS).map(|_| std::sync::atomic::AtomicU32::new(0)).collect();
    let (mut one, mut two) = (vec![0u32; threads], vec![0u32; threads]);
    let mut plain = || plain::add(black_box(&counters), black_box(&mut one), 0, rounds);
    let mut plain_2 = || plain::add_by_two(black_box(&counters), black_box(&mut two), rounds);
    Group { name: "atomics", work: threads as u64 * u64::from(rounds), kernels, interp_samples: 10, two_threads: true }
        .run(c, &mut [("plain", &mut plain), ("plain_2", &mut plain_2)]);
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for bench in [mandelbrot, fma, dfma, mix, saxpy, histogram, nbody, table, copy, atomics] {
        bench(&mut criterion);
    }
    criterion.final_summary();
    ratios::print();
}
