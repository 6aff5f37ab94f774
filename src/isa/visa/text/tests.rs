//! Tests spellings that the compiler does not print, and errors.

use super::{instruction_text, print, read, read_each};
use crate::module::Module;
use crate::types::Align;

const HEAD: &str = ".version 4.1
.kernel k
.decl V32 v_type=G type=ud num_elts=(4+4)*2 align=GRF
.decl V33 v_type=G type=f num_elts=16 align=32 alias=<V32, 0>
.decl P1 v_type=P num_elts=16
.decl A0 v_type=A num_elts=16
.decl S0 v_type=S num_elts=1
.decl T6 v_type=T num_elts=1
.kernel_attr SimdSize=16
.kernel_attr NoBarrier
";

fn module(lines: &str) -> Result<Module, String> {
    read(format!("{HEAD}{lines}\n").as_bytes()).map_err(|errors| errors.to_string())
}

/// Returns the text of the last instruction.
fn last(lines: &str) -> String {
    let module = module(lines).unwrap_or_else(|errors| panic!("{lines}:\n{errors}"));
    let routine = &module.routines[0];
    instruction_text(routine, routine.code.last().expect("an instruction"))
}

#[test]
fn other_spellings() {
    let cases = [
        ("mov (16) V32(0,0)<1> -1:d", "mov (M1, 16) V32(0,0)<1> 0xffffffff:d"),
        ("mov (M5_NM, 4) V33<1> 1.5:f", "mov (M5_NM, 4) V33(0,0)<1> 0x3fc00000:f"),
        ("mov (M1, 1) V33(0,1)<1> -0.5", "mov (M1, 1) V33(0,1)<1> 0xbf000000:f"),
        (
            "mov (M1,16) V32(0 , 0)<1> r[ A0(0), -16 ]<1,0>:ud",
            "mov (M1, 16) V32(0,0)<1> r[A0(0),-16]<1,0>:ud",
        ),
        (
            "addr_add (M1, 4) A0(4)<4> &V32[2*16] V32(0,0)<1;1,0>",
            "addr_add (M1, 4) A0(4)<4> &V32[32] V32(0,0)<1;1,0>",
        ),
        (
            "(!P1.any) typed_atomic.imin.16 (M3, 8) T6 V32.0 V0.0 V0.0 V0.0 V32.(16*2) %null.0 V33.0",
            "(!P1.any) typed_atomic.minsint.16 (M3, 8) T6 V32.0 %null.0 %null.0 %null.0 V32.32 %null.0 V33.0",
        ),
        (
            "typed_atomic.predec (M1, 8) %bss V32.0 V0.0 V0.0 V0.0 V0.0 V0.0 V33.0",
            "typed_atomic.predec (M1, 8) %bss V32.0 %null.0 %null.0 %null.0 %null.0 %null.0 V33.0",
        ),
        (
            "lsc_load.ugm (M1, 16) V33:d8u32 flat[V32]:a32",
            "lsc_load.ugm (M1, 16)  V33:d8c32  flat[V32]:a32",
        ),
        (
            "lsc_load.ugm.ca.uc (M1, 1) V33:d16c32hx4t bti(0x1A)[0x2*V32.64-0x10]:a32",
            "lsc_load.ugm.ca.uc (M1, 1)  V33:d16c32hx4t  bti(0x1A)[0x2*V32.64-0x10]:a32",
        ),
        (
            "lsc_load_block2d.ugm (M1, 1) V33:d16.2x8x16nt flat[V32,0x3F,0x1F,0x3F,V32(0,1),V32(0,2)]",
            "lsc_load_block2d.ugm (M1, 1)  V33:d16.2x8x16nt  flat[V32,0x3F,0x1F,0x3F,V32(0,1),V32(0,2)]",
        ),
        (
            "lsc_store_quad.tgm (M1, 16) bss(V32)[V32,V33]:a32 V33:d32.xz",
            "lsc_store_quad.tgm (M1, 16)  bss(V32)[V32,V33]:a32  V33:d32.xz",
        ),
        (
            "mad.sat (M1, 16) V33(0,0)<1> (-)V33(0,0)<1;1,0> (abs)V33(0,0)<1;1,0> (-abs)V33(0,0)<8;8,1>",
            "mad.sat (M1, 16) V33(0,0)<1> (-)V33(0,0)<1;1,0> (abs)V33(0,0)<1;1,0> (-abs)V33(0,0)<8;8,1>",
        ),
        (
            "and (M1, 16) V32(0,0)<1> (~)V32(0,0)<1;1,0> 0xf:ud",
            "and (M1, 16) V32(0,0)<1> (~)V32(0,0)<1;1,0> 0xf:ud",
        ),
        (
            "dpas.u8.s8.8.8 (M1, 8) V32.0 %null.0 V32.0 V32(0,0)",
            "dpas.u8.s8.8.8 (M1, 8) V32.0 %null.0 V32.0 V32(0,0)",
        ),
        (
            "sample_lz.pixel_null_mask.RG (M1, 16) 0x0:uw S31 %bss V33.0 V33.0",
            "sample_lz.pixel_null_mask.RG (M1, 16)  0x0:uw S31 %bss V33.0 V33.0",
        ),
        ("fence_global.ESL1", "fence_global.ESL1"),
        ("fence_local", "fence_local."),
        ("sbarrier.signal", "sbarrier.signal"),
        (
            "add3.o.sat (M1, 16) V32(0,0)<1> 1:ud 2:ud 3:ud",
            "add3.o.sat (M1, 16) V32(0,0)<1> 0x1:ud 0x2:ud 0x3:ud",
        ),
        ("svm_block_ld (4) V32(0,0)<0;1,0> V33.0", "svm_block_ld (4) V32(0,0)<0;1,0> V33.0"),
        (
            "svm_atomic.cmpxchg.64 (M1, 8) V32.0 V33.0 V32.64 V32.128",
            "svm_atomic.cmpxchg.64 (M1, 8) V32.0 V33.0 V32.64 V32.128",
        ),
        ("FILE \"a \\\"b\\\".cl\"", "FILE \"a \\\"b\\\".cl\""),
        ("faddr \".str\" V32(0,0)<1>", "faddr \".str\" V32(0,0)<1>"),
        ("lifetime.start V32", "lifetime.start V32"),
        ("a: switchjmp (M1, 1) V32(0,0)<0;1,0> (a, a)", "switchjmp (M1, 1) V32(0,0)<0;1,0> (a, a)"),
    ];
    for (from, to) in cases {
        assert_eq!(last(from), to, "{from}");
    }
}

