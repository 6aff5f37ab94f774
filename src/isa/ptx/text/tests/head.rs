use super::*;
use crate::module::Target;

#[test]
fn a_module_begins_with_version_and_target() {
    let read =
        module("// comment\n\n.version 9.5 .target sm_90a, texmode_independent .address_size 64");
    assert_eq!(
        (read.version, read.target, read.address_size),
        ((9, 5), Target { sm: 90, suffix: Some('a') }, 64)
    );
    assert!(read.independent_textures);
    let read = module(".version 2.0 .target compute_20");
    assert_eq!((read.target, read.address_size), (Target { sm: 20, suffix: None }, 32));
}

#[test]
fn heads_out_of_order_are_refused() {
    for text in [
        "",
        "// nothing",
        ".target sm_80 .version 8.0",
        ".version 8.0 .func f;",
        ".version 8.0 .address_size 64",
    ] {
        errors(text);
    }
    assert!(
        errors(".version 8.0 .target sm_80 .func f; .address_size 64").contains("behind `.target`")
    );
    assert!(errors(".version 8.0 .target sm_80 .version 8.0").contains("one `.version`"));
    assert!(errors(".version 8.0 .target sm_80 .address_size 48").contains("32 or 64"));
}

#[test]
fn versions_are_those_that_exist() {
    for version in ["1.0", "1.4", "2.3", "3.2", "4.3", "5.1", "6.5", "7.8", "8.8", "9.5"] {
        let target = if version.as_bytes()[0] < b'2' { "sm_10" } else { "sm_20" };
        module(&format!(".version {version} .target {target}"));
    }
    for version in ["8", "8.80", "8.08", "08.0", "3.3", "5.2", "9.6", "10.0", "0.9", "x"] {
        assert!(
            errors(&format!(".version {version} .target sm_20")).contains("a version from"),
            "{version}"
        );
    }
}

#[test]
fn targets_need_their_version() {
    for (target, version) in [
        ("sm_70", "5.1"),
        ("sm_89", "7.8"),
        ("sm_90a", "8.0"),
        ("sm_100f", "8.8"),
        ("sm_88", "9.0"),
    ] {
        module(&format!(".version {version} .target {target}"));
    }
    for (target, version) in [
        ("sm_70", "5.0"),
        ("sm_90a", "7.8"),
        ("sm_100a", "8.5"),
        ("sm_120f", "8.7"),
        ("sm_107", "9.3"),
    ] {
        assert!(
            errors(&format!(".version {version} .target {target}")).contains("needs version"),
            "{target}"
        );
    }
    for target in ["sm_81", "sm_80a", "sm_90f", "sm_080", "80", "gfx900", "sm_"] {
        assert!(
            errors(&format!(".version 9.5 .target {target}")).contains("expected a target"),
            "{target}"
        );
    }
}

#[test]
fn options_of_the_target() {
    module(".version 1.4 .target sm_12, map_f64_to_f32, texmode_unified");
    assert!(errors(".version 1.4 .target sm_13, map_f64_to_f32").contains("below sm_13"));
    assert!(errors(".version 8.0 .target sm_80, fast").contains("an option"));
    assert!(errors(".version 8.0 .target sm_80, debug").contains("without debug sections"));
    module(".version 8.0 .target sm_80, debug .section .debug_info { .b8 1 }");
}

#[test]
fn a_second_target_holds_from_there_on() {
    let statement = "{ .reg .b32 %r<3>; redux.sync.add.u32 %r1, %r2, -1; }";
    module(&format!(".version 8.0 .target sm_70 .func f {{ }} .target sm_80 .func g {statement}"));
    errors(&format!(".version 8.0 .target sm_70 .func f {statement} .target sm_80"));
    errors(&format!(
        ".version 8.0 .target sm_80 .func f {statement} .target sm_70 .func g {statement}"
    ));
}
