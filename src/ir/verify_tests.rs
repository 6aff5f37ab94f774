//! One broken function for each invariant.

use super::function::*;
use super::op::Op;
use super::parse::parse;
use super::types::{Type, ValueType, Window};
use super::verify::{verify, verify_all};

/// Banks and a frame around the lines of a function with blocks `b0` and `b1`.
fn text(b0: &str, b1: &str) -> String {
    format!(
        "function \"f\" lanes 8 nan 0 0 0 {{\nbank r: lane i32 x 4\nbank d: lane f64 x 1\nbank s: uniform i32 x 2\n\
         bank u: uniform i64 x 1\nbank m: mask x 2\nbank x: bytes 16 x 1\nactive m[0]\n\
         b0:\n{b0}\nb1:\n{b1}\n}}\n"
    )
}

fn valid() -> Function {
    let text = text("v0 = const.i32 1\nv1 = lane.id\nv2 = add v0, v1\nbranch v0, b1, b1", "exit");
    let function = parse(&text).unwrap();
    assert_eq!(verify(&function), Ok(()));
    function
}

#[track_caller]
fn rejects(function: &Function, message: &str) {
    let error = verify(function).expect_err(message).to_string();
    assert!(error.contains(message), "{error}\n  does not say: {message}");
}

/// The parser types its input, so ill-typed text is a parse error.
#[track_caller]
fn rejects_text(b0: &str, message: &str) {
    let text = text(b0, "exit");
    let error = match parse(&text) {
        Ok(function) => verify(&function).expect_err(message).to_string(),
        Err(error) => error.to_string(),
    };
    assert!(error.contains(message), "{error}\n  does not say: {message}");
}

#[test]
fn functions() {
    let broken = |change: fn(&mut Function)| {
        let mut function = valid();
        change(&mut function);
        function
    };
    rejects(&broken(|f| f.lanes = 0), "1 to 64 lanes");
    rejects(&broken(|f| f.lanes = 65), "1 to 64 lanes");
    rejects(&broken(|f| f.blocks.clear()), "at least one block");
    rejects(&broken(|f| f.banks[0].name = "a b".into()), "not an identifier");
    rejects(&broken(|f| f.banks[0].name = "d".into()), "two banks are named `d`");
    rejects(&broken(|f| f.banks[0].count = u32::MAX), "bank `r` reaches past");
    rejects(&broken(|f| f.active.index = 2), "active register");
    rejects(&broken(|f| f.active.bank.0 = 0), "active register");
    rejects(&broken(|f| f.active.bank.0 = 99), "active register");
    let mut long = valid();
    let inst = long.blocks[0].insts[0].clone();
    long.blocks[0].insts.resize((1 << 20) + 1, inst);
    rejects(&long, "block has 1048577 instructions; at most 1048576");
}

#[test]
fn all_errors_are_collected() {
    let mut function = valid();
    function.blocks[0].term = Terminator::Jump(BlockId(0));
    function.blocks[1].join = Some(BlockId(7));
    let errors: Vec<String> = verify_all(&function).iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].contains("entry must not be the target"), "{errors:?}");
    assert!(errors[1].contains("no block b7"), "{errors:?}");
    assert_eq!(verify(&function).unwrap_err().to_string(), errors[0]);
    assert!(verify_all(&valid()).is_empty());
}

#[test]
fn blocks_and_targets() {
    let broken = |change: fn(&mut Function)| {
        let mut function = valid();
        change(&mut function);
        function
    };
    rejects(
        &broken(|f| f.blocks[1].term = Terminator::Jump(BlockId(0))),
        "entry must not be the target",
    );
    rejects(&broken(|f| f.blocks[0].indirect_target = true), "entry must not be the target");
    rejects(&broken(|f| f.blocks[0].join = Some(BlockId(1))), "entry must not be the target");
    rejects(&broken(|f| f.blocks[1].term = Terminator::Jump(BlockId(2))), "no block b2");
    rejects(&broken(|f| f.blocks[1].join = Some(BlockId(7))), "no block b7");
    rejects(&broken(|f| f.blocks[1].join = Some(BlockId(1))), "does not join itself");
    let mut twice = valid();
    twice.blocks.push(twice.blocks[1].clone());
    twice.blocks[1].indirect_target = true;
    twice.blocks[2].indirect_target = true;
    rejects(&twice, "another indirect target");
    twice.blocks[2].pc = 8;
    assert_eq!(verify(&twice), Ok(()));
}

