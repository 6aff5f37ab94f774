//! Threads of a group that work together, and calls between separately compiled functions.

use warploom_replay::Session;

use super::visa_launch::{ENGINES, Files, words_of};

const LANES: u32 = 16;
const THREADS: u32 = 4;

/// Runs a kernel of 16 lanes and four threads, and checks its result.
///
/// The body has variables `N` (the thread's number), `AT` and `V`. The kernel stores `V` at `OUT`,
/// one dword a lane.
fn run(body: &str, functions: &str, expected: impl Fn(u32) -> u32) {
    let text = format!(
        ".version 4.2\n.kernel \"k\"\n.decl ID v_type=G type=uw num_elts=16 align=GRF\n.decl OUT v_type=G type=uq num_elts=1 align=qword\n\
         .decl N v_type=G type=ud num_elts=1 align=dword\n.decl AT v_type=G type=ud num_elts=16 align=GRF\n.decl V v_type=G type=ud num_elts=16 align=GRF\n\
         .decl W v_type=G type=ud num_elts=16 align=GRF\n.decl Q v_type=G type=uq num_elts=16 align=GRF\n.decl F v_type=G type=uq num_elts=1 align=qword\n\
         .decl P1 v_type=P num_elts=16\n.decl P2 v_type=P num_elts=1\n\
         .decl GIVEN v_type=G type=ud num_elts=16 align=GRF alias=<%arg, 0>\n.decl TAKEN v_type=G type=ud num_elts=16 align=GRF alias=<%retval, 0>\n\
         .input ID offset=32 size=32\n.input OUT offset=128 size=8\n.kernel_attr SimdSize=16\nmain:\n\
         mov (M1_NM, 1) N(0,0)<1> %r0(0,2)<0;1,0>\nand (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> 0xff:ud\nmov (M1, 16) V(0,0)<1> ID(0,0)<1;1,0>\n\
         {body}\nmul (M1, 16) AT(0,0)<1> ID(0,0)<1;1,0> 0x4:uw\nmov (M1, 16) Q(0,0)<1> AT(0,0)<1;1,0>\nadd (M1, 16) Q(0,0)<1> Q(0,0)<1;1,0> OUT(0,0)<0;1,0>\n\
         lsc_store.ugm (M1, 16) flat[Q]:a64 V:d32\nret (M1, 1)\n{functions}"
    );
    let info = format!("arg_bypointer:0:8:0:stateless:global,local_id:0:{}", 3 * 32);
    let mut files = Files::new("dg2", LANES, &info);
    files.text(&text);
    files.buffer("out", &vec![0; (LANES * THREADS * 4) as usize], "u32");
    let launch = files.launch([1, 1, 1], [LANES * THREADS, 1, 1]);
    for engine in ENGINES {
        for threads in [1, 2] {
            let session = Session::new(&launch).unwrap();
            let outcome = session.launch(&session.options(engine, threads), None).unwrap();
            assert!(outcome.fault.is_none(), "{engine}: {}", outcome.fault.unwrap());
            assert!(outcome.uncompiled.is_empty(), "{:?}", outcome.uncompiled);
            let found = words_of(&session.buffer(0).unwrap());
            for (n, &found) in (0..).zip(&found) {
                assert_eq!(found, expected(n), "{engine}: lane {n} of\n{body}");
            }
        }
    }
}

/// The last thread, which runs last, produces the data that the other threads wait for.
#[test]
fn named_barriers_have_producers_and_consumers() {
    let body = "cmp.eq (M1_NM, 1) P2 N(0,0)<0;1,0> 0x3:ud\n(!P2) jmp (M1, 1) consume\n\
                mov (M1, 16) AT(0,0)<1> V(0,0)<1;1,0>\nand (M1, 16) AT(0,0)<1> AT(0,0)<1;1,0> 0xf:ud\nmul (M1, 16) AT(0,0)<1> AT(0,0)<1;1,0> 0x4:ud\n\
                mul (M1, 16) W(0,0)<1> V(0,0)<1;1,0> 0x64:ud\nlsc_store.slm (M1, 16) flat[AT]:a32 W:d32\n\
                nbarrier.signal 0x5:ub 0x1:ub 0x1:ub 0x3:ub\njmp (M1, 1) done\n\
                consume:\nnbarrier.signal 0x5:ub 0x2:ub 0x1:ub 0x3:ub\nnbarrier.wait 0x5:ub\n\
                and (M1, 16) AT(0,0)<1> V(0,0)<1;1,0> 0xf:ud\nmul (M1, 16) AT(0,0)<1> AT(0,0)<1;1,0> 0x4:ud\n\
                lsc_load.slm (M1, 16) V:d32 flat[AT]:a32\ndone:";
    run(body, "", |n| if n >= 48 { n } else { (48 + n % 16) * 100 });
}

