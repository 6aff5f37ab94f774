//! Services of the driver for device code, on both engines.

use warploom::{Arg, EngineKind, LaunchOptions, LaunchOutcome, Program};
use warploom_runtime::fault::FaultKind;

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

fn program() -> Program {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/maxwell/services/services.sm_50.cubin"
    );
    Program::load(&std::fs::read(path).unwrap(), Some("lists")).unwrap()
}

fn options(grid: u32, block: u32, engine: EngineKind) -> LaunchOptions {
    LaunchOptions { engine, ..LaunchOptions::new([grid, 1, 1], [block, 1, 1]) }
}

fn launch(program: &Program, kernel: &str, args: &[Arg], options: &LaunchOptions) -> LaunchOutcome {
    program.kernel(kernel).unwrap().launch(args, options).unwrap()
}

fn buffer(program: &Program, bytes: &[u8]) -> u64 {
    let address = program.memory().alloc(bytes.len() as u64, 8).unwrap();
    program.memory().write(address, bytes).unwrap();
    address
}

fn words(program: &Program, address: u64, count: usize) -> Vec<u64> {
    let mut bytes = vec![0; 8 * count];
    program.memory().read(address, &mut bytes).unwrap();
    bytes.chunks(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect()
}

/// Returns the sum of `i * k` over the nodes of lane `i`.
fn list_sum(i: u64, n: u64) -> u64 {
    (0..n + i % 3).map(|k| i * k).sum()
}

#[test]
fn lists_in_the_heap() {
    for engine in ENGINES {
        for (grid, block, threads) in [(1, 1, 1), (3, 33, 1), (2, 256, 2)] {
            let program = program();
            let lanes = (grid * block) as usize;
            let sums = buffer(&program, &vec![0; 8 * lanes]);
            let mut options = options(grid, block, engine);
            options.threads = threads;
            // The heap has room for exactly the nodes that are not freed, each rounded up to 16
            // bytes.
            let nodes: u64 = (0..lanes as u64).map(|i| 5 + i % 3).sum();
            options.heap_bytes = 16 * nodes;
            let args = |keep: i32| [Arg::from(5), Arg::pointer(sums), Arg::from(keep)];
            let expected: Vec<u64> = (0..lanes as u64).map(|i| list_sum(i, 5)).collect();
            for _ in 0..3 {
                assert_eq!(launch(&program, "lists", &args(0), &options).fault, None);
                assert_eq!(
                    words(&program, sums, lanes),
                    expected,
                    "{engine}, {grid} blocks of {block}"
                );
            }
            assert_eq!(launch(&program, "lists", &args(1), &options).fault, None);
            assert_eq!(
                words(&program, sums, lanes),
                expected,
                "{engine}, {grid} blocks of {block}"
            );
            // The heap outlives a launch, and is full now.
            assert_eq!(launch(&program, "lists", &args(1), &options).fault, None);
            assert_eq!(
                words(&program, sums, lanes),
                vec![u64::MAX; lanes],
                "{engine}, {grid} blocks of {block}"
            );
            program.reset().unwrap();
            assert_eq!(launch(&program, "lists", &args(1), &options).fault, None);
            assert_eq!(words(&program, sums, lanes), expected, "{engine}, after a reset");
        }
    }
}

#[test]
fn a_failed_assertion_names_its_condition_and_lane() {
    let values: Vec<u8> =
        (0..80_i32).flat_map(|i| if i == 45 || i == 70 { -1 } else { i }.to_le_bytes()).collect();
    for engine in ENGINES {
        for threads in [1, 2] {
            let program = program();
            let x = buffer(&program, &values);
            let mut options = options(2, 40, engine);
            options.threads = threads;
            let fault = launch(&program, "checked", &[Arg::pointer(x)], &options)
                .fault
                .expect("a failed assertion");
            assert_eq!(fault.kind(), FaultKind::Assertion);
            assert_eq!((fault.fault.block, fault.fault.warp, fault.fault.lane), ([1, 0, 0], 0, 5));
            let text = fault.to_string();
            assert!(
                text.contains("function `__assertfail`: services.cu:")
                    && text.contains("`x[i] >= 0`"),
                "{text}"
            );
        }
    }
}

#[test]
fn only_what_was_given_out_can_be_given_back() {
    for engine in ENGINES {
        let program = program();
        for address in [16, program.memory().alloc(64, 16).unwrap()] {
            let outcome =
                launch(&program, "bad_free", &[Arg::pointer(address)], &options(1, 32, engine));
            let fault = outcome.fault.expect("an invalid free");
            assert_eq!(
                (fault.kind(), fault.fault.lane, fault.fault.address),
                (FaultKind::InvalidFree, 5, address)
            );
        }
        assert_eq!(launch(&program, "nothing_to_free", &[], &options(1, 32, engine)).fault, None);
    }
}

#[test]
fn prints_from_divergent_lanes() {
    for engine in ENGINES {
        let program = program();
        let (text, counts) = (buffer(&program, b"global\0"), buffer(&program, &[0; 40 * 4]));
        let outcome = launch(
            &program,
            "prints",
            &[Arg::pointer(text), Arg::pointer(counts)],
            &options(1, 40, engine),
        );
        assert_eq!(outcome.fault, None);
        let line = |i: u8| {
            let local: String = (0..4).map(|k| char::from(b'a' + (i + k) % 26)).collect();
            let (half, letter) = (f64::from(i) * 0.5, char::from(b'A' + i));
            format!("{i} global smem {local}|{half:5.1}|{letter}|1099511627776|4464|(nil)|%\n")
        };
        let mut lines: Vec<String> = [3, 11, 19, 27, 35].map(line).into();
        lines.extend((0..5).map(|_| "none\n".to_owned()));
        let printed = String::from_utf8(outcome.printed.text).unwrap();
        let mut found: Vec<&str> = printed.split_inclusive('\n').collect();
        // The compiler and the stack decide which side of a divergent branch prints first. Lanes of
        // one call print in order.
        let formatted: Vec<&str> = found.iter().copied().filter(|line| *line != "none\n").collect();
        assert_eq!(formatted, lines[..5], "{engine}");
        found.sort_unstable();
        lines.sort_unstable();
        assert_eq!(found, lines, "{engine}");
        let counts: Vec<i32> = words(&program, counts, 20)
            .iter()
            .flat_map(|&w| [w as i32, (w >> 32) as i32])
            .collect();
        let expected = |i: i32| match i % 8 {
            3 => 9,
            4 => -1,
            5 => 0,
            _ => -9,
        };
        assert_eq!(counts, (0..40).map(expected).collect::<Vec<_>>(), "{engine}");
    }
}

#[test]
fn what_finds_no_room_is_dropped_and_counted() {
    for engine in ENGINES {
        let program = program();
        let mut options = options(1, 1, engine);
        options.instruction_limit = Some(1000);
        options.printf_bytes = 40;
        let outcome = launch(&program, "endless", &[], &options);
        assert_eq!(outcome.fault.map(|fault| fault.kind()), Some(FaultKind::BudgetExceeded));
        assert_eq!(outcome.printed.text, b"again and again\nagain and again\n");
        assert!(outcome.printed.dropped > 10, "{engine}: {}", outcome.printed.dropped);
    }
}

#[test]
fn a_bad_address_faults() {
    for engine in ENGINES {
        let program = program();
        let counts = buffer(&program, &[0; 128]);
        let args = [Arg::pointer(0x30), Arg::pointer(counts)];
        let fault =
            launch(&program, "prints", &args, &options(1, 32, engine)).fault.expect("a fault");
        assert_eq!(
            (fault.kind(), fault.fault.lane, fault.fault.address),
            (FaultKind::AddressOutOfRange, 3, 0x30)
        );
        assert!(fault.to_string().contains("function `vprintf`"), "{fault}");
    }
}

/// `set_conditional` of `conditional.cu` as PTX.
const CONDITIONAL: &[u8] = b"
.version 6.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry set_conditional(.param .u64 handle, .param .u32 value) {
    .reg .pred %other;
    .reg .b32 %v, %t, %n;
    .reg .b64 %h;
    ld.param.u64 %h, [handle];
    ld.param.u32 %v, [value];
    mov.u32 %t, %tid.x;
    setp.ne.u32 %other, %t, 3;
    @%other bra done;
    mov.u32 %n, %ntid.x;
    add.u32 %v, %v, %n;
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %h; st.param.b32 [b], %v; call cudaGraphSetConditional, (a, b); }
done:
    ret;
}
\0";

#[test]
fn the_condition_of_a_graph_is_a_word_at_its_handle() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/maxwell/services/conditional.sm_50.cubin"
    );
    for image in [&std::fs::read(path).unwrap()[..], CONDITIONAL] {
        for engine in ENGINES {
            let program = Program::load(image, Some("set_conditional")).unwrap();
            let handle = buffer(&program, &u64::MAX.to_le_bytes());
            let set = |handle| {
                let args = [Arg::pointer(handle), Arg::from(7)];
                launch(&program, "set_conditional", &args, &options(1, 40, engine)).fault
            };
            assert_eq!(set(handle), None);
            assert_eq!(words(&program, handle, 1), [0xffff_ffff_0000_002f], "{engine}");
            let fault = set(0x30).expect("no memory is there");
            assert_eq!(
                (fault.kind(), fault.fault.lane, fault.fault.address),
                (FaultKind::AddressOutOfRange, 3, 0x30)
            );
        }
    }
}