#[test]
fn values_and_windows() {
    let broken = |change: fn(&mut Block)| {
        let mut function = valid();
        change(&mut function.blocks[0]);
        function
    };
    rejects(&broken(|b| b.insts[1].results[0] = Value(0)), "expected v1, found v0");
    rejects(&broken(|b| b.insts[1].results.clear()), "has 0 results, expected 1");
    rejects(&broken(|b| b.values[1] = ValueType::uniform(Type::I32)), "must be varying i32");
    rejects(&broken(|b| b.values.push(ValueType::MASK)), "declares 4 values");
    rejects(&broken(|b| b.values.truncate(2)), "declares 2 values");
    rejects(&broken(|b| b.insts.swap(0, 2)), "v0 is not defined");
    rejects(&broken(|b| b.insts[2].window = Window { first: 0, count: 0 }), "window 0+0");
    rejects(&broken(|b| b.insts[2].window = Window { first: 4, count: 5 }), "window 4+5");
    rejects(&broken(|b| b.insts[2].window = Window { first: 255, count: 255 }), "window 255+255");
    rejects(
        &broken(|b| b.insts[1].window = Window { first: 0, count: 4 }),
        "operand v1 must have the lanes 0+8",
    );
    // A value may have more lanes than the window.
    let mut function = valid();
    function.blocks[0].insts[2].window = Window { first: 0, count: 4 };
    assert_eq!(verify(&function), Ok(()));
    rejects(
        &broken(|b| b.insts[0].op = Op::Const { ty: Type::I32, bits: 1 << 32 }),
        "within its type",
    );
    // Cross-lane operations in a window read a value of the whole warp.
    let ok = text(
        "v0 = lane.id\nv1 = lane.id lanes 0+4\nv2 = lane.gather v0, v1 lanes 0+4\njump b1",
        "exit",
    );
    assert_eq!(verify(&parse(&ok).unwrap()), Ok(()));
    rejects_text(
        "v0 = lane.id lanes 0+4\nv1 = lane.gather v0, v0 lanes 0+4\nexit",
        "operand v0 must have the lanes 0+8",
    );
}

