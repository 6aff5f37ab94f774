//! Random structured GFX9 programs, as compilers write them: branches and loops that keep lanes in
//! scalar registers, scalar and vector arithmetic, loads, stores and LDS. Both engines must leave
//! the same memory, with and without if conversion.

use std::fmt::Write;
use std::sync::Arc;

use warploom_container::text;
use warploom_engine::Effort;
use warploom_gfx9::lift::{Initial, InitialScalar, InitialVector, Kernel, lift_kernel};
use warploom_interp::Interpreter;
use warploom_ir::verify;
use warploom_runtime::launch::{ConstBank, Engine, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, MemoryConfig, Placement};

#[path = "kernels/draw.rs"]
#[allow(dead_code, reason = "shared with the kernel tests, which use more of it")]
mod draw;
use draw::Draw;

const TABLE: u64 = 0x10_0000_0000;
const SCRATCH: u64 = 0x11_0000_0000;
const OUT: u64 = 0x12_0000_0000;
/// The words of the table that programs read, and of the memory that they write.
const WORDS: usize = 256;
/// The number of vector registers that programs compute with; v0 is the work-item's number. Later
/// registers hold addresses and counts.
const VALUES: usize = 8;
/// The number of scalar registers that programs compute with, from s20 on. Pairs from s40 on keep
/// lanes, one pair for each depth.
const SCALARS: usize = 6;
const LDS_BYTES: u32 = 1024;

struct Program {
    draw: Draw,
    text: String,
    labels: usize,
    /// The number of statements that may still follow.
    room: usize,
}

