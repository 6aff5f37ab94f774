//! Typed atomics that Intel's compiler passed on from OpenCL C: `k14_inline_typed_atomic.cl`.

use std::path::Path;

use warploom_replay::{Launch, Session};

use super::visa_launch::{ENGINES, words_of};

const WIDTH: u32 = 64;

/// The entry for index 0 of the binding table, where the kernel's source assumes its surface.
const BINDING: &str =
    "    binding_table_indices:\n      - bti_value: 0\n        arg_index: 1\nkernels_misc_info:";

#[test]
fn inline_assembly() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/visa/dg2");
    let folder = tempfile::tempdir().unwrap();
    let info = std::fs::read_to_string(fixtures.join("k14_inline_typed_atomic.zeinfo")).unwrap();
    std::fs::write(folder.path().join("k.zeinfo"), info.replace("kernels_misc_info:", BINDING))
        .unwrap();
    let (mut values, mut texels) = (vec![], vec![]);
    for n in 0..WIDTH {
        // Some values are 0, so that the comparison finds them equal.
        values.push(if n % 3 == 0 { 0 } else { n.wrapping_mul(0x9e37_79b9) });
        texels.push(n * 1000 + 7);
    }
    let bytes =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    std::fs::write(folder.path().join("a"), bytes(&values)).unwrap();
    std::fs::write(
        folder.path().join("im"),
        bytes(&[texels.clone(), vec![0; WIDTH as usize]].concat()),
    )
    .unwrap();
    for binary in
        ["k14_inline_typed_atomic.zebin", "k14_inline_typed_atomic.simd8_entry_0001.visaasm"]
    {
        std::fs::copy(fixtures.join(binary), folder.path().join(binary)).unwrap();
        let manifest = format!(
            "[kernel]\nbinary = \"{binary}\"\nze_info = \"k.zeinfo\"\n[launch]\ngrid = [8, 1, 1]\nblock = [8, 1, 1]\n\
             [[arg]]\nbuffer = \"a\"\n[[arg]]\nsurface = \"im\"\n[buffer.a]\nfile = \"a\"\ndtype = \"u32\"\n\
             [surface.im]\ndim = \"2d\"\nsize = [{WIDTH}, 2, 1]\nformat = \"r32_sint\"\nfile = \"im\"\n"
        );
        let path = folder.path().join("m.toml");
        std::fs::write(&path, manifest).unwrap();
        let launch = Launch::read(&path).unwrap();
        for engine in ENGINES {
            let session = Session::new(&launch).unwrap();
            let outcome = session.launch(&session.options(engine, 1), None).unwrap();
            assert!(outcome.fault.is_none(), "{engine}, {binary}: {}", outcome.fault.unwrap());
            let (a, image) =
                (words_of(&session.buffer(0).unwrap()), words_of(&session.surface(0).unwrap()));
            for n in 0..WIDTH as usize {
                let (value, old) = (values[n], texels[n]);
                // The kernel adds to the texel, compares it with its first value, and counts it up.
                let sum = old.wrapping_add(value);
                let exchanged = if sum == old { value } else { sum };
                assert_eq!(image[n], exchanged.wrapping_add(1), "{engine}, {binary}: texel {n}");
                assert_eq!(
                    image[WIDTH as usize + n],
                    old,
                    "{engine}, {binary}: texel {n} of the second row"
                );
                assert_eq!(a[n], old.wrapping_add(sum), "{engine}, {binary}: element {n}");
            }
        }
    }
}
