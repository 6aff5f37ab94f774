//! Tests `shfl`, `vote`, `activemask`, the lane's special registers, `cvta` and `isspacep` of the
//! PTX ISA. A warp is 32 inputs in a row.

use super::{Group, Width};
use crate::Input;
use crate::integer::{EDGES, operand};

const CONSTANTS: &str = ".const .align 8 .b64 table[4] = {11, 22, 0x123456789abcdef0, 44};\n";

#[test]
fn warp() {
    let mut group = Group { declarations: CONSTANTS, ..Group::default() };
    shuffles(&mut group);
    votes(&mut group);
    special_registers(&mut group);
    addresses(&mut group);
    group.check("warp", operand, &EDGES);
    group.check_text("warp", operand, &EDGES);
}

impl Group {
    fn across(&mut self, ptx: impl Into<String>, result: impl Fn(&[Input], u32) -> u64 + 'static) {
        self.warp_form(
            ptx,
            Width::Bits32,
            |found, expected| found == expected,
            move |warp, lane| result(warp, lane as u32),
        );
    }
}

/// Returns the lane whose value a lane gets, and the predicate, as in the pseudocode of `shfl` in
/// the PTX ISA.
fn source(mode: &str, lane: u32, b: u32, c: u32) -> (u32, bool) {
    let (b, clamp, segment) = (b & 31, c & 31, c >> 8 & 31);
    let (most, least) = (lane & segment | clamp & !segment, lane & segment);
    let (from, inside) = match mode {
        "up" => (lane.wrapping_sub(b), lane as i32 - b as i32 >= most as i32),
        "down" => (lane + b, lane + b <= most),
        "bfly" => (lane ^ b, lane ^ b <= most),
        _ => (least | b & !segment & 31, least | b & !segment & 31 <= most),
    };
    if inside { (from, true) } else { (lane, false) }
}

fn shuffles(group: &mut Group) {
    for mode in ["up", "down", "bfly", "idx"] {
        // Widths of 32, 16, 8 and 2, and an odd limit.
        let segments = [0, 16, 24, 30];
        let masks = segments.map(|segment: u32| segment << 8 | if mode == "up" { 0 } else { 31 });
        for c in masks.into_iter().chain([0x0805, 0x1f0c]) {
            for (sync, all) in [("", ""), (".sync", ", -1")] {
                for b in [0, 1, 5, 16, 31, 35] {
                    group.across(
                        format!("shfl{sync}.{mode}.b32 r|p, x, {b}, {c}{all};"),
                        move |warp, lane| warp[source(mode, lane, b, c).0 as usize][0],
                    );
                    let ptx = format!(
                        "shfl{sync}.{mode}.b32 t|p, x, {b}, {c}{all}; selp.b32 r, 1, 0, p;"
                    );
                    group.across(ptx, move |_, lane| source(mode, lane, b, c).1.into());
                }
                // Each lane has its own b.
                group.across(
                    format!("and.b32 t, y, 63; shfl{sync}.{mode}.b32 r|p, x, t, {c}{all};"),
                    move |warp, lane| {
                        let b = warp[lane as usize][1] as u32 & 63;
                        warp[source(mode, lane, b, c).0 as usize][0]
                    },
                );
            }
        }
        // Each lane has its own c as well.
        let ptx =
            format!("shfl.{mode}.b32 t|p, x, y, z; selp.b32 u, 1, 0, p; mad.lo.u32 r, t, 2, u;");
        group.across(ptx, move |warp, lane| {
            let [_, y, z] = warp[lane as usize];
            let (from, inside) = source(mode, lane, y as u32, z as u32);
            warp[from as usize][0] << 1 | u64::from(inside)
        });
    }
}

fn below(input: Input) -> bool {
    (input[0] as i32) < input[1] as i32
}

fn chosen(input: Input) -> bool {
    input[2] & 1 != 0
}

/// Returns the mask of lanes where `holds` is true.
fn ballot(warp: &[Input], holds: impl Fn(Input) -> bool) -> u32 {
    warp.iter().enumerate().fold(0, |mask, (lane, &input)| mask | u32::from(holds(input)) << lane)
}

