//! ALD, AST and AL2P of vertex programs.

use crate::support::{Case, Draw};

const COUNT: usize = 37;

/// Returns four words of each vertex, twice.
fn given() -> Vec<[u32; 8]> {
    let mut draw = Draw(11);
    (0..COUNT).map(|_| std::array::from_fn(|_| draw.next())).collect()
}

fn case(code: &str) -> Case {
    let words = given();
    let half =
        |from: usize| words.iter().map(|words| words[from..from + 4].to_vec()).collect::<Vec<_>>();
    let directives = ".input 0x80 xyzw\n.input 0x90 xyzw\n.output 0x70 xyzw\n.output 0x80 xyzw\n.output 0x90 xyzw";
    Case::vertex(directives, code, COUNT).with(&format!(
        "attribute.\"0x80\" = {:?}\nattribute.\"0x90\" = {:?}",
        half(0),
        half(4)
    ))
}

#[test]
fn loads_and_stores_of_all_widths() {
    let widths: [(&str, usize); 4] = [("", 1), (".64", 2), (".96", 3), (".128", 4)];
    for (load, read) in widths {
        for (store, written) in widths {
            // Some accesses go from the middle of an attribute into the next one.
            for (from, to) in [(0x80, 0x70), (0x84, 0x78)] {
                let code = format!(
                    "MOV32I R4, 0x4\nMOV32I R5, 0x5\nMOV32I R6, 0x6\nMOV32I R7, 0x7
                    ALD{load} R4, a[{from:#x}]\nAST{store} a[{to:#x}], R4"
                );
                let after = case(&code).with("[export.\"0x70\"]\n[export.\"0x80\"]").run();
                for (lane, words) in given().iter().enumerate() {
                    let mut wanted = [0; 8];
                    for n in 0..written {
                        let first = (from - 0x80) / 4;
                        wanted[(to - 0x70) / 4 + n] =
                            if n < read { words[first + n] } else { 4 + n as u32 };
                    }
                    let found =
                        [&after.exported[0][lane][..4], &after.exported[1][lane][..4]].concat();
                    assert_eq!(found, wanted, "ALD{load} and AST{store} of lane {lane}");
                }
            }
        }
    }
}

/// Loads and stores run under a guard, and behind branches that part the lanes.
#[test]
fn some_lanes_only() {
    let code = "
        ALD R4, a[0x80]
        LOP32I.AND R5, R4, 0x1
        ISETP.NE.AND P0, PT, R5, RZ, PT
        AST a[0x70], R4
    @P0 AST a[0x74], R4
        SSY .L2
    @P0 BRA .L1
        ALD R6, a[0x90]
        SYNC
    .L1:
        ALD R6, a[0x94]
        SYNC
    .L2:
        AST a[0x78], R6
    @P0 EXIT
        AST a[0x7c], R6";
    let words = case(code).with("[export.\"0x70\"]").words();
    for (lane, given) in given().iter().enumerate() {
        let odd = given[0] & 1 == 1;
        let chosen = given[if odd { 5 } else { 4 }];
        let wanted =
            if odd { [given[0], given[0], chosen, 0] } else { [given[0], 0, chosen, chosen] };
        assert_eq!(words[lane][..4], wanted, "lane {lane}");
    }
}

/// The program's own outputs, and addresses in registers that differ from lane to lane.
#[test]
fn own_outputs_and_computed_addresses() {
    let code = "
        S2R R4, SR_LANEID
        LOP32I.AND R4, R4, 0x3
        SHL R4, R4, 0x2
        AL2P R5, R4, 0x80
        ALD.PHYS R6, a[R5]
        AL2P.128 R7, R4, 0x84
        ALD.PHYS.128 R8, a[R7]
        AST.128 a[0x80], R8
        ALD.O.64 R12, a[0x88]
        AST a[0x70], R6
        AST.64 a[0x74], R12
        AL2P.O R14, R4, 0x90
        AST.PHYS a[R14], R6
        ALD.O R15, a[0x90]
        AST a[0x7c], R15";
    let after = case(code).with("[export.\"0x70\"]\n[export.\"0x80\"]\n[export.\"0x90\"]").run();
    assert_eq!(after.fault, None);
    for (lane, given) in given().iter().enumerate() {
        let n = lane % 4;
        assert_eq!(after.exported[1][lane][..4], given[n + 1..n + 5], "lane {lane}");
        let own = if n == 0 { given[0] } else { 0 };
        assert_eq!(
            after.exported[0][lane][..4],
            [given[n], given[n + 3], given[n + 4], own],
            "lane {lane}"
        );
        let mut wanted = [0; 4];
        wanted[n] = given[n];
        assert_eq!(after.exported[2][lane][..4], wanted, "lane {lane}");
    }
}

/// If a launch gives only some words of an attribute, the other words come from 0, 0, 0, 1. A
/// launch need not give the numbers of instances and vertices.
#[test]
fn what_is_not_given() {
    let code = "ALD.128 R4, a[0x80]\nAST.128 a[0x80], R4\nALD.64 R8, a[0x2f8]\nAST.64 a[0x70], R8";
    let case = Case::vertex(".input 0x80 xyzw\n.output 0x70 xy\n.output 0x80 xyzw", code, 5)
        .with("instances = 2\nfirst = 10\nattribute.\"0x80\" = [[1], [2], [3], [4], [5], [6], [7], [8], [9], [10]]");
    let after = case.with("[export.\"0x70\"]\n[export.\"0x80\"]").run();
    for lane in 0..10_u32 {
        let (ids, words) = (&after.exported[0][lane as usize], &after.exported[1][lane as usize]);
        assert_eq!(ids[..2], [lane / 5, 10 + lane % 5]);
        assert_eq!(words[..4], [lane + 1, 0, 0, 1.0_f32.to_bits()]);
    }
    let problem = Case::vertex(".input 0x80 x\n.output 0x70 x", "ALD R4, a[0x80]", 5)
        .with("[export.\"0x70\"]")
        .problem();
    assert_eq!(
        problem,
        "kernel `vertex`, pc 0x8, `ALD R4, a[0x80]`: [vertices] has no `attribute` with a word of this address"
    );
}

/// Instructions that only other stages have stop the lanes that reach them.
#[test]
fn instructions_of_other_stages() {
    for text in [
        "OUT.EMIT R4, RZ, RZ",
        "ALD.P R4, a[0x20]",
        "ALD R4, a[0x80], R5",
        "PIXLD.MY_INDEX R4, [RZ]",
        "IPA.PASS R4, a[0x80], RZ",
        "KIL",
    ] {
        let after = case(text).with("[export.\"0x70\"]").run();
        let fault = after.fault.unwrap_or_else(|| panic!("{text} runs"));
        assert!(!fault.contains("address") && fault.contains(text), "{fault}");
    }
    // A hint, and values that a vertex program has one of.
    let code = "VOTE.VTG.A 0x1\nISBERD R4, [R5]\nS2R R4, SR_INVOCATION_ID\nAST a[0x70], R4";
    assert_eq!(case(code).with("[export.\"0x70\"]").run().fault, None);
}

/// Constant banks, memory and registers work as in any program.
#[test]
fn constants_and_memory() {
    let code = "
        ALD R4, a[0x2fc]
        SHL R5, R4, 0x2
        IADD R2.CC, R5, c[0x4][0x8]
        IADD.X R3, RZ, c[0x4][0xc]
        IADD R6, R4, c[0x4][0x10]
        STG.E [R2], R6
        LDC R7, c[0x4][0x14]
        AST a[0x70], R7";
    let after = Case::vertex(".output 0x70 x", code, 40)
        .with(
            "[export.\"0x70\"]
            [bank.4]
            zeros = 24
            parts = [{ at = 8, buffer = \"out\" }, { at = 16, u32 = 100 }, { at = 20, f32 = 2.5 }]
            [buffer.out]
            zeros = 160",
        )
        .run();
    assert_eq!(after.buffers[0], (100..140).collect::<Vec<u32>>());
    assert!(after.exported[0].iter().all(|words| words[0] == 2.5_f32.to_bits()));
}
