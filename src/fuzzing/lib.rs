//! What the fuzz targets do with their bytes, one function each. A target is glue around it; the smoke tests run the
//! same functions on stable Rust.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use arbitrary::{Result, Unstructured};
use warploom_analysis::LaunchClass;
use warploom_cache::Reader;
use warploom_container::hsaco::bundle;
use warploom_container::{Addresses, Arch, Format, FunctionId, Linked, fatbin, text};
use warploom_engine::Program;
use warploom_ir::{Function, parse, verify};
use warploom_maxwell::{Instruction, assemble, table};
use warploom_replay::{Manifest, npy};
use warploom_testing::check::Subject;
use warploom_testing::code::{Code, Isa};
use warploom_testing::compare::{self, BLOCKS, Way, compare, one_way};
use warploom_testing::ir::Bytes;
use warploom_testing::loops::{Guest, long};
use warploom_testing::{
    Attack, Case, Elementwise, bare, check, gfx9 as gfx9_code, maxwell as maxwell_code,
    ptx as ptx_code, turing as turing_code, visa as visa_code,
};

// Their functions of C are linked from them.
extern crate cuda as _;
extern crate cudart13 as _;

mod checks;
mod cuda_api;
pub mod elf;
pub mod prepare;

pub use checks::checks;
pub use cuda_api::cuda_api;

/// A fuzz target of the name of a function of this library.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        libfuzzer_sys::fuzz_target!(init: $crate::prepare::prepare(stringify!($name)), |bytes: &[u8]| {
            $crate::$name(bytes)
        });
    };
}

#[cfg(test)]
mod smoke;

/// `.npy` files: what can be read can be written, and reads the same.
pub fn array(bytes: &[u8]) {
    let Ok(array) = npy::read(bytes) else { return };
    let mut written = Vec::new();
    npy::write(&array, &mut written).expect("memory takes every write");
    assert_eq!(npy::read(&written[..]).expect("what was written can be read"), array);
}

/// Any file, as `warploom inspect` and a launch would read it: formats, fat binary members, linking, code.
pub fn container(bytes: &[u8]) {
    if let Some(format @ (Format::FatBinary | Format::OffloadBundle | Format::HostElf)) =
        warploom_container::recognise(bytes)
    {
        let _ = bundle::bundles(bytes, format);
        let _ =
            fatbin::visit(bytes, format, &|_| true, &mut |visited| drop(visited.member.label()));
    }
    let _ = warploom_container::modules_for(bytes, Some(Arch::Sm(50)));
    let _ =
        warploom_container::each_module(bytes, &mut |label, module| drop((label.len(), module)));
    let Ok(modules) = warploom_container::modules(bytes) else { return };
    for module in modules {
        let Ok(linked) = Linked::new(Arc::new(module), Addresses::default()) else { continue };
        let kernels: Vec<FunctionId> = linked.module().kernels().map(|(id, _)| id).collect();
        for kernel in kernels.into_iter().take(8) {
            let code = linked.code(kernel);
            for &pc in code.targets.iter().take(64).chain([&code.entry]) {
                let Some(place) = linked.locate(kernel, pc) else { continue };
                let _ =
                    place.section.map(|section| linked.module().lines.find(section, place.offset));
            }
        }
    }
}

/// The kernel whose kept code `cache` reads.
static KEPT: LazyLock<Program> = LazyLock::new(|| {
    let text = "function \"kept\" lanes 32 nan 0x7fff 0x7fffffff 0x7ff8000000000000 {
        bank p: mask x 1
        active p[0]
        b0 pc 0 cost 1:
          v0 = lane.id
          v1 = zext.i64 v0
          v2 = load.global.i32 [v1] align 1
          v3 = atomic.global.i32.add [v1 + 64], v2 align 4
          store.global.i32 [v1], v3 align 1
          exit
    }";
    Program::new(
        &parse::parse(text).expect("it is written so"),
        LaunchClass::Any,
        true,
        warploom_cranelift::backend(),
    )
    .expect("a program")
});

