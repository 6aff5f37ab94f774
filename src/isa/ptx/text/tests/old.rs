//! Texts of old compilers, for old targets and of old versions.

use super::*;

fn old(version: &str, target: &str, text: &str) -> Module {
    module(&format!(".version {version}\n.target {target}\n{text}"))
}

fn mnemonics(module: &Module) -> Vec<String> {
    let body = module.functions.iter().find_map(|function| function.body.as_ref()).unwrap();
    body.statements.iter().map(|statement| module.form(statement.form).mnemonic()).collect()
}

#[test]
fn declarations_of_functions_may_end_without_a_semicolon() {
    let text = ".visible .func (.param .b32 r) f (.param .b32 a)
        .func g (.param .b64 a) .pragma \"x\";
        .file 1 \"a.cu\"
        .extern .func h
        .global .b32 total;
        .func (.param .b32 r) f2 (.param .b32 a)
        .const .b32 c;
        .func i
        .section .debug_x { .b8 1 }
        .func l";
    let module = declared(text);
    let names: Vec<&str> = module.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["f", "g", "h", "f2", "i", "l"]);
    assert_eq!(module.variables.iter().filter(|variable| variable.owner.is_none()).count(), 2);
}

#[test]
fn an_error_in_a_declaration_is_the_only_one() {
    // The text after it is read; names that it would have declared add no errors.
    let rest =
        ".global .b32 total; .func g { .reg .b32 %r<4>; call f; ld.global.b32 %r1, [total]; ret; }";
    for (text, at) in [
        (".func f .maxnreg 4", "4:9: found `.maxnreg`"),
        (".func (.param .frob r) f (.param .b32 a)", "4:15: found `.frob`"),
        (".global .b32 f[0] = {1}, x", "4:16: found an array of length 0"),
        (".visible .visible .func f", "4:10: found `.visible`"),
    ] {
        let errors = errors(&format!("{HEAD}{text}\n{rest}"));
        assert!(errors.starts_with(at), "{text}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{text}: {errors}");
    }
    let lost = errors(&format!(
        "{HEAD}.func f {{ .reg .frob %x<4>; mov.b32 %x1, %x2; add.u32 %y, %x3, 1; }}"
    ));
    assert_eq!(lost.lines().count(), 2, "{lost}");
    assert!(lost.contains("`%y`, which is not declared"), "{lost}");
}

#[test]
fn parameters_of_kernels_stood_in_bodies() {
    let text = ".entry k { .param .u32 n, m[2]; .param .u64 p; .reg .u32 %r; ld.param.u32 %r, [m+4]; exit; }";
    let read = old("1.3", "sm_13", text);
    let sizes: Vec<u64> = read.variables.iter().map(|variable| variable.size).collect();
    assert_eq!((read.functions[0].inputs.len(), sizes), (3, vec![4, 8, 8]));
}

#[test]
fn addresses_had_no_brackets() {
    let text = ".global .u32 g; .entry k { .reg .u32 %r<3>; ld.global.u32 %r1, g+4; st.global.u32 %r1, %r2; exit; }";
    old("1.1", "sm_10", text);
    errors(&format!(".version 1.2\n.target sm_10\n{text}"));
}

#[test]
fn forms_of_ptx_1_3_print_as_they_are_written() {
    let text = ".entry k { .reg .f32 %f<4>; div.f32 %f1, %f2, %f3; mad.f32 %f1, %f1, %f2, %f3; ex2.f32 %f1, %f1; exit; }";
    let read = old("1.3", "sm_10", text);
    assert_eq!(
        mnemonics(&read),
        ["div.approx.ftz.f32", "mad.rn.ftz.f32", "ex2.approx.ftz.f32", "exit"]
    );
    assert!(print(&read).contains("\tdiv.f32 "), "{}", print(&read));
    for (version, target) in [("1.4", "sm_10"), ("2.0", "sm_20")] {
        errors(&format!(".version {version}\n.target {target}\n{}", text.replace("k {", "k () {")));
    }
}

