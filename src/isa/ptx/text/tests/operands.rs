use super::*;
use crate::module::{Address, AddressOf, Base, Literal, Register, SpecialRegister, VariableId};

const VAR: AddressOf = AddressOf::Variable(VariableId(0));

fn register(n: u32) -> Operand {
    Operand::Register(Register(n))
}

fn address(base: Base, offset: i64, index: Option<u32>) -> Operand {
    Operand::Address(Address { base, offset, index: index.map(Register) })
}

#[test]
fn addresses() {
    let of = |text: &str| operands(&format!("ld.local.u32 %r1, {text};"))[1].clone();
    let base = Base::Register(Register(1));
    assert_eq!(of("[%rd1]"), address(base, 0, None));
    assert_eq!(of("[ %rd1 + 8 ]"), address(base, 8, None));
    assert_eq!(of("[%rd1+-4]"), address(base, -4, None));
    assert_eq!(of("[%rd1+2*(3+1)]"), address(base, 8, None));
    assert_eq!(of("[%rd1+0x10000000000000000]"), address(base, 0, None));
    assert_eq!(of("[16]"), address(Base::None, 16, None));
    let of = |text: &str| operands(&format!("ld.global.u32 %r1, {text};"))[1].clone();
    assert_eq!(of("[var]"), address(Base::Symbol(VAR), 0, None));
    assert_eq!(of("[var+4]"), address(Base::Symbol(VAR), 4, None));
    assert_eq!(of("var[4]"), address(Base::Symbol(VAR), 4, None));
    assert_eq!(of("var[%r2]"), address(Base::Symbol(VAR), 0, Some(1)));
    assert_eq!(of("var[%r2+4]"), address(Base::Symbol(VAR), 4, Some(1)));
    assert_eq!(of("[%rd1].unified"), address(base, 0, None));
    refused_body("ld.global.u32 %r1, [var].unified;", "behind a variable");
    refused_body("st.global.u32 [%rd1].unified, %r1;", "addresses of `ld`");
    for text in [
        "[%rd1-4]",
        "[var-4]",
        "[%rd1+%rd2]",
        "[4+var]",
        "[var[1]]",
        "[]",
        "[%rd1",
        "var[]",
        "[_]",
        "[%tid.x]",
        "[1.0]",
    ] {
        errors(&kernel(&format!("ld.global.u32 %r1, {text};")));
    }
}

#[test]
fn symbols() {
    assert_eq!(operands("mov.u64 %rd1, var;")[1], Operand::Symbol(VAR, 0));
    assert_eq!(operands("mov.u64 %rd1, var+4;")[1], Operand::Symbol(VAR, 4));
    let parameter = AddressOf::Variable(VariableId(1));
    assert_eq!(operands("mov.u64 %rd1, pp;")[1], Operand::Symbol(parameter, 0));
    refused_body("mov.u64 %rd1, nothing;", "`nothing`, which is not declared");
    refused_body("mov.u64 %rd1, var-4;", "`-`");
}

#[test]
fn vectors_and_pairs() {
    assert_eq!(
        operands("mov.b32 %r1, {%h1, 5};")[1],
        Operand::Vector(vec![register(1), Operand::Integer(5)])
    );
    assert_eq!(
        operands("mov.b32 {_, %h1}, %r1;")[0],
        Operand::Vector(vec![Operand::Sink, register(0)])
    );
    let floats = operands("st.global.v4.b32 [%rd1], {0f00000000, 1, %r1, 0f3f800000};");
    assert!(
        matches!(&floats[1], Operand::Vector(all) if all[0] == Operand::Float(Literal::F32(0)) && all.len() == 4)
    );
    let vector = operands(".reg .v4 .f32 %v; st.global.v4.f32 [%rd1], %v;");
    assert_eq!(vector[1], Operand::Vector((0..4).map(register).collect()));
    assert_eq!(operands(".reg .v4 .f32 %v; mov.f32 %v.b, %v.w;")[..], [register(2), register(3)]);
    let pair = |text: &str| match &operands(text)[0] {
        Operand::Pair(pair) => (**pair).clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(pair("setp.eq.u32 %p1|%p2, %r1, %r2;"), [register(0), register(1)]);
    assert_eq!(pair("setp.eq.u32 _ | %p2, %r1, %r2;"), [Operand::Sink, register(0)]);
    assert_eq!(pair("shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;"), [register(0), register(1)]);
    for text in [
        "mov.b32 %r1, {};",
        "mov.b32 %r1, {%h1,};",
        "mov.b32 %r1, {%h1;",
        "setp.eq.u32 %p1|, %r1, %r2;",
        ".reg .v2 .f32 %v; mov.f32 %v.z, 1.0;",
        ".reg .v2 .f32 %v; mov.f32 %v.h0, 1.0;",
        "mov.u32 %r1.x, 1;",
    ] {
        errors(&kernel(text));
    }
}

#[test]
fn predicates() {
    assert_eq!(operands("and.pred %p1, %p2, !%p3;")[2], Operand::Not(Register(2)));
    assert_eq!(operands("and.pred %p1, %p2, ! /* */ %p3;")[2], Operand::Not(Register(2)));
    assert_eq!(operands("mov.pred %p1, !0;")[1], Operand::Integer(1));
    for text in [
        "and.pred %p1, %p2, !;",
        "and.pred %p1, %p2, !var;",
        "add.u32 %r1, %r2, ~%r3;",
        "add.u32 %r1, %r2, |%r3;",
    ] {
        errors(&kernel(text));
    }
}

#[test]
fn textures() {
    let declarations = "mov.u64 %rd1, var; tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, ";
    let of = |text: &str| operands(&format!("{declarations}{text};"))[1].clone();
    let Operand::Bracket(all) = of("[%rd1, {%f5, %f6}]") else { panic!() };
    assert!(matches!(&all[..], [Operand::Register(Register(0)), Operand::Vector(_)]));
    let text = format!(
        "{HEAD}.global .texref t; .global .samplerref s; .entry k {{ {REGISTERS}
         tex.1d.v4.f32.s32 {{%f1, %f2, %f3, %f4}}, [t, s, {{%r1}}]; tex.1d.v4.f32.s32 {{%f1, %f2, %f3, %f4}}, [t, %r1]; }}"
    )
    .replacen("sm_80", "sm_80, texmode_independent", 1);
    let module = super::module(&text);
    let body = module.functions[0].body.as_ref().unwrap();
    assert!(matches!(&body.statements[0].operands[1], Operand::Bracket(all) if all.len() == 3));
    assert!(
        matches!(&body.statements[1].operands[1], Operand::Bracket(all) if all[0] == Operand::Symbol(VAR, 0))
    );
}

