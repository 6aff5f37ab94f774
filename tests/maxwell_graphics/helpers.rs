//! Helper and killed pixels.
//!
//! The rule comes from the seeds. `nvidia-suatom.txt`: "When used in a pixel shader by helper
//! pixels or killed pixels, SUATOM automatically turned into NOP for that thread."
//! `nvidia-atom.txt`: "When used in a pixel shader, ATOM has helper pixels and killed pixels
//! automatically predicated off by the HW to prevent unwanted writes to global memory. If the
//! pixel's raster coverage is 0 or it has previously been killed using the KIL operation, the
//! threads will not participate in any ATOM operations." The tests hold all other instructions that
//! write visible memory to this rule, too.

use crate::support::{After, Case, list};

/// The number of lanes of the launch: two warps and a part of a third.
const LANES: usize = 80;
/// The value of R10 if the instruction wrote no result.
const UNTOUCHED: u32 = 0xdead;

/// Returns whether a lane is covered; `killed` returns whether it is killed before the instruction.
///
/// Quads have all pairs of the two properties. Some quads have no covered lane, and in some quads
/// every lane is killed.
fn covered(lane: usize) -> bool {
    match lane / 4 % 5 {
        0 => true,
        1 => false,
        _ => !(lane * 7).is_multiple_of(3),
    }
}

fn killed(lane: usize) -> bool {
    match lane / 4 % 5 {
        4 => true,
        _ => (lane * 11 + lane / 4) % 4 == 1,
    }
}

/// Returns a lane's operand; `swap` returns the value to swap in.
fn data(lane: usize) -> u32 {
    1000 + 3 * lane as u32
}

fn swap(lane: usize) -> u32 {
    7 * lane as u32 + 5
}

/// Returns the initial memory word of each lane.
fn before(lane: usize) -> u32 {
    // A comparison succeeds in every other lane.
    if lane.is_multiple_of(2) { data(lane) } else { 40 + lane as u32 }
}

/// An instruction on the lane's own word: its text, and its effect on the word. `result`: the
/// instruction puts the word's old value into R10.
struct Row {
    text: &'static str,
    result: bool,
    after: fn(u32, usize) -> u32,
}

const fn row(text: &'static str, result: bool, after: fn(u32, usize) -> u32) -> Row {
    Row { text, result, after }
}

fn compared(m: u32, lane: usize) -> u32 {
    if m == data(lane) { swap(lane) } else { m }
}

/// Instructions on the buffer: the lane's address is in R2, R3, the data in R8, and the value that
/// a compare swaps in is in R9.
const GLOBAL: [Row; 16] = [
    row("ST.E [R2], R8", false, |_, lane| data(lane)),
    row("STG.E [R2], R8", false, |_, lane| data(lane)),
    row("STG.E.U16 [R2], R8", false, |m, lane| m & !0xffff | data(lane) & 0xffff),
    row("RED.E.ADD [R2], R8", false, |m, lane| m + data(lane)),
    row("RED.E.MIN.S32 [R2], R8", false, |m, lane| m.min(data(lane))),
    row("RED.E.XOR [R2], R8", false, |m, lane| m ^ data(lane)),
    row("ATOM.E.ADD R10, [R2], R8", true, |m, lane| m + data(lane)),
    row("ATOM.E.MIN R10, [R2], R8", true, |m, lane| m.min(data(lane))),
    row("ATOM.E.MAX.S32 R10, [R2], R8", true, |m, lane| m.max(data(lane))),
    row("ATOM.E.INC R10, [R2], R8", true, |m, lane| if m >= data(lane) { 0 } else { m + 1 }),
    row("ATOM.E.DEC R10, [R2], R8", true, |m, lane| {
        if m == 0 || m > data(lane) { data(lane) } else { m - 1 }
    }),
    row("ATOM.E.AND R10, [R2], R8", true, |m, lane| m & data(lane)),
    row("ATOM.E.OR R10, [R2], R8", true, |m, lane| m | data(lane)),
    row("ATOM.E.XOR R10, [R2], R8", true, |m, lane| m ^ data(lane)),
    row("ATOM.E.EXCH R10, [R2], R8", true, |_, lane| data(lane)),
    row("ATOM.E.CAS R10, [R2], R8, R9", true, compared),
];

