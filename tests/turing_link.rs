//! Relocatable code of Turing and Ampere: linked here, it does what nvlink's code and PTX do. Calls
//! of functions, jumps by a table, and variables in all memories cross the files.

use std::path::Path;

use warploom::{Arg, EngineKind, LaunchOptions, Program};
use warploom_container::{Module, linked};
use warploom_runtime::memory::MemoryConfig;

const LANES: usize = 32;

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/turing/link");
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn link(names: &[&str]) -> Result<Module, String> {
    let files: Vec<Vec<u8>> = names.iter().map(|name| file(name)).collect();
    let named: Vec<(&str, &[u8])> =
        names.iter().copied().zip(files.iter().map(Vec::as_slice)).collect();
    linked(&named, None).map_err(|error| error.to_string())
}

fn run(module: Module, engine: EngineKind) -> Vec<u32> {
    let program = Program::new(module, MemoryConfig::default()).unwrap();
    let memory = program.memory();
    let out = memory.alloc(4 * LANES as u64, 16).unwrap();
    let mut options = LaunchOptions::new([1; 3], [LANES as u32, 1, 1]);
    options.engine = engine;
    options.shared_bytes = 4 * LANES as u32;
    let outcome = program.kernel("k").unwrap().launch(&[Arg::pointer(out)], &options).unwrap();
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    let mut bytes = vec![0; 4 * LANES];
    memory.read(out, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// Returns the words that the source computes.
fn expected() -> Vec<u32> {
    let table = |t: u32| t % 8 + 1 + 10 * (t % 4 + 1);
    let first = |t: u32| table(t) + table(1);
    let result = |t: u32| {
        let sum = first(t) + first(2);
        let a = 2 * sum * 3 + 1 + 20 + 2000;
        match t % 8 {
            0 => a + 17,
            1 => a * 3,
            2 => a ^ 0x55aa,
            3 => 5_u32.wrapping_sub(a),
            4 => a << 3,
            5 => !a,
            6 => a.count_ones(),
            _ => a.leading_zeros(),
        }
    };
    (0..LANES as u32).map(result).collect()
}

#[test]
fn files_are_linked_as_nvlink_does_it() {
    for engine in [EngineKind::Interp, EngineKind::Jit] {
        assert_eq!(run(link(&["a.ptx", "b.ptx"]).unwrap(), engine), expected(), "PTX, {engine}");
        for gpu in ["sm_75", "sm_80"] {
            let (a, b) = (format!("a.{gpu}.o"), format!("b.{gpu}.o"));
            for files in [[&*a, &*b], [&*b, &*a]] {
                assert_eq!(run(link(&files).unwrap(), engine), expected(), "{files:?}, {engine}");
            }
            let nvlink = warploom_container::modules(&file(&format!("linked.{gpu}.cubin")));
            let module = nvlink.unwrap().remove(0);
            assert_eq!(run(module, engine), expected(), "nvlink, {gpu}, {engine}");
        }
    }
}

#[test]
fn files_that_do_not_fit_are_refused() {
    for (files, problem) in [
        (["a.sm_75.o", "b.ptx"], "in b.ptx: found PTX"),
        (["a.ptx", "b.sm_75.o"], "in b.sm_75.o: found"),
        (["a.sm_75.o", "b.sm_80.o"], "in b.sm_80.o: found code for NVIDIA sm_80"),
        (["b.sm_75.o", "b.sm_75.o"], "is defined in b.sm_75.o too"),
    ] {
        let error = link(&files).unwrap_err();
        assert!(error.contains(problem), "{files:?}: {error}");
    }
    assert!(link(&[]).is_err());
    // A variable that no file defines is an error that names it.
    let module = link(&["a.sm_80.o"]).unwrap();
    let error = Program::new(module, MemoryConfig::default()).err().unwrap().to_string();
    assert!(error.contains("numbers"), "{error}");
}