/// Files of the cache of compiled code: as they are, or with the checksum that their bytes have. Code that is taken is not run.
pub fn cache(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let reader = Reader::new(&KEPT).expect("a host that there is code for");
    let file = if first % 2 == 0 { rest.to_vec() } else { reader.sealed(rest) };
    let _ = reader.takes(&file);
}

/// Programs as text: what can be read, links.
pub fn assembly(bytes: &[u8]) {
    let _ = text::stream(bytes);
    container(bytes);
}

/// Launch manifests: what can be read can be written, and reads the same.
pub fn manifest(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(manifest) = Manifest::parse(text, Path::new("m.toml")) else { return };
    let written = manifest.to_text().expect("a manifest can be written");
    let again =
        Manifest::parse(&written, Path::new("m.toml")).expect("what was written can be read");
    // Numbers that are NaN are not equal to themselves.
    assert!(again == manifest || written.contains("nan"));
}

/// The IR's text form: what can be read can be printed, and reads the same; what verifies runs alike on all engines.
pub fn ir_text(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(mut function) = parse::parse(text) else { return };
    let printed = function.to_string();
    assert_eq!(parse::parse(&printed).as_ref(), Ok(&function), "{printed}");
    if verify::verify(&function).is_ok() {
        // A promise that nothing makes a text keep.
        function.blocks.iter_mut().for_each(|block| block.join = None);
        alike(&function, BLOCKS[bytes.len() % BLOCKS.len()], way(bytes));
    }
}

/// PTX: what can be read prints, reads back the same, and is a module.
pub fn ptx_text(bytes: &[u8]) {
    let Ok(module) = warploom_ptx::read(bytes) else { return };
    let printed = warploom_ptx::text::print(&module);
    let again = warploom_ptx::read(printed.as_bytes())
        .unwrap_or_else(|errors| panic!("{errors}\n{printed}"));
    assert_eq!(printed, warploom_ptx::text::print(&again));
    for (function, again) in module.functions.iter().zip(&again.functions) {
        let (Some(body), Some(again)) = (&function.body, &again.body) else { continue };
        for (statement, again) in body.statements.iter().zip(&again.statements) {
            let same = statement.operands == again.operands && statement.guard == again.guard;
            assert!(same, "{statement:?} and {again:?}\n{printed}");
        }
    }
    container(bytes);
}

/// Where words stand: branch targets depend on it.
const PC: u64 = 8;

/// Maxwell words: a line of the table explains each that is legal, its parts and text can be read, and the text
/// assembles to the same instruction.
pub fn decode_maxwell(bytes: &[u8]) {
    for bytes in bytes.chunks_exact(8).take(32) {
        let word = u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
        let Some(instruction) = Instruction::decode(word) else { continue };
        assert!(instruction.row.matches(word.into()));
        assert!(table::rows().any(|row| std::ptr::eq(row, instruction.row)));
        let text = instruction.text(PC);
        assert!(
            !text.is_empty() && text.is_ascii() && text.trim() == text,
            "{word:016x} is {text:?}"
        );
        let again = assemble(&text, PC).unwrap_or_else(|error| panic!("{word:016x}: {error}"));
        assert_eq!(
            Instruction::decode(again).expect("it is assembled from the table").text(PC),
            text,
            "{word:016x}"
        );
        let [before, after] =
            [word, again].map(|word| maxwell_code::lifted_word(word).map(analysed));
        assert_eq!(after, before, "{word:016x} and {again:016x} are {text}");
        for slot in instruction.row.operands() {
            let _ = instruction.source(slot.role);
        }
        let _ = (
            instruction.guard(),
            instruction.address(),
            instruction.bank(),
            instruction.target(PC),
        );
    }
}

/// The GPUs whose code [`decode_turing`] decodes.
const MODELS: [u8; 4] = [75, 80, 86, 89];

