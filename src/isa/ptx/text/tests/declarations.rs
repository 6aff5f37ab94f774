use super::*;
use crate::module::{AddressMode, AddressOf, Formal, FunctionId, Linkage, VariableId};
use crate::types::{StateSpace, Ty};

#[test]
fn variables_of_a_module() {
    let module = declared(
        ".visible .global .attribute(.managed) .align 16 .b8 a[4][2], b;
         .const .v4 .f32 c; .weak .const .u64 d = 5; .extern .shared .align 8 .b8 e[]; .common .global .u32 f[3];
         .global .surfref s; .shared .f64 g; .extern .global .b32 h[];",
    );
    let shape = |name: &str| {
        let found = variable(&module, name);
        (found.space, found.linkage, found.ty, found.size, found.align)
    };
    assert_eq!(shape("a"), (StateSpace::Global, Linkage::Visible, Ty::B8, 8, 16));
    assert_eq!(shape("b"), (StateSpace::Global, Linkage::Visible, Ty::B8, 1, 16));
    assert!(variable(&module, "a").managed && !variable(&module, "c").managed);
    assert_eq!(shape("c"), (StateSpace::Const, Linkage::Local, Ty::F32, 16, 16));
    assert_eq!(shape("d"), (StateSpace::Const, Linkage::Weak, Ty::U64, 8, 8));
    assert_eq!(shape("e"), (StateSpace::Shared, Linkage::Extern, Ty::B8, 0, 8));
    assert_eq!(shape("f"), (StateSpace::Global, Linkage::Common, Ty::U32, 12, 4));
    assert_eq!(shape("s"), (StateSpace::Global, Linkage::Local, Ty::Surfref, 8, 8));
    assert_eq!(shape("g"), (StateSpace::Shared, Linkage::Local, Ty::F64, 8, 8));
    assert_eq!(shape("h"), (StateSpace::Global, Linkage::Extern, Ty::B32, 0, 4));
}

#[test]
fn variables_that_are_none() {
    for text in [
        ".reg .b32 x;",
        ".local .b32 x;",
        ".param .b32 x;",
        ".tex .u32 x;",
        ".sreg .b32 x;",
        ".const[2] .b32 x;",
        ".common .shared .b32 x;",
        ".global .pred x;",
        ".global .bf16 x;",
        ".global .b33 x;",
        ".global .v4 .f64 x;",
        ".global .v3 .f32 x;",
        ".global .v8 .b8 x;",
        ".shared .texref x;",
        ".global .b32 x[0];",
        ".global .b32 x[2+2];",
        ".global .b32 x[];",
        ".global .b32 x[2][];",
        ".global .b32 x",
        ".global .b32 x,;",
        ".global .b32 x; .global .b32 x;",
        ".func x; .global .b32 x;",
        ".global .attribute(.unified(1,2)) .b32 x;",
        ".global .b32 .align 8 x;",
        ".extern .global .b32 x; .global .b32 x;",
        ".extern .global .b32 x = 1;",
    ] {
        errors(&format!("{HEAD}{text}"));
    }
    errors(".version 8.0 .target sm_60 .global .b128 x;");
    errors(".version 8.2 .target sm_80 .global .b128 x;");
    module(".version 8.3 .target sm_70 .global .b128 x;");
    module(".version 1.4 .target sm_10 .const[3] .b32 x; .tex .u32 y;");
}

#[test]
fn extern_variables_may_be_defined() {
    let module =
        declared(".extern .global .b32 x[]; .visible .global .b32 x[4]; .extern .global .b32 x[];");
    assert_eq!(module.variables.len(), 1);
    assert_eq!((module.variables[0].size, module.variables[0].linkage), (16, Linkage::Visible));
}

#[test]
fn initial_contents() {
    assert_eq!(bytes(".global .u32 x = 1+1;"), [2, 0, 0, 0]);
    assert_eq!(bytes(".global .b8 x[4] = {1, -1, 256};"), [1, 255, 0]);
    assert_eq!(bytes(".const .b16 x[] = {1, 2};"), [1, 0, 2, 0]);
    assert_eq!(bytes(".global .b8 x[2][3] = {{1}, {2, 3}};"), [1, 0, 0, 2, 3]);
    assert_eq!(bytes(".global .v2 .b16 x[2] = {{1, 2}, {3, 4}};"), [1, 0, 2, 0, 3, 0, 4, 0]);
    assert_eq!(bytes(".global .f32 x = 1.0;"), 1_f32.to_le_bytes());
    assert_eq!(bytes(".global .f64 x[1] = {0d3ff0000000000000};"), 1_f64.to_le_bytes());
    assert_eq!(bytes(".global .f32 x = 0d3ff0000000000000;"), 1_f32.to_le_bytes());
    assert_eq!(bytes(".global .b32 x = 0f3f800000;"), 1_f32.to_le_bytes());
    assert_eq!(bytes(".global .b8 x[2] = {0xff00(0x1234), 0xff(0x1234)};"), [0x12, 0x34]);
    assert_eq!(declared(".const .b16 x[] = {1, 2, 3};").variables[0].size, 6);
}

