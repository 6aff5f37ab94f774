use super::*;
use crate::module::{AddressOf, Body, FunctionId, Guard, LabelId, Register};
use crate::types::Ty;

fn code(statements: &str) -> Body {
    body(statements).functions.pop().unwrap().body.unwrap()
}

#[test]
fn registers() {
    let body = code(
        ".reg .b32 a, b<3>, c; .reg .v2 .f32 v; mov.u32 b1, a; mov.f32 v.x, v.y; mov.u32 c, b01;",
    );
    let names: Vec<(&str, Ty)> =
        body.registers.iter().map(|register| (register.name.as_str(), register.ty)).collect();
    let b = |name| (name, Ty::B32);
    assert_eq!(names, [b("a"), b("c"), ("v.x", Ty::F32), ("v.y", Ty::F32), b("b1")]);
    for text in [
        ".reg .bf16 a;",
        ".reg .texref a;",
        ".reg .b32 a[2];",
        ".reg .b32 a = 1;",
        ".reg .b32 a; .reg .b32 a;",
        ".reg .b32 a<2>; .reg .b32 a1;",
        ".reg .b32 a<2>; .reg .b32 a<3>;",
        ".reg .b32 %tid;",
        ".reg .b32 a",
    ] {
        errors(&kernel(text));
    }
}

#[test]
fn scopes() {
    let body = code(
        "{ .reg .f32 a; mov.f32 a, a; } { .reg .b64 a; mov.b64 a, a; { .reg .b16 a; mov.b16 a, a; } mov.b64 a, a; }",
    );
    let used: Vec<Ty> = (body.statements.iter())
        .map(|statement| match statement.operands[0] {
            Operand::Register(Register(n)) => body.registers[n as usize].ty,
            _ => panic!(),
        })
        .collect();
    assert_eq!(used, [Ty::F32, Ty::B64, Ty::B16, Ty::B64]);
    code("{ .reg .b32 %r<5>; mov.u32 %r1, 1; } { .reg .b32 %r<5>; mov.u32 %r1, 1; }");
    code(".reg .b32 pp; mov.u32 pp, 1;");
    refused_body("{ .reg .b32 a; } mov.u32 a, 1;", "not declared");
    refused_body("mov.u32 a, 1; .reg .b32 a;", "not declared");
    refused_body(".extern .shared .b8 x[];", "a directive of a body");
    // The register of an inner scope hides that of a family, and a family hides a register.
    let body = code(
        ".reg .b32 a<5>; { .reg .f32 a1; mov.f32 a1, a1; { .reg .b64 a<3>; mov.b64 a1, a1; } }",
    );
    assert_eq!(
        body.registers.iter().map(|register| register.ty).collect::<Vec<_>>(),
        [Ty::F32, Ty::B64]
    );
}

#[test]
fn variables_of_functions_have_an_owner() {
    let module = body(
        "{ .shared .b32 s; .local .align 8 .b8 l[8]; .param .b32 q; st.shared.u32 [s], 1; } .global .b32 s = 4;",
    );
    let owned: Vec<_> = module
        .variables
        .iter()
        .filter(|one| one.owner.is_some())
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(owned, ["pp", "s", "l", "q", "s"]);
}

#[test]
fn labels() {
    let body = code("bra L; A: B: ret; { bra L; L: ret; bra A; } L: bra C; C:");
    let statements: Vec<u32> = body.labels.iter().map(|label| label.statement).collect();
    assert_eq!(statements, [1, 1, 3, 5, 6]);
    let targets: Vec<Option<usize>> = (body.statements.iter())
        .map(|statement| match statement.operands.first() {
            Some(&Operand::Label(LabelId(n))) => Some(n as usize),
            _ => None,
        })
        .collect();
    assert_eq!(targets, [Some(3), None, Some(2), None, Some(0), Some(4)]);
    code("@%p1 bra add; add: bra %a; %a: ret;");
    refused_body("{ L: ret; } bra L;", "no label here");
    refused_body("L: ret; L: ret;", "twice");
    refused_body("bra L;", "no label here");
    refused_body(".L1: ret;", "");
    refused_body("bra 3;", "a label");
}

#[test]
fn lists_of_targets() {
    let module = module(&format!(
        "{HEAD}.func f; .func g; .func k (.reg .u32 i, .reg .u64 h) {{
         ts: .branchtargets A, N<2>, A; ct: .calltargets f, g;
         pr : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;
         .param .align 8 .b8 a[16];
         brx.idx i, ts; A: N0: N1: call h, ct; call (i), h, (h, a), pr; call h, (), ct; }}"
    ));
    let body = module.functions[2].body.as_ref().unwrap();
    let label = |n| LabelId(n);
    assert_eq!(body.branch_targets, [[label(0), label(1), label(2), label(0)]]);
    assert_eq!(body.call_targets, [[FunctionId(0), FunctionId(1)]]);
    assert_eq!(
        (&body.prototypes[0].inputs[..], &body.prototypes[0].outputs[..]),
        (&[(8, 8), (16, 8)][..], &[(4, 4)][..])
    );
    assert!(body.prototypes[0].noreturn);
    assert_eq!(body.statements[0].operands[1], Operand::BranchTargets(0));
    assert_eq!(body.statements[1].operands[3], Operand::CallTargets(0));
    assert_eq!(body.statements[2].operands[3], Operand::Prototype(0));
    assert_eq!(body.statements[3].operands[2], Operand::List(vec![]));
    refused_body("brx.idx %r1, ts; ts: .branchtargets L; L:", "not declared");
    refused_body("ts: .branchtargets L;", "no label here");
    refused_body("ct: .calltargets f;", "not declared");
    refused_body("pr: .callprototype _ (.param .b32 _,);", "");
}

