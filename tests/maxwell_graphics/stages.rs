//! Programs of stages that no manifest launches yet: lifted with arrays that a test lays out, on both engines.

use std::collections::BTreeMap;
use std::sync::Arc;

use warploom::container;
use warploom::interp::Interpreter;
use warploom::ir::Function;
use warploom::isa::images::driver::BANK;
use warploom::isa::maxwell::arrays::{Array, Arrays, at, emitted};
use warploom::isa::maxwell::lift::shader::Program;
use warploom::isa::maxwell::lift::{Kernel, lift_kernel};
use warploom::jit::{self, Effort};
use warploom_runtime::launch::{ConstBank, Engine, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, MemoryConfig, Place};

const LANES: usize = 64;
const ROW: u64 = 4 * LANES as u64;
/// Guest address of the first array, and from one to the next.
const FIRST: u64 = 0x2_0000_0000;
const APART: u64 = 1 << 16;

/// Vertices of an input primitive, inputs (of each vertex in turn), and how many rows each output has.
struct Run<'a> {
    vertices: u32,
    inputs: &'a [(Array, Vec<u32>)],
    outputs: &'a [(Array, usize)],
}

fn engines(function: &Arc<Function>) -> Vec<Arc<dyn Engine>> {
    let mut all: Vec<Arc<dyn Engine>> = vec![Arc::new(Interpreter::new(Arc::clone(function)).expect("an interpreter"))];
    for effort in [Effort::Quick, Effort::Full] {
        let program = jit::Kernel::new(Arc::clone(function)).program([LANES as u32, 1, 1], 1).expect("a program");
        program.compile_all(effort).expect("code");
        all.push(program);
    }
    all
}

/// The outputs, the same on every engine.
fn run(text: &str, run: &Run<'_>) -> BTreeMap<Array, Vec<u32>> {
    let module = container::modules(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}")).remove(0);
    let header = *module.functions[0].header.as_deref().expect("a header");
    let names = run.inputs.iter().map(|(array, _)| *array).chain(run.outputs.iter().map(|(array, _)| *array));
    let places: BTreeMap<Array, u64> = names.zip((FIRST..).step_by(APART as usize)).collect();
    let arrays: Arrays = places.keys().copied().collect();
    let program = Program { arrays, ..Program::of_header(header) };
    let kernel = Kernel { shader: Some(&program), ..Kernel::new("stage", &module.sections[0].data, 0) };
    let function = Arc::new(lift_kernel(&kernel).unwrap_or_else(|error| panic!("{error}\n{text}")));
    let mut bank = vec![0; at::END as usize];
    let mut put = |at: u32, bytes: &[u8]| bank[at as usize..][..bytes.len()].copy_from_slice(bytes);
    put(at::LANES, &(LANES as u32).to_le_bytes());
    put(at::VERTICES, &run.vertices.to_le_bytes());
    put(at::STRIDE, &ROW.to_le_bytes());
    for (array, address) in &places {
        put(array.offset(), &address.to_le_bytes());
    }
    let mut all = engines(&function).into_iter().map(|engine| {
        let memory = Memory::new(MemoryConfig::default()).expect("memory");
        for &address in places.values() {
            memory.alloc_at(Place::At(address), APART, Access::READ_WRITE).expect("memory");
        }
        for (array, words) in run.inputs {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            memory.write(places[array], &bytes).expect("an input");
        }
        let mut config = LaunchConfig::new([1; 3], [LANES as u32, 1, 1]);
        config.constants[usize::from(BANK)] = Some(ConstBank::new(&bank).expect("a bank"));
        let outcome = launch(&memory, &*engine, &config, None).expect("a launch");
        assert_eq!(outcome.fault, None, "{text}");
        let output = |&(array, rows): &(Array, usize)| {
            let mut bytes = vec![0; rows * ROW as usize];
            memory.read(places[&array], &mut bytes).expect("an output");
            (array, bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect::<Vec<u32>>())
        };
        run.outputs.iter().map(output).collect::<BTreeMap<_, _>>()
    });
    let first = all.next().expect("an engine");
    all.for_each(|other| assert_eq!(first, other, "{text}"));
    first
}

fn row(of: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..LANES as u32).map(of).collect()
}

/// A word of three vertices.
fn corners(word: u32) -> Vec<u32> {
    (0..3).flat_map(|vertex| row(move |lane| 1000 * word + 100 * vertex + lane)).collect()
}

const fn words(address: u16) -> u16 {
    address / 4
}

