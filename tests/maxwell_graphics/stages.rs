//! Manifests launch tessellation and geometry programs, and vertex programs in two parts, on both
//! engines.

use std::fmt::Debug;

use warploom_replay::graphics::emitted;

use crate::support::{Case, Draw};

/// The number of primitives: several warps and a part of another.
const COUNT: usize = 50;

/// Returns a word that identifies its vertex: it holds the vertex's row and the word's address.
fn word(row: usize, address: usize) -> u32 {
    (row << 12 | address) as u32
}

/// Returns rows of words from an address on.
fn rows(count: usize, first: usize, words: usize) -> Vec<Vec<u32>> {
    (0..count).map(|row| (0..words).map(|n| word(row, first + 4 * n)).collect()).collect()
}

/// Returns the numbers of the primitives' vertices, in no order.
fn indices(primitives: usize, vertices: usize, rows: usize) -> Vec<u32> {
    let mut draw = Draw(5);
    (0..primitives * vertices).map(|_| draw.next() % rows as u32).collect()
}

fn exports(names: &[&str]) -> String {
    names.iter().map(|name| format!("[export.\"{name}\"]\n")).collect()
}

fn key(name: &str, value: impl Debug) -> String {
    format!("{name} = {value:?}\n")
}

/// A triangle comes out as a strip of its corners, with another point in some lanes; vertices
/// beyond the maximum are dropped.
#[test]
fn geometry() {
    let directives = ".input 0x70 xy\n.output 0x70 xy\n.max_vertices 4\n.threads 2";
    let code = "
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
    ALD R14, a[0x60]                        // the primitive's number
@P1 AST a[0x70], R22, R10
@P1 AST a[0x74], R14, R10
@P1 OUT.EMIT_THEN_CUT R10, R10, RZ
    AST.64 a[0x70], R20, R10
    OUT.EMIT R10, R10, RZ
@!P1 OUT.EMIT R10, R10, RZ";
    let indices = indices(COUNT, 3, 70);
    let after = Case::of("geometry", directives, code)
        .with(
            &("[vertices]\ncount = 35\ninstances = 2\n".to_owned()
                + &key("attribute.\"0x70\"", rows(70, 0x70, 2))),
        )
        .with("[primitives]\nvertices = 3\nthreads = 2\nmax_vertices = 4")
        .with(&(key("indices", &indices) + &exports(&["0x70", "emitted"])))
        .run();
    assert_eq!(after.fault, None);
    let (places, marks) = (&after.exported[0], &after.exported[1]);
    for primitive in 0..COUNT {
        for instance in 0..2 {
            let thread = 2 * primitive + instance;
            let place = |vertex: usize| &places[4 * thread + vertex][..2];
            for vertex in 0..3 {
                let row = indices[3 * primitive + vertex] as usize;
                assert_eq!(place(vertex), [word(row, 0x70), word(row, 0x74)], "thread {thread}");
                assert_eq!(marks[thread][vertex], emitted::VERTEX | 2 << emitted::STREAM_SHIFT);
            }
            let second = instance == 1;
            assert_eq!(marks[thread][3], emitted::CUT | emitted::VERTEX);
            // Behind the fourth vertex, only the strip's end is possible.
            assert_eq!(marks[thread][4], if second { emitted::CUT } else { 0 });
            let last = if second { [3 << 8, primitive as u32] } else { [0, 3] };
            assert_eq!(place(3), last, "thread {thread}");
        }
    }
}

