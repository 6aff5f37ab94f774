//! Random functions are valid, and their text form reads back unchanged.

use std::collections::HashSet;

use proptest::prelude::*;
use warploom_ir::{BlockId, Function, Service, Terminator, Value, ValueType, parse, verify};
use warploom_testing::ir::{self as generate, Limits, Random};

fn random(seed: u64, lanes: u8) -> Function {
    generate::function(&mut Random::new(seed), Limits { lanes, ..Limits::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn text_round_trips(seed: u64, lanes in 1u8..=64) {
        let function = random(seed, lanes);
        prop_assert_eq!(verify::verify(&function), Ok(()));
        let text = function.to_string();
        let read = parse::parse(&text);
        prop_assert!(read.as_ref() == Ok(&function), "{:?}\n{}", read.err(), text);
    }

    #[test]
    fn no_text_panics(seed: u64, at: prop::sample::Index, with in "[ -~]{0,4}", remove in 0usize..4) {
        let mut text = random(seed, 8).to_string();
        let at = at.index(text.len());
        let end = (at + remove).min(text.len());
        text.replace_range(at..end, &with);
        if let Ok(function) = parse::parse(&text) {
            let _ = verify::verify(&function);
        }
    }

    #[test]
    fn bytes_make_valid_functions(bytes: Vec<u8>) {
        let function = generate::function(&mut generate::Bytes(&bytes), Limits::default());
        prop_assert_eq!(verify::verify(&function), Ok(()));
    }
}

#[test]
fn names_may_hold_anything() {
    for name in ["", "a \"b\" # c", "_Z3fooPf", "tab\tline\nnull\0", "\u{1F600}\u{202e}\\"] {
        let mut function = random(1, 4);
        function.name = name.into();
        assert_eq!(parse::parse(&function.to_string()).as_ref(), Ok(&function));
    }
}

#[test]
fn functions_say_which_register_is_active() {
    let text = random(1, 4).to_string();
    let (before, after) = text.split_once("active ").expect("a line `active`");
    let (_, after) = after.split_once('\n').expect("its end");
    let error =
        parse::parse(&format!("{before}{after}")).expect_err("the line is gone").to_string();
    assert!(error.contains("expected an `active` line above, found `}`"), "{error}");
    let trailing = text.replacen('{', "{ bank", 1);
    let error = parse::parse(&trailing).expect_err("a word more").to_string();
    assert!(error.contains("expected the end of the line, found `bank`"), "{error}");
}

/// Proves the round trip of services, which the generator omits because no engine runs them alone.
#[test]
fn services_round_trip() {
    for (service, name) in
        Service::ALL.into_iter().zip(["print", "allocate", "free", "assert.fail"])
    {
        let mut function = random(1, 4);
        let block = function
            .blocks
            .iter()
            .position(|block| block.values.contains(&ValueType::MASK))
            .expect("a mask");
        let values = &function.blocks[block].values;
        let lanes =
            Value(values.iter().position(|&ty| ty == ValueType::MASK).expect("a mask") as u32);
        function.blocks[block].term = Terminator::Service { service, lanes, resume: BlockId(1) };
        let text = function.to_string();
        assert!(text.contains(&format!("service.{name} v{} resume b1", lanes.0)), "{text}");
        assert_eq!(parse::parse(&text).as_ref(), Ok(&function));
        assert_eq!(verify::verify(&function), Ok(()));
    }
}

/// Proves that the generator reaches every other operation and terminator, so that the tests above
/// cover them.
#[test]
fn everything_is_generated() {
    let mut seen = HashSet::new();
    for seed in 0..400 {
        for line in random(seed, 16).to_string().lines() {
            let op = line.split_once(" = ").map_or(line, |(_, op)| op).trim();
            let mnemonic = op.split_whitespace().next().unwrap_or_default();
            seen.insert(mnemonic.split('.').next().unwrap_or_default().to_owned());
            seen.insert(mnemonic.to_owned());
        }
    }
    let all = "const splat lane.id clock tid.x not neg abs popcnt clz ctz bit.reverse fneg fabs add sub mul mulhi.s \
               mulhi.u div.s div.u rem.s rem.u and or xor shl shr.u shr.s min.s min.u max.s max.u add.carry icmp fcmp select uniform.select \
               trunc zext sext bitcast high.half concat fsqrt fint fcopy fadd fsub fmul fdiv fmin fmax fma fconvert \
               int float rcp rsq sqrt.approx lg2 ex2 sin cos rcp64.high rsq64.high lane.gather lane.read \
               lane.scatter unpack pack rf.read \
               rf.read.lo rf.read.hi rf.write rf.write.lo rf.write.hi rf.gather rf.scatter region.write region load \
               store atomic fence jump branch switch indirect dispatch barrier barrier.sync.lanes lanes.exit \
               lanes.wait lanes.poll exit trap deadlock";
    let missing: Vec<_> = all.split_whitespace().filter(|name| !seen.contains(*name)).collect();
    assert!(missing.is_empty(), "never generated: {missing:?}");
}