fn votes(group: &mut Group) {
    // The predicate holds in few lanes, most, all and none: over random lanes alone, `all` and
    // `any` would be constant.
    type Pick = (&'static str, fn(Input) -> bool);
    const PICKS: [Pick; 5] = [
        ("setp.lt.s32 q, x, y;", below),
        ("and.b64 T, X, 0xff; setp.eq.b64 q, T, 0;", |[x, ..]| x & 0xff == 0),
        ("and.b64 T, X, 0xff; setp.ne.b64 q, T, 0;", |[x, ..]| x & 0xff != 0),
        ("setp.eq.b32 q, x, x;", |_| true),
        ("setp.ne.b32 q, x, x;", |_| false),
    ];
    type Fold = fn(u32, u32) -> bool;
    // The arguments are the lanes that hold, and all voting lanes.
    const MODES: [(&str, Fold); 3] = [
        ("all", |holds, of| holds == of),
        ("any", |holds, _| holds != 0),
        ("uni", |holds, of| holds == 0 || holds == of),
    ];
    for (pick, holds) in PICKS {
        for (sync, all) in [("", ""), (".sync", ", -1")] {
            for (not, inverse) in [("", false), ("!", true)] {
                let voting = move |warp: &[Input]| ballot(warp, |input| holds(input) != inverse);
                for (mode, fold) in MODES {
                    let ptx = format!(
                        "{pick} vote{sync}.{mode}.pred p, {not}q{all}; selp.b32 r, 1, 0, p;"
                    );
                    group.across(ptx, move |warp, _| fold(voting(warp), u32::MAX).into());
                }
                let ptx = format!("{pick} vote{sync}.ballot.b32 r, {not}q{all};");
                group.across(ptx, move |warp, _| voting(warp).into());
            }
        }
        // Only lanes that a predicate chooses vote; the rest keep their values.
        let some = "and.b32 t, z, 1; setp.ne.b32 s, t, 0; vote.ballot.b32 u, s; mov.u32 r, 77;";
        for (mode, fold) in MODES {
            for (sync, mask) in [("", ""), (".sync", ", u")] {
                let ptx = format!(
                    "{pick} {some} @s vote{sync}.{mode}.pred p, q{mask}; @s selp.b32 r, 1, 0, p;"
                );
                group.across(ptx, move |warp, lane| {
                    let of = ballot(warp, chosen);
                    let result = fold(ballot(warp, holds) & of, of);
                    if chosen(warp[lane as usize]) { result.into() } else { 77 }
                });
            }
        }
        for (sync, mask) in [("", ""), (".sync", ", u")] {
            group.across(
                format!("{pick} {some} @s vote{sync}.ballot.b32 r, q{mask};"),
                move |warp, lane| {
                    let found = ballot(warp, |input| holds(input) && chosen(input));
                    if chosen(warp[lane as usize]) { found.into() } else { 77 }
                },
            );
        }
        // Only lanes on one side of a branch vote.
        let branch = "setp.eq.b32 s, u, 0; @!p bra else; vote.ballot.b32 r, q; bra.uni end; \
                      else: activemask.b32 r; end: bar.warp.sync -1;";
        let ptx =
            format!("{{ {pick} and.b32 t, z, 1; setp.ne.b32 p, t, 0; mov.u32 u, 1; {branch} }}");
        group.across(ptx, move |warp, lane| {
            let of = ballot(warp, chosen);
            u64::from(if chosen(warp[lane as usize]) { ballot(warp, holds) & of } else { !of })
        });
    }
    group.across("activemask.b32 r;", |_, _| 0xffff_ffff);
    // A block is one warp.
    for barrier in ["bar", "barrier"] {
        for id in ["0", "3", "7, 32"] {
            let set = "setp.lt.s32 q, x, y;";
            group.across(format!("{set} {barrier}.red.popc.u32 r, {id}, q;"), |warp, _| {
                ballot(warp, below).count_ones().into()
            });
            group.across(format!("{set} {barrier}.red.popc.u32 r, {id}, !q;"), |warp, _| {
                ballot(warp, below).count_zeros().into()
            });
            group.across(
                format!("{set} {barrier}.red.and.pred p, {id}, q; selp.b32 r, 1, 0, p;"),
                |warp, _| (ballot(warp, below) == u32::MAX).into(),
            );
            group.across(
                format!("{set} {barrier}.red.or.pred p, {id}, q; selp.b32 r, 1, 0, p;"),
                |warp, _| (ballot(warp, below) != 0).into(),
            );
            group.across(format!("{barrier}.sync {id}; mov.b32 r, x;"), |warp, lane| {
                warp[lane as usize][0]
            });
        }
    }
}

fn special_registers(group: &mut Group) {
    group.across("mov.u32 r, %laneid;", |_, lane| lane.into());
    group.across("mov.u32 r, %lanemask_eq;", |_, lane| 1 << lane);
    group.across("mov.u32 r, %lanemask_lt;", |_, lane| (1 << lane) - 1);
    group.across("mov.u32 r, %lanemask_le;", |_, lane| (2 << lane) - 1);
    group.across("mov.u32 r, %lanemask_gt;", |_, lane| !((2 << lane) - 1));
    group.across("mov.u32 r, %lanemask_ge;", |_, lane| !((1 << lane) - 1));
    group.across("mov.u32 r, WARP_SZ;", |_, _| 32);
    // The launch has 64 blocks of one warp.
    for (name, value) in
        [("tid.y", 0), ("tid.z", 0), ("ntid.x", 32), ("ntid.y", 1), ("ntid.z", 1), ("warpid", 0)]
    {
        group.across(format!("mov.u32 r, %{name};"), move |_, _| value);
    }
    for (name, value) in
        [("ctaid.y", 0), ("ctaid.z", 0), ("nctaid.x", 64), ("nctaid.y", 1), ("nctaid.z", 1)]
    {
        group.across(format!("mov.u32 r, %{name};"), move |_, _| value);
    }
    group.across("mov.u32 r, %tid.x;", |_, lane| lane.into());
    // Clocks do not go back.
    group.predicate("mov.u64 T, %clock64; mov.u64 U, %clock64; setp.ge.u64 p, U, T;", |_, _, _| {
        true
    });
    group.predicate(
        "mov.u32 t, %clock; mov.u32 u, %clock; sub.u32 t, u, t; setp.ge.s32 p, t, 0;",
        |_, _, _| true,
    );
    group.predicate(
        "mov.u64 T, %globaltimer; mov.u64 U, %globaltimer; setp.ge.u64 p, U, T;",
        |_, _, _| true,
    );
}

/// Adds generic addresses and addresses of the state spaces.
fn addresses(group: &mut Group) {
    const SPACES: [&str; 3] = ["global", "shared", "local"];
    let place = |space| match space {
        "global" => "sub.u64 T, O, 0;".to_owned(),
        _ => format!(".{space} .align 8 .b64 place[32]; mov.u64 T, place; shl.b32 t, %laneid, 3;"),
    };
    for space in SPACES {
        for asked in SPACES {
            let ptx = format!(
                "{{ {} cvta.{space}.u64 T, T; isspacep.{asked} p, T; }}",
                place(space).replace("shl.b32 t, %laneid, 3;", "")
            );
            group.predicate(ptx, move |_, _, _| space == asked);
        }
        if space != "global" {
            // One address writes and the other reads.
            let prepare = format!(
                "{{ .reg .u32 l; mov.u32 l, %laneid; {}",
                place(space).replace("%laneid", "l")
            );
            let lane = "cvt.u64.u32 U, t; add.u64 T, T, U;";
            let ptx = format!(
                "{prepare} {lane} cvta.{space}.u64 V, T; st.b64 [V], X; ld.{space}.b64 R, [T]; }}"
            );
            group.int(64, ptx, |x, _, _| x);
            let ptx = format!(
                "{prepare} {lane} st.{space}.b64 [T], X; cvta.{space}.u64 V, T; cvta.to.{space}.u64 W, V; \
                 ld.b64 R, [V]; ld.{space}.b64 U, [W]; and.b64 R, R, U; }}"
            );
            group.int(64, ptx, |x, _, _| x);
        }
    }
    group.int(
        64,
        "{ .reg .b64 g; cvta.global.u64 g, O; cvta.to.global.u64 g, g; sub.u64 R, g, O; }",
        |_, _, _| 0,
    );
    const TABLE: [u64; 4] = [11, 22, 0x1234_5678_9abc_def0, 44];
    let entry = "and.b64 T, X, 3; shl.b64 T, T, 3; mov.u64 U, table; add.u64 T, T, U;";
    group.int(64, format!("{entry} ld.const.b64 R, [T];"), |x, _, _| TABLE[x as usize & 3]);
    group.int(64, format!("{entry} cvta.const.u64 T, T; ld.b64 R, [T];"), |x, _, _| {
        TABLE[x as usize & 3]
    });
    group.int(
        64,
        format!("{entry} cvta.const.u64 T, T; cvta.to.const.u64 T, T; ld.const.b64 R, [T];"),
        |x, _, _| TABLE[x as usize & 3],
    );
    group.predicate(format!("{entry} cvta.const.u64 T, T; isspacep.const p, T;"), |_, _, _| true);
    group.predicate("isspacep.const p, O;", |_, _, _| false);
}
