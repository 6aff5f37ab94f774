use super::*;
use crate::module::Literal;

#[test]
fn text_has_seven_bits_and_may_end_in_zeros() {
    for text in
        [".file 1 \"caf\u{e9}\"", ".global .u32 \u{e9};", "# 1 \u{e9}\n", "\u{feff}.func f;"]
    {
        assert!(errors(&format!("{HEAD}{text}")).contains("expected 7-bit text"), "{text}");
    }
    // Comments may have any bytes.
    let head = HEAD.as_bytes();
    let comments: &[u8] =
        b"// caf\xe9\n/* \xff \" */ .file 1 \"// \"\n// \xe2\x86\x92 \"\n.func f;";
    assert_eq!(read(&[head, comments].concat()).unwrap().functions.len(), 1);
    let error = read(&[head, b"/* \xc3 */ \xc3".as_slice()].concat()).unwrap_err();
    assert!(error.to_string().starts_with("4:9: found the byte 0xc3"), "{error}");
    let zeros = format!("{HEAD}.func f;\0\0\u{ff}");
    assert_eq!(read(zeros.as_bytes()).unwrap().functions.len(), 1);
}

#[test]
fn comments_and_line_markers_are_blanks() {
    body("add.u32 /* a, b */ %r1, // c\n %r2,\r\n\x0c /* */ %r3 /**/ ;");
    body("add/* */.u32%r1,%r2,%r3;");
    declared("# 12 \"file\"\n#line 3\n.func f;");
    refused("#define X 1\n.func f;", "preprocessor");
    refused("/* no end", "ends in a comment");
    refused("/* /* */ */ .func f;", "`*`");
}

#[test]
fn names() {
    for name in ["%a", "$a", "_a", "$str$1", "add", "ld", "global", "a_b$c", "%1", "__"] {
        declared(&format!(".global .b32 {name};"));
        body(&format!(".reg .b32 {name}; add.u32 {name}, {name}, 1; bra {name}; {name}: ret;"));
    }
    for name in [
        "_", "$", "%", "a.b", "a%b", "9a", "%%a", "\u{1}", "a-b", "WARP_SZ", "%tid", "%laneid",
        "%envreg3",
    ] {
        errors(&format!("{HEAD}.global .b32 {name};"));
    }
    let long = "x".repeat(10_000);
    assert_eq!(declared(&format!(".global .b32 {long};")).variables[0].name, long);
    refused_body("ADD.u32 %r1, %r2, %r3;", "ADD");
    refused_body("add.U32 %r1, %r2, %r3;", "U32");
}

#[test]
fn dots_begin_words() {
    body("add .u32 %r1, %r2, %r3;");
    refused_body("add. u32 %r1, %r2, %r3;", "no word behind it");
    body("ld.global.L1::no_allocate.L2::64B.b32 %r1, [%rd1];");
    errors(&kernel("ld.global.L1:: no_allocate.b32 %r1, [%rd1];"));
}

#[test]
fn integers() {
    for (text, value) in [
        ("0", 0),
        ("12", 12),
        ("0x1F", 31),
        ("0XfU", 15),
        ("017", 15),
        ("0b101", 5),
        ("0B11U", 3),
        ("7U", 7),
        ("18446744073709551615", u64::MAX),
        ("18446744073709551616", 0),
        ("0x1ffffffffffffffff", u64::MAX),
        ("-1", u64::MAX),
        ("WARP_SZ", 32),
    ] {
        assert_eq!(integer(text), value, "{text}");
    }
    for text in ["08", "0o17", "1u", "1L", "0x", "0b2", "0xg", "12a", "'a'", "nan", "0x1p3"] {
        errors(&kernel(&format!("mov.u64 %rd1, {text};")));
    }
}

#[test]
fn floats() {
    for (text, value) in [
        ("1.5", Literal::Decimal(1.5)),
        (".5", Literal::Decimal(0.5)),
        ("1.", Literal::Decimal(1.0)),
        ("1e3", Literal::Decimal(1000.0)),
        ("2.5E-1", Literal::Decimal(0.25)),
        ("-1.5", Literal::Decimal(-1.5)),
        ("08.5", Literal::Decimal(8.5)),
        ("0f3f800000", Literal::F32(0x3f80_0000)),
        ("0F3F800000", Literal::F32(0x3f80_0000)),
        ("0d3ff0000000000000", Literal::F64(0x3ff0_0000_0000_0000)),
    ] {
        assert_eq!(operands(&format!("mov.f64 %fd1, {text};"))[1], Operand::Float(value), "{text}");
    }
    for text in [
        "0f3f80000",
        "0f3f8000000",
        "0d3ff000000000000",
        "0f",
        "1.5f",
        "1e",
        "1e+",
        "-0f3f800000",
        "1.5.5",
    ] {
        errors(&kernel(&format!("mov.f64 %fd1, {text};")));
    }
}

#[test]
fn expressions_of_integers() {
    for (text, value) in [
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("10-3-2", 5),
        ("-7/2", -3_i64 as u64),
        ("(.u64)-1/2", 0x7fff_ffff_ffff_ffff),
        ("-1/2U", 0x7fff_ffff_ffff_ffff),
        ("(.s64)0xffffffffffffffff/2", 0),
        ("-7 % 4", (-7_i64 as u64) % 4),
        ("7 % 3", 1),
        ("1<<65", 2),
        ("-16>>2", -4_i64 as u64),
        ("0xfffffffffffffff0>>2", 0x3fff_ffff_ffff_fffc),
        ("~0>>60", 15),
        ("-1<0", 1),
        ("-1<0U", 0),
        ("-1<=0 && 3>=3", 1),
        ("1 > 2 || 2 > 1", 1),
        ("1==1", 1),
        ("2!=2", 0),
        ("!0", 1),
        ("!5", 0),
        ("6&3|8^1", 2 | (8 ^ 1)),
        ("1?2:3", 2),
        ("0?2:0?4:5", 5),
        ("1|1<<4+1", 33),
        ("+-+4", -4_i64 as u64),
        ("0x8000000000000000/-1", 0),
    ] {
        assert_eq!(integer(text), value, "{text}");
    }
    assert_eq!(integer("(-9223372036854775807-1)/-1"), 1 << 63);
    refused_body("mov.u64 %rd1, 1/0;", "division by zero");
    refused_body("mov.u64 %rd1, 1 % (2-2);", "division by zero");
    refused_body("mov.u64 %rd1, 7%3;", "`%3`");
    refused_body("mov.u64 %rd1, (.u32)7;", "`.s64` or `.u64`");
    refused_body("mov.u64 %rd1, (1;", "`)`");
    refused_body("mov.u64 %rd1, 1?2;", "`:`");
}

#[test]
fn expressions_of_floats() {
    for (text, value) in
        [("1.0+2.0*3.0", 7.0), ("1.0/4.0", 0.25), ("1?0.5:2.5", 0.5), ("-(1.5-1.0)", -0.5)]
    {
        let operand = &operands(&format!("mov.f64 %fd1, {text};"))[1];
        assert_eq!(*operand, Operand::Float(Literal::Decimal(value)), "{text}");
    }
    for text in
        ["1.0+1", "1.0<2.0", "1.5?2.0:3.0", "1?2.0:3", "~1.0", "0f3f800000+1.0", "(.s64)1.0"]
    {
        errors(&kernel(&format!("mov.f64 %fd1, {text};")));
    }
}