#[test]
fn initial_contents_that_are_none() {
    for text in [
        ".shared .b32 x = 1;",
        ".global .f16 x = 1.0;",
        ".global .b32 x = {1};",
        ".global .b32 x[2] = 1;",
        ".global .b32 x[2] = {1, 2, 3};",
        ".global .b32 x[2] = {1, 2,};",
        ".global .b32 x[2][2] = {1, 2, 3, 4};",
        ".global .b32 x[] = {};",
        ".global .f32 x = 1;",
        ".global .f32 x = 1e39;",
        ".global .u32 x = 0f3f800000;",
        ".global .b32 x = 1.0;",
        ".global .b64 x = x;",
        ".global .b64 x = y; .global .b64 y;",
        ".shared .b32 s; .global .b64 x = s;",
        ".global .b32 y; .global .b64 x = y-4;",
        ".global .b32 y; .global .b64 x = y*2;",
        ".global .b32 y; .global .b8 x = y;",
        ".global .b32 y; .global .f64 x = y;",
        ".global .b32 y; .global .b8 x = 0x1ff(y);",
        ".global .b32 y; .global .b32 x = 0xff(y);",
        ".global .b32 x<2> = 1;",
    ] {
        errors(&format!("{HEAD}{text}"));
    }
}

#[test]
fn addresses_in_initial_contents() {
    let module = declared(
        ".func f; .global .b32 y; .const .b32 c;
         .global .u64 x[6] = {1, y, y+8, generic(y), generic(c)+-4, f};
         .global .b8 m[8] = {0xff(y), 0xff00(y+4), 0xff0000(generic(y))};",
    );
    let addresses = &variable(&module, "x").initial.as_ref().unwrap().addresses;
    let found: Vec<_> = addresses
        .iter()
        .map(|one| (one.offset, one.of, one.generic, one.addend, one.bits))
        .collect();
    let (y, c) = (AddressOf::Variable(VariableId(0)), AddressOf::Variable(VariableId(1)));
    let f = AddressOf::Function(FunctionId(0));
    assert_eq!(
        found,
        [
            (8, y, false, 0, 64),
            (16, y, false, 8, 64),
            (24, y, true, 0, 64),
            (32, c, true, -4, 64),
            (40, f, false, 0, 64)
        ]
    );
    let parts: Vec<_> = (variable(&module, "m").initial.as_ref().unwrap().addresses.iter())
        .map(|one| (one.offset, one.first_bit, one.bits, one.addend))
        .collect();
    assert_eq!(parts, [(0, 0, 8, 0), (1, 8, 8, 4), (2, 16, 8, 0)]);
    let old = super::module(".version 3.0 .target sm_20 .global .b32 y; .global .u32 x = y;");
    assert!(variable(&old, "x").initial.as_ref().unwrap().addresses[0].generic);
}

#[test]
fn samplers() {
    let module = declared(
        ".global .samplerref s = { addr_mode_0 = clamp_to_edge, addr_mode_2 = mirror, filter_mode = linear,
         force_unnormalized_coords = 1 };",
    );
    let sampler = module.variables[0].initial.as_ref().unwrap().sampler.unwrap();
    assert_eq!(
        sampler.address_modes,
        [AddressMode::ClampToEdge, AddressMode::Wrap, AddressMode::Mirror]
    );
    assert!(sampler.linear && sampler.unnormalized);
    refused(".global .samplerref s = { filter_mode = cubic };", "`nearest` or `linear`");
    refused(".global .samplerref s = { color = 1 };", "a property");
    refused(".global .surfref s = { addr_mode_0 = wrap };", "no initial content");
}

#[test]
fn functions_and_their_directives() {
    let module = declared(
        ".visible .entry k(.param .u64 .ptr.global.align 16 a, .param .align 8 .b8 b[12], .param .f16 c)
         .pragma \"nounroll\"; .maxntid 16, 8 .minnctapersm 2 .maxnreg 32 { ret; }
         .entry r .reqntid 32 { }
         .weak .func (.reg .pred p) f (.reg .f32 x, .param .b8 rest[]) .noreturn { ret; }
         .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
         .func (.param .b32 r0, .param .b32 r1) two ();",
    );
    let [k, r, f, printf, two] = &module.functions[..] else { panic!() };
    assert!(k.kernel && k.linkage == Linkage::Visible && k.max_threads == Some([16, 8, 1]));
    assert_eq!(r.required_threads, Some([32, 1, 1]));
    let sizes: Vec<u64> = (k.inputs.iter())
        .map(|formal| match formal {
            Formal::Param(id) => module.variable(*id).size,
            Formal::Reg(..) => panic!(),
        })
        .collect();
    assert_eq!(sizes, [8, 12, 2]);
    assert!(f.noreturn && f.linkage == Linkage::Weak);
    assert!(
        matches!(f.outputs[..], [Formal::Reg(_, Ty::Pred)])
            && matches!(f.inputs[0], Formal::Reg(_, Ty::F32))
    );
    assert!(printf.body.is_none() && two.outputs.len() == 2);
}