#[test]
fn operations() {
    let int = "v0 = const.i32 1\nv1 = const.i64 1\nv2 = const.f32 0\nv3 = lane.id\nv4 = splat v1\nvm = const.mask 1\n";
    let cases = [
        ("v5 = add v0, v1", "`b` must be of type i32"),
        ("v5 = add v2, v2", "`a` must be an integer"),
        ("v5 = fadd v0, v0", "`a` must be a float"),
        ("v5 = fabs v0", "`a` must be a float"),
        ("v5 = select v1, v0, v0", "`mask` must be uniform mask, but v1 is uniform i64"),
        ("v5 = select v4, v0, v0", "`mask` must be uniform mask"),
        ("v5 = uniform.select v3, v0, v0", "`cond` must be a uniform integer or a mask"),
        ("v5 = uniform.select v0, v3, v3", "`a` must be uniform"),
        ("v5 = splat v3", "`a` must be uniform"),
        ("v5 = trunc.i64 v0", "narrower than the operand"),
        ("v5 = zext.i32 v0", "wider than the operand"),
        ("v5 = bitcast.i64 v2", "as wide as the operand"),
        ("v5 = high.half v0", "i32, of an i64"),
        ("v5 = fconvert.f32 v2", "another float type"),
        ("v5 = float.to.int.i32.s v2 nan 0x100000000", "within the result's type"),
        ("v5 = concat v0, v1", "`hi` must be of type i32"),
        ("v5, v6 = add.carry v0, v0, v3", "`carry` must be uniform mask"),
        ("v5 = lane.gather v0, v0", "`a` must be varying"),
        ("v5 = lane.read v3, v3", "`lane` must be uniform i32"),
        ("v5 = rcp v0", "`a` must be of type f32"),
        ("v5 = add v0, v9", "`v9` is not defined"),
        ("v5, v6 = add v0, v0", "has 1 results, but 2 are named"),
        // Registers.
        ("v5 = rf.read r[4]", "bank `r` has 4 registers"),
        ("v5 = rf.read.lo r[0]", "to have halves"),
        ("v5 = rf.read.hi s[0]", "to have halves"),
        ("v5 = rf.read x[0]", "must hold cells"),
        ("rf.write r[0], v1", "`value` must be of type i32"),
        ("rf.write s[0], v3", "`value` must be uniform i32"),
        ("rf.write s[0], v0 guard v1", "no guard"),
        ("rf.write m[1], vm nomask", "no guard"),
        ("rf.write r[0], v0 guard v1", "`guard` must be uniform mask"),
        ("v5 = rf.gather r[2; 3], v3", "2+3 is past its end"),
        ("v5 = rf.gather s[0; 2], v3", "`index` must be uniform i32"),
        ("v5 = rf.gather r[0; 2], v1", "`index` must be of type i32"),
        ("rf.scatter s[0; 2], v0, v0 guard v1", "no guard"),
        ("v5 = region.read.i32 r[0]+0<1;1,0>", "must hold byte arrays"),
        ("v5 = region.read.i32 x[0]+0<1;0,0>", "width must be at least 1"),
        // Memory.
        ("v5 = load.global.i32 [v0] align 4", "`address` must be of type i64"),
        ("v5 = load.shared.i32 [v1] align 4", "`address` must be of type i32"),
        ("v5 = load.global.i32 [v1] align 3", "a power of two"),
        ("v5 = load.global.i32 [v1] align 0", "a power of two"),
        ("v5 = load.global.i32 [v1] align 4 nomask", "no guard"),
        ("v5 = load.global.i32.x17 [v1] align 4", "1 to 16 elements"),
        ("v5 = load.global.i32.signed [v1] align 4", "i8 or i16"),
        ("v5 = load.local.i64 [v3] align 8", "at most 4 bytes"),
        ("v5 = load.local.i32 [v0] align 4", "must be varying"),
        ("v5 = load.const33.i32 [v0] align 4", "below 33"),
        ("store.const0.i32 [v0], v0 align 4", "writable"),
        ("store.global.i32 [v1], v0, v0 align 4", "one for each element"),
        ("store.global.i32 [v1], v3 align 4", "uniform, as the address is"),
        ("store.global.i32 [v1], v2 align 4", "i32 or a wider integer"),
        ("store.global.i32 [v1], v1 align 4", "of at most 32 bits"),
        ("v5 = atomic.local.i32.add [v3], v0 align 4", "generic, global or shared"),
        ("v5 = atomic.global.i32.add [v4], v0 align 2", "at least the element's size"),
        ("v5 = atomic.global.i8.add [v4], v0 align 1", "at least 16 bits"),
        ("v5 = atomic.global.f32.add [v4], v2 align 4", "of its operation's kind"),
        ("v5 = atomic.global.i32.fadd [v4], v0 align 4", "of its operation's kind"),
        ("v5 = atomic.global.i32.cas [v4], v0 align 4", "operations of two operands only"),
        ("v5 = atomic.global.i32.add [v4], v0, v0 align 4", "operations of two operands only"),
        ("v5 = atomic.global.i32.add [v1], v3 align 4", "`value` must be uniform i32"),
        ("v5 = frob v0", "no operation `frob`"),
    ];
    for (line, message) in cases {
        rejects_text(&format!("{int}{line}\nexit"), message);
    }
}

