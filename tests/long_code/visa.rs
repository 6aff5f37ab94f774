//! Long vISA code that counts; the expected sums are known beforehand.

#[path = "../support/visa_launch.rs"]
mod visa_launch;

use std::fmt::Write;

use visa_launch::{Files, words_of};
use warploom::{Coverage, EngineKind};
use warploom_replay::Session;
use warploom_visa::{binary, text};

use super::{grows_linearly, on_small_stack};

const LANES: u32 = 16;

/// The text of a kernel, and the result of each lane.
type Made = (String, Vec<u32>);
/// A function that makes a kernel of a given size.
type Make = fn(usize) -> Made;

/// Returns a kernel with a body that leaves its results in `V`.
fn kernel(body: &str, functions: &str) -> String {
    format!(
        ".version 4.1\n.kernel \"k\"\n.decl OUT v_type=G type=uq num_elts=1 align=qword\n\
         .decl V v_type=G type=d num_elts=16 align=GRF\n.decl L v_type=G type=d num_elts=16 align=GRF\n.decl P1 v_type=P num_elts=16\n\
         .input OUT offset=32 size=8\n.kernel_attr SimdSize=16\nmain:\nmov (M1, 8) L(0,0)<1> 0x76543210:uv\n\
         add (M1_NM, 8) L(1,0)<1> L(0,0)<1;1,0> 0x8:d\nmov (M1, 16) V(0,0)<1> 0x0:d\n{body}\
         lsc_store.ugm (M1_NM, 1) flat[OUT]:a64 V:d32x16t\nret (M1, 1)\n{functions}"
    )
}

const COUNT: &str = "add (M1, 16) V(0,0)<1> V(0,0)<1;1,0> 0x1:d\n";

/// Returns a line of instructions, each of which needs the previous one.
fn line(count: usize) -> Made {
    (kernel(&COUNT.repeat(count), ""), vec![count as u32; LANES as usize])
}

/// Returns blocks; one lane skips each of them.
fn blocks(count: usize) -> Made {
    let mut body = String::new();
    let mut expected = vec![count as u32; LANES as usize];
    for n in 0..count {
        let lane = n % LANES as usize;
        let _ = write!(
            body,
            "cmp.eq (M1, 16) P1 L(0,0)<1;1,0> {lane:#x}:d\n(P1) goto (M1, 16) b{n}\n{COUNT}b{n}:\n"
        );
        expected[lane] -= 1;
    }
    (kernel(&body, ""), expected)
}

/// Returns nested conditions. Lane n takes part in the first (n + 1) / 16 of them.
fn nested(depth: usize) -> Made {
    let mut body = String::new();
    for n in 0..depth {
        let lane = (n * LANES as usize / depth) as u32;
        let _ = write!(
            body,
            "cmp.lt (M1, 16) P1 L(0,0)<1;1,0> {lane:#x}:d\n(P1) goto (M1, 16) b{n}\n{COUNT}"
        );
    }
    for n in (0..depth).rev() {
        let _ = writeln!(body, "b{n}:");
    }
    let inside = |lane: u32| {
        (0..depth).filter(|n| (n * LANES as usize / depth) as u32 <= lane).count() as u32
    };
    (kernel(&body, ""), (0..LANES).map(inside).collect())
}

/// Returns nested loops, each of which ends after its first round.
fn loops(depth: usize) -> Made {
    let mut body = String::new();
    for n in 0..depth {
        let _ = write!(body, "b{n}:\n{COUNT}");
    }
    for n in (0..depth).rev() {
        let _ = write!(body, "cmp.lt (M1, 16) P1 V(0,0)<1;1,0> 0x0:d\n(P1) goto (M1, 16) b{n}\n");
    }
    (kernel(&body, ""), vec![depth as u32; LANES as usize])
}

/// Returns scopes of inline assembly. Each scope declares its own variable of one common name.
fn scopes(count: usize) -> Made {
    let scope = "{\n.decl t v_type=G type=d num_elts=16\nadd (M1, 16) t(0,0)<1> V(0,0)<1;1,0> 0x1:d\nmov (M1, 16) V(0,0)<1> t(0,0)<1;1,0>\n}\n";
    (kernel(&scope.repeat(count), ""), vec![count as u32; LANES as usize])
}

/// Returns subroutines, each of which calls the next.
fn calls(depth: usize) -> Made {
    let mut functions = String::new();
    for n in 0..depth {
        let _ = writeln!(functions, ".function \"f{n}\"\nf{n}:");
        functions += COUNT;
        if n + 1 < depth {
            let _ = writeln!(functions, "call (M1, 16) f{}", n + 1);
        }
        functions += "ret (M1, 16)\n";
    }
    (kernel("call (M1, 16) f0\n", &functions), vec![depth as u32; LANES as usize])
}

/// Runs a kernel on these engines, and checks that its binary form has the instructions of its
/// text.
fn check((text, expected): Made, engines: &[EngineKind]) {
    on_small_stack(|| {
        let module = text::read(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors}"));
        let count = module.routines[0].code.len();
        let bytes = binary::write(&module).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(binary::read(&bytes).unwrap().routines[0].code.len(), count);
        let mut files = Files::new("dg2", LANES, "arg_bypointer:0:8:0:stateless:global");
        files.text(&text);
        files.buffer("out", &[0; 4 * LANES as usize], "u32");
        let launch = files.launch([1, 1, 1], [LANES, 1, 1]);
        for &engine in engines {
            let session = Session::new(&launch).unwrap();
            let outcome = session.launch(&session.options(engine, 1), None).unwrap();
            assert!(outcome.fault.is_none(), "{engine}: {}", outcome.fault.unwrap());
            assert!(outcome.uncompiled.is_empty(), "{:?}", outcome.uncompiled);
            assert_eq!(words_of(&session.buffer(0).unwrap()), expected, "{engine}");
        }
    });
}

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

#[test]
fn a_long_line() {
    check(line(100_000), &ENGINES);
}

#[test]
fn many_blocks() {
    check(blocks(10_000), &ENGINES);
}

#[test]
fn deep_conditions() {
    check(nested(1_000), &ENGINES);
}

#[test]
fn deep_loops() {
    // Cranelift's time grows with the square of the depth.
    check(loops(500), &ENGINES);
}

#[test]
fn deep_calls() {
    check(calls(1_000), &ENGINES);
}

#[test]
fn many_scopes() {
    check(scopes(1_000), &ENGINES);
}

#[test]
#[ignore = "measures time"]
fn time_is_linear() {
    let shapes: [(&str, Make, usize); 5] = [
        ("line", line, 100_000),
        ("blocks", blocks, 10_000),
        ("nested", nested, 1_000),
        ("calls", calls, 30_000),
        ("scopes", scopes, 20_000),
    ];
    for (name, make, size) in shapes {
        on_small_stack(|| {
            grows_linearly(&format!("{name} is read"), size, |size| {
                assert!(text::read(make(size).0.as_bytes()).is_ok());
            });
            let lift = |bytes: &[u8]| {
                let module = warploom_container::modules(bytes).unwrap().remove(0);
                let mut coverage = Coverage::default();
                coverage.add(module).unwrap();
                assert_eq!((coverage.kernels, coverage.incomplete), (1, 0), "{name}");
            };
            grows_linearly(&format!("{name} is lifted"), size, |size| {
                lift(make(size).0.as_bytes())
            });
            grows_linearly(&format!("{name} is lifted from a binary"), size, |size| {
                lift(&binary::write(&text::read(make(size).0.as_bytes()).unwrap()).unwrap());
            });
        });
    }
}
