//! Programs, kernels and launches through the library, on both engines.

#[path = "support/fat_file.rs"]
mod fat_file;

use std::path::Path;

use warploom::{
    Arg, EngineKind, Error, FidelityClass, LaunchOptions, LaunchOutcome, Program, Reciprocals,
};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::memory::MemoryConfig;

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/maxwell").join(name))
        .unwrap()
}

fn program(name: &str) -> Program {
    let module = warploom_container::modules(&bytes(name)).unwrap().remove(0);
    Program::new(module, MemoryConfig::default()).unwrap()
}

fn options(block: u32, engine: EngineKind) -> LaunchOptions {
    LaunchOptions { engine, ..LaunchOptions::new([1; 3], [block, 1, 1]) }
}

/// Allocates a buffer with these words.
fn buffer(program: &Program, words: &[i32]) -> u64 {
    let address = program.memory().alloc(4 * words.len() as u64, 4).unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    program.memory().write(address, &bytes).unwrap();
    address
}

fn words(program: &Program, address: u64, count: usize) -> Vec<i32> {
    let mut bytes = vec![0; 4 * count];
    program.memory().read(address, &mut bytes).unwrap();
    bytes.chunks(4).map(|w| i32::from_le_bytes(w.try_into().unwrap())).collect()
}

#[track_caller]
fn finished(outcome: LaunchOutcome) -> LaunchOutcome {
    if let Some(fault) = &outcome.fault {
        panic!("{fault}");
    }
    outcome
}

/// Proves that a program linked from two files runs: calls of a function in another section,
/// pointers to functions and to variables in initial data, constants, and shared memory of the file
/// and of the kernel.
#[test]
fn a_program_linked_of_two_files() {
    for engine in ENGINES {
        let program = program("containers/linked.sm_50.cubin");
        program.write_variable("counter", &5_i32.to_le_bytes()).unwrap();
        let kernel = program.kernel("linking").unwrap();
        let run = |n: i32| {
            let out = buffer(&program, &[0; 32]);
            finished(kernel.launch(&[Arg::pointer(out), n.into()], &options(32, engine)).unwrap());
            words(&program, out, 32)
        };
        // external(x) = x + 9; local(x) = x * counter + table[x] with table = 1, 2, 3, 0, ...;
        // functions = external, local; array = 1, 2, 3, 4, 5; file_shared[n] = n + 1.
        let mut expected = [(2 + 9) + (2 * 5 + 3) + (2 + 9) + 3 + 3 + 5; 32];
        expected[3] = 2 + 9;
        assert_eq!(run(2), expected, "{engine}");
        let mut expected = [(1 + 9) + (5 + 2) + (5 + 2) + 2 + 2 + 5; 32];
        expected[3] = 5 + 2;
        assert_eq!(run(1), expected, "{engine}");

        let out = buffer(&program, &[0; 96]);
        // The kernel reads past the table; only its printed text matters.
        let outcome = kernel.launch(&[Arg::pointer(out), 77.into()], &options(3, engine)).unwrap();
        assert_eq!(outcome.printed.text, b"hi 77\nhi 77\nhi 77\n");
    }
}

#[test]
fn an_undefined_function_that_nobody_provides() {
    let mut binary = bytes("containers/linked.sm_50.cubin");
    let name = binary.windows(9).position(|w| w == b"\0vprintf\0").expect("the name of printf");
    binary[name + 1] = b'w';
    for engine in ENGINES {
        let program = Program::load(&binary, Some("linking")).unwrap();
        let out = buffer(&program, &[0; 96]);
        let kernel = program.kernel("linking").unwrap();
        let outcome = kernel.launch(&[Arg::pointer(out), 77.into()], &options(96, engine)).unwrap();
        let fault = outcome.fault.expect("there is no such function");
        assert_eq!(fault.kind(), FaultKind::IllegalInstruction);
        assert!(
            fault.to_string().contains("the call of `wprintf`, which the binary does not define"),
            "{fault}"
        );
    }
}

