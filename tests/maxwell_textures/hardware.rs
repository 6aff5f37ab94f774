//! Results of a GPU, an H200, for many of the cases, and for queries that show its weights, sums
//! and levels (`tools/gpu`). `hardware.json.gz` has results for the components that the format has.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{BASE, Settings, Texture, load};

#[derive(Deserialize)]
struct Recorded {
    images: BTreeMap<String, Texture>,
    queries: BTreeMap<String, Vec<[i64; 9]>>,
    cases: Vec<Seen>,
}

#[derive(Deserialize)]
struct Seen {
    image: String,
    sampler: Settings,
    operation: String,
    queries: String,
    results: Vec<Vec<u32>>,
}

/// Returns the permitted error of a component: it is not 0 if the hardware's arithmetic is known
/// only in part.
fn tolerance(texture: &Texture, operation: &str) -> f32 {
    match (operation, texture.format.as_str()) {
        // Bits of the level differ: the length of a gradient and its logarithm are approximate.
        ("grad", _) => 0.5,
        // The least integer counts as a value below -1, and the hardware scales the sum with fewer
        // bits.
        (_, format) if format.ends_with("8_snorm") => 1.0 / 127.0,
        (_, format) if format.ends_with("16_snorm") => 1.0 / 32767.0,
        // Some units in the last place of a half.
        (_, format) if format.ends_with("srgb") => 1.0 / 256.0,
        _ => 0.0,
    }
}

#[test]
fn samples_are_what_a_gpu_gives() {
    let recorded: Recorded = load("hardware.json.gz");
    let (mut total, mut failures) = (0, Vec::new());
    for case in &recorded.cases {
        let texture = &recorded.images[&case.image];
        let (image, memory, sampler) =
            (texture.image(BASE), texture.bytes(), case.sampler.sampler());
        let queries = &recorded.queries[&case.queries];
        let integers = texture.format.ends_with("int");
        let near = tolerance(texture, &case.operation);
        let mut differ = 0;
        for (query, expected) in queries.iter().zip(&case.results) {
            let found = super::ask(&case.operation, &image, &sampler, query, &memory);
            let same = expected.iter().zip(found).all(|(&expected, found)| {
                let [e, f] = [expected, found].map(f32::from_bits);
                expected == found
                    || !integers && (e.is_nan() && f.is_nan() || (e - f).abs() <= near)
            });
            differ += usize::from(!same);
            total += 1;
        }
        // Results for two long gradients and for sums that cancel are not fully known.
        let known = match (case.operation.as_str(), case.image.as_str()) {
            ("grad", _) => queries.len() / 50,
            (_, "random 3d") => 2,
            _ => 0,
        };
        if differ > known {
            failures.push(format!(
                "{} of {}: {differ} of {}",
                case.operation,
                case.image,
                queries.len()
            ));
        }
    }
    assert!(total > 25_000, "{total}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
