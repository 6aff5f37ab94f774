//! Recursion, function pointers and virtual calls, with different depths and callees in each lane;
//! and calls by absolute addresses, which a linker makes.

use warploom::{Arg, EngineKind, LaunchOptions, Program};

fn program(file: &str) -> Program {
    let path = format!("{}/tests/fixtures/maxwell/{file}", env!("CARGO_MANIFEST_DIR"));
    let binary = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Program::load(&binary, None).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn options(engine: EngineKind) -> LaunchOptions {
    let mut options = LaunchOptions::new([1, 1, 1], [LANES as u32, 1, 1]);
    options.engine = engine;
    options
}

const LANES: usize = 100;

fn words(program: &Program, buffer: u64) -> Vec<u32> {
    let mut bytes = vec![0; LANES * 4];
    program.memory().read(buffer, &mut bytes).expect("output");
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
        .collect()
}

#[test]
fn recursion_and_function_pointers() {
    fn factorial(n: i32) -> i32 {
        (1..=n).fold(1, |product: i32, n| product.wrapping_mul(n))
    }
    fn fibonacci(n: i32) -> i32 {
        (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
    }
    let program = program("kernels/calls.sm_50.cubin");
    let [ints, floats, inputs] = [(); 3].map(|()| program.memory().alloc(4096, 1).expect("memory"));
    let xs: Vec<i32> = (0..=LANES as i32).map(|i| i * 7 % 12).collect();
    let bytes: Vec<u8> = xs.iter().flat_map(|x| x.to_le_bytes()).collect();
    program.memory().write(inputs, &bytes).expect("input");
    let kernel = program.kernel("calls").expect("the kernel");
    for engine in [EngineKind::Interp, EngineKind::Jit] {
        let outcome = kernel
            .launch(&[ints, floats, inputs].map(Arg::pointer), &options(engine))
            .expect("a launch");
        assert!(outcome.fault.is_none(), "{engine}: {:?}", outcome.fault);
        let (ints, floats) = (words(&program, ints), words(&program, floats));
        for i in 0..LANES {
            assert_eq!(
                ints[i] as i32,
                factorial(xs[i]) + fibonacci(xs[i + 1]),
                "{engine}, lane {i}"
            );
            let x = i as f32;
            let expected = if xs[i] & 1 == 0 { x * 2.0 + 1.0 } else { x * x };
            assert_eq!(f32::from_bits(floats[i]), expected, "{engine}, lane {i}");
        }
    }
}

#[test]
fn virtual_calls() {
    let program = program("kernels/calls.sm_50.cubin");
    let out = program.memory().alloc(4096, 1).expect("memory");
    let kernel = program.kernel("virt").expect("the kernel");
    for (engine, n) in [
        (EngineKind::Interp, 4),
        (EngineKind::Interp, 5),
        (EngineKind::Jit, 4),
        (EngineKind::Jit, 5),
    ] {
        let outcome =
            kernel.launch(&[Arg::pointer(out), Arg::from(n)], &options(engine)).expect("a launch");
        assert!(outcome.fault.is_none(), "{engine}: {:?}", outcome.fault);
        let expected = |i: u32| if n & 1 != 0 { i + 1 } else { i * n as u32 };
        assert_eq!(
            words(&program, out),
            (0..LANES as u32).map(expected).collect::<Vec<_>>(),
            "{engine}, {n}"
        );
    }
}

/// Runs `containers/linking.cu`, which uses variables and functions of another file.
#[test]
fn calls_of_another_file() {
    let program = program("containers/linked.sm_50.cubin");
    let out = program.memory().alloc(4096, 1).expect("memory");
    let kernel = program.kernel("linking").expect("the kernel");
    let table = |n: u32| [1, 2, 3, 0, 0][n as usize];
    let external = |n: u32| n + 9;
    for (engine, n) in [EngineKind::Interp, EngineKind::Jit]
        .into_iter()
        .flat_map(|engine| (0..5).map(move |n| (engine, n)))
    {
        let mut options = options(engine);
        options.block = [40, 1, 1];
        let outcome =
            kernel.launch(&[Arg::pointer(out), Arg::from(n as i32)], &options).expect("a launch");
        assert!(outcome.fault.is_none(), "{engine}: {:?}", outcome.fault);
        let pointed = if n & 1 == 0 { external(n) } else { table(n) };
        let all = external(n) + table(n) + pointed + (n + 1) + (n + 1);
        let last = if n & 2 != 0 { external(n) } else { table(n) };
        let expected = |lane| if lane == 3 { last } else { all };
        assert_eq!(
            words(&program, out)[..40],
            (0..40).map(expected).collect::<Vec<_>>(),
            "{engine}, {n}"
        );
    }
}
