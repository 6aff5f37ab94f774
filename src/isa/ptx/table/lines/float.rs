//! Float arithmetic. Facts, `ptx.md` 2.3.

use super::{Line, line};
use crate::lift::{float, half};

const APPROXIMATE: &str = "within the documented error, not the hardware's bits";

/// Forms of `add` and `sub`, and of `mul` without the mixed forms.
const SUM: &str = "[10 1.0] {.rn|rz}.f64 {.rn|rz}{.ftz}{.sat}.f32 [13 1.2] .(rm|rp).f64 [20 2.0] .(rm|rp){.ftz}{.sat}.f32";
const SUM_HALF: &str = "[53 4.2] {.rn}{.ftz}{.sat}.<half> [90 7.8] {.rn}.<bhalf>";
const SUM_PAIR: &str = "[100 8.6] {.<round>}{.ftz}.f32x2";
const SUM_MIXED: &str = "[100 8.6] {.<round>}{.sat}.f32.f16";
const SUM_MIXED_BF16: &str = "[100 8.6] {.<round>}{.sat}.f32.bf16";
const FUSED: &str = "[20 2.0] .<round>{.ftz}{.sat}.f32";
const EXTREME_HALF: &str = "[80 7.0] {.ftz}{.NaN}.<half> {.NaN}.<bhalf> [86 7.2] {.ftz}{.NaN}.xorsign.abs.<half> {.NaN}.xorsign.abs.<bhalf>";
const EXTREME: &str =
    "[10 1.0] .f64 {.ftz}.f32 [80 7.0] {.ftz}.NaN.f32 [86 7.2] {.ftz}{.NaN}.xorsign.abs.f32";
const EXTREME_OF_3: &str = "[100 8.8] {.ftz}{.NaN}.abs.f32";

