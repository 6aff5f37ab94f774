//! Runs the fuzz target `cuda_api` from fixed seeds: random calls against a model of handles and
//! memory.

// The libraries define the C functions that this test links.
extern crate cuda as _;
extern crate cudart13 as _;

#[path = "../../src/fuzzing/cuda_api/mod.rs"]
mod cuda_api;

#[test]
fn random_calls_do_what_a_model_says() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..200 {
        let bytes: Vec<u8> = (0..100 + 10 * round)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        cuda_api::cuda_api(&bytes);
    }
}
