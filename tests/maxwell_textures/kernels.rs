//! Whole kernels that CUDA's compiler made of texture functions; `kernels.py` gives their results.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use warploom::{Arg, EngineKind, ImagePool, LaunchOptions, Program};
use warploom_maxwell::{header, sampler as entry};
use warploom_runtime::memory::Memory;

use super::{Settings, Texture, load};

const LANES: usize = 10;
/// Bytes of the arrays `o4`, `oi` and `o`, which follow each other in this order.
const ARRAYS: [usize; 3] = [16 * (LANES + 1), 16 * LANES, 4 * LANES];
const SAMPLER_SHIFT: u32 = 20;

#[derive(Deserialize)]
struct Cases {
    images: BTreeMap<String, Texture>,
    samplers: Vec<Settings>,
    launches: Vec<Sampled>,
    queries: Vec<Queried>,
}

/// A launch of `tx`.
#[derive(Deserialize)]
struct Sampled {
    image: String,
    sampler: usize,
    x: u32,
    y: u32,
    output: String,
}

/// A launch of `txq`.
#[derive(Deserialize)]
struct Queried {
    texture: String,
    surface: String,
    width: u32,
    height: u32,
}

/// Puts all images and samplers into memory. Header 0 has no image.
fn pool(memory: &Memory, cases: &Cases) -> ImagePool {
    let mut headers = vec![[0; 8]];
    for texture in cases.images.values() {
        let bytes = texture.bytes();
        let base = memory.alloc(bytes.len() as u64, 512).unwrap();
        memory.write(base, &bytes).unwrap();
        headers.push(header::encode(&texture.image(base)).unwrap());
    }
    let samplers: Vec<entry::Entry> =
        cases.samplers.iter().map(|settings| entry::encode(&settings.sampler())).collect();
    let put = |table: &[[u32; 8]]| {
        let address = memory.alloc(size_of_val(table) as u64, 32).unwrap();
        memory
            .write(
                address,
                &table.concat().into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>(),
            )
            .unwrap();
        address
    };
    ImagePool {
        headers: put(&headers),
        last_header: headers.len() as u32 - 1,
        samplers: put(&samplers),
        last_sampler: samplers.len() as u32 - 1,
    }
}

#[test]
fn compiled_kernels_do_what_their_source_says() {
    let cases: Cases = load("kernels.json.gz");
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/maxwell/kernels/tex.sm_50.cubin");
    let program = Program::load(&std::fs::read(path).unwrap(), None).unwrap();
    let memory = program.memory();
    let pool = pool(memory, &cases);
    let header = |name: &str| 1 + cases.images.keys().position(|key| key == name).unwrap() as u64;
    let out = memory.alloc(ARRAYS.iter().sum::<usize>() as u64, 16).unwrap();
    let check = |name: &str, kernel: &str, lanes: usize, args: &[Arg], expected: &[u8]| {
        for engine in [EngineKind::Interp, EngineKind::Jit] {
            memory.fill(out, expected.len() as u64, 0).unwrap();
            let mut options = LaunchOptions::new([1; 3], [lanes as u32, 1, 1]);
            options.engine = engine;
            options.images = Some(pool);
            let outcome = program.kernel(kernel).unwrap().launch(args, &options).unwrap();
            assert!(outcome.fault.is_none(), "{name}, {engine:?}: {:?}", outcome.fault);
            let mut found = vec![0; expected.len()];
            memory.read(out, &mut found).unwrap();
            let mut pairs = found.chunks_exact(4).zip(expected.chunks_exact(4));
            if let Some(at) = pairs.position(|(found, expected)| found != expected) {
                let [found, expected] = [&found, expected].map(|bytes| word(bytes, at));
                return Err(format!(
                    "{name}, {engine:?}: word {at} is {found:#x}, expected {expected:#x}"
                ));
            }
        }
        Ok(())
    };

    let sampled = cases.launches.iter().map(|Sampled { image, sampler, x, y, output }| {
        let [o4, oi, o] =
            [0, ARRAYS[0], ARRAYS[0] + ARRAYS[1]].map(|at| Arg::pointer(out + at as u64));
        let handle = Arg::from(header(image) | (*sampler as u64) << SAMPLER_SHIFT);
        let args = [handle, o, o4, Arg::from(*x), Arg::from(*y), oi];
        let [x, y] = [*x, *y].map(f32::from_bits);
        let name = format!("tx of {image}, sampler {sampler}, at {x:e}, {y:e}");
        check(&name, "tx", LANES, &args, &STANDARD.decode(output).unwrap())
    });
    let queried = cases.queries.iter().map(|Queried { texture, surface, width, height }| {
        let args = [Arg::from(header(texture)), Arg::from(header(surface)), Arg::pointer(out)];
        let expected = [*width, *height].map(u32::to_le_bytes).concat();
        check(&format!("txq of {texture} and {surface}"), "txq", 1, &args, &expected)
    });
    let results: Vec<Result<(), String>> = sampled.chain(queried).collect();
    let failures: Vec<&String> =
        results.iter().filter_map(|result| result.as_ref().err()).collect();
    let some = &failures[..failures.len().min(20)];
    assert!(
        failures.is_empty(),
        "{} of {} launches fail:\n{some:#?}",
        failures.len(),
        results.len()
    );
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[4 * at..][..4].try_into().unwrap())
}