impl Program {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").unwrap();
    }

    fn pick(&mut self, below: usize) -> usize {
        self.draw.below(below as u32) as usize
    }

    fn vector(&mut self) -> usize {
        self.pick(VALUES)
    }

    /// Returns a vector register that programs may write.
    fn written(&mut self) -> usize {
        1 + self.pick(VALUES - 1)
    }

    fn scalar(&mut self) -> usize {
        20 + self.pick(SCALARS)
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..1 + self.pick(4) {
            if self.room == 0 {
                return;
            }
            self.room -= 1;
            match self.pick(12) {
                0 | 1 if depth < 4 => self.branch(depth),
                2 if depth < 4 => self.choice(depth),
                3 if depth < 3 => self.repeat(depth),
                4 => self.memory(),
                5 => self.scalars(),
                6 => self.uniform_branch(depth),
                _ => self.arithmetic(),
            }
        }
    }

    /// Sets vcc to the lanes of a random compare.
    fn compare(&mut self) {
        let what = ["lt_u32", "gt_i32", "eq_u32", "ne_u32", "le_i32", "ge_u32"][self.pick(6)];
        let (a, b, few) = (self.vector(), self.vector(), self.pick(64));
        match self.pick(3) {
            0 => self.line(&format!("v_cmp_{what}_e32 vcc, {few}, v0")),
            1 => self.line(&format!("v_cmp_{what}_e32 vcc, {few}, v{a}")),
            _ => self.line(&format!("v_cmp_{what}_e32 vcc, v{a}, v{b}")),
        }
    }

    /// Writes an `if`.
    fn branch(&mut self, depth: usize) {
        let (kept, end) = (format!("s[{}:{}]", 40 + 2 * depth, 41 + 2 * depth), self.label());
        self.compare();
        self.line(&format!("s_and_saveexec_b64 {kept}, vcc"));
        if self.pick(3) > 0 {
            self.line(&format!("s_cbranch_execz .L{end}"));
        }
        self.block(depth + 1);
        self.line(&format!(".L{end}:"));
        self.line(&format!("s_or_b64 exec, exec, {kept}"));
        // The code that follows often starts a block of its own.
        if self.pick(3) == 0 {
            let next = self.label();
            self.line(&format!("s_branch .L{next}\n.L{next}:"));
        }
    }

    /// Writes an `if` with an `else`.
    fn choice(&mut self, depth: usize) {
        let (kept, other, end) =
            (format!("s[{}:{}]", 40 + 2 * depth, 41 + 2 * depth), self.label(), self.label());
        self.compare();
        self.line(&format!("s_and_saveexec_b64 {kept}, vcc"));
        self.line(&format!("s_xor_b64 {kept}, exec, {kept}"));
        if self.pick(3) > 0 {
            self.line(&format!("s_cbranch_execz .L{other}"));
        }
        self.block(depth + 1);
        self.line(&format!(".L{other}:"));
        self.line(&format!("s_or_saveexec_b64 {kept}, {kept}"));
        self.line(&format!("s_xor_b64 exec, exec, {kept}"));
        if self.pick(3) > 0 {
            self.line(&format!("s_cbranch_execz .L{end}"));
        }
        self.block(depth + 1);
        self.line(&format!(".L{end}:"));
        self.line(&format!("s_or_b64 exec, exec, {kept}"));
    }

    /// Writes a loop that lanes leave one after another, some in its middle.
    fn repeat(&mut self, depth: usize) {
        let (gone, again) = (format!("s[{}:{}]", 40 + 2 * depth, 41 + 2 * depth), self.label());
        let (count, limit) = (10 + depth, self.vector());
        self.line(&format!("v_and_b32_e32 v{count}, 3, v{limit}"));
        self.line(&format!("s_mov_b64 {gone}, 0"));
        self.line(&format!(".L{again}:"));
        self.block(depth + 1);
        if self.pick(2) == 0 {
            self.compare();
            self.line(&format!(
                "s_and_b64 vcc, exec, vcc\ns_or_b64 {gone}, vcc, {gone}\ns_andn2_b64 exec, exec, {gone}"
            ));
            let end = self.label();
            self.line(&format!("s_cbranch_execz .L{end}"));
            self.block(depth + 1);
            self.leave(&gone, count, again);
            self.line(&format!(".L{end}:"));
        } else {
            self.leave(&gone, count, again);
        }
        self.line(&format!("s_or_b64 exec, exec, {gone}"));
    }

    /// Writes the end of a loop's body.
    fn leave(&mut self, gone: &str, count: usize, again: usize) {
        self.line(&format!("v_add_u32_e32 v{count}, -1, v{count}"));
        self.line(&format!("v_cmp_gt_i32_e32 vcc, 0, v{count}"));
        self.line(&format!("s_or_b64 {gone}, vcc, {gone}"));
        self.line(&format!("s_andn2_b64 exec, exec, {gone}"));
        self.line(&format!("s_cbranch_execnz .L{again}"));
    }

    fn uniform_branch(&mut self, depth: usize) {
        let (a, b, end) = (self.scalar(), self.scalar(), self.label());
        self.line(&format!("s_cmp_lt_u32 s{a}, s{b}\ns_cbranch_scc{} .L{end}", a & 1));
        self.block(depth + 1);
        self.line(&format!(".L{end}:"));
    }

    fn arithmetic(&mut self) {
        let (d, a, b, s, few) =
            (self.written(), self.vector(), self.vector(), self.scalar(), self.pick(64));
        let line = match self.pick(10) {
            0 => format!("v_add_u32_e32 v{d}, v{a}, v{b}"),
            1 => format!("v_sub_u32_e32 v{d}, v{a}, v{b}"),
            2 => format!("v_xor_b32_e32 v{d}, s{s}, v{b}"),
            3 => format!("v_mul_lo_u32 v{d}, v{a}, v{b}"),
            4 => format!("v_lshlrev_b32_e32 v{d}, {}, v{b}", few & 7),
            5 => format!("v_mov_b32_e32 v{d}, {few}"),
            6 => format!("v_add_u32_e32 v{d}, {few}, v0"),
            7 => format!("v_cndmask_b32_e32 v{d}, v{a}, v{b}, vcc"),
            8 => format!("v_add_co_u32_e32 v{d}, vcc, v{a}, v{b}"),
            _ => format!("v_mov_b32_e32 v{d}, v{a}"),
        };
        self.line(&line);
    }

    fn scalars(&mut self) {
        let (d, a, b) = (self.scalar(), self.scalar(), self.scalar());
        let (v, few) = (self.vector(), self.pick(64));
        let line = match self.pick(7) {
            0 => format!("s_add_u32 s{d}, s{a}, s{b}"),
            1 => format!("s_mul_i32 s{d}, s{a}, {few}"),
            2 => format!("v_readfirstlane_b32 s{d}, v{v}"),
            3 => format!(
                "s_and_b32 s{d}, s{a}, 0xfc\ns_load_dword s{d}, s[4:5], s{d}\ns_waitcnt lgkmcnt(0)"
            ),
            4 => format!("s_bcnt1_i32_b64 s{d}, exec"),
            5 => format!("v_cmp_gt_u32_e64 s[16:17], v{v}, s{a}\ns_bcnt1_i32_b64 s{d}, s[16:17]"),
            _ => format!("s_lshr_b32 s{d}, s{a}, {}", few & 15),
        };
        self.line(&line);
    }

    /// Writes a load or store at a place that follows from the work-item's number or from a value.
    fn memory(&mut self) {
        let (d, a) = (self.written(), self.vector());
        let from = if self.pick(2) == 0 { 0 } else { self.vector() };
        self.line(&format!("v_lshlrev_b32_e32 v9, 2, v{from}"));
        self.line("v_and_b32_e32 v9, 0x3fc, v9");
        let line = match self.pick(6) {
            0 | 1 => format!("global_load_dword v{d}, v9, s[4:5]\ns_waitcnt vmcnt(0)"),
            2 => format!("global_store_dword v9, v{a}, s[6:7]"),
            3 => format!("ds_write_b32 v9, v{a}"),
            4 => format!("ds_read_b32 v{d}, v9\ns_waitcnt lgkmcnt(0)"),
            _ => format!("ds_add_u32 v9, v{a}"),
        };
        self.line(&line);
    }

    /// Writes the stores of all values to memory.
    fn end(&mut self) {
        self.line("v_lshlrev_b32_e32 v9, 6, v0");
        for value in 0..VALUES {
            self.line(&format!("global_store_dword v9, v{value}, s[8:9] offset:{}", 4 + 4 * value));
        }
        for scalar in 0..SCALARS {
            self.line(&format!("v_mov_b32_e32 v8, s{}", 20 + scalar));
            self.line(&format!(
                "global_store_dword v9, v8, s[8:9] offset:{}",
                4 + 4 * (VALUES + scalar)
            ));
        }
        self.line("s_endpgm");
    }

    fn code(&self) -> Vec<u8> {
        let source = format!(".target gfx900\n{}", self.text);
        text::stream(source.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Returns a program, and the number of work-items that run it.
fn program(seed: u64) -> (Program, u32) {
    let mut program = Program { draw: Draw::new(seed), text: String::new(), labels: 0, room: 24 };
    for value in 1..VALUES {
        // The values are evenly spaced, equal, or neither.
        let (few, kind) = (program.pick(64), program.pick(3));
        program.line(&match kind {
            0 => format!("v_add_u32_e32 v{value}, {few}, v0"),
            1 => format!("v_mov_b32_e32 v{value}, {few}"),
            _ => format!("v_mul_lo_u32 v{value}, v0, v0"),
        });
    }
    while program.room > 0 {
        program.block(0);
    }
    program.end();
    let lanes = [64, 128, 192, 100, 37, 256][program.pick(6)];
    (program, lanes)
}

/// Returns the memory that an engine leaves.
fn memory_after(engine: &dyn Engine, lanes: u32, bank: &[u8]) -> Vec<Vec<u8>> {
    let memory = Memory::new(MemoryConfig::default()).unwrap();
    let sizes = [(TABLE, 4 * WORDS), (SCRATCH, 4 * WORDS), (OUT, 64 * 256)];
    for (address, bytes) in sizes {
        memory.alloc_at(Placement::At(address), bytes as u64, Access::READ_WRITE).unwrap();
    }
    let table: Vec<u8> = (0..WORDS as u32)
        .flat_map(|word| (word.wrapping_mul(0x9e37_79b9) >> (word % 24)).to_le_bytes())
        .collect();
    memory.write(TABLE, &table).unwrap();
    let mut config = LaunchConfig::new([1; 3], [lanes, 1, 1]);
    config.constants[0] = Some(ConstBank::new(bank).unwrap());
    config.shared_bytes = LDS_BYTES;
    config.instruction_limit = Some(1 << 20);
    let outcome = launch(&memory, engine, &config, None).unwrap();
    assert_eq!(outcome.fault, None);
    let read = |(address, bytes)| {
        let mut content = vec![0; bytes];
        memory.read(address, &mut content).unwrap();
        content
    };
    sizes.map(read).into()
}

#[test]
fn engines_agree_on_random_programs() {
    let bank: Vec<u8> =
        [TABLE, SCRATCH, OUT].iter().flat_map(|address| address.to_le_bytes()).collect();
    for seed in 0..400 {
        let (program, lanes) = program(seed);
        let code = program.code();
        let initial = Initial {
            scalars: (4..10)
                .map(|sgpr| (sgpr, InitialScalar::Constant(4 * (u32::from(sgpr) - 4))))
                .collect(),
            vectors: vec![(0, InitialVector::WorkItem(0))],
            ..Initial::default()
        };
        let mut expected = None;
        for plain in [true, false] {
            let kernel = Kernel {
                initial: initial.clone(),
                plain,
                vectors: 16,
                ..Kernel::new("random", &code)
            };
            let function = Arc::new(lift_kernel(&kernel).unwrap());
            verify::verify(&function).unwrap();
            let native = |effort| {
                let native = warploom_engine::Kernel::new(
                    Arc::clone(&function),
                    warploom_cranelift::backend(),
                )
                .program([1; 3], [lanes, 1, 1], 1)
                .unwrap();
                native.compile_all(effort).unwrap();
                native
            };
            let engines: [(&str, Arc<dyn Engine>); 3] = [
                ("interpreter", Arc::new(Interpreter::new(Arc::clone(&function)).unwrap())),
                ("JIT, made quickly", native(Effort::Quick)),
                ("JIT", native(Effort::Full)),
            ];
            for (name, engine) in engines {
                let found = memory_after(&*engine, lanes, &bank);
                let expected = expected.get_or_insert_with(|| found.clone());
                let converted = if plain { "as it is" } else { "if-converted" };
                for ((found, expected), what) in
                    found.iter().zip(&*expected).zip(["table", "scratch", "out"])
                {
                    let at = (0..found.len()).find(|&at| found[at] != expected[at]);
                    assert!(
                        at.is_none(),
                        "seed {seed}, {lanes} lanes, {name}, {converted}: byte {:#x} of {what}\n{}",
                        at.unwrap_or(0),
                        program.text
                    );
                }
            }
        }
    }
}
