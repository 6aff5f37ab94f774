//! GFX9: flat accesses to LDS and scratch memory, and scratch and buffer accesses to scratch
//! memory.

use super::{BLOCKS, Form, THREADS, check};

fn launch(form: &Form, rounds: u32) -> (String, String) {
    let waits = "s_waitcnt vmcnt(0) lgkmcnt(0)";
    let lines = |text: &str| {
        text.lines().map(|line| format!("    {}\n    {waits}\n", line.trim())).collect::<String>()
    };
    // v0: the item; v1: the item times four; v2: the word's offset in the buffer; v10: the result;
    // s20: the round.
    let program = format!(
        ".target gfx900\n    s_add_u32 flat_scratch_lo, s2, s6\n    s_addc_u32 flat_scratch_hi, s3, 0\n    s_mov_b32 s20, 0\n\
         {}.Lround:\n{}    s_add_u32 s20, s20, 1\n    s_cmp_lt_u32 s20, s7\n    s_cbranch_scc1 .Lround\n\
         {}    s_endpgm\n",
        lines(&format!(
            "v_mov_b32_e32 v10, v0\nv_lshlrev_b32_e32 v1, 2, v0\ns_mul_i32 s22, s12, {:#x}\nv_add_u32_e32 v2, s22, v1\n{}",
            4 * THREADS,
            form.setup
        )),
        lines(form.body),
        lines("global_store_dword v2, v10, s[0:1]")
    );
    let registers = [
        (0, "buffer = \"o\""),
        (2, "buffer = \"scratch\""),
        (6, "builtin = \"scratch_wave_offset\""),
    ];
    let descriptor = "buffer_descriptor = { buffer = \"scratch\", stride = 4, swizzle = true, num_records = 65536, word3 = 0x00e27000 }";
    let rounds = format!("u32 = {rounds}");
    let registers = registers.into_iter().chain([
        (7, &*rounds),
        (8, descriptor),
        (12, "builtin = \"workgroup_id_x\""),
    ]);
    let registers: String = registers
        .map(|(first, value)| format!("[[raw.sgpr]]\nfirst = {first}\n{value}\n"))
        .collect();
    let manifest = format!(
        "kernel.binary = \"k.s\"\nkernel.format = \"gfx9-raw\"\nlaunch = {{ grid = [{BLOCKS}, 1, 1], block = [{THREADS}, 1, 1] }}\n\
         [raw]\nvgprs = 32\nlds_bytes = 1024\nscratch_bytes = 64\n{registers}[[raw.vgpr]]\nfirst = 0\n\
         builtin = \"thread_id_x\"\n[buffer.o]\nzeros = {}\ndtype = \"u32\"\n[buffer.scratch]\nzeros = 65536\n",
        4 * BLOCKS * THREADS
    );
    (manifest, program)
}

const LDS: &str = "v_mov_b32_e32 v4, v1\nv_mov_b32_e32 v5, 0x10000";
const SLOT: &str = "v_mov_b32_e32 v4, 8\nv_mov_b32_e32 v5, 0x20000";

/// Adds the item to the sum in each round.
fn by_the_item(item: u32, rounds: u32) -> u32 {
    item.wrapping_mul(rounds + 1)
}

/// Adds the item to the sum's sign-extended low byte in each round.
fn of_bytes(item: u32, rounds: u32) -> u32 {
    (0..rounds).fold(item, |sum, _| (sum as i8 as u32).wrapping_add(item))
}

/// Doubles the sum and adds 1 in each round.
fn doubles(item: u32, rounds: u32) -> u32 {
    (0..rounds).fold(item, |sum, _| sum.wrapping_mul(2).wrapping_add(1))
}

