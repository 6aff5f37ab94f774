//! Long PTX code that counts; the expected count is known beforehand.

use std::fmt::Write;

use warploom::{Arg, Effort, EngineKind, LaunchOptions, Program};

use super::{grows_linearly, on_small_stack};

const LANES: u32 = 32;

/// Returns a kernel with a body that counts in `%n`, from 0. `%t` is the lane's number.
fn kernel(body: &str, functions: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{functions}\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .b32 %n, %t, %i, %r<1001>; .reg .b64 %d<3>; .reg .pred %p;\nmov.u32 %t, %tid.x; mov.u32 %n, 0;\n{body}\n\
         ld.param.u64 %d0, [out]; mul.wide.u32 %d1, %t, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %n; ret;\n}}\n"
    )
}

/// Returns a line of instructions, each of which needs the previous one.
fn line(count: usize) -> (String, Vec<u32>) {
    (kernel(&"add.u32 %n, %n, 1;\n".repeat(count), ""), vec![count as u32; LANES as usize])
}

/// Returns blocks; one lane skips each of them.
fn blocks(count: usize) -> (String, Vec<u32>) {
    let (mut body, mut expected) = (String::new(), vec![count as u32; LANES as usize]);
    for n in 0..count {
        let lane = n % LANES as usize;
        let _ =
            writeln!(body, "setp.eq.u32 %p, %t, {lane}; @%p bra L{n}; add.u32 %n, %n, 1; L{n}:");
        expected[lane] -= 1;
    }
    (kernel(&body, ""), expected)
}

/// Returns nested loops. The innermost loop runs twice, each outer loop once.
fn loops(depth: usize) -> (String, Vec<u32>) {
    let mut body = String::new();
    for n in 0..depth {
        let _ = writeln!(body, "mov.u32 %r{n}, 0; L{n}: add.u32 %n, %n, 1;");
    }
    for n in (0..depth).rev() {
        let turns = if n + 1 == depth { 2 } else { 1 };
        let _ = writeln!(
            body,
            "add.u32 %r{n}, %r{n}, 1; setp.lt.u32 %p, %r{n}, {turns}; @%p bra L{n};"
        );
    }
    (kernel(&body, ""), vec![depth as u32 + 1; LANES as usize])
}

/// Returns nested braces, each with its own register.
fn braces(depth: usize) -> (String, Vec<u32>) {
    let open = "{ .reg .b32 %x; add.u32 %x, %n, 1; mov.u32 %n, %x;\n".repeat(depth);
    (kernel(&format!("{open}{}", "}".repeat(depth)), ""), vec![depth as u32; LANES as usize])
}

/// Returns functions, each of which calls the previous one.
fn calls(depth: usize) -> (String, Vec<u32>) {
    let mut functions =
        ".func (.reg .b32 r) f0 (.reg .b32 a) { add.u32 r, a, 1; ret; }\n".to_owned();
    for n in 1..depth {
        let _ = writeln!(
            functions,
            ".func (.reg .b32 r) f{n} (.reg .b32 a) {{ .reg .b32 x; add.u32 x, a, 1; call (r), f{}, (x); ret; }}",
            n - 1
        );
    }
    let body = format!("call (%n), f{}, (%n);", depth - 1);
    (kernel(&body, &functions), vec![depth as u32; LANES as usize])
}

/// Reads and prints a text, reads it again, and runs it on both engines.
fn run((text, expected): (String, Vec<u32>)) {
    let module = warploom_ptx::read(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors}"));
    let printed = warploom_ptx::text::print(&module);
    let again = warploom_ptx::read(printed.as_bytes()).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(warploom_ptx::text::print(&again) == printed, "it prints as it was read");
    let program = Program::load(text.as_bytes(), None).unwrap();
    let kernel = program.kernel("k").unwrap();
    let ways = [
        (EngineKind::Interp, Effort::Quick),
        (EngineKind::Jit, Effort::Quick),
        (EngineKind::Jit, Effort::Full),
    ];
    for (engine, effort) in ways {
        let out = program.memory().alloc(4 * u64::from(LANES), 256).unwrap();
        let options = LaunchOptions {
            engine,
            effort,
            threads: 1,
            ..LaunchOptions::new([1, 1, 1], [LANES, 1, 1])
        };
        let outcome = kernel.launch(&[Arg::pointer(out)], &options).unwrap();
        assert!(outcome.fault.is_none(), "{:?}", outcome.fault.map(|fault| fault.to_string()));
        assert!(outcome.uncompiled.is_empty(), "{:?}", outcome.uncompiled);
        let mut found = vec![0; expected.len() * 4];
        program.memory().read(out, &mut found).unwrap();
        let found: Vec<u32> =
            found.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(found, expected, "{engine}");
    }
}

#[test]
fn instructions_in_a_line() {
    on_small_stack(|| run(line(100_000)));
}

#[test]
fn many_blocks() {
    on_small_stack(|| run(blocks(10_000)));
}

#[test]
fn nested_loops() {
    on_small_stack(|| run(loops(1_000)));
}

#[test]
fn nested_braces() {
    on_small_stack(|| run(braces(1_000)));
}

#[test]
fn nested_calls() {
    on_small_stack(|| run(calls(1_000)));
}

#[test]
fn expressions_and_initial_contents_end_in_an_error() {
    on_small_stack(|| {
        for open in ["(", "-", "!", "1?", "1?1:", "1+("] {
            let text = kernel(&format!("mov.u32 %n, {}1;", open.repeat(100_000)), "");
            let errors = warploom_ptx::read(text.as_bytes()).unwrap_err().to_string();
            assert!(errors.contains("an expression deeper than 256"), "{open}: {errors}");
        }
        let text =
            kernel("", &format!(".global .u32 x{} = {}1;", "[1]".repeat(1_000), "{".repeat(1_000)));
        let errors = warploom_ptx::read(text.as_bytes()).unwrap_err().to_string();
        assert!(errors.contains("more than 32 dimensions"), "{errors}");
        let text = kernel(&"{".repeat(100_000), "");
        let errors = warploom_ptx::read(text.as_bytes()).unwrap_err().to_string();
        assert!(errors.contains("scopes within scopes"), "{errors}");
    });
}

#[test]
#[ignore = "measures time"]
fn time_is_linear() {
    on_small_stack(|| {
        grows_linearly("instructions in a line", 40_000, |count| run(line(count)));
        grows_linearly("blocks", 4_000, |count| run(blocks(count)));
    });
}