/// Threads of a patch read each other's outputs and write the patch's outputs. With three threads,
/// a warp has ten patches, and two lanes are off.
#[test]
fn tessellation_control() {
    for threads in [1, 3, 4, 32] {
        let directives = format!(".threads {threads}\n.input 0x80 x\n.output 0x80 x");
        let code = format!(
            "
    S2R R0, SR_INVOCATION_ID
    ISETP.GE.AND P1, PT, R0, 0x3, PT
    MOV R20, R0
@P1 MOV32I R20, 0x2                         // of the last vertex
    ALD R1, a[0x80], R20
    IADD32I R1, R1, 0x5
    AST a[0x80], R1
    MOV32I R2, {last:#x}
    IADD R2, R2, -R0                        // another thread
    ALD.O R3, a[0x80], R2
    MOV32I R4, 0x3
    ALD R5, a[0x80], R4                     // of a vertex that there is not
    AST a[0x84], R3
    AST a[0x88], R5
    ISETP.EQ.AND P0, PT, R0, {last:#x}, PT
@P0 AST.P.64 a[0x20], R3
    ALD.O.P R6, a[0x20]
    AST a[0x8c], R6",
            last = threads - 1
        );
        let indices = indices(COUNT, 3, 40);
        let after = Case::of("tess_control", &directives, &code)
            .with(
                &("[vertices]\ncount = 40\n".to_owned()
                    + &key("attribute.\"0x80\"", rows(40, 0x80, 1))),
            )
            .with(&format!("[primitives]\nvertices = 3\nthreads = {threads}"))
            .with(&(key("indices", &indices) + &exports(&["0x80", "patch0x20"])))
            .run();
        assert_eq!(after.fault, None);
        assert_eq!([after.exported[0].len(), after.exported[1].len()], [COUNT * threads, COUNT]);
        let own = |patch: usize, thread: usize| {
            word(indices[3 * patch + thread.min(2)] as usize, 0x80) + 5
        };
        for patch in 0..COUNT {
            for thread in 0..threads {
                let found = &after.exported[0][patch * threads + thread][..4];
                // The last thread writes the patch's word: its value is the first thread's output.
                let expected =
                    [own(patch, thread), own(patch, threads - 1 - thread), 0, own(patch, 0)];
                assert_eq!(found, expected, "patch {patch}, thread {thread} of {threads}");
            }
            assert_eq!(after.exported[1][patch][..2], [own(patch, 0), 3], "patch {patch}");
        }
    }
}

const EVALUATION: &str = "
    S2R R0, SR_LANEID
    ALD.O.64 R4, a[0x2f0], R0
    ALD.P R6, a[0x20]
    MOV32I R1, 0x2
    ALD R7, a[0x80], R1
    AST.128 a[0x70], R4
    ALD.O R8, a[0x7c]
    AST a[0x80], R8
    ALD R9, a[0x60]
    AST a[0x84], R9";

/// Evaluation programs read coordinates, words of the patch, and vertices of the patch.
#[test]
fn tessellation_evaluation() {
    let patches: Vec<u32> = indices(77, 1, 9);
    let row = |of: fn(usize) -> u32| (0..77).map(of).collect::<Vec<u32>>();
    let after = Case::of("tess_eval", ".input 0x80 x\n.output 0x70 xyzw", EVALUATION)
        .with("[vertices]\ncount = 77")
        .with(
            &(key("tess_u", row(|n| n as u32 + 500))
                + &key("tess_v", row(|n| n as u32 + 600))
                + &key("patch", &patches)),
        )
        .with("[primitives]\nvertices = 3")
        .with(
            &(key("attribute.\"0x80\"", rows(27, 0x80, 4))
                + &key("patch.\"0x20\"", rows(9, 0x20, 1))),
        )
        .with(&exports(&["0x70", "0x80"]))
        .run();
    assert_eq!(after.fault, None);
    for (lane, &patch) in patches.iter().enumerate() {
        let corner = word(3 * patch as usize + 2, 0x80);
        let expected = [lane as u32 + 500, lane as u32 + 600, word(patch as usize, 0x20), corner];
        assert_eq!(after.exported[0][lane][..4], expected, "lane {lane}");
        assert_eq!(after.exported[1][lane][..2], [corner, patch], "lane {lane}");
    }
}

#[test]
fn what_is_not_given_is_named() {
    let evaluation = |vertices: &str, primitives: &str| {
        Case::of("tess_eval", ".input 0x80 x\n.output 0x70 xyzw", EVALUATION)
            .with(&format!("[vertices]\ncount = 3\n{vertices}"))
            .with(&format!("[primitives]\nvertices = 3\n{primitives}"))
    };
    let (u, v, patch) =
        ("tess_u = [0.0, 1.0, 0.0]\n", "tess_v = [0.0, 0.0, 1.0]\n", "patch = [0, 0, 0]\n");
    let points = key("attribute.\"0x80\"", rows(3, 0x80, 1));
    let control = Case::of("tess_control", ".threads 3\n.input 0x80 x", "ALD R0, a[0x80]")
        .with("[vertices]\ncount = 6");
    let vertices = |case: Case| case.with("[primitives]\nvertices = 3");
    for (case, expected) in [
        (evaluation(patch, ""), "[vertices] has no `tess_u`"),
        (evaluation(&[u, v, patch].concat(), ""), "[primitives] has no `patch` with a word"),
        (
            evaluation(&[u, v, patch].concat(), "patch.\"0x20\" = [1]"),
            "[primitives] has no `attribute` with a word",
        ),
        (
            evaluation(&[u, v, patch].concat(), "patch.\"0x20\" = [1, 2]"),
            "expected a row for each lane of 1",
        ),
        (evaluation(&[u, v].concat(), &points), "vertices.patch: missing"),
        (vertices(control), "[vertices] has no `attribute` with a word"),
        (
            evaluation(patch, "threads = 3"),
            "primitives.threads: it belongs to programs of other stages",
        ),
        (
            evaluation(patch, "[tessellation]"),
            "tessellation: it belongs to programs of another instruction set",
        ),
        (
            Case::of("geometry", ".max_vertices 3", "NOP").with(
                "[vertices]\ncount = 6\n[primitives]\nvertices = 3\nmax_vertices = 3\ngroup = 2",
            ),
            "primitives.group: it belongs to programs of another instruction set",
        ),
        (
            Case::of("tess_control", ".threads 4", "NOP")
                .with("[vertices]\ncount = 6\n[primitives]\nvertices = 3"),
            "primitives.threads is 3: the header says 4",
        ),
        (
            Case::of("geometry", ".max_vertices 4", "NOP")
                .with("[vertices]\ncount = 6\n[primitives]\nvertices = 3\nmax_vertices = 3"),
            "primitives.max_vertices is 3: the header says 4",
        ),
    ] {
        let found = case.problem();
        assert!(found.contains(expected), "{found}\nexpected: {expected}");
    }
}

/// The second part gets the first part's registers, however a lane leaves the first part.
#[test]
fn vertex_programs_in_two_parts() {
    let first = ".target sm_53
.stage vertex
.input 0x80 x
.output 0x80 x
    ALD R4, a[0x80]
    AST a[0x80], R4
    LOP32I.AND R5, R4, 0x3
    ISETP.EQ.AND P0, PT, R5, RZ, PT
    MOV32I R6, 0x7
@P0 EXIT
    SSY .L2
    ISETP.EQ.AND P1, PT, R5, 0x1, PT
@P1 BRA .L1
    IADD32I R6, R6, 0x10
    SYNC
.L1:
    IADD32I R6, R6, 0x20
    EXIT
.L2:
    IADD32I R6, R6, 0x40
    EXIT
";
    let second = "
    ALD R7, a[0x90]
    IADD R7, R7, R6
    AST a[0x90], R7
    ALD.O R8, a[0x80]
    AST a[0x94], R8";
    let given: Vec<u32> = (0..70).map(|lane| lane * 7).collect();
    let mut case = Case::of("vertex", ".input 0x90 x\n.output 0x90 xy", second);
    case.manifest += "vertex_a = \"a.sass\"\n";
    let case = case
        .with("[vertices]\ncount = 70")
        .with(
            &(key("attribute.\"0x80\"", &given)
                + &key("attribute.\"0x90\"", (1000..1070).collect::<Vec<u32>>())),
        )
        .with(&exports(&["0x80", "0x90"]));
    let after = case.run_with(&[("a.sass", first.as_bytes())]);
    assert_eq!(after.fault, None);
    for (lane, &x) in given.iter().enumerate() {
        let way = [7, 0x27, 0x57, 0x57][x as usize & 3];
        assert_eq!(after.exported[0][lane][0], x, "lane {lane}");
        assert_eq!(after.exported[1][lane][..2], [1000 + lane as u32 + way, x], "lane {lane}");
    }
    let mut fragment = Case::fragment("", "NOP", &[1; 4]);
    fragment.manifest =
        fragment.manifest.replace("texture_bank", "vertex_a = \"program.sass\"\ntexture_bank");
    assert!(
        fragment.problem().contains("kernel.vertex_a: it belongs to vertex programs of Maxwell")
    );
    let other = b".target sm_53\n.stage geometry\n    EXIT\n";
    assert!(case.problem_with(&[("a.sass", other)]).contains("both to be vertex programs"));
}
