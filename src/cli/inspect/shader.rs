//! `warploom inspect` of graphics programs for Maxwell.

use std::fmt::Write;

use warploom_container::{Function, Module, Stage};
use warploom_guest::header::{ATTRIBUTE_WORDS, Flag, Header, Interpolation, TARGETS};

/// Adds the facts in the header.
pub(super) fn program(module: &Module, f: &Function, header: &Header, out: &mut String) {
    line!(out, "\n{} program {}", header.stage().name(), f.name);
    line!(out, "  code       {} bytes in {}", f.size, module.section(f.section).name);
    line!(out, "  local      {} bytes", header.local_bytes());
    if header.crs_bytes() > 0 {
        line!(out, "  CRS stack  {} bytes", header.crs_bytes());
    }
    let flags: Vec<&str> =
        Flag::ALL.into_iter().filter(|&flag| header.has(flag)).map(Flag::name).collect();
    line!(
        out,
        "  allows     {}",
        if flags.is_empty() { "nothing besides".into() } else { flags.join(", ") }
    );
    match header.stage() {
        Stage::TessControl => line!(out, "  threads    {} of a patch", header.threads()),
        Stage::Geometry => {
            line!(
                out,
                "  vertices   at most {}, {} instances",
                header.max_vertices(),
                header.threads().max(1)
            );
        }
        Stage::Vertex | Stage::TessEval | Stage::Fragment => {}
    }
    for how in [Interpolation::Constant, Interpolation::Perspective, Interpolation::Linear] {
        let words = words(|address| header.input(address) == how);
        if !words.is_empty() {
            let how = if header.stage() == Stage::Fragment { how.name() } else { "given" };
            line!(out, "  inputs     {words} {how}");
        }
    }
    let written = words(|address| header.writes(address));
    if !written.is_empty() {
        line!(out, "  outputs    {written}");
    }
    for target in (0..TARGETS).filter(|&target| header.target(target) != 0) {
        let letters = ["r", "g", "b", "a"].into_iter().enumerate();
        let components: String = letters
            .filter(|(n, _)| header.target(target) >> n & 1 != 0)
            .map(|(_, letter)| letter)
            .collect();
        line!(out, "  outputs    target{target} {components}");
    }
    for (name, writes) in [("mask", header.writes_sample_mask()), ("depth", header.writes_depth())]
    {
        if writes {
            line!(out, "  outputs    {name}");
        }
    }
}

/// Formats the addresses of words. Consecutive addresses become a range.
fn words(are: impl Fn(u16) -> bool) -> String {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for address in (0..4 * ATTRIBUTE_WORDS).step_by(4).filter(|&address| are(address)) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 4 == address => *last = address,
            _ => ranges.push((address, address)),
        }
    }
    let text = |&(first, last): &(u16, u16)| match first == last {
        true => format!("{first:#x}"),
        false => format!("{first:#x}-{last:#x}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(", ")
}
