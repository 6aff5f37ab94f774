//! Scalar loads from memory of which the launch has a copy: a load takes the copy as long as the
//! register points there, on every path. Here copy and memory differ, so results show the source.

use std::sync::Arc;

use warploom_gfx9::assemble;
use warploom_gfx9::lift::{ConstantMemory, Initial, InitialScalar, Kernel, lift_kernel};
use warploom_interp::Interpreter;
use warploom_ir::{Function, verify};
use warploom_runtime::launch::{ConstBank, Engine, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, MemoryConfig, Placement};

const MEMORY: u64 = 0x12_3456_0000;
const OUT: u64 = 0x13_0000_0000;
/// The copy's offset in the bank, and its words. Memory has more words.
const COPY: u32 = 64;
const COPIED: u32 = 4;
/// The address of the code that programs call.
const CALLEE: u64 = 24;

/// Lifts a program in which s[4:5] and s[8:9] are pointers in the bank. s[4:5] points to copied
/// memory.
fn lifted(lines: &[&str]) -> Function {
    let code: Vec<u8> = lines.iter().flat_map(|line| assemble(line).unwrap()).collect();
    let pointers = [(4, 0), (5, 4), (8, 8), (9, 12)];
    let initial = Initial {
        scalars: pointers.map(|(sgpr, at)| (sgpr, InitialScalar::Constant(at))).into(),
        vectors: vec![],
        constants: vec![ConstantMemory { pointer: 0, offset: COPY, bytes: 4 * COPIED }],
        data_share: None,
        words: vec![],
        shader: None,
    };
    let function = lift_kernel(&Kernel {
        initial,
        indirect_targets: &[CALLEE],
        ..Kernel::new("constants", &code)
    })
    .unwrap();
    verify::verify(&function).unwrap();
    function
}

/// Returns s16 to s19 at the end of the program.
///
/// s[4:5] points to memory with the words 100, 101 and so on; the first four are 0 to 3 in the
/// copy. s12 is 0, and s[8:9] points to the results.
fn results(lines: &[&str]) -> [u32; 4] {
    let end = ["s_store_dwordx4 s[16:19], s[8:9], 0x0", "s_endpgm"];
    let function = Arc::new(lifted(&[lines, &end].concat()));
    let native = warploom_engine::Kernel::new(Arc::clone(&function), warploom_cranelift::backend())
        .program([1; 3], [64, 1, 1], 1)
        .unwrap();
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(Interpreter::new(function).unwrap()), native];

    let memory = Memory::new(MemoryConfig::default()).unwrap();
    for address in [MEMORY, OUT] {
        memory.alloc_at(Placement::At(address), 256, Access::READ_WRITE).unwrap();
    }
    let words = |from: u32, count: u32| {
        (from..from + count).flat_map(u32::to_le_bytes).collect::<Vec<u8>>()
    };
    memory.write(MEMORY, &words(100, 64)).unwrap();
    let mut bank: Vec<u8> =
        [MEMORY, OUT].iter().flat_map(|address| address.to_le_bytes()).collect();
    bank.resize(COPY as usize, 0);
    bank.extend(words(0, COPIED));
    let mut config = LaunchConfig::new([1; 3], [64, 1, 1]);
    config.constants[0] = Some(ConstBank::new(&bank).unwrap());
    let found = engines.map(|engine| {
        let outcome = launch(&memory, &*engine, &config, None).unwrap();
        assert_eq!(outcome.fault, None, "{lines:?}");
        let mut bytes = [0; 16];
        memory.read(OUT, &mut bytes).unwrap();
        std::array::from_fn(|n| u32::from_le_bytes(bytes[4 * n..][..4].try_into().unwrap()))
    });
    assert_eq!(found[0], found[1], "{lines:?}: the engines differ");
    found[0]
}

