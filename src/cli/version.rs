//! `warploom --version`

/// Returns the version with the commit, the back ends, and what the JIT uses of this CPU.
pub fn long() -> String {
    let commit = option_env!("WARPLOOM_COMMIT")
        .filter(|commit| !commit.is_empty())
        .map_or(String::new(), |commit| format!(" ({commit})"));
    let backends = if cfg!(feature = "vector") { "Cranelift, AVX-512" } else { "Cranelift" };
    format!(
        "{}{commit}, back end {backends}, {} on {}: {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        features()
    )
}

/// Returns the instruction sets of level x86-64-v3, each with whether this CPU has it.
#[cfg(target_arch = "x86_64")]
pub fn level_3() -> [(bool, &'static str); 6] {
    [
        (is_x86_feature_detected!("avx"), "AVX"),
        (is_x86_feature_detected!("avx2"), "AVX2"),
        (is_x86_feature_detected!("fma"), "FMA"),
        (is_x86_feature_detected!("f16c"), "F16C"),
        (is_x86_feature_detected!("bmi2"), "BMI2"),
        (is_x86_feature_detected!("popcnt"), "POPCNT"),
    ]
}

/// Returns the instruction sets of this CPU that native code can use.
#[cfg(target_arch = "x86_64")]
fn features() -> String {
    let below = [(is_x86_feature_detected!("sse4.2"), "SSE4.2")];
    let above = [(is_x86_feature_detected!("avx512f"), "AVX-512F")];
    let all = below.into_iter().chain(level_3()).chain(above);
    let found: Vec<&str> = all.filter(|(is, _)| *is).map(|(_, name)| name).collect();
    found.join(" ")
}

#[cfg(not(target_arch = "x86_64"))]
fn features() -> String {
    "its base instructions".into()
}