/// All threads arrive at a named barrier and wait for it.
#[test]
fn named_barriers_of_all() {
    let body = "mul (M1, 16) AT(0,0)<1> V(0,0)<1;1,0> 0x4:ud\nlsc_store.slm (M1, 16) flat[AT]:a32 V:d32\n\
                nbarrier.signal 0x2:ub 0x4:ub\nnbarrier.wait 0x2:ub\n\
                xor (M1, 16) AT(0,0)<1> V(0,0)<1;1,0> 0x3f:ud\nmul (M1, 16) AT(0,0)<1> AT(0,0)<1;1,0> 0x4:ud\nlsc_load.slm (M1, 16) V:d32 flat[AT]:a32";
    run(body, "", |n| n ^ 63);
}

/// A thread works between its signal and its wait.
#[test]
fn split_barriers() {
    let body = "mul (M1, 16) AT(0,0)<1> V(0,0)<1;1,0> 0x4:ud\nlsc_store.slm (M1, 16) flat[AT]:a32 V:d32\nsbarrier.signal\n\
                mul (M1, 16) W(0,0)<1> V(0,0)<1;1,0> 0x7:ud\nsbarrier.wait\n\
                xor (M1, 16) AT(0,0)<1> V(0,0)<1;1,0> 0x30:ud\nmul (M1, 16) AT(0,0)<1> AT(0,0)<1;1,0> 0x4:ud\n\
                lsc_load.slm (M1, 16) V:d32 flat[AT]:a32\nadd (M1, 16) V(0,0)<1> V(0,0)<1;1,0> W(0,0)<1;1,0>";
    run(body, "", |n| (n ^ 48) + n * 7);
}

fn function(name: &str, body: &str) -> String {
    format!(
        ".version 4.2\n.global_function \"{name}\"\n.decl GIVEN v_type=G type=ud num_elts=16 align=GRF alias=<%arg, 0>\n\
         .decl TAKEN v_type=G type=ud num_elts=16 align=GRF alias=<%retval, 0>\n.decl X v_type=G type=ud num_elts=16 align=GRF\n\
         .decl P1 v_type=P num_elts=16\n.kernel_attr SimdSize=16\n.kernel_attr ArgSize=2\n.kernel_attr RetValSize=2\n{body}\n"
    )
}

#[test]
fn functions_by_name_and_by_address() {
    let double = function(
        "double",
        "add (M1, 16) TAKEN(0,0)<1> GIVEN(0,0)<1;1,0> GIVEN(0,0)<1;1,0>\nfret (M1, 16)",
    );
    let square = function(
        "square",
        "mov (M1, 16) X(0,0)<1> GIVEN(0,0)<1;1,0>\ncmp.lt (M1, 16) P1 X(0,0)<1;1,0> 0x8:ud\nmul (M1, 16) TAKEN(0,0)<1> X(0,0)<1;1,0> X(0,0)<1;1,0>\n\
         (P1) fret (M1, 16)\nadd (M1, 16) TAKEN(0,0)<1> TAKEN(0,0)<1;1,0> 0x1:ud\nfret (M1, 16)",
    );
    let functions = double + &square;
    // Only some lanes call, by name.
    let by_name = "mov (M1, 16) GIVEN(0,0)<1> V(0,0)<1;1,0>\ncmp.ge (M1, 16) P1 V(0,0)<1;1,0> 0x5:ud\n\
                   (P1) fcall (M1, 16) square 2 2\n(P1) mov (M1, 16) V(0,0)<1> TAKEN(0,0)<1;1,0>";
    let squared = |n: u32| if n < 8 { n * n } else { n * n + 1 };
    run(by_name, &functions, |n| if n < 5 { n } else { squared(n) });
    // Even threads call one address, odd threads another.
    let by_address = "and (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> 0x1:ud\ncmp.eq (M1_NM, 1) P2 N(0,0)<0;1,0> 0x0:ud\nfaddr double F(0,0)<1>\n\
                      (P2) jmp (M1, 1) known\nfaddr square F(0,0)<1>\nknown:\nmov (M1, 16) GIVEN(0,0)<1> V(0,0)<1;1,0>\n\
                      ifcall (M1, 16) F(0,0)<0;1,0> 2 2\nmov (M1, 16) V(0,0)<1> TAKEN(0,0)<1;1,0>";
    run(by_address, &functions, |n| if n / 16 % 2 == 0 { 2 * n } else { squared(n) });
}