#[test]
fn special_registers() {
    let of = |text: &str| operands(&format!("mov.u32 %r1, {text};"))[1].clone();
    assert_eq!(of("%tid.x"), Operand::Special(SpecialRegister::Tid(0)));
    assert_eq!(of("%nctaid.w"), Operand::Special(SpecialRegister::Nctaid(3)));
    assert_eq!(of("%laneid"), Operand::Special(SpecialRegister::LaneId));
    assert_eq!(of("%envreg31"), Operand::Special(SpecialRegister::EnvReg(31)));
    assert_eq!(of("%pm7"), Operand::Special(SpecialRegister::Pm(7)));
    let all = operands(".reg .v4 .u32 %v; mov.v4.u32 %v, %ctaid;");
    assert_eq!(
        all[1],
        Operand::Vector((0..4).map(|n| Operand::Special(SpecialRegister::Ctaid(n))).collect())
    );
    for name in ["%envreg32", "%envreg03", "%pm8", "%tid.q", "%laneid.x", "%nothing", "%clock_lo"] {
        errors(&kernel(&format!("mov.u32 %r1, {name};")));
    }
    refused_body("mov.u32 %r1, %cluster_ctarank;", "needs sm_90");
    let old = ".version 7.5 .target sm_80 .entry k { .reg .b32 %r; mov.b32 %r, %reserved_smem_offset_1; }";
    assert!(errors(old).contains("needs version 7.6"));
}

#[test]
fn every_special_register_prints_as_its_name() {
    use super::super::special;
    for name in [
        "%laneid",
        "%warpid",
        "%nwarpid",
        "%smid",
        "%nsmid",
        "%gridid",
        "%lanemask_eq",
        "%lanemask_le",
        "%lanemask_lt",
        "%lanemask_ge",
        "%lanemask_gt",
        "%clock",
        "%clock_hi",
        "%clock64",
        "%globaltimer",
        "%globaltimer_lo",
        "%globaltimer_hi",
        "%pm0",
        "%pm7_64",
        "%envreg0",
        "%dynamic_smem_size",
        "%total_smem_size",
        "%aggr_smem_size",
        "%reserved_smem_offset_begin",
        "%reserved_smem_offset_end",
        "%reserved_smem_offset_cap",
        "%reserved_smem_offset_0",
        "%reserved_smem_offset_1",
        "%is_explicit_cluster",
        "%cluster_ctarank",
        "%cluster_nctarank",
        "%current_graph_exec",
    ] {
        assert_eq!(special::text(special::by_name(name).unwrap().register), name);
    }
    for name in [
        "tid",
        "ntid",
        "ctaid",
        "nctaid",
        "clusterid",
        "nclusterid",
        "cluster_ctaid",
        "cluster_nctaid",
    ] {
        let found = special::by_name(&format!("%{name}")).unwrap();
        assert!(found.vector);
        assert_eq!(special::text(special::component(found.register, 2)), format!("%{name}.z"));
    }
}

#[test]
fn selectors_of_video_instructions() {
    let of = |text: &str| operands(text);
    let selected = |n, negated, selector| Operand::Selected {
        register: Box::new(register(n)),
        negated,
        selector,
    };
    let found = of("vadd.s32.s32.s32 %r1.h0, %r2.b3, %r3.h1, %r4;");
    assert_eq!(
        found[..3],
        [selected(0, false, "h0"), selected(1, false, "b3"), selected(2, false, "h1")]
    );
    let found = of("vadd4.s32.s32.s32 %r1.b310, %r2.b7654, %r3.b0123, %r4;");
    assert_eq!(
        found[..3],
        [selected(0, false, "b310"), selected(1, false, "b7654"), selected(2, false, "b0123")]
    );
    let found = of("vadd2.s32.s32.s32 %r1.h10, %r2.h32, %r3.h03, %r4;");
    assert_eq!(found[1..3], [selected(1, false, "h32"), selected(2, false, "h03")]);
    let found = of("vmad.s32.s32.s32 %r1, -%r2.h0, %r3.b1, %r4;");
    assert_eq!(found[1], selected(1, true, "h0"));
    assert_eq!(of("vmad.u32.u32.u32 %r1, %r2, %r3, -%r4;")[3], Operand::Negated(Register(3)));
    for selector in ["b4", "h2", "h44", "b8888", "b765", "h9", "b", "x0", "b07654"] {
        errors(&kernel(&format!("vadd.s32.s32.s32 %r1, %r2.{selector}, %r3;")));
    }
}