/// Instructions on the surface: the lane's coordinates are in R4, R5; the handle is in R16, and is
/// word 0 of bank 2.
const SURFACE: [Row; 12] =
    [
        row("SUST.D.2D.IGN [R4], R8, R16", false, |_, lane| data(lane)),
        row("SUST.P.2D.R.IGN [R4], R8, 0x0", false, |_, lane| data(lane)),
        row("SURED.D.2D.ADD.IGN [R4], R8, R16", false, |m, lane| m + data(lane)),
        row("SURED.D.2D.MIN.S32.IGN [R4], R8, 0x0", false, |m, lane| m.min(data(lane))),
        row("SUATOM.D.2D.ADD.IGN R10, [R4], R8, R16", true, |m, lane| m + data(lane)),
        row("SUATOM.D.2D.MIN.IGN R10, [R4], R8, 0x0", true, |m, lane| m.min(data(lane))),
        row("SUATOM.D.2D.INC.IGN R10, [R4], R8, R16", true, |m, lane| {
            if m >= data(lane) { 0 } else { m + 1 }
        }),
        row("SUATOM.D.2D.AND.IGN R10, [R4], R8, R16", true, |m, lane| m & data(lane)),
        row("SUATOM.D.2D.XOR.IGN R10, [R4], R8, R16", true, |m, lane| m ^ data(lane)),
        row("SUATOM.D.2D.EXCH.IGN R10, [R4], R8, R16", true, |_, lane| data(lane)),
        row("SUATOM.D.2D.CAS.IGN R10, [R4], R8, R16", true, compared),
        row("SUATOM.D.2D.CAS.IGN R10, [R4], R8, 0x0", true, compared),
    ];

/// The words of a pixel: its number at 0xa0, whether it is killed at 0xa4, its operands at 0xb0.
const SET_UP: &str = "
    IPA.PASS R20, a[0xa0], RZ
    IPA.PASS R21, a[0xa4], RZ
    IPA.PASS R8, a[0xb0], RZ
    IPA.PASS R9, a[0xb4], RZ
    SHL R22, R20, 0x2
    IADD R2.CC, R22, c[0x3][0x0]
    IADD.X R3, RZ, c[0x3][0x4]
    MOV R4, R20
    MOV R5, RZ
    MOV32I R16, 0x1
    MOV32I R10, 0xdead
    ISETP.NE.AND P0, PT, R21, RZ, PT
@P0 KIL";

/// Exports the lane's R10, and the R10 of the neighbour in the row, helper or not.
const TELL: &str = "
    SHFL.BFLY PT, R1, R10, 0x1, 0x1c03
    MOV R0, R10
    S2R R2, SR_THREAD_KILL";