#[test]
fn a_module_may_have_registers_and_local_variables() {
    let text = ".local .u32 L; .reg .u32 g; .reg .v2 .f32 v;
        .func f { add.u32 g, g, 1; mov.f32 v.y, v.x; st.local.u32 [L], g; ret; }";
    let read = old("2.3", "sm_20", text);
    let expected = [
        "ld.local.b32",
        "add.u32",
        "st.local.b32", // g
        "ld.local.b32",
        "ld.local.b32",
        "mov.f32",
        "st.local.b32",
        "st.local.b32", // v
        "ld.local.b32",
        "st.local.u32",
        "ret",
    ];
    assert_eq!(mnemonics(&read), expected);
    errors(&format!(".version 3.0\n.target sm_20\n{text}"));
    let read = old("2.3", "sm_20", ".reg .u32 r<3>; .func f { mov.u32 r1, r2; ret; }");
    assert_eq!((read.variables.len(), mnemonics(&read).len()), (3, 5));
    for declaration in [".reg .pred p;", ".reg .u32 r<4>, r<4>;", ".extern .reg .u32 r;"] {
        errors(&format!(".version 2.3\n.target sm_20\n{declaration}"));
    }
}

#[test]
fn a_register_and_a_constant_are_a_source() {
    let read = body(
        "st.u32 [%rd1], %r1+5; add.u64 %rd1, %rd2+-1, %rd3+(1+2); @%p1 cvt.u32.u16 %r1, %h1+1;",
    );
    let expected = ["add.u32", "st.u32", "add.u64", "add.u64", "add.u64", "add.u16", "cvt.u32.u16"];
    assert_eq!(mnemonics(&read)[..7], expected);
    for statement in [
        "ld.u32 %r1+5, [%rd1];",
        "mov.u32 %r1+5, %r2;",
        "st.f32 [%rd1], %f1+5;",
        "st.u32 [%rd1], 5+%r1;",
        "st.v2.u32 [%rd1], {%r1+5, %r2};",
        "st.u32 [%rd1], %r1-5;",
        "st.u32 [%rd1], %tid.x+5;",
    ] {
        refused_body(statement, "");
    }
}

#[test]
fn vector_registers_are_parameters() {
    let text = ".func (.reg .v2 .u32 r) f (.reg .v2 .u32 a, .reg .v4 .u16 b) { mov.u32 r.x, a.y; mov.u32 r.y, a.x; ret; }
        .func g { .reg .v2 .u32 p; .reg .v4 .u16 q; .reg .b64 t; call (p), f, (p, q);
        c: .callprototype (.reg .v2 .u32 _) _ (.reg .v2 .u32 _, .reg .v4 .u16 _); mov.u64 t, f; call (p), t, (p, q), c; ret; }";
    let read = declared(text);
    assert_eq!((read.functions[0].outputs.len(), read.functions[0].inputs.len()), (2, 6));
    for call in ["call (p), f, ({a, a}, q);", "call (p), f, (q);", "call (p.x), f, (p, q);"] {
        let text = text.replace("call (p), f, (p, q);", call).replace("p;", "p; .reg .u32 a;");
        errors(&format!("{HEAD}{text}"));
    }
}

#[test]
fn directives_have_floors() {
    let section = ".entry k() { exit; } .section .debug_info { L0: .b32 0 L1: .b32 L1-L0 }";
    for (version, target, text, taken) in [
        ("7.0", "sm_75", ".global .u32 p; .global .u8 s[1] = {0xFF(p)};", false),
        ("7.1", "sm_75", ".global .u32 p; .global .u8 s[1] = {0xFF(p)};", true),
        ("8.0", "sm_75", ".entry k() .maxclusterrank 8 { exit; }", false),
        ("7.8", "sm_90", ".entry k() .maxclusterrank 8 { exit; }", true),
        ("6.3", "sm_75", ".func f() .noreturn { trap; }", false),
        ("6.4", "sm_75", ".func f() .noreturn { trap; }", true),
        ("6.5", "sm_75", ".entry k() { exit; } .section .debug_info { L0: .b32 0 }", false),
        ("7.0", "sm_75", ".entry k() { exit; } .section .debug_info { L0: .b32 0 }", true),
        ("7.4", "sm_75", section, false),
        ("7.5", "sm_75", section, true),
        ("1.5", "sm_13", ".pragma \"x\";", false),
        ("2.0", "sm_13", ".pragma \"x\";", true),
    ] {
        let text = format!(".version {version}\n.target {target}\n{text}");
        assert_eq!(read(text.as_bytes()).is_ok(), taken, "{text}");
    }
}