#[test]
fn scopes_and_comments() {
    let lines = "/* two
lines // */ mov (M1, 1) V32(0,0)<1> 0x1:ud // \"quoted
{ .decl V33 v_type=G type=df num_elts=1
mov (M1, 1) V33(0,0)<1> 0x1:df /// $2
}
mov (M1, 1) V33(0,0)<1> 0x1:f";
    let module = module(lines).unwrap();
    let routine = &module.routines[0];
    let texts: Vec<_> = routine.code.iter().map(|one| format!("{:?}", one.operands[0])).collect();
    assert!(
        texts[0].contains("VariableId(32)")
            && texts[1].contains("VariableId(34)")
            && texts[2].contains("VariableId(33)")
    );
    assert!(print(&module).contains(".kernel_attr NoBarrier\n"));
}

/// The compiler prints variables of inline assembly without the scopes that they are in.
#[test]
fn a_name_that_is_declared_again() {
    let again = module(
        ".decl t v_type=G type=d num_elts=16 align=32word\n.decl t v_type=G type=d num_elts=32 align=GRF\n.decl q v_type=P num_elts=8\n\
         .decl q v_type=P num_elts=16\n.decl q v_type=P num_elts=8\n.decl A0 v_type=A num_elts=16\nmov (M1, 16) t(1,0)<1> 0x1:d",
    )
    .unwrap();
    let routine = &again.routines[0];
    let t: Vec<_> =
        routine.variables[2..].iter().map(|one| (&*one.name, one.elements, one.align)).collect();
    assert_eq!(t, [("t", 32, Align::Word32)]);
    let predicates: Vec<_> =
        routine.predicates.iter().map(|one| (&*one.name, one.elements)).collect();
    assert_eq!((predicates, routine.addresses.len()), (vec![("P1", 16), ("q", 16)], 1));
    // Code does not say which of two different variables it means.
    for other in [
        "v_type=G type=f num_elts=8",
        "v_type=G type=d num_elts=8 alias=<V32, 0>",
        "v_type=P num_elts=8",
    ] {
        let error = module(&format!(".decl t v_type=G type=d num_elts=8\n.decl t {other}"))
            .map(drop)
            .unwrap_err();
        assert!(
            error.contains("12:7: `t` is declared a second time with another type"),
            "{other}: {error}"
        );
    }
    // The printed text of variables in scopes reads as the original variables.
    let scopes = module(
        "{\n.decl t v_type=G type=d num_elts=16\nmov (M1, 16) t(0,0)<1> 0x1:d\n}\n{\n.decl t v_type=G type=f num_elts=16\n\
         mov (M1, 16) t(0,0)<1> 0x1:d\n}",
    )
    .unwrap();
    let printed = print(&scopes);
    let variables = |module: &Module| module.routines[0].variables.clone();
    assert_eq!(variables(&read(printed.as_bytes()).unwrap()), variables(&scopes), "{printed}");
}

