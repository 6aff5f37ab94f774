use super::*;
use crate::module::Operand;
use crate::read;

fn resolved(mnemonic: &str) -> Result<Form, String> {
    resolve(&mnemonic.split('.').collect::<Vec<_>>())
}

fn refused(mnemonic: &str) -> String {
    resolved(mnemonic).map(|form| form.words).unwrap_err()
}

#[test]
fn words_of_the_opcode_come_first() {
    let form = resolved("mad.lo.s32").unwrap();
    assert_eq!(
        (form.row.opcode, &form.words[..], &form.types[..]),
        ("mad.lo", &[Word::Lo][..], &[Ty::S32][..])
    );
    assert!(resolved("mad.s32.lo").is_err());
    assert_eq!(resolved("cvta.to.global.u64").unwrap().row.opcode, "cvta.to");
}

#[test]
fn words_stand_in_the_order_of_the_line() {
    let form = resolved("fma.f32.sat.ftz.rn").unwrap();
    assert_eq!(form.words[..], [Word::Rn, Word::Ftz, Word::Sat]);
    let form = resolved("mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32").unwrap();
    assert!(form.words.ends_with(&[Word::Col, Word::Row]));
}

#[test]
fn errors_say_what_is_wrong_with_a_mnemonic() {
    assert_eq!(refused("frob.u32"), "unknown instruction `frob`");
    assert_eq!(refused("add.sideways.u32"), "`add` does not take `.sideways`");
    assert_eq!(refused("add.v2.u32"), "`add` does not take `.v2`");
    assert_eq!(refused("add.rn"), "`add` needs a type");
    assert_eq!(refused("add.sat.u16"), "`add` does not combine `.sat.u16`");
    assert_eq!(refused("mov"), "`mov` needs a type");
    assert_eq!(refused(&format!("add{}", ".rn".repeat(100))), "`add` with 100 modifiers");
    assert_eq!(resolve(&[]).unwrap_err(), "an instruction without a name");
}

#[test]
fn errors_say_what_a_form_needs() {
    let check = |mnemonic, sm, suffix, version| {
        available(&resolved(mnemonic).unwrap(), Target { sm, suffix }, version)
            .map_err(|message| message.to_string())
    };
    let needs = |text: &str| Err(text.to_owned());
    assert_eq!(check("add.f16", 50, None, (8, 8)), needs("`add` needs sm_53, not sm_50"));
    assert_eq!(check("add.f16", 53, None, (4, 1)), needs("`add` needs PTX 4.2"));
    assert_eq!(check("add.f16", 53, None, (4, 2)), Ok(()));
    assert_eq!(check("ld.shared::cta.u32", 90, None, (7, 7)), needs("`ld` needs PTX 7.8"));
    assert_eq!(check("wgmma.fence.sync.aligned", 90, Some('a'), (8, 0)), Ok(()));
    assert_eq!(
        check("wgmma.fence.sync.aligned", 90, None, (8, 0)),
        needs("`wgmma.fence` needs sm_90a, not sm_90")
    );
    assert_eq!(
        check("wgmma.fence.sync.aligned", 100, Some('a'), (8, 8)),
        needs("`wgmma.fence` needs sm_90a, not sm_100a")
    );
    let fence = "tcgen05.fence::before_thread_sync";
    assert_eq!(check(fence, 100, Some('a'), (8, 6)), Ok(()));
    assert_eq!(check(fence, 103, Some('a'), (8, 8)), Ok(()));
    assert_eq!(check(fence, 100, Some('f'), (8, 8)), Ok(()));
    assert_eq!(
        check(fence, 103, Some('a'), (8, 7)),
        needs("`tcgen05.fence::before_thread_sync` needs PTX 8.8")
    );
    assert!(
        check(fence, 100, None, (8, 8)).is_err() && check(fence, 120, Some('a'), (8, 8)).is_err()
    );
    assert_eq!(check("vote.all.pred", 70, None, (6, 3)), Ok(()));
    assert_eq!(
        check("vote.all.pred", 70, None, (6, 4)),
        needs("`vote` is no more from sm_70 and PTX 6.4 on")
    );
}

/// Returns the result of the operand checks of a statement.
fn operands(statement: &str) -> String {
    let text = format!(
        ".version 8.8\n.target sm_90\n.address_size 64\n.shared .b32 s;\n.entry k () {{\n\
         .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<4>; .reg .pred %p<4>; .reg .b16 %h<4>;\n{statement}\n}}\n"
    );
    match read(text.as_bytes()) {
        Ok(_) => String::new(),
        Err(errors) => errors.to_string().split_once("`: ").unwrap_or_default().1.to_owned(),
    }
}

#[test]
fn errors_say_what_is_wrong_with_an_operand() {
    let cases = [
        ("add.u32 %r1, %r2, 5;", ""),
        ("add.u32 %r1, %r2;", "found 2 operands, expected 3"),
        ("min.f32 %f1, %f2;", "found 2 operands, expected 3 to 4"),
        ("add.f32 %f1, %f2, 1;", "found a constant of another kind, expected one of type .f32"),
        ("add.u32 %r1, %rd1, %r2;", "found a register of type .b64, expected .u32"),
        ("add.u32 5, %r1, %r2;", "found a constant, expected a register of type .u32"),
        ("add.f16 %h1, %h2, 1.0;", "found a constant, expected a register of type .f16"),
        ("add.u32 %r1, %r2, %tid.x;", "found a special register, which only mov and cvt take"),
        ("ld.global.u32 %r1, [s];", "found `s`, which lies in another state space"),
        ("ld.global.u32 %r1, [%f1];", "found a register of type .f32, which holds no address"),
        ("ld.global.v2.u32 %r1, [%rd1];", "found no braces, expected 2 elements"),
        ("ld.global.v2.u32 {%r1, %r2, %r3, %r1}, [%rd1];", "found 4 elements, expected 2"),
        ("bar.sync 16;", "found 16, expected 0 to 15"),
        ("bar.sync 1, 33;", "found 33 threads, expected a multiple of 32"),
        ("shl.b64 %rd1, %rd2, %rd3;", "found a register of type .b64, expected .u32"),
        ("mov.b32 %r1, {%h1, %h2, %h3};", "found 3 elements, which make no .b32"),
        ("elect.sync %r1, -1;", "found one destination, expected two: `d|p`"),
        ("testp.finite.f32 %r1, %f1;", "found a register of type .b32, expected .pred"),
    ];
    for (statement, expected) in cases {
        assert_eq!(operands(statement).trim(), expected, "{statement}");
    }
}

#[test]
fn an_error_names_its_operand() {
    let form = resolved("bar.sync").unwrap();
    let module = read(b".version 8.8\n.target sm_90\n.entry k () { ret; }").unwrap();
    let body = module.functions[0].body.clone().unwrap();
    let wrong = check_operands(&form, &[Operand::Integer(0), Operand::Integer(1)], &module, &body);
    assert_eq!(wrong.unwrap_err().0, 1);
}