/// The text of each word is assembled to a word with the same text, and the word is lifted.
pub fn decode_turing(bytes: &[u8]) {
    use warploom_turing::{Instruction, Turing};
    let Some((first, rest)) = bytes.split_first() else { return };
    let model = MODELS[usize::from(*first) % MODELS.len()];
    for bytes in rest.chunks_exact(16).take(32) {
        let word = u128::from_le_bytes(bytes.try_into().expect("16 bytes"));
        let Some(instruction) = Instruction::decode(word, model) else { continue };
        assert!(instruction.row.matches(word));
        let text = instruction.text(PC);
        assert!(
            !text.is_empty() && text.is_ascii() && text.trim() == text,
            "{word:032x} is {text:?}"
        );
        let again = warploom_sass::assemble::<Turing>(&text, PC, model)
            .unwrap_or_else(|error| panic!("{word:032x}: {text}: {error}"));
        let decoded = Instruction::decode(again, model).expect("it is assembled from the table");
        assert_eq!(decoded.text(PC), text, "{word:032x}");
        let _ = turing_code::lifted(&word.to_le_bytes()).map(analysed);
        for slot in instruction.row.operands() {
            let _ = instruction.source(slot.role);
        }
        let _ = (instruction.guard(), instruction.address(), instruction.raw_target(PC));
    }
}

/// GFX9 instructions, one after the other: their parts and text can be read, and the text assembles to the same instruction.
pub fn decode_gfx9(bytes: &[u8]) {
    let mut rest = &bytes[..bytes.len().min(256)];
    while rest.len() >= 4 {
        let Some(instruction) = warploom_gfx9::Instruction::decode(rest) else {
            rest = &rest[4..];
            continue;
        };
        let word = instruction.word();
        let text = instruction.text(PC);
        assert!(
            !text.is_empty() && text.is_ascii() && text.trim() == text,
            "{word:016x} is {text:?}"
        );
        let again = warploom_gfx9::assemble(&text)
            .unwrap_or_else(|error| panic!("{word:016x}: {text}: {error}"));
        let decoded =
            warploom_gfx9::Instruction::decode(&again).expect("it is assembled from the table");
        assert_eq!(decoded.text(PC), text, "{word:016x}");
        let bytes = &rest[..instruction.bytes() as usize];
        let [before, after] =
            [bytes, &again].map(|bytes| gfx9_code::lifted_instruction(bytes).map(analysed));
        // Bits that an instruction does not take make it a fault, though LLVM prints none of them.
        let is_refused = before.as_ref().is_some_and(|code| code.contains("trap.unimplemented"))
            && again != bytes;
        assert!(after == before || is_refused, "{word:016x}: {text}\n{after:?}\n{before:?}");
        for n in 0..=instruction.source_count() {
            let _ = instruction.src(n);
        }
        let _ = (
            instruction.dst(),
            instruction.sdst(),
            instruction.sdwa(),
            instruction.dpp(),
            instruction.op_sel(),
        );
        let _ = (
            instruction.smem(),
            instruction.ds(),
            instruction.flat(),
            instruction.buffer(),
            instruction.image(),
        );
        rest = &rest[instruction.bytes() as usize..];
    }
}

/// vISA, as text or in its binary form: what can be read prints, and what is printed reads back the same.
pub fn decode_visa(bytes: &[u8]) {
    if bytes.starts_with(&warploom_visa::binary::MAGIC) {
        let Ok(module) = warploom_visa::binary::read(bytes) else { return };
        for routine in &module.routines {
            let _ = warploom_visa::binary::write_code(routine);
        }
        let printed = warploom_visa::text::print(&module);
        // Names may be anything, and so not be names in a text.
        let Ok(again) = warploom_visa::text::read(printed.as_bytes()) else { return };
        assert_eq!(warploom_visa::text::print(&again), printed);
    } else if let Ok(module) = warploom_visa::text::read(bytes) {
        let printed = warploom_visa::text::print(&module);
        let again = warploom_visa::text::read(printed.as_bytes())
            .unwrap_or_else(|errors| panic!("{errors}\n{printed}"));
        assert_eq!(warploom_visa::text::print(&again), printed);
    }
    container(bytes);
}

