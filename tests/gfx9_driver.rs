//! The driver's services for GFX9 kernels besides arguments, and its messages about missing
//! services.

use std::path::Path;

use warploom::{Arg, EngineKind, LaunchOptions, LaunchOutcome, Program};

fn launch(binary: &str, kernel: &str, args: &[Arg], options: &LaunchOptions) -> LaunchOutcome {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(binary);
    let program = Program::load(&std::fs::read(path).unwrap(), Some(kernel)).unwrap();
    let kernel = program.kernel(kernel).unwrap();
    // The second launch finds the pages of the first.
    let first = kernel.launch(args, options).unwrap();
    let second = kernel.launch(args, options).unwrap();
    assert_eq!((first.printed, first.fault), (second.printed.clone(), second.fault.clone()));
    second
}

#[test]
fn a_hostcall_is_named_in_the_fault() {
    for engine in [EngineKind::Jit, EngineKind::Interp] {
        let options = LaunchOptions { engine, ..LaunchOptions::new([1; 3], [64, 1, 1]) };
        let outcome = launch(
            "tests/fixtures/gfx9/hostcall/hostcall.hsaco",
            "says",
            &[Arg::pointer(0)],
            &options,
        );
        let fault = outcome.fault.expect("there are no hostcalls").to_string();
        assert!(
            fault.contains("address out of range") && fault.contains("hostcalls are not provided"),
            "{fault}"
        );
    }
}

#[test]
fn lines_without_room_are_left_out() {
    let folder = "examples/gfx9/printf";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("printf.expected.txt");
    let expected = std::fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = expected.split_inclusive('\n').collect();
    let text = |printf_bytes, threads| {
        let options =
            LaunchOptions { printf_bytes, threads, ..LaunchOptions::new([5, 1, 1], [70, 1, 1]) };
        let outcome = launch(
            &format!("{folder}/printf.gfx900.hsaco"),
            "lines",
            &[Arg::from(333_u32)],
            &options,
        );
        assert_eq!(outcome.fault, None);
        String::from_utf8(outcome.printed.text).unwrap()
    };
    assert_eq!(text(1 << 20, 1), expected);
    assert_eq!(text(1 << 20, 2), expected);
    assert_eq!(text(0, 1), "");
    // The first two calls take 12 and 48 bytes; each later call is at least as long as the first.
    assert_eq!(text(12 + 48 + 8, 1), lines[..2].concat());
    // A short call may find room where a long one did not.
    let some = text(200, 1);
    assert!(
        some.len() < expected.len() && some.split_inclusive('\n').all(|line| lines.contains(&line)),
        "{some}"
    );
}

/// The speed benchmark's kernel that reads its table through a buffer resource gives the example's
/// results.
#[test]
fn tables_of_the_benchmark() {
    let (rows, items, group) = (100_u32, 700_u32, 256);
    let table: Vec<u8> = (0..4 * rows)
        .flat_map(|k| k.wrapping_mul(0x9e37_79b9).rotate_left(k).to_le_bytes())
        .collect();
    let results =
        ["examples/gfx9/table/table.gfx900.hsaco", "benches/fixtures/table_buffer.gfx900.hsaco"]
            .map(|binary| {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(binary);
                let program = Program::load(&std::fs::read(path).unwrap(), None).unwrap();
                let memory = program.memory();
                let (rows_at, out) = (
                    memory.alloc(table.len() as u64, 64).unwrap(),
                    memory.alloc(4 * 700, 64).unwrap(),
                );
                memory.write(rows_at, &table).unwrap();
                let args = [Arg::pointer(rows_at), rows.into(), Arg::pointer(out), items.into()];
                let options = LaunchOptions::new([3, 1, 1], [group, 1, 1]);
                let outcome = program.kernel("table").unwrap().launch(&args, &options).unwrap();
                assert_eq!(outcome.fault, None, "{binary}");
                let mut content = vec![0; 4 * items as usize];
                memory.read(out, &mut content).unwrap();
                content
            });
    assert!(results[0] == results[1] && results[0].iter().any(|&byte| byte != 0));
}