#[test]
fn functions_that_are_none() {
    for text in [
        ".entry k(.reg .b32 x) { }",
        ".entry k(.param .pred x) { }",
        ".entry k(.param .v2 .b32 x) { }",
        ".entry k(.param .b32 x,) { }",
        ".entry k(.param .b8 x[]) { }",
        ".entry k(.param .b8 x[5000]) { }",
        ".entry k(.param .b8 x[8], .param .b8 x[8]) { }",
        ".entry (.param .b32 r) k() { }",
        ".entry k() .maxntid 1,2,3,4 { }",
        ".entry k() .maxntid 32 .reqntid 32 { }",
        ".entry k() .maxntid 0 { }",
        ".entry k() .noreturn { }",
        ".entry k() .maxnctapersm 1 { }",
        ".entry k() .explicitcluster { }",
        ".func f() .maxntid 32 { }",
        ".func f(.param .b8 x[], .param .b32 y) { }",
        ".func f(.param .texref x) { }",
        ".func f { } .func f { }",
        ".func f(.param .b32 x); .func f(.param .b64 x) { }",
        ".func f; .entry f { }",
        ".extern .func f { }",
        ".extern .func f; .func f { }",
        ".common .func f;",
        ".func f {",
        ".func f .target sm_80",
        ".func f .maxnreg 4 .func g;",
        ".entry k()",
        ".entry k() .func g;",
        ".func f(.reg .v2 .b32 x); .func f(.reg .b64 x) { }",
        ".func f { } }",
    ] {
        errors(&format!("{HEAD}{text}"));
    }
    module(".version 8.1 .target sm_80 .entry k(.param .b8 x[5000]) { }");
}

#[test]
fn declarations_join_their_definitions() {
    let module = declared(
        ".visible .func (.param .b32 r) f (.param .b32 a); .extern .func g; .visible .func g { ret; }
         .global .u64 t[1] = {f};
         .visible .func (.param .b32 rr) f (.param .b32 aa) { ret; }
         .visible .func (.param .b32 r) f (.param .b32 a);",
    );
    assert_eq!(module.functions.len(), 2);
    assert!(
        module
            .functions
            .iter()
            .all(|function| function.body.is_some() && function.linkage == Linkage::Visible)
    );
    assert_eq!(module.variables[0].name, "rr");
}

#[test]
fn aliases() {
    let module = declared(".func a(.param .b32 x); .func b(.param .b32 x) { ret; } .alias a, b;");
    assert_eq!(module.functions[0].alias, Some(FunctionId(1)));
    for text in [
        ".func a; .weak .func b { } .alias a, b;",
        ".func a; .func b; .alias a, b;",
        ".func a { } .func b { } .alias a, b;",
        ".func a(.param .b32 x); .func b { } .alias a, b;",
        ".func b { } .alias a, b;",
        ".func a; .entry b { } .alias a, b;",
        ".func a; .alias a, a;",
    ] {
        errors(&format!("{HEAD}{text}"));
    }
}

#[test]
fn debug_directives_are_skipped() {
    let module = declared(
        ".file 1 \"a.cu\", 123, 45\n.file 2 \"b.cu\"
         .section .debug_str { info: .b8 1,-2,0xff\n .b16 3 .b32 .debug_abbrev .b64 L+4 .b32 a-b\n end: }
         .func f { .loc 1 5 3 ret; .loc 1 6 1, function_name info+4, inlined_at 1 2 3\n ret; }
         .pragma \"a\", \"b\";",
    );
    assert_eq!(module.files, [(1, "a.cu".to_string()), (2, "b.cu".to_string())]);
    let body = module.functions[0].body.as_ref().unwrap();
    assert_eq!(body.source_line(0).unwrap().line, 5);
    assert_eq!(body.source_line(1).unwrap().line, 6);
    refused(".section debug { }", "the name of a section");
    refused(".section .debug { ", "without `}`");
    refused(".file \"a\"", "the number of a file");
    refused("@@DWARF x", "`@`");
    super::module(".version 1.4 .target sm_10 @@DWARF .section x\n.func f { @@DWARF .loc 1\n }");
}