/// A triangle comes out as a strip of its corners, and a point more in some lanes; vertices beyond the most are dropped.
#[test]
fn geometry() {
    let text = "
.target sm_53
.stage geometry
.input 0x70 xy
.output 0x70 xy
.max_vertices 4
    S2R R0, SR_INVOCATION_INFO
    LOP32I.AND R20, R0, 0xff                // primitive 0
    SHR.U32 R21, R0, 0x10                   // vertices of a primitive
    S2R R22, SR_PRIM_TYPE
    MOV R10, RZ
    MOV R11, RZ
.L1:
    XMAD R12, R20, R21, R11
    ISBERD R12, [R12]
    ALD.64 R4, a[0x70], R12
    AST.64 a[0x70], R4, R10
    OUT.EMIT R10, R10, 0x2
    IADD32I R11, R11, 0x1
    ISETP.LT.AND P0, PT, R11, R21, PT
@P0 BRA .L1
    OUT.CUT R10, R10, RZ
    S2R R13, SR_INVOCATION_ID
    ISETP.EQ.AND P1, PT, R13, 0x1, PT
@P1 AST a[0x70], R22, R10
@P1 AST a[0x74], R13, R10
@P1 OUT.EMIT_THEN_CUT R10, R10, RZ
    AST.64 a[0x70], R20, R10
    OUT.EMIT R10, R10, RZ
@!P1 OUT.EMIT R10, R10, RZ
    EXIT";
    let (x, y) = (words(0x70), words(0x74));
    let left = run(
        text,
        &Run {
            vertices: 3,
            inputs: &[
                (Array::Attribute(x), corners(7)),
                (Array::Attribute(y), corners(8)),
                (Array::Invocation, row(|lane| lane % 2)),
            ],
            outputs: &[(Array::Output(x), 4), (Array::Output(y), 4), (Array::Emitted, 5)],
        },
    );
    let at = |array: Array, vertex: usize, lane: usize| left[&array][vertex * LANES + lane];
    for lane in 0..LANES {
        for vertex in 0..3 {
            assert_eq!(at(Array::Output(x), vertex, lane), 7000 + 100 * vertex as u32 + lane as u32);
            assert_eq!(at(Array::Output(y), vertex, lane), 8000 + 100 * vertex as u32 + lane as u32);
            assert_eq!(at(Array::Emitted, vertex, lane), emitted::VERTEX | 2 << emitted::STREAM_SHIFT);
        }
        let second = lane % 2 == 1;
        assert_eq!(at(Array::Emitted, 3, lane), emitted::CUT | emitted::VERTEX);
        // Behind the fourth vertex is nothing but the strip's end.
        assert_eq!(at(Array::Emitted, 4, lane), if second { emitted::CUT } else { 0 });
        let last = if second { [3 << 8, 1] } else { [0, 3] };
        assert_eq!([at(Array::Output(x), 3, lane), at(Array::Output(y), 3, lane)], last);
    }
}

/// Threads of a patch read each other's outputs and write the patch's.
#[test]
fn tessellation_control() {
    let text = "
.target sm_53
.stage tess_control
.threads 4
.input 0x80 x
.output 0x80 x
    S2R R0, SR_INVOCATION_ID
    ALD R1, a[0x80], R0                     // this thread's vertex
    IADD32I R1, R1, 0x5
    AST a[0x80], R1
    LOP32I.XOR R2, R0, 0x3                  // another thread
    ALD.O R3, a[0x80], R2
    IADD32I R4, R0, 0x1
    ALD R5, a[0x80], R4                     // of the last thread there is none
    AST a[0x84], R3
    AST a[0x88], R5
    ISETP.EQ.AND P0, PT, R0, 0x2, PT
@P0 AST.P.64 a[0x20], R3
    ALD.O.P R6, a[0x20]
    AST a[0x8c], R6
    EXIT";
    let vertices: Vec<u32> = (0..4).flat_map(|vertex| row(move |lane| 100 * vertex + lane / 4)).collect();
    let left = run(
        text,
        &Run {
            vertices: 4,
            inputs: &[(Array::Attribute(words(0x80)), vertices), (Array::Invocation, row(|lane| lane % 4))],
            outputs: &[
                (Array::Output(words(0x80)), 1),
                (Array::Output(words(0x84)), 1),
                (Array::Output(words(0x88)), 1),
                (Array::Output(words(0x8c)), 1),
                (Array::PatchOutput(words(0x20)), 1),
            ],
        },
    );
    (0..LANES).for_each(|lane| {
        let (patch, thread) = (lane as u32 / 4, lane as u32 % 4);
        let own = |thread: u32| 100 * thread + patch + 5;
        let word = |address: u16| left[&Array::Output(words(address))][lane];
        assert_eq!(word(0x80), own(thread));
        assert_eq!(word(0x84), own(thread ^ 3));
        assert_eq!(word(0x88), if thread == 3 { 0 } else { 100 * (thread + 1) + patch });
        assert_eq!(word(0x8c), own(1), "the patch's word is that of thread 2, which has what thread 1 wrote");
        if thread == 0 {
            assert_eq!(left[&Array::PatchOutput(words(0x20))][lane], own(1));
        }
    });
}

/// Coordinates, words of the patch, and vertices of it.
#[test]
fn tessellation_evaluation() {
    let text = "
.target sm_53
.stage tess_eval
.input 0x80 x
.output 0x70 xyzw
    S2R R0, SR_LANEID
    ALD.O.64 R4, a[0x2f0], R0
    ALD.P R6, a[0x20]
    MOV32I R1, 0x2
    ALD R7, a[0x80], R1
    AST.128 a[0x70], R4
    ALD.O R8, a[0x7c]
    AST a[0x80], R8
    EXIT";
    let place = [0x70, 0x74, 0x78, 0x7c, 0x80].map(|address| Array::Output(words(address)));
    let left = run(
        text,
        &Run {
            vertices: 3,
            inputs: &[
                (Array::Attribute(words(0x2f0)), row(|lane| lane + 500)),
                (Array::Attribute(words(0x2f4)), row(|lane| lane + 600)),
                (Array::Patch(words(0x20)), row(|lane| lane + 700)),
                (Array::Attribute(words(0x80)), corners(9)),
            ],
            outputs: &place.map(|array| (array, 1)),
        },
    );
    for lane in 0..LANES as u32 {
        let found = place.map(|array| left[&array][lane as usize]);
        assert_eq!(found, [lane + 500, lane + 600, lane + 700, 9200 + lane, 9200 + lane]);
    }
}
