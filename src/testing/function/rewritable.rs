//! Loops of the two kinds that rules rewrite for all engines: exchanges of lanes at a distance that
//! changes, and divisions bit by bit. Many loops differ from the pattern of a rule in one detail,
//! which must keep the rule away.

use arbitrary::{Result, Unstructured};
use warploom_ir::{Function, parse};

/// Returns a loop of one of the kinds.
pub fn rewritable(u: &mut Unstructured<'_>) -> Result<Function> {
    let text = if u.arbitrary()? { exchanges(u)? } else { division(u)? };
    Ok(parse::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// Returns one of the words: the first word in more than two cases out of three.
fn mostly<'a>(u: &mut Unstructured<'_>, words: &[&'a str]) -> Result<&'a str> {
    if u.ratio(2, 3)? { Ok(words[0]) } else { Ok(*u.choose(words)?) }
}

/// Returns a reduction or scan of a warp, in a loop over distances.
fn exchanges(u: &mut Unstructured<'_>) -> Result<String> {
    let lanes = *u.choose(&[8, 32, 64])?;
    let is_up = u.arbitrary()?;
    let (start, bound) = if is_up { (1, lanes / 2) } else { (lanes / 2, 1) };
    let (step, compare) = if is_up { ("shl", "lt.u") } else { ("shr.u", "gt.u") };
    let [start, bound]: [u32; 2] = [
        if u.ratio(1, 4)? { u.int_in_range(0..=70)? } else { start },
        if u.ratio(1, 4)? { u.int_in_range(0..=70)? } else { bound },
    ];
    let step = mostly(u, &[step, "shl", "shr.u", "add", "sub", "mul"])?;
    let compare = mostly(u, &[compare, "ne", "le.u", "ge.u", "lt.s"])?;
    let start = if u.ratio(4, 5)? { format!("const.i32 {start}") } else { "rf.read s[1]".into() };
    let partner = mostly(u, &["sub", "xor", "add"])?;
    let has_partner = mostly(u, &["ge.u", "lt.u", "ne"])?;
    let combine = *u.choose(&["add", "xor", "mul", "sub"])?;
    // Lanes may leave in the loop, and a round may have an effect beyond the exchange.
    let leaves = mostly(u, &["", "  rf.write m[0], v13\n"])?;
    let counts = mostly(u, &["", "  rf.write r[1], v15\n"])?;
    let (again, done) = *u.choose(&[("b2", "b3"), ("b2", "b3"), ("b3", "b2")])?;
    let by = u.int_in_range(1..=2)?;
    Ok(format!(
        "function \"exchanges\" lanes {lanes} nan 0 0 0 {{
bank r: lane i32 x 2
bank s: uniform i32 x 2
bank m: mask x 1
active m[0]
b0 pc 0x0 cost 2:
  v0 = {start}
  rf.write s[0], v0
  jump b1
b1 pc 0x10 cost 3:
  v0 = rf.read s[0]
  v1 = rf.read r[0]
  v2 = lane.id
  v3 = icmp.{has_partner} v2, v0
  v4 = {partner} v2, v0
  v5 = select v3, v4, v2
  v6 = lane.gather v1, v5
  v7 = {combine} v1, v6
  v8 = select v3, v7, v1
  rf.write r[0], v8
  v9 = const.i32 {bound}
  v10 = icmp.{compare} v0, v9
  v11 = const.mask 1
  v12 = and v10, v11
  v13 = and v11, v3
  v14 = rf.read r[1]
  v15 = add v14, v6
{leaves}{counts}  branch v12, {again}, {done}
b2 pc 0x40 cost 1:
  v0 = rf.read s[0]
  v1 = const.i32 {by}
  v2 = {step} v0, v1
  rf.write s[0], v2
  jump b1
b3 pc 0x50 cost 1:
  exit
}}
"
    ))
}

/// Returns a division of 64-bit numbers in a loop over their bits.
fn division(u: &mut Unstructured<'_>) -> Result<String> {
    let first = if u.ratio(3, 4)? { 63 } else { u.int_in_range(0..=63)? };
    let begun = if u.ratio(3, 4)? { 0 } else { u.int_in_range(0..=9)? };
    let compare = mostly(u, &["lt.u", "le.u", "lt.s", "gt.u"])?;
    let join = mostly(u, &["or", "xor", "add"])?;
    let move_up = mostly(u, &["1", "2", "0"])?;
    let take = mostly(u, &["shr.u", "shr.s"])?;
    let last = mostly(u, &["0", "1", "32"])?;
    let minus = mostly(u, &["sub", "add", "xor"])?;
    let bits = mostly(u, &["or", "xor", "add"])?;
    // The lanes that are active in the loop.
    let lanes = mostly(u, &["0xffffffff", "0xfffffffe", "0x7f0f"])?;
    Ok(format!(
        "function \"division\" lanes 32 nan 0 0 0 {{
bank m: mask x 1
bank l: lane i64 x 4
bank k: uniform i32 x 1
active m[0]
b0 pc 0x0 cost 5:
  v0 = const.i64 {begun}
  v1 = splat v0
  rf.write l[2], v1
  v2 = const.i64 0
  v3 = splat v2
  rf.write l[3], v3
  v4 = const.i32 {first}
  rf.write k[0], v4
  v5 = rf.read m[0]
  v6 = const.mask {lanes}
  v7 = and v5, v6
  rf.write m[0], v7
  jump b1
b1 pc 0x1 cost 20:
  v0 = const.i64 {move_up}
  v1 = const.i64 0
  v2 = rf.read l[2]
  v3 = shl v2, v0
  v4 = rf.read k[0]
  v5 = zext.i64 v4
  v6 = rf.read l[0]
  v7 = rf.read l[1]
  v8 = {take} v6, v5
  v9 = const.i64 1
  v10 = and v8, v9
  v11 = {join} v3, v10
  v12 = icmp.{compare} v11, v7
  v13 = select v12, v1, v7
  v14 = {minus} v11, v13
  rf.write l[2], v14
  v15 = shl v9, v5
  v16 = select v12, v1, v15
  v17 = rf.read l[3]
  v18 = {bits} v17, v16
  rf.write l[3], v18
  v19 = const.i32 {last}
  v20 = icmp.eq v4, v19
  v21 = const.mask 1
  v22 = and v20, v21
  branch v22, b3, b2
b2 pc 0x2 cost 2:
  v0 = rf.read k[0]
  v1 = const.i32 0xffffffff
  v2 = add v0, v1
  rf.write k[0], v2
  jump b1
b3 pc 0x3 cost 3:
  exit
}}
"
    ))
}