/// Proves that our linking of a relocatable file gives the results of the file that the vendor
/// linked.
#[test]
fn relocatable_files_run() {
    for engine in ENGINES {
        for name in ["containers/shared.rdc.sm_50.cubin", "containers/shared-linked.sm_50.cubin"] {
            let program = program(name);
            program.write_variable("gc", &[100]).unwrap();
            let out = buffer(&program, &[0, 0, 0, 0, 2]);
            let options = LaunchOptions { shared_bytes: 64, ..options(1, engine) };
            finished(
                program
                    .kernel("shared_all")
                    .unwrap()
                    .launch(&[Arg::pointer(out)], &options)
                    .unwrap(),
            );
            // q[0] + a3[0] + d5[0] + c7[0] + dynamic[2] + gf[0] + gc + gd
            assert_eq!(words(&program, out, 1), [1 + 2 + 3 + 4 + 7 + 100], "{name} {engine}");
            let variable =
                |name: &str| words(&program, program.variable(name).unwrap().address, 1)[0] & 0xff;
            assert_eq!(variable("gc"), 1);
            program.reset().unwrap();
            assert_eq!(variable("gc"), 0);
        }
    }
}

/// Proves that the results follow the kernel's source, for which the compiler makes a table and a
/// jump table.
#[test]
fn tables_of_a_relocatable_file() {
    for (engine, threads) in [
        (EngineKind::Interp, 1),
        (EngineKind::Interp, 2),
        (EngineKind::Jit, 1),
        (EngineKind::Jit, 2),
    ] {
        for name in ["containers/lookup.rdc.sm_50.cubin", "containers/lookup-linked.sm_50.cubin"] {
            let program = program(name);
            let out = buffer(&program, &[0; 9]);
            let options = LaunchOptions { threads, ..options(9, engine) };
            finished(
                program.kernel("lookup").unwrap().launch(&[Arg::pointer(out)], &options).unwrap(),
            );
            assert_eq!(
                words(&program, out, 9),
                [31, 17, 23, 5, 99, -7, 1000, 42, 42],
                "{name} {engine}"
            );
        }
    }
}

fn fib(n: i32) -> i32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

/// Proves that calls and recursion work. The compiler cannot count the stack of recursion; `tab[x &
/// 1]` is a function pointer.
#[test]
fn calls_and_recursion() {
    for engine in ENGINES {
        let program = program("kernels/calls.sm_50.cubin");
        let x: Vec<i32> = (0..33).map(|i| i % 9).collect();
        let (out, floats, input) =
            (buffer(&program, &[0; 32]), buffer(&program, &[0; 32]), buffer(&program, &x));
        let args = [Arg::pointer(out), Arg::pointer(floats), Arg::pointer(input)];
        finished(program.kernel("calls").unwrap().launch(&args, &options(32, engine)).unwrap());
        let expected: Vec<i32> =
            (0..32).map(|i| (1..=x[i]).product::<i32>() + fib(x[i + 1])).collect();
        assert_eq!(words(&program, out, 32), expected, "{engine}");
        let f = |i: usize| if x[i] & 1 == 0 { i as f32 * 2.0 + 1.0 } else { (i * i) as f32 };
        let expected: Vec<i32> = (0..32).map(|i| f(i).to_bits() as i32).collect();
        assert_eq!(words(&program, floats, 32), expected, "{engine}");
    }
}