/// What code does, as IR after the JIT's analysis: bits that mean nothing do not show, and of some literals only a half is used.
fn analysed(function: Function) -> String {
    let class = LaunchClass::of([1; 3], function.lanes.into(), warploom_cranelift::CHUNK);
    let program = Program::new(&Arc::new(function), class, true, warploom_cranelift::backend())
        .expect("it verifies");
    program.function().to_string()
}

/// Random functions, of all generators, run alike on all engines; those that work element by element run as they are.
pub fn diff_ir(bytes: &[u8]) {
    let run = |mut u: Unstructured<'_>| -> Result<()> {
        let block = *u.choose(&BLOCKS)?;
        let function = match u.int_in_range(0..=4)? {
            0 => {
                let Elementwise { function, independent } = warploom_testing::elementwise(&mut u)?;
                let launch = bare::Launch::choose(&mut u)?;
                if let Err(difference) = bare::compare(&function, &launch, independent, way(bytes))
                {
                    panic!("{difference}");
                }
                return Ok(());
            }
            1 => warploom_testing::function(&mut u)?,
            2 => warploom_testing::chain::any_chain(&mut u)?,
            3 => {
                let function = warploom_testing::rewritable(&mut u)?;
                let initial = compare::any_content(&function, &mut Bytes(u.take_rest()));
                compare::compare_rewritten(&function, block, &initial, way(bytes))
                    .unwrap_or_else(|difference| panic!("{difference}"));
                return Ok(());
            }
            _ => {
                let (lanes, ops) = (u.int_in_range(1..=64)?, u.int_in_range(1..=30)?);
                let rest = u.take_rest();
                warploom_testing::ir::function(&mut Bytes(rest), compare::limits(lanes, ops))
            }
        };
        alike(&function, block, way(bytes));
        Ok(())
    };
    // Too few bytes are no error.
    let _ = run(Unstructured::new(bytes));
}

/// Any words as Maxwell code.
pub fn diff_dumb_maxwell(bytes: &[u8]) {
    tested(&Code::dumb(Isa::Maxwell, bytes).in_ways(way(bytes)), "diff_dumb_maxwell");
}

/// Any words as code of Turing, Ampere and Ada.
pub fn diff_dumb_turing(bytes: &[u8]) {
    tested(&Code::dumb(Isa::Turing, bytes).in_ways(way(bytes)), "diff_dumb_turing");
}

/// Any words as GFX9 code.
pub fn diff_dumb_gfx9(bytes: &[u8]) {
    tested(&Code::dumb(Isa::Gfx9, bytes).in_ways(way(bytes)), "diff_dumb_gfx9");
}

/// Maxwell instructions out of the table, or of the shapes that analysis fuses, in random registers.
pub fn diff_smart_maxwell(bytes: &[u8]) {
    let make = |u: &mut Unstructured<'_>| {
        let code = if u.ratio(1, 8)? { Code::products(u) } else { Code::smart(Isa::Maxwell, u) };
        Ok(code?.in_ways(way(bytes)))
    };
    made(bytes, make, "diff_smart_maxwell");
}

/// Instructions of Turing, Ampere and Ada out of the table in random registers.
pub fn diff_smart_turing(bytes: &[u8]) {
    made(bytes, |u| Ok(Code::smart(Isa::Turing, u)?.in_ways(way(bytes))), "diff_smart_turing");
}

/// GFX9 instructions out of the table in random registers.
pub fn diff_smart_gfx9(bytes: &[u8]) {
    made(bytes, |u| Ok(Code::smart(Isa::Gfx9, u)?.in_ways(way(bytes))), "diff_smart_gfx9");
}