/// Masks in a warp of 8 lanes.
#[test]
fn masks() {
    let before =
        "v0 = const.mask 0xf0\nv1 = const.i64 1\nv2 = lane.id\nv3 = splat v1\nv4 = const.i32 0\n";
    let cases = [
        ("v5 = const.mask 0x100", "bits of a constant must be lanes of the warp, found 0x100"),
        ("v5 = add v0, v0", "`a` must be an integer, but v0 is uniform mask"),
        ("v5 = shl v0, v1", "`a` must be an integer"),
        ("v5 = shr.u v1, v0", "`b` must be of type i64"),
        ("v5 = popcnt v0", "`a` must be an integer"),
        ("v5 = ctz v0", "`a` must be an integer"),
        ("v5 = icmp.eq v0, v0", "`a` must be an integer"),
        ("v5 = and v0, v1", "`b` must be of type mask, but v1 is uniform i64"),
        ("v5 = or v1, v0", "`b` must be of type i64, but v0 is uniform mask"),
        ("v5, v6 = add.carry v0, v0", "`a` must be an integer"),
        ("v5 = select v0, v0, v0", "`a` must be an integer or a float, not a mask"),
        ("v5 = uniform.select v4, v0, v1", "`b` must be uniform mask"),
        ("v5 = splat v0", "`a` must be an integer or a float, not a mask"),
        ("v5 = trunc.i32 v0", "an integer narrower than the operand"),
        ("v5 = zext.mask v4", "an integer wider than the operand"),
        ("v5 = bitcast.i64 v0", "as wide as the operand"),
        ("v5 = bitcast.mask v1", "as wide as the operand"),
        ("v5 = high.half v0", "i32, of an i64"),
        ("v5 = from.mask v1", "i64, of a mask"),
        ("v5 = to.mask v0", "mask, of a uniform i64"),
        ("v5 = to.mask v3", "mask, of a uniform i64"),
        ("v5 = to.mask v4", "mask, of a uniform i64"),
        ("v5 = int.to.float.f32.u v0", "`a` must be an integer"),
        ("v5 = lane.scatter v2, v2, v1", "`lanes` must be uniform mask"),
        ("rf.write m[1], v1", "`value` must be uniform mask"),
        ("rf.write u[0], v0", "`value` must be uniform i64"),
        ("rf.scatter m[0; 2], v4, v1", "`value` must be uniform mask"),
        ("v5 = rf.read.lo m[0]", "bank `m` must hold masks of 64 lanes, to have halves"),
        ("rf.write.hi m[0], v4", "bank `m` must hold masks of 64 lanes, to have halves"),
        ("region.write x[0]+0<1;1,0>, v0", "`value` must be an integer or a float, not a mask"),
        ("v5 = region.read.mask x[0]+0<1;1,0>", "type of an element must be an integer or a float"),
        ("v5 = load.global.mask [v1] align 8", "type of an element must be an integer or a float"),
        ("store.global.i64 [v1], v0 align 8", "i64 or a wider integer"),
        ("v5 = load.global.i32 [v3] align 4 guard v1", "`guard` must be uniform mask"),
        ("v5 = load.global.i32 [v0] align 4", "`address` must be of type i64"),
    ];
    for (line, message) in cases {
        rejects_text(&format!("{before}{line}\nexit"), message);
    }
    let halves = text("v0 = rf.read.hi m[0]\nrf.write.lo m[0], v0\njump b1", "exit");
    assert_eq!(verify(&parse(&halves.replace("lanes 8", "lanes 64")).unwrap()), Ok(()));
    for kind in ["lane mask", "uniform mask"] {
        let function = parse(&text("jump b1", "exit").replace("uniform i64", kind)).unwrap();
        rejects(
            &function,
            "bank `u` must hold integers or floats in its cells; a bank of masks is of kind `mask`",
        );
    }
}

#[test]
fn terminators() {
    let int =
        "v0 = const.i32 1\nv1 = const.i64 1\nv2 = const.f32 0\nv3 = lane.id\nvm = const.mask 1\n";
    let cases = [
        ("branch v3, b1, b1", "the condition must be a uniform integer or a mask"),
        ("branch v2, b1, b1", "the condition must be a uniform integer or a mask"),
        ("switch v2, else b1", "the selector must be a uniform integer"),
        ("switch v0, 1: b1, 1: b1, else b1", "case 0x1 occurs twice"),
        ("indirect v0", "the pc must be a uniform i64"),
        ("indirect vm", "the pc must be a uniform i64, but v4 is uniform mask"),
        ("switch vm, else b1", "the selector must be a uniform integer"),
        ("service.print v1 resume b1", "the lanes must be a mask"),
        ("barrier.sync v1 resume b1", "the barrier's id must be a uniform i32"),
        ("barrier.sync v0 threads v1 resume b1", "thread count must be a uniform i32"),
        ("barrier.sync v0 predicate v1 resume b1", "a reducing barrier and no other"),
        ("barrier.and v0 resume b1", "a reducing barrier and no other"),
        ("barrier.and v0 predicate v1 resume b1", "predicate must be a mask"),
        ("barrier.sync v0 resume b0", "entry must not be the target"),
        ("dispatch from v1, m[1]: b1, else b1", "the index to search from must be a uniform i32"),
        ("dispatch m[1]: b1, m[1]: b1, else b1", "distinct mask registers"),
        ("dispatch m[0]: b1, else b1", "other than the active one: m[0] is not"),
        ("dispatch r[0]: b1, else b1", "mask registers, other than the active one: r[0] is not"),
        ("dispatch m[1]: b0, else b1", "entry must not be the target"),
        ("dispatch m[1]: b1, b1", "no bank `b1`"),
        ("lanes.wait resume b0", "entry must not be the target"),
        ("lanes.sleep resume b1", "no operation `lanes.sleep`"),
        ("deadlock m[1]: 0x10, m[1]: 0x18", "distinct mask registers"),
        ("deadlock m[0]: 0x10", "other than the active one"),
        ("deadlock m[7]: 0x10", "m[7] is not"),
        ("jump b2", "no block `b2`"),
    ];
    for (line, message) in cases {
        rejects_text(&format!("{int}{line}"), message);
    }
    let mut function = valid();
    function.blocks[1].term = Terminator::Indirect { pc: Value(0) };
    rejects(&function, "v0 is not defined");
}