/// Proves that code is found when it is reached, also by several threads at once: nothing tells the
/// target of the virtual call.
#[test]
fn code_is_discovered_at_run_time() {
    for (engine, threads) in [(EngineKind::Interp, 1), (EngineKind::Jit, 1), (EngineKind::Jit, 2)] {
        let mut module =
            warploom_container::modules(&bytes("kernels/calls.sm_50.cubin")).unwrap().remove(0);
        module.functions.retain(|f| f.kernel);
        module.functions.iter_mut().for_each(|f| f.indirect_branches.clear());
        let program = Program::new(module, MemoryConfig::default()).unwrap();
        let kernel = program.kernel("virt").unwrap();
        for n in [1, 4, 7, 6] {
            let out = buffer(&program, &[0; 96]);
            let options = LaunchOptions { threads, grid: [8, 1, 1], ..options(96, engine) };
            finished(kernel.launch(&[Arg::pointer(out), n.into()], &options).unwrap());
            let expected: Vec<i32> =
                (0..96).map(|x| if n & 1 == 1 { x + 1 } else { x * n }).collect();
            assert_eq!(words(&program, out, 96), expected, "{engine}, {threads} threads, n = {n}");
        }
    }
}

#[test]
fn an_indirect_call_to_nowhere_is_a_fault() {
    let mut module =
        warploom_container::modules(&bytes("kernels/calls.sm_50.cubin")).unwrap().remove(0);
    let table = module.sections.iter_mut().find(|s| s.name == ".nv.constant2.virt").unwrap();
    table.data.fill(0x7f);
    for engine in ENGINES {
        let program = Program::new(module.clone(), MemoryConfig::default()).unwrap();
        let out = buffer(&program, &[0; 32]);
        let args = [Arg::pointer(out), 1.into()];
        let outcome = program.kernel("virt").unwrap().launch(&args, &options(32, engine)).unwrap();
        let fault = outcome.fault.expect("there is no code");
        assert_eq!(fault.kind(), FaultKind::IllegalInstruction, "{fault}");
        assert!(fault.to_string().contains("outside its code"), "{fault}");
    }
}

#[test]
fn variables_can_be_written() {
    for engine in ENGINES {
        let program = program("kernels/local.sm_50.cubin");
        let table: Vec<u8> = (0..64_i32).flat_map(|i| (i * 100).to_le_bytes()).collect();
        program.write_variable("ctab", &table).unwrap();
        program.write_variable("gvar", &7_i32.to_le_bytes()).unwrap();
        let (ints, floats) = (buffer(&program, &[0; 64]), buffer(&program, &[0; 64]));
        let launch = || {
            let args = [Arg::pointer(ints), Arg::pointer(floats)];
            finished(
                program.kernel("consts").unwrap().launch(&args, &options(64, engine)).unwrap(),
            );
            words(&program, ints, 64)
        };
        assert_eq!(launch(), (0..64).map(|i| i * 100 + 14).collect::<Vec<_>>(), "{engine}");
        program.reset().unwrap();
        assert_eq!(launch(), [84; 64], "{engine}");

        let message = |result: Result<(), Error>| result.unwrap_err().to_string();
        let none = message(program.write_variable("nothing", &[0]));
        assert!(none.contains("no variable `nothing`: it has") && none.contains("ctab"), "{none}");
        let long = message(program.write_variable("gvar", &[0; 5]));
        assert!(long.contains("5 bytes for variable `gvar`, which has 4"), "{long}");
    }
}

#[test]
fn a_second_launch_translates_nothing() {
    for engine in ENGINES {
        let program = program("kernels/saxpy.sm_50.cubin");
        let (x, y) = (buffer(&program, &[0; 64]), buffer(&program, &[0; 64]));
        let launch = |n: i32, grid: u32| {
            let args = [n.into(), 1.5_f32.into(), Arg::pointer(x), Arg::pointer(y)];
            let options = LaunchOptions { grid: [grid, 1, 1], ..options(32, engine) };
            finished(program.kernel("saxpy").unwrap().launch(&args, &options).unwrap())
        };
        assert!(!launch(64, 2).translate.is_zero());
        assert!(launch(50, 7).translate.is_zero(), "{engine}");
    }
}