pub const LINES: &[Line] = &[
    line("add", float::add, "d, s, s", SUM),
    line("sub", float::sub, "d, s, s", SUM),
    line("mul", float::mul, "d, s, s", SUM),
    line("add", half::add, "d, r, r", SUM_PAIR),
    line("sub", half::sub, "d, r, r", SUM_PAIR),
    line("mul", half::mul, "d, r, r", SUM_PAIR),
    line("add", half::add, "d, r, r", SUM_HALF),
    line("sub", half::sub, "d, r, r", SUM_HALF),
    line("mul", half::mul, "d, r, r", SUM_HALF),
    line("add", half::mixed_add, "d, r:1, s", SUM_MIXED),
    line("sub", half::mixed_sub, "d, r:1, s", SUM_MIXED),
    line("add", half::mixed_add, "d, s:b16, s", SUM_MIXED_BF16),
    line("sub", half::mixed_sub, "d, s:b16, s", SUM_MIXED_BF16),
    line("fma", float::fma, "d, s, s, s", FUSED),
    line("fma", float::fma, "d, s, s, s", "[10 1.4] .(rn|rz).f64 [13 1.4] .(rm|rp).f64"),
    line("mad", float::fma, "d, s, s, s", FUSED),
    line("mad", float::fma, "d, s, s, s", "[10 1.0] .(rn|rz).f64 [13 1.2] .(rm|rp).f64"),
    line(
        "mad",
        float::fma,
        "d, s, s, s",
        "[10 1.0 until 20 1.0] {.ftz}{.sat}.f32 [10 1.0 until 10 1.4] .f64",
    ),
    line("div", float::div, "d, s, s", "[10 1.0 until 10 1.4] .f64"),
    line("div", float::div, "d, s, s", "[10 1.0 until 10 1.4] .f32").approximate(APPROXIMATE),
    line("sqrt", float::sqrt, "d, s", "[10 1.0 until 10 1.4] .f64"),
    line("sqrt", float::sqrt, "d, s", "[10 1.0 until 10 1.4] .f32").approximate(APPROXIMATE),
    line("rcp", float::rcp, "d, s", "[10 1.0 until 10 1.4] .f32").approximate(APPROXIMATE),
    line("rsqrt", float::rsqrt, "d, s", "[10 1.0 until 10 1.4] .(f32|f64)")
        .approximate(APPROXIMATE),
    line("sin", float::sin, "d, s", "[10 1.0 until 10 1.4] .f32").approximate(APPROXIMATE),
    line("cos", float::cos, "d, s", "[10 1.0 until 10 1.4] .f32").approximate(APPROXIMATE),
    line("lg2", float::lg2, "d, s", "[10 1.0 until 10 1.4] .f32").approximate(APPROXIMATE),
    line("ex2", float::ex2, "d, s", "[10 1.0 until 10 1.4] .f32").approximate(APPROXIMATE),
    line("fma", half::fma, "d, r, r, r", "[100 8.6] .<round>{.ftz}.f32x2"),
    line("fma", half::mixed_fma, "d, r:1, r:1, s", "[100 8.6] .<round>{.sat}.f32.f16"),
    line("fma", half::mixed_fma, "d, s:b16, s:b16, s", "[100 8.6] .<round>{.sat}.f32.bf16"),
    line(
        "fma",
        half::fma,
        "d, r, r, r",
        "[53 4.2] .rn{.ftz}{.sat}.<half> [80 7.0] .rn{.ftz}.relu.<half> .<round>{.relu}.<bhalf> [90 8.1] .rn.oob{.relu}.<halves>",
    ),
    line(
        "div",
        float::div,
        "d, s, s",
        "[10 1.0] .rn.f64 [20 2.0] .(rz|rm|rp).f64 .<round>{.ftz}.f32",
    ),
    line("div", float::div, "d, s, s", "[10 1.0] .(approx|full){.ftz}.f32")
        .approximate(APPROXIMATE),
    line(
        "rcp",
        float::rcp,
        "d, s",
        "[10 1.4] .rn{.ftz}.f64 [20 2.0] .(rz|rm|rp){.ftz}.f64 .<round>{.ftz}.f32",
    ),
    line("rcp", float::rcp, "d, s", "[10 1.0] .approx{.ftz}.f32 [20 2.1] .approx.ftz.f64")
        .approximate(APPROXIMATE),
    line(
        "sqrt",
        float::sqrt,
        "d, s",
        "[10 1.0] .rn.f64 [20 2.0] .(rz|rm|rp).f64 .<round>{.ftz}.f32",
    ),
    line("sqrt", float::sqrt, "d, s", "[10 1.0] .approx{.ftz}.f32").approximate(APPROXIMATE),
    line(
        "rsqrt",
        float::rsqrt,
        "d, s",
        "[10 1.0] .approx.f64 .approx{.ftz}.f32 [20 4.0] .approx.ftz.f64",
    )
    .approximate(APPROXIMATE),
    line("sin", float::sin, "d, s", "[10 1.0] .approx{.ftz}.f32").approximate(APPROXIMATE),
    line("cos", float::cos, "d, s", "[10 1.0] .approx{.ftz}.f32").approximate(APPROXIMATE),
    line("lg2", float::lg2, "d, s", "[10 1.0] .approx{.ftz}.f32").approximate(APPROXIMATE),
    line("ex2", float::ex2, "d, s", "[10 1.0] .approx{.ftz}.f32").approximate(APPROXIMATE),
    line("ex2", half::ex2, "d, r", "[75 7.0] .approx.<half> [90 7.8] .approx.ftz.<bhalf>")
        .approximate(APPROXIMATE),
    line("tanh", float::tanh, "d, s", "[75 7.0] .approx.f32").approximate(APPROXIMATE),
    line("tanh", half::tanh, "d, r", "[75 7.0] .approx.<half> [90 7.8] .approx.<bhalf>")
        .approximate(APPROXIMATE),
    line("min", float::min, "d, s, s, s@100/8.8?", EXTREME),
    line("max", float::max, "d, s, s, s@100/8.8?", EXTREME),
    line("min", float::min, "d, s, s, s", EXTREME_OF_3),
    line("max", float::max, "d, s, s, s", EXTREME_OF_3),
    line("min", half::min, "d, r, r", EXTREME_HALF),
    line("max", half::max, "d, r, r", EXTREME_HALF),
    line("abs", float::abs, "d, s", "[10 1.0] .f64 {.ftz}.f32"),
    line("neg", float::neg, "d, s", "[10 1.0] .f64 {.ftz}.f32"),
    line("abs", half::abs, "d, r", "[53 6.5] {.ftz}.<half> [80 7.0] .<bhalf>"),
    line("neg", half::neg, "d, r", "[53 5.1] {.ftz}.<half> [80 7.0] .<bhalf>"),
    line("copysign", float::copysign, "d, s, s", "[20 2.0] .(f32|f64)"),
    line(
        "testp",
        float::testp,
        "p, s",
        "[20 2.0] .(finite|infinite|number|notanumber|normal|subnormal).(f32|f64)",
    ),
];