#[test]
fn an_unreadable_routine_hides_no_other() {
    let wrong = "movv (M1, 1) V32(0,0)<1> 0x1:ud\n".repeat(30);
    let text = format!(
        "{HEAD}{wrong}.version 4.2\n.kernel \"b\"\nret (M1, 1)\n.global_function \"f\"\n{{\nfret (M1, 1)\n"
    );
    let found = read_each(text.as_bytes()).unwrap().routines;
    let names: Vec<_> = found
        .iter()
        .map(|one| one.as_ref().map(|one| &*one.name).map_err(|one| &*one.name))
        .collect();
    assert_eq!(names, [Err("k"), Ok("b"), Err("f")]);
    assert_eq!(found[0].as_ref().unwrap_err().errors.errors.len(), 20);
    assert_eq!(found[1].as_ref().unwrap().version.minor, 2);
    assert!(
        found[2].as_ref().unwrap_err().errors.to_string().contains("routine `f` ends in a scope")
    );
    assert!(read_each(format!("what\n{HEAD}").as_bytes()).is_err());
}

#[test]
fn a_kernel_and_its_functions_in_one_file() {
    let module =
        module("fcall (M1, 16) f 1 1\n.version 4.2\n.global_function \"f\"\n.function \"f_0\"\nf_0:\nfret (M1, 16)")
            .unwrap();
    let names: Vec<_> =
        module.routines.iter().map(|one| (&*one.name, one.kernel, one.version.minor)).collect();
    assert_eq!(names, [("k", true, 1), ("f", false, 2)]);
    assert_eq!(module.routines[1].code.len(), 2);
}

#[test]
fn names_are_printed_as_they_are_read() {
    let lines =
        "a$b:\na_b:\ngoto (M1, 1) a-b\na-b:\nfcall (M1, 16) \"c d\" 1 1\nfcall (M1, 16) c$d 1 1";
    let module = module(lines).unwrap();
    let printed = print(&module);
    assert!(
        printed.contains("\na$b:\n") && printed.contains("fcall (M1, 16) \"c d\" 1 1"),
        "{printed}"
    );
    assert_eq!(print(&read(printed.as_bytes()).unwrap()), printed);
}

#[test]
fn registers_of_64_bytes_are_seen() {
    assert_eq!(module("ret (M1, 1)").unwrap().register_bytes(), 32);
    let wide = ".decl V34 v_type=G type=d num_elts=16 align=wordx32 alias=<%r0, 0>";
    assert_eq!(module(wide).unwrap().register_bytes(), 64);
}

#[test]
fn what_is_refused() {
    let cases = [
        ("mov (M1, 3) V32(0,0)<1> 0x1:ud", "3 lanes"),
        ("mov (M1, 1) V32(0,0)<3> 0x1:ud", "stride or width 3"),
        ("mov (M1, 1) V32(0,256)<1> 0x1:ud", "row or column 256"),
        ("mov (M1, 1) V32(0,0)<1> 0x100000000:ud", "0x100000000 in an immediate"),
        ("mov (M1, 1) V32(0,0) 0x1:ud", "expected a region"),
        ("mov (M1, 1) V32(0,0)<1>", "found the line's end, expected an operand"),
        ("mov (M1, 1) V32(0,0)<1> 0x1:ud 0x1:ud", "expected the line's end"),
        ("movv (M1, 1) V32(0,0)<1> 0x1:ud", "instruction `movv`"),
        ("barrier.sat", "does not saturate"),
        ("(P1) barrier", "takes no predicate"),
        ("lsc_load.tgm (M1, 1) V32:d32 flat[V32]:a32", "expected `.ugm`, `.ugml` or `.slm`"),
        ("lsc_load.ugm (M1, 1) V32:d32x5 flat[V32]:a32", "5 elements"),
        ("{", "ends in a scope"),
        ("}", "expected an open scope"),
        ("a:\na:", "defined a second time"),
        ("/* never", "a comment without an end"),
        (".decl V40 v_type=G type=d num_elts=1/0", "cannot be computed"),
        (".decl V40 v_type=G type=d num_elts=65536", "65536 elements"),
        (".decl V40 v_type=X num_elts=1", "kind `X`"),
        (".input V40 offset=0 size=4", "`V40` is no variable"),
        (".function \"a%b\"", "the name `a%b`, expected letters"),
        ("call (M1, 1) \"a b\"", "the name `a b`, expected letters"),
    ];
    for (lines, expected) in cases {
        let error = module(lines).map(|_| ()).expect_err(lines);
        assert!(error.contains(expected), "{lines}: {error}");
    }
    let deep = format!(".decl V40 v_type=G type=d num_elts={}1", "(".repeat(100_000));
    assert!(module(&deep).unwrap_err().contains("nest too deep"));
}