type Make = fn(&mut Unstructured<'_>) -> arbitrary::Result<Case>;

/// Kernels, some of them long, fragment programs and programs of primitives, by the first byte: most inputs stay the kernels that they were.
fn whole(bytes: &[u8], guest: &Guest, [kernel, fragment, primitives]: [Make; 3], target: &str) {
    match bytes.split_first() {
        Some((0..=2, rest)) => made(rest, fragment, target),
        Some((3..=5, rest)) => made(rest, primitives, target),
        _ => some_long(bytes, guest, kernel, target),
    }
}

/// Whole random kernels and shaders.
pub fn diff_smarter_maxwell(bytes: &[u8]) {
    let make: [Make; 3] = [maxwell_code::kernel, maxwell_code::fragment, maxwell_code::primitives];
    whole(bytes, &maxwell_code::GUEST, make, "diff_smarter_maxwell");
}

/// Whole random kernels and shaders.
pub fn diff_smarter_gfx9(bytes: &[u8]) {
    let make: [Make; 3] = [gfx9_code::kernel, gfx9_code::fragment, gfx9_code::primitives];
    whole(bytes, &gfx9_code::GUEST, make, "diff_smarter_gfx9");
}

/// Whole random kernels.
pub fn diff_smarter_turing(bytes: &[u8]) {
    some_long(bytes, &turing_code::GUEST, turing_code::kernel, "diff_smarter_turing");
}

/// Kernels, of which one in 256 inputs is a long one.
fn some_long(bytes: &[u8], guest: &Guest, kernel: Make, target: &str) {
    match bytes.split_first() {
        Some((255, rest)) => made(rest, |u| long(guest, u), target),
        _ => made(bytes, kernel, target),
    }
}

/// PTX instructions out of the table.
pub fn diff_smart_ptx(bytes: &[u8]) {
    some_long(bytes, &ptx_code::GUEST, ptx_code::straight, "diff_smart_ptx");
}

/// Whole random kernels.
pub fn diff_smarter_ptx(bytes: &[u8]) {
    made(bytes, ptx_code::kernel, "diff_smarter_ptx");
}

/// vISA instructions out of the table.
pub fn diff_smart_visa(bytes: &[u8]) {
    some_long(bytes, &visa_code::GUEST, visa_code::straight, "diff_smart_visa");
}

/// Whole random kernels.
pub fn diff_smarter_visa(bytes: &[u8]) {
    made(bytes, visa_code::kernel, "diff_smarter_visa");
}

/// Attacks on the boundary of guest memory.
pub fn guest_boundary(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    match first % 4 {
        0 => made(rest, |u| Ok(Code::hostile(Isa::Gfx9, u)?.in_ways(way(bytes))), "guest_boundary"),
        1 => made(
            rest,
            |u| Ok(Code::hostile(Isa::Maxwell, u)?.in_ways(way(bytes))),
            "guest_boundary",
        ),
        _ => made(rest, Attack::choose, "guest_boundary"),
    }
}

/// One of the ways to make code, by what is in the input.
fn way(bytes: &[u8]) -> &'static [Way] {
    one_way(bytes.iter().map(|&byte| usize::from(byte)).sum())
}

/// Tests what is made of the bytes. Too few of them are no error.
fn made<S: Subject>(
    bytes: &[u8],
    make: impl FnOnce(&mut Unstructured<'_>) -> Result<S>,
    target: &str,
) {
    if let Ok(subject) = make(&mut Unstructured::new(bytes)) {
        tested(&subject, target);
    }
}

fn tested<S: Subject>(subject: &S, target: &str) {
    if let Err(failure) = check(subject, target) {
        panic!("{failure}");
    }
}

fn alike(function: &Function, block: [u32; 3], ways: &[Way]) {
    if let Err(difference) = compare(function, block, &[], ways) {
        panic!("{difference}");
    }
}