#[test]
fn launches_that_cannot_be() {
    let message = |result: Result<LaunchOutcome, Error>| result.unwrap_err().to_string();
    let bounded = program("containers/shared-linked.sm_50.cubin");
    let kernel = bounded.kernel("bounded").unwrap();
    let text = message(kernel.launch(&[Arg::pointer(0)], &options(97, EngineKind::Interp)));
    assert!(text.contains("[97, 1, 1]") && text.contains("at most 96 lanes"), "{text}");
    let headers = program("containers/headers.sm_50.cubin");
    let kernel = headers.only_kernel().unwrap();
    let text = message(kernel.launch(&[Arg::pointer(0)], &options(64, EngineKind::Interp)));
    assert!(text.contains("exactly [8, 4, 2]"), "{text}");
    let text = message(kernel.launch(&[], &options(64, EngineKind::Interp)));
    assert!(text.contains("exactly") || text.contains("1 parameters"), "{text}");
    let several = bounded.only_kernel().map(|_| ()).unwrap_err().to_string();
    assert!(several.contains("name one of bounded, shared_one, shared_all"), "{several}");
    let load =
        |bytes: &[u8], kernel| Program::load(bytes, kernel).map(|_| ()).unwrap_err().to_string();
    assert!(load(b"text", None).contains("not a GPU binary"));
    assert!(
        load(&bytes("kernels/saxpy.sm_50.cubin"), Some("x"))
            .contains("no kernel `x`: it has saxpy")
    );
    assert!(load(&bytes("containers/external.rdc.sm_50.cubin"), None).contains("no kernels"));
}

#[test]
fn profiles_agree() {
    let profile = |engine| {
        let program = program("kernels/reduce.sm_50.cubin");
        let (out, input) = (buffer(&program, &[0; 4]), buffer(&program, &[1; 500]));
        let args = [Arg::pointer(out), Arg::pointer(input), 500.into()];
        program.kernel("reduce").unwrap().profile(&args, &options(100, engine)).unwrap()
    };
    let [interp, jit] = ENGINES.map(profile);
    assert_eq!(interp, jit);
    let count = |name: &str| interp.iter().find(|e| e.mnemonic == name).map(|e| (e.count, e.class));
    // Each of the four warps runs to its end.
    assert_eq!(count("BAR.SYNC"), Some((4, FidelityClass::Exact)), "{interp:?}");
}

/// Proves that the kernel's name selects a module of a host's file.
#[test]
fn a_fat_binary_in_a_host_file() {
    let member = |name| fat_file::fat(&[fat_file::member(2, 50, &bytes(name), true, "")]);
    let fat = [member("kernels/reduce.sm_50.cubin"), member("kernels/saxpy.sm_50.cubin")].concat();
    let host = fat_file::host(&[(".text", b"code"), (".nv_fatbin", &fat)]);
    let several = Program::load(&host, None).map(|_| ()).unwrap_err().to_string();
    assert!(several.contains("name one of votes, reduce, saxpy"), "{several}");
    let program = Program::load(&host, Some("saxpy")).unwrap();
    let (x, y) = (buffer(&program, &[3.0_f32.to_bits() as i32; 40]), buffer(&program, &[0; 40]));
    let args = [40.into(), 2.0_f32.into(), Arg::pointer(x), Arg::pointer(y)];
    finished(program.only_kernel().unwrap().launch(&args, &options(64, EngineKind::Jit)).unwrap());
    assert_eq!(words(&program, y, 40), [6.0_f32.to_bits() as i32; 40]);
}

#[test]
fn reciprocals_have_tables_only_on_maxwell() {
    let load = |path: &str| {
        let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
        Program::load(&std::fs::read(&path).expect("a binary"), None).expect("a program")
    };
    let mut maxwell = load("examples/saxpy/saxpy.sm_50.cubin");
    maxwell.set_reciprocals(Reciprocals::Table).expect("tables");
    let mut gfx9 = load("examples/gfx9/atomics/atomics.gfx900.hsaco");
    gfx9.set_reciprocals(Reciprocals::Rounded).expect("no tables");
    let problem = gfx9.set_reciprocals(Reciprocals::Table).expect_err("no tables").to_string();
    assert_eq!(problem, "reciprocals = \"table\": only those of Maxwell kernels have tables");
}
