//! Whole kernels that CUDA's compiler made of surface functions; `kernels.py` gives their results.

use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use warploom::{Arg, EngineKind, ImagePool, LaunchOptions, Program};
use warploom_maxwell::header;

use super::{Surface, place, write};

#[derive(Deserialize)]
struct Case {
    kernel: String,
    surface: Surface,
    args: Vec<i32>,
    /// The accepted outputs: the kernel must leave one of them.
    outputs: Vec<String>,
    after: String,
}

#[test]
fn compiled_kernels_do_what_their_source_says() {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut text = String::new();
    let file =
        std::fs::File::open(format!("{root}/tests/maxwell_surfaces/kernels.json.gz")).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    let binary =
        std::fs::read(format!("{root}/tests/fixtures/maxwell/kernels/surf.sm_50.cubin")).unwrap();
    for case in &cases {
        let program = Program::load(&binary, Some(&case.kernel)).unwrap();
        let memory = program.memory();
        let before = case.surface.bytes();
        let base = place(memory, &case.surface, &before);
        let headers = memory.alloc(64, 32).unwrap();
        let encoded = header::encode(&case.surface.image(base)).unwrap();
        memory.write(headers + 32, &encoded.map(u32::to_le_bytes).concat()).unwrap();
        let expected: Vec<Vec<u8>> =
            case.outputs.iter().map(|out| STANDARD.decode(out).unwrap()).collect();
        let length = expected[0].len();
        let out = memory.alloc(length as u64, 16).unwrap();
        let args: Vec<Arg> = [Arg::from(1u64), Arg::pointer(out)]
            .into_iter()
            .chain(case.args.iter().map(|&arg| Arg::from(arg)))
            .collect();
        for engine in [EngineKind::Interp, EngineKind::Jit] {
            write(memory, &case.surface, base, &before);
            memory.fill(out, length as u64, 0).unwrap();
            let mut options = LaunchOptions::new([1; 3], [8, 1, 1]);
            options.engine = engine;
            options.images =
                Some(ImagePool { headers, last_header: 1, samplers: 0, last_sampler: 0 });
            let outcome = program.kernel(&case.kernel).unwrap().launch(&args, &options).unwrap();
            let name = format!("{} on {}, {engine:?}", case.kernel, case.surface.layout);
            assert!(outcome.fault.is_none(), "{name}: {:?}", outcome.fault);
            let mut found = vec![0; length];
            memory.read(out, &mut found).unwrap();
            assert!(
                expected.contains(&found),
                "{name}: output {found:?}, expected one of {expected:?}"
            );
            let mut after = vec![0; before.len()];
            memory.read(base, &mut after).unwrap();
            assert!(after == STANDARD.decode(&case.after).unwrap(), "{name}: surface");
        }
    }
}