#[test]
fn calls() {
    let text = |call: &str| {
        format!(
            "{HEAD}.func (.param .b32 r) f (.param .b32 a, .param .b32 b); .func g; .func h (.reg .b32 x);
             .entry k {{ .reg .b32 %r<3>; .reg .b64 %rd; .param .b32 p0, p1; {call} }}"
        )
    };
    let operands = |call: &str| {
        let module = super::module(&text(call));
        module.functions[3].body.as_ref().unwrap().statements[0].operands.clone()
    };
    let function = |n| Operand::Symbol(AddressOf::Function(FunctionId(n)), 0);
    let found = operands("call.uni (p0), f, (p0, 5);");
    assert!(
        matches!(&found[..], [Operand::List(a), f, Operand::List(b)] if a.len() == 1 && *f == function(0) && b.len() == 2)
    );
    for call in ["call g;", "call g, ();", "call.uni g, ( ) ;"] {
        assert_eq!(operands(call)[..], [Operand::List(vec![]), function(1), Operand::List(vec![])]);
    }
    assert_eq!(operands("call h, (%r1);")[2], Operand::List(vec![Operand::Register(Register(1))]));
    assert_eq!(operands("call (_), f, (1, 2);")[0], Operand::List(vec![Operand::Sink]));
    for call in [
        "call;",
        "call no;",
        "call p0;",
        "call (p0) f, (1, 2);",
        "call f, (1,);",
        "call f, (1;",
        "call g, g;",
        "call 5;",
    ] {
        errors(&text(call));
    }
    for (call, message) in [
        ("call f, (1, 2);", "0 return values of a call, expected 1"),
        ("call (p0), f, (1);", "1 arguments of a call, expected 2"),
        (
            "call (p0), f, (%rd, 1);",
            "a register of `.b64` as argument 1 of a call, expected 4 bytes",
        ),
        ("call (5), f, (1, 1);", "another operand as return value 1"),
        ("{ .param .b64 p; call h, (p); }", "8 bytes of `p` as argument 1"),
        ("{ .local .b32 p; call h, (p); }", "`p`, which is no `.param`"),
        ("call k;", "found a kernel"),
        ("{ .reg .pred q; call h, (q); }", "a register of `.pred`"),
        ("{ ct: .calltargets g; call %rd, (1), ct; }", "1 arguments of a call, expected 0"),
        (
            "{ pr: .callprototype _ (.param .b32 _); call %rd, pr; }",
            "0 arguments of a call, expected 1",
        ),
    ] {
        let errors = errors(&text(call));
        assert!(errors.contains(message), "{errors}");
    }
    let arrays = ".func f(.param .align 8 .b8 a[16], .param .b8 b[]); .entry k { .param .align 8 .b8 x[16], y[8];";
    declared(&format!("{arrays} call f, (x, y); }}"));
    refused(&format!("{arrays} call f, (y, y); }}"), "8 bytes of `y`");
    refused(
        &format!("{arrays} .param .align 4 .b8 z[16]; call f, (z, y); }}"),
        "alignment 4, not 8",
    );
    // Recursion, and a function that is declared before its definition.
    declared(".func a; .func b { call a; call b; ret; } .func a { call b; }");
    refused(".func b { call a; } .func a { }", "not declared");
}

#[test]
fn guards() {
    let body = code("@%p1 ret; @ ! %p2 bra L; L: ret;");
    assert_eq!(body.statements[0].guard, Some(Guard { register: Register(0), not: false }));
    assert_eq!(body.statements[1].guard, Some(Guard { register: Register(1), not: true }));
    for text in
        ["@%p1 { ret; }", "@1 ret;", "@%r1 ret;", "@%p1 .reg .b32 x;", "@%p1 L: ret;", "@%p1;"]
    {
        errors(&kernel(text));
    }
}

#[test]
fn statements_end_in_semicolons() {
    refused_body("ret;;", "`;`");
    let text = kernel("ret\nret;");
    let errors = read(text.as_bytes()).unwrap_err();
    // The error is at the next statement.
    assert_eq!(&text[errors.errors[0].at as usize - 1..][..4], "\nret");
    refused_body("frobnicate.u32 %r1;", "frobnicate");
    refused_body("ret; )", "`)`");
}

#[test]
fn equal_mnemonics_are_one_form() {
    let module = body(
        "add.u32 %r1, %r2, 1; add .u32 %r1, %r2, 1; add/**/.u32 %r1, %r2, 1; add.s32 %r1, %r2, 1;",
    );
    assert_eq!(module.forms.len(), 2);
}
