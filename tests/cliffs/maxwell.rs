//! Maxwell: LDL, STL, LDC, LD, ST.

use super::{BLOCKS, Form, THREADS, check};

/// The words of the constant bank from 0x148 on.
const WORDS: [u32; 8] = [3, 0x8000_0001, 5, 77, 0xffff_fff9, 11, 13, 0x1234_5678];
const LOCAL: usize = 64;

fn launch(form: &Form, rounds: u32) -> (String, String) {
    let words: String = WORDS.iter().map(|word| format!("[[arg]]\nu32 = {word}\n")).collect();
    let manifest = format!(
        "kernel.binary = \"k.s\"\nlaunch = {{ grid = [{BLOCKS}, 1, 1], block = [{THREADS}, 1, 1] }}\n[[arg]]\nbuffer = \"o\"\n{words}\
         [[arg]]\nu32 = {rounds}\n[buffer.o]\nzeros = {}\ndtype = \"u32\"\n",
        4 * BLOCKS * THREADS
    );
    // R0: the thread; R1: a stack pointer; R10: the result; R20: the round; R22: the offset of the
    // thread's word in the buffer.
    let program = format!(
        ".target sm_50\n.kernel k\n.param 8\n{}.shared 1024\n.local {LOCAL}\nS2R R0, SR_TID.X\nS2R R22, SR_CTAID.X\n\
         XMAD R22, R22, {THREADS:#x}, R0\nSHL R22, R22, 0x2\nMOV32I R1, 0x10\nMOV R10, R0\n\
         MOV R20, RZ\n{}\n.Lround:\n{}\nIADD32I R20, R20, 0x1\nISETP.LT.U32.AND P1, PT, R20, c[0x0][0x168], PT\n\
         @P1 BRA .Lround\nIADD R2.CC, R22, c[0x0][0x140]\nIADD.X R3, RZ, c[0x0][0x144]\nSTG.E [R2], R10\nEXIT\n",
        ".param 4\n".repeat(9),
        form.setup,
        form.body
    );
    (manifest, program)
}

/// Returns the sum after all rounds; `step` maps a round and a sum to the next sum.
fn sum(thread: u32, rounds: u32, mut step: impl FnMut(u32, u32) -> u32) -> u32 {
    (0..rounds).fold(thread, |sum, round| step(round, sum))
}

const GENERIC_SHARED: &str = "SHL R4, R0, 0x2\nIADD R4, R4, c[0x0][0x0]\nMOV R5, RZ";
const GENERIC_LOCAL: &str = "IADD R4, R1, c[0x0][0x4]\nMOV R5, RZ";