fn case(code: &str) -> Case {
    let lanes = || 0..LANES;
    let numbers: Vec<[u32; 2]> = lanes().map(|lane| [lane as u32, killed(lane).into()]).collect();
    let operands: Vec<[u32; 2]> = lanes().map(|lane| [data(lane), swap(lane)]).collect();
    let memory: Vec<u32> = lanes().map(before).collect();
    let on: Vec<u32> = lanes().map(|lane| covered(lane).into()).collect();
    let directives = ".input 0xa0 xy linear\n.input 0xb0 xy linear\n.output target0 rgb";
    Case::fragment(directives, &format!("{SET_UP}\n{code}\n{TELL}"), &on).with(&format!(
        "attribute.\"0xa0\" = {numbers:?}
        attribute.\"0xb0\" = {operands:?}
        [export.target0]
        [bank.2]
        values = [1]
        dtype = \"u32\"
        [bank.3]
        zeros = 8
        parts = [{{ at = 0, buffer = \"memory\" }}]
        [buffer.memory]
        values = {}
        dtype = \"u32\"
        [surface.image]
        dim = \"2d\"
        size = [{LANES}, 1, 1]
        format = \"r32_uint\"
        file = \"image.bin\"",
        list(&memory)
    ))
}

/// Runs a case with the surface's content in a file beside it.
fn run(case: &Case) -> After {
    let image: Vec<u8> = (0..LANES).flat_map(|lane| before(lane).to_le_bytes()).collect();
    case.run_with(&[("image.bin", &image)])
}

fn takes_part(lane: usize) -> bool {
    covered(lane) && !killed(lane)
}

/// Returns whether a lane's quad runs: a quad runs while it has a pixel.
fn runs(lane: usize) -> bool {
    let quad = lane / 4 * 4;
    (quad..quad + 4).any(takes_part)
}

fn check(row: &Row, memory: fn(&After) -> &[u32]) {
    let after = run(&case(row.text));
    assert_eq!(after.fault, None, "{}", row.text);
    let (memory, colours) = (memory(&after), &after.exported[0]);
    for lane in 0..LANES {
        let wanted = if takes_part(lane) { (row.after)(before(lane), lane) } else { before(lane) };
        assert_eq!(memory[lane], wanted, "{}: memory of lane {lane}", row.text);
        assert_eq!(after.kept[lane], takes_part(lane), "{}: lane {lane}", row.text);
        let result =
            |lane: usize| if row.result && takes_part(lane) { before(lane) } else { UNTOUCHED };
        if takes_part(lane) {
            let wanted = [result(lane), result(lane ^ 1), 0];
            assert_eq!(colours[lane][..3], wanted, "{}: colour of lane {lane}", row.text);
        }
    }
}

#[test]
fn helpers_take_no_part_in_memory() {
    for row in &GLOBAL {
        check(row, |after| &after.buffers[0]);
    }
}

#[test]
fn helpers_take_no_part_in_surfaces() {
    for row in &SURFACE {
        check(row, |after| &after.surfaces[0]);
    }
}

/// The count of a word that lanes share is the number of lanes that take part.
#[test]
fn contended_words_count_pixels() {
    let code = "MOV R2, c[0x3][0x0]\nMOV R3, c[0x3][0x4]\nMOV32I R8, 0x1\nRED.E.ADD [R2], R8\nATOM.E.ADD RZ, [R2], R8";
    let after = run(&case(code));
    let pixels = (0..LANES).filter(|&lane| takes_part(lane)).count() as u32;
    assert_eq!(after.buffers[0][0], before(0) + 2 * pixels);
}

/// Helpers may have any addresses: accesses that they do not perform cannot fault.
#[test]
fn what_helpers_do_not_do_cannot_fault() {
    for text in ["STG.E [R2], R8", "ATOM.E.ADD R10, [R2], R8", "SUST.D.2D.TRAP [R4], R8, R16"] {
        let wild = "
            S2R R24, SR_THREAD_KILL
            ISETP.NE.AND P1, PT, R24, RZ, PT
        @P1 MOV32I R3, 0x7fff
        @P1 MOV32I R4, 0x7fffffff";
        let after = run(&case(&format!("{wild}\n{text}")));
        assert_eq!(after.fault, None, "{text}");
    }
}

/// Loads, shuffles, votes, local memory and arithmetic work in helpers as in any lane.
#[test]
fn helpers_go_on_otherwise() {
    let after = run(&case("LDG.E R10, [R2]"));
    let local = run(&case("STL [RZ], R8\nIADD R8, R8, R8\nLDL R10, [RZ]").with_local());
    let counted = run(&case("VOTE.ALL R10, PT, PT"));
    for lane in (0..LANES).filter(|&lane| takes_part(lane)) {
        assert_eq!(
            after.exported[0][lane][..2],
            [before(lane), before(lane ^ 1)],
            "load of lane {lane}"
        );
        assert_eq!(
            local.exported[0][lane][..2],
            [data(lane), data(lane ^ 1)],
            "local memory of lane {lane}"
        );
        let warp = lane / 32 * 32;
        let voters = (warp..(warp + 32).min(LANES))
            .filter(|&lane| runs(lane))
            .fold(0, |all, lane| all | 1 << (lane - warp));
        assert_eq!(counted.exported[0][lane][0], voters, "vote of lane {lane}");
    }
}

/// A derivative behind a kill uses the values of killed neighbours.
#[test]
fn derivatives_behind_a_kill() {
    let code = "
        I2F.F32.S32 R11, R8
        SHFL.BFLY PT, R12, R11, 0x1, 0x1c03
        FSWZADD R10, R12, R11, PNNPPNNP
        SHFL.BFLY PT, R12, R11, 0x2, 0x1c03
        FSWZADD R11, R12, R11, PNPNNPNP
        MOV R10, R10";
    let after = run(&case(code));
    for lane in (0..LANES).filter(|&lane| takes_part(lane)) {
        // The derivative to the right.
        let [left, right] = [lane & !1, lane | 1].map(|lane| data(lane) as f32);
        assert_eq!(f32::from_bits(after.exported[0][lane][0]), right - left, "lane {lane}");
    }
}

/// Lanes that left by EXIT earlier are not killed, and do not run any more.
#[test]
fn lanes_that_exited_are_kept() {
    let code = "LOP32I.AND R24, R20, 0x2\nISETP.NE.AND P2, PT, R24, RZ, PT\nMOV R0, R8\n@P2 EXIT\nSTG.E [R2], R8";
    let after = run(&case(code));
    for lane in 0..LANES {
        let stays = lane & 2 == 0;
        let wanted = if takes_part(lane) && stays { data(lane) } else { before(lane) };
        assert_eq!(after.buffers[0][lane], wanted, "lane {lane}");
        assert_eq!(after.kept[lane], takes_part(lane));
        if takes_part(lane) && !stays {
            assert_eq!(after.exported[0][lane][0], data(lane));
        }
    }
}

impl Case {
    fn with_local(mut self) -> Case {
        self.program = self.program.replacen(".input", ".local 16\n.input", 1);
        self
    }
}