#[test]
fn the_copy_is_read() {
    assert_eq!(results(&["s_load_dwordx4 s[16:19], s[4:5], 0x0"]), [0, 1, 2, 3]);
    let misaligned = ["s_load_dword s19, s[4:5], 0xf", "s_load_dwordx2 s[16:17], s[4:5], 0x4"];
    assert_eq!(results(&misaligned), [1, 2, 0, 3]);
    // The load overwrites the pointer itself.
    assert_eq!(
        results(&["s_load_dwordx2 s[4:5], s[4:5], 0x8", "s_mov_b64 s[16:17], s[4:5]"])[..2],
        [2, 3]
    );
}

#[test]
fn what_is_past_the_copy_is_read_from_memory() {
    assert_eq!(results(&["s_load_dwordx4 s[16:19], s[4:5], 0x4"]), [101, 102, 103, 104]);
    assert_eq!(results(&["s_load_dwordx2 s[16:17], s[4:5], 0x10"])[..2], [104, 105]);
    assert_eq!(results(&["s_load_dword s16, s[4:5], s12"])[0], 100);
}

#[test]
fn an_overwritten_pointer_is_followed() {
    let load = "s_load_dword s16, s[4:5], 0x4";
    for write in ["s_mov_b32 s5, s5", "s_mov_b64 s[4:5], s[4:5]", "v_readfirstlane_b32 s4, v1"] {
        let set = ["v_mov_b32_e32 v1, s4", write, load];
        assert_eq!(results(&set)[0], 101, "{write}");
    }
    // m0 selects s[3 + 2], and the second write is to another pair.
    assert_eq!(
        results(&["s_mov_b32 m0, 2", "s_mov_b32 s6, s5", "s_movreld_b32 s3, s6", load])[0],
        101
    );
    assert_eq!(results(&["s_mov_b64 s[6:7], 0", load])[0], 1);
}

#[test]
fn pointers_are_known_only_if_they_are_on_every_way() {
    let load = "s_load_dword s16, s[4:5], 0x4";
    // The branch leads to the load, whether taken or not.
    for scc in ["s_cmp_eq_u32 s12, 0", "s_cmp_lg_u32 s12, 0"] {
        assert_eq!(results(&[scc, "s_cbranch_scc0 1", "s_mov_b32 s4, s4", load])[0], 101, "{scc}");
        assert_eq!(results(&[scc, "s_cbranch_scc0 1", "s_mov_b32 s6, s4", load])[0], 1, "{scc}");
    }
    // The second round has another pointer.
    let again = [
        load,
        "s_mov_b32 s4, s4",
        "s_add_u32 s17, s17, s16",
        "s_cmp_lt_u32 s17, 0xc8",
        "s_cbranch_scc1 65529",
    ];
    assert_eq!(results(&again)[..2], [101, 202]);
}

#[test]
fn calls_keep_pointers_that_nobody_writes() {
    let call = |branch, callee: &[&'static str]| {
        let caller = [
            "s_getpc_b64 s[20:21]",
            "s_add_u32 s20, s20, 20",
            "s_swappc_b64 s[30:31], s[20:21]",
            "s_load_dword s16, s[4:5], 0x4",
            branch,
        ];
        results(&[&caller[..], callee].concat())[..2].to_vec()
    };
    let (load, back) = ("s_load_dword s17, s[4:5], 0x8", "s_setpc_b64 s[30:31]");
    assert_eq!(call("s_branch 3", &[load, back]), [1, 2]);
    // Each indirect jump may lead to every indirect target.
    assert_eq!(call("s_branch 4", &[load, "s_mov_b32 s4, s4", back]), [101, 102]);
}

/// The call's return address replaces the pointer, so the load that follows does not use the copy.
#[test]
fn a_call_takes_the_place_of_a_pointer() {
    let constants = |first: &str| {
        let function = lifted(&[first, "s_nop 0", "s_load_dword s16, s[4:5], 0x4", "s_endpgm"]);
        function.to_string().matches("load.const").count()
    };
    assert_eq!(constants("s_nop 0"), constants("s_call_b64 s[4:5], 1") + 1);
}