const FORMS: [Form; 23] = [
    Form {
        name: "shared, some lanes below its beginning take no part",
        setup: "ISETP.GE.U32.AND P0, PT, R0, 0x13, PT\nMOV R11, RZ",
        body: "S2R R4, SR_TID.X\nSHL R2, R4, 0x2\n@P0 STS [R2+-0x4c], R10\n@P0 LDS R11, [R2+-0x4c]\n\
               IADD R10, R11, 0x1",
        model: |thread, rounds| if thread >= 19 { thread + rounds } else { 1 },
    },
    Form {
        name: "an array of few lanes, a base below 0",
        setup: "LOP32I.AND R2, R0, 0xf\nISETP.EQ.AND P0, PT, R2, RZ, PT\nIADD R2.CC, R22, c[0x0][0x140]\n\
                IADD.X R3, RZ, c[0x0][0x144]\n@!P0 STG.E [R2], R10\n@!P0 EXIT\nMOV32I R8, 0x40",
        body: "LOP32I.AND R9, R10, 0x3c\nIADD R9, R9, -R8\nLDL R11, [R9+0x40]\nIADD R11, R11, R10\n\
               STL [R9+0x40], R11\nIADD R10, R11, 0x5",
        model: |thread, rounds| {
            let mut array = [0u32; LOCAL / 4];
            if thread % 16 != 0 {
                return thread;
            }
            sum(thread, rounds, |_, sum| {
                let cell = &mut array[(sum & 0x3c) as usize / 4];
                *cell = cell.wrapping_add(sum);
                cell.wrapping_add(5)
            })
        },
    },
    Form {
        name: "a store of some evenly spaced lanes",
        setup: "LOP32I.AND R2, R0, 0x5\nISETP.EQ.AND P0, PT, R2, RZ, PT",
        body: "S2R R4, SR_TID.X\nS2R R5, SR_CTAID.X\nXMAD R5, R5, 0x60, R4\nSHL R5, R5, 0x2\n\
               IADD R2.CC, R5, c[0x0][0x140]\nIADD.X R3, RZ, c[0x0][0x144]\n\
               @P0 STG.E [R2], R10\nLDG.E R11, [R2]\nIADD R10, R11, 0x1",
        model: |thread, rounds| if thread & 5 == 0 { thread + rounds } else { 1 },
    },
    Form {
        name: "a spill slot",
        setup: "",
        body: "STL [R1+0x4], R10\nLDL R11, [R1+0x4]\nIADD R10, R11, R0",
        model: |thread, rounds| sum(thread, rounds, |_, sum| sum.wrapping_add(thread)),
    },
    Form {
        name: "a slot of 64 bits",
        setup: "MOV R11, RZ",
        body: "STL.64 [R1+0x8], R10\nLDL.64 R12, [R1+0x8]\nIADD R10, R12, 0x1\nIADD R11, R13, 0x3\nIADD R10, R10, R13",
        model: |thread, rounds| sum(thread, rounds, |round, sum| sum + 1 + 3 * round),
    },
    Form {
        name: "a slot of 128 bits",
        setup: "MOV R12, RZ\nMOV R13, RZ\nMOV32I R14, 0x7\nMOV R15, R0",
        body: "STL.128 [R1+0x10], R12\nLDL.128 R16, [R1+0x10]\nIADD R12, R16, R19\nIADD R10, R12, R18",
        model: |thread, rounds| thread * rounds + 7,
    },
    Form {
        name: "bytes at a slot",
        setup: "",
        body: "STL.U8 [R1+0x3], R10\nLDL.S8 R11, [R1+0x3]\nIADD R10, R11, R0",
        model: |thread, rounds| {
            sum(thread, rounds, |_, sum| (sum as i8 as u32).wrapping_add(thread))
        },
    },
    Form {
        name: "halves at a slot",
        setup: "",
        body: "STL.U16 [R1+0x2], R10\nLDL.S16 R11, [R1+0x2]\nIADD32I R10, R11, 0x1234",
        model: |thread, rounds| {
            sum(thread, rounds, |_, sum| (sum as i16 as u32).wrapping_add(0x1234))
        },
    },
    Form {
        name: "a store of some lanes",
        setup: "LOP32I.AND R2, R0, 0x1\nISETP.EQ.AND P0, PT, R2, RZ, PT\nSTL [R1], R0",
        body: "@P0 STL [R1], R10\nLDL R11, [R1]\nIADD R10, R11, 0x1",
        model: |thread, rounds| if thread % 2 == 0 { thread + rounds } else { thread + 1 },
    },
    Form {
        name: "an array of words",
        setup: "",
        body: "LOP32I.AND R9, R10, 0x3c\nLDL R11, [R9]\nIADD R11, R11, R10\nSTL [R9], R11\nIADD R10, R11, 0x5",
        model: |thread, rounds| {
            let mut array = [0u32; LOCAL / 4];
            sum(thread, rounds, |_, sum| {
                let cell = &mut array[(sum & 0x3c) as usize / 4];
                *cell = cell.wrapping_add(sum);
                cell.wrapping_add(5)
            })
        },
    },
    Form {
        name: "an array of bytes",
        setup: "",
        body: "LOP32I.AND R9, R10, 0x3f\nLDL.U8 R11, [R9]\nIADD R11, R11, R10\nSTL.U8 [R9], R11\nIADD R10, R11, 0x5",
        model: |thread, rounds| {
            let mut array = [0u8; LOCAL];
            sum(thread, rounds, |_, sum| {
                let cell = &mut array[(sum & 0x3f) as usize];
                let new = sum.wrapping_add((*cell).into());
                *cell = new as u8;
                new.wrapping_add(5)
            })
        },
    },
    Form {
        name: "an array of 64 bits, a loop's index",
        setup: "MOV R11, R0",
        body: "LOP32I.AND R9, R20, 0x7\nSHL R9, R9, 0x3\nLDL.64 R12, [R9]\nIADD R12, R12, R10\nIADD R13, R13, 0x1\n\
               STL.64 [R9], R12\nIADD R10, R12, R13",
        model: |thread, rounds| {
            let mut array = [[0u32; 2]; 8];
            sum(thread, rounds, |round, sum| {
                let [low, high] = &mut array[(round & 7) as usize];
                (*low, *high) = (low.wrapping_add(sum), *high + 1);
                low.wrapping_add(*high)
            })
        },
    },
    Form {
        name: "a constant, the index all lanes'",
        setup: "",
        body: "LOP32I.AND R9, R20, 0x7\nSHL R9, R9, 0x2\nLDC R11, c[0x0][R9+0x148]\nIADD R10, R10, R11",
        model: |thread, rounds| {
            sum(thread, rounds, |round, sum| sum.wrapping_add(WORDS[round as usize % 8]))
        },
    },
    Form {
        name: "a constant, the index each lane's",
        setup: "",
        body: "LOP32I.AND R9, R10, 0x7\nSHL R9, R9, 0x2\nLDC R11, c[0x0][R9+0x148]\nIADD R10, R10, R11",
        model: |thread, rounds| {
            sum(thread, rounds, |_, sum| sum.wrapping_add(WORDS[sum as usize % 8]))
        },
    },
    Form {
        name: "constants of 64 bits and bytes",
        setup: "",
        body: "LOP32I.AND R9, R10, 0x18\nLDC.64 R12, c[0x0][R9+0x148]\nLOP32I.AND R9, R12, 0x1f\nLDC.S8 R11, c[0x0][R9+0x148]\n\
               IADD R10, R10, R11\nIADD R10, R10, R13",
        model: |thread, rounds| {
            let bytes: Vec<u8> = WORDS.iter().flat_map(|word| word.to_le_bytes()).collect();
            sum(thread, rounds, |_, sum| {
                let pair = (sum & 0x18) as usize / 4;
                let byte = bytes[(WORDS[pair] & 0x1f) as usize] as i8 as u32;
                sum.wrapping_add(byte).wrapping_add(WORDS[pair + 1])
            })
        },
    },
    Form {
        name: "generic, shared memory, consecutive",
        setup: GENERIC_SHARED,
        body: "ST.E [R4+0x8], R10\nLD.E R11, [R4+0x8]\nIADD R10, R11, R0",
        model: |thread, rounds| sum(thread, rounds, |_, sum| sum.wrapping_add(thread)),
    },
    Form {
        name: "generic, shared memory, apart",
        setup: "LOP32I.XOR R2, R0, 0x15\nSHL R4, R2, 0x3\nIADD R4, R4, c[0x0][0x0]\nMOV R5, RZ\nMOV R11, RZ",
        body: "ST.E.64 [R4], R10\nLD.E.64 R12, [R4]\nIADD R10, R12, 0x3\nIADD R11, R13, 0x1\nIADD R10, R10, R13",
        model: |thread, rounds| sum(thread, rounds, |round, sum| sum + 3 + round),
    },
    Form {
        name: "generic, shared memory, bytes",
        setup: "MOV R4, R0\nIADD R4, R4, c[0x0][0x0]\nMOV R5, RZ",
        body: "ST.E.U8 [R4+0x1], R10\nLD.E.S8 R11, [R4+0x1]\nIADD R10, R11, R0",
        model: |thread, rounds| {
            sum(thread, rounds, |_, sum| (sum as i8 as u32).wrapping_add(thread))
        },
    },
    Form {
        name: "generic, shared memory, some lanes",
        setup: "SHL R4, R0, 0x2\nIADD R4, R4, c[0x0][0x0]\nMOV R5, RZ\nLOP32I.AND R2, R0, 0x3\nISETP.NE.AND P0, PT, R2, RZ, PT",
        body: "@P0 ST.E [R4], R10\n@P0 LD.E R11, [R4]\n@P0 IADD R10, R11, 0x3",
        model: |thread, rounds| if thread % 4 == 0 { thread } else { thread + 3 * rounds },
    },
    Form {
        name: "generic, a spill slot",
        setup: GENERIC_LOCAL,
        body: "ST.E [R4+0x8], R10\nLD.E R11, [R4+0x8]\nIADD R10, R11, R0",
        model: |thread, rounds| sum(thread, rounds, |_, sum| sum.wrapping_add(thread)),
    },
    Form {
        name: "generic, a slot of 128 bits",
        setup: "IADD R4, R1, c[0x0][0x4]\nMOV R5, RZ\nMOV R12, RZ\nMOV R13, RZ\nMOV32I R14, 0x7\nMOV R15, R0",
        body: "ST.E.128 [R4], R12\nLD.E.128 R16, [R4]\nIADD R12, R16, R19\nIADD R10, R12, R18",
        model: |thread, rounds| thread * rounds + 7,
    },
    Form {
        name: "generic, an array",
        setup: "MOV R5, RZ",
        body: "LOP32I.AND R4, R10, 0x3c\nIADD R4, R4, c[0x0][0x4]\nLD.E R11, [R4]\nIADD R11, R11, R10\nST.E [R4], R11\n\
               IADD R10, R11, 0x5",
        model: |thread, rounds| {
            let mut array = [0u32; LOCAL / 4];
            sum(thread, rounds, |_, sum| {
                let cell = &mut array[(sum & 0x3c) as usize / 4];
                *cell = cell.wrapping_add(sum);
                cell.wrapping_add(5)
            })
        },
    },
    Form {
        name: "generic, global memory",
        setup: "IADD R4.CC, R22, c[0x0][0x140]\nIADD.X R5, RZ, c[0x0][0x144]",
        body: "ST.E [R4], R10\nLD.E R11, [R4]\nIADD R10, R11, R0",
        model: |thread, rounds| sum(thread, rounds, |_, sum| sum.wrapping_add(thread)),
    },
];

#[test]
fn maxwell_memory_is_native() {
    for form in &FORMS {
        check(form, |rounds| launch(form, rounds));
    }
}
