//! Short texts stay within the limits.

use super::*;

#[test]
fn families_of_registers_cost_nothing() {
    let module = body(".reg .b32 %x<4000000000>; add.u32 %x3999999999, %x1, %x01;");
    let registers = &module.functions[0].body.as_ref().unwrap().registers;
    assert_eq!(registers.len(), 2);
    refused_body(".reg .b32 %x<5000000000>;", "at most");
    refused_body(".reg .b32 %x<4>; mov.u32 %x4, 1;", "not declared");
    let zeros = "0".repeat(100_000);
    refused_body(&format!("mov.u32 %r{zeros}1, 1;"), "not declared");
}

#[test]
fn names_by_count_have_a_limit() {
    assert_eq!(declared(".global .b8 x<1000>;").variables.len(), 1000);
    refused(".global .b8 x<100000>;", "more than a module may have");
    refused_body("t: .branchtargets L<60000>, L<60000>;", "more than a module may have");
}

#[test]
fn sizes_have_limits() {
    refused(".global .b8 x[1152921504606846976];", "bytes");
    refused(".global .b64 x[4294967296][4294967296][4294967296];", "bytes");
    refused(".shared .b8 x[4294967296];", "bytes");
    refused(&format!(".global .b8 x{};", "[2]".repeat(33)), "dimensions");
    refused(".global .b8 x[2][1000000000] = {{1}, {2}};", "zeros");
    refused(".global .b8 x[][1000000000] = {{1}, {2}};", "zeros");
    declared(".global .b8 x[2][1000000] = {{1}, {2}};");
    refused(".global .align 131072 .b8 x;", "at most");
    refused(".global .align 3 .b8 x;", "power of two");
}

#[test]
fn depth_has_a_limit() {
    let deep = |count: usize| format!("{}1{}", "(".repeat(count), ")".repeat(count));
    assert_eq!(integer(&deep(50)), 1);
    for count in [1000, 100_000] {
        refused_body(&format!("mov.u64 %rd1, {};", deep(count)), "deeper");
        refused_body(&format!("mov.u64 %rd1, {}1;", "-".repeat(count)), "deeper");
        refused_body(&format!("mov.u64 %rd1, {}1;", "1?1:".repeat(count)), "deeper");
        refused_body(&format!("mov.u64 %rd1, {}1;", "1+(1*".repeat(count)), "deeper");
    }
    refused_body(&format!("{}{}", "{".repeat(100_000), "}".repeat(100_000)), "scopes");
    body(&format!("{}{}", "{".repeat(4000), "}".repeat(4000)));
    refused_body("mov.b32 %r1, {%r1, {%r2, %r3}};", "an operand");
    refused_body("ld.u32 %r1, [%rd1, [%rd1, [%rd1]]];", "an operand");
}

#[test]
fn errors_are_placed_and_limited() {
    let text = kernel(&"add.u32 %r1, %r2, %r99;\n".repeat(30));
    let errors = read(text.as_bytes()).unwrap_err();
    assert_eq!(errors.errors.len(), 20);
    let first = &errors.errors[0];
    assert_eq!(&text[first.at as usize..][..4], "%r99");
    let (line, column) = (first.line as usize, first.column as usize);
    assert_eq!(&text.lines().nth(line - 1).unwrap()[column - 1..][..4], "%r99");
    assert_eq!(first.message, "found `%r99`, which is not declared, expected an operand");
    assert!(errors.to_string().starts_with(&format!("{line}:{column}: found")));
}

#[test]
fn reading_goes_on_behind_an_error() {
    let text = kernel(
        "mov.u32 %r1, %no1;\n mov.b64 %rd1, {%no2, %r1};\n { mov.u32 %r1, [;\n } bra L; L: mov.u32 %r1, %no3;",
    );
    let errors = read(text.as_bytes()).unwrap_err();
    let messages: Vec<&str> = errors.errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(messages.len(), 4, "{messages:#?}");
    let text = format!(
        "{HEAD}.func f(.param .foo x) {{ ret; }}\n.global .b33 x;\n.func g {{ mov.u32 %r1, 1 }}\n.func h {{ ret; }}"
    );
    assert_eq!(read(text.as_bytes()).unwrap_err().errors.len(), 3);
}