const FORMS: [Form; 13] = [
    Form {
        name: "flat, LDS",
        setup: LDS,
        body: "flat_store_dword v[4:5], v10\nflat_load_dword v11, v[4:5]\nv_add_u32_e32 v10, v11, v0",
        model: by_the_item,
    },
    Form {
        name: "flat, LDS, apart",
        setup: "v_xor_b32_e32 v4, 21, v0\nv_lshlrev_b32_e32 v4, 3, v4\nv_mov_b32_e32 v5, 0x10000\nv_mov_b32_e32 v11, 0",
        body: "flat_store_dwordx2 v[4:5], v[10:11]\nflat_load_dwordx2 v[12:13], v[4:5]\nv_add_u32_e32 v10, v12, v0",
        model: by_the_item,
    },
    Form {
        name: "flat, LDS, bytes",
        setup: "v_mov_b32_e32 v4, v0\nv_mov_b32_e32 v5, 0x10000",
        body: "flat_store_byte v[4:5], v10\nflat_load_sbyte v11, v[4:5]\nv_add_u32_e32 v10, v11, v0",
        model: of_bytes,
    },
    Form {
        name: "flat, scratch memory, a slot",
        setup: SLOT,
        body: "flat_store_dword v[4:5], v10\nflat_load_dword v11, v[4:5]\nv_add_u32_e32 v10, v11, v0",
        model: by_the_item,
    },
    Form {
        name: "flat, scratch memory, an array",
        setup: "v_mov_b32_e32 v5, 0x20000",
        body: "v_and_b32_e32 v4, 60, v10\nflat_store_dword v[4:5], v10\nflat_load_dword v11, v[4:5]\nv_add_u32_e32 v10, v11, v0",
        model: by_the_item,
    },
    Form {
        name: "flat, global memory",
        setup: "v_mov_b32_e32 v5, s1\nv_add_co_u32_e32 v4, vcc, s0, v2\nv_addc_co_u32_e32 v5, vcc, 0, v5, vcc",
        body: "flat_store_dword v[4:5], v10\nflat_load_dword v11, v[4:5]\nv_add_u32_e32 v10, v11, v0",
        model: by_the_item,
    },
    Form {
        name: "flat atomics, LDS",
        setup: "v_mov_b32_e32 v4, v1\nv_mov_b32_e32 v5, 0x10000\nflat_store_dword v[4:5], v10",
        body: "v_add_u32_e32 v12, 1, v10\nflat_atomic_add v11, v[4:5], v12 glc\nflat_load_dword v10, v[4:5]",
        model: doubles,
    },
    Form {
        name: "flat atomics of 64 bits, LDS",
        setup: "v_lshlrev_b32_e32 v4, 3, v0\nv_mov_b32_e32 v5, 0x10000\nv_mov_b32_e32 v11, 0\nflat_store_dwordx2 v[4:5], v[10:11]",
        body: "v_add_u32_e32 v12, 1, v10\nv_mov_b32_e32 v13, 0\nflat_atomic_add_x2 v[14:15], v[4:5], v[12:13] glc\n\
               flat_load_dword v10, v[4:5]",
        model: doubles,
    },
    Form {
        name: "flat compare and swap, LDS",
        setup: "v_mov_b32_e32 v4, v1\nv_mov_b32_e32 v5, 0x10000\nflat_store_dword v[4:5], v10",
        body: "v_mov_b32_e32 v13, v10\nv_add_u32_e32 v12, v10, v0\nflat_atomic_cmpswap v11, v[4:5], v[12:13] glc\n\
               flat_load_dword v10, v[4:5]",
        model: by_the_item,
    },
    Form {
        name: "scratch, an offset that all share",
        setup: "s_mov_b32 s21, 8",
        body: "scratch_store_dword off, v10, s21\nscratch_load_dword v11, off, s21\nv_add_u32_e32 v10, v11, v0",
        model: by_the_item,
    },
    Form {
        name: "scratch, an array of bytes",
        setup: "",
        body: "v_and_b32_e32 v4, 63, v10\nscratch_store_byte v4, v10, off\nscratch_load_sbyte v11, v4, off\n\
               v_add_u32_e32 v10, v11, v0",
        model: of_bytes,
    },
    Form {
        name: "a buffer of scratch memory, a slot",
        setup: "",
        body: "buffer_store_dword v10, off, s[8:11], s6 offset:8\nbuffer_load_dword v11, off, s[8:11], s6 offset:8\n\
               v_add_u32_e32 v10, v11, v0",
        model: by_the_item,
    },
    Form {
        name: "a buffer of scratch memory, an array",
        setup: "",
        body: "v_and_b32_e32 v4, 60, v10\nbuffer_store_dword v10, v4, s[8:11], s6 offen\n\
               buffer_load_dword v11, v4, s[8:11], s6 offen\nv_add_u32_e32 v10, v11, v0",
        model: by_the_item,
    },
];

#[test]
fn gfx9_memory_is_native() {
    for form in &FORMS {
        check(form, |rounds| launch(form, rounds));
    }
}
