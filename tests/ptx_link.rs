//! Modules of PTX that are linked, on both engines.

use warploom::{Arg, EngineKind, LaunchOptions, LaunchOutcome, Program};
use warploom_container::ptx::parse_linked;
use warploom_ptx::LinkErrors;
use warploom_replay::{Launch, Session};
use warploom_runtime::memory::MemoryConfig;

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

fn head(body: &str) -> String {
    format!(".version 7.8\n.target sm_80\n.address_size 64\n{body}\n")
}

/// Returns a module whose kernel `k` leaves `%result` at its parameter.
fn kernel(before: &str, body: &str) -> String {
    head(&format!(
        "{before}\n.visible .entry k(.param .u64 pout)\n{{\n\
         .reg .b64 %out, %d<8>; .reg .b32 %result, %r<8>; .reg .pred %p<2>;\n\
         ld.param.u64 %out, [pout];\n{body}\nst.global.u32 [%out], %result;\nret;\n}}"
    ))
}

fn named(texts: &[String]) -> Vec<(&'static str, &[u8])> {
    ["a.ptx", "b.ptx", "c.ptx"].into_iter().zip(texts.iter().map(|text| text.as_bytes())).collect()
}

fn launch(texts: &[String], engine: EngineKind) -> (Program, u32, LaunchOutcome) {
    let module = parse_linked(&named(texts)).unwrap_or_else(|error| panic!("{error}"));
    let program = Program::new(module, MemoryConfig::default()).unwrap();
    let out = program.memory().alloc(4, 256).unwrap();
    program.memory().write(out, &[0; 4]).unwrap();
    let options = LaunchOptions { engine, ..LaunchOptions::new([1, 1, 1], [1, 1, 1]) };
    let outcome = program.kernel("k").unwrap().launch(&[Arg::pointer(out)], &options).unwrap();
    let mut word = [0; 4];
    program.memory().read(out, &mut word).unwrap();
    (program, u32::from_le_bytes(word), outcome)
}

/// Returns the result of `k`.
fn run(texts: &[String]) -> u32 {
    let [a, b] = ENGINES.map(|engine| {
        let (_, result, outcome) = launch(texts, engine);
        assert!(
            outcome.fault.is_none(),
            "{engine}: {:?}",
            outcome.fault.map(|fault| fault.to_string())
        );
        result
    });
    assert_eq!(a, b, "the engines differ");
    a
}

fn link(texts: &[String]) -> Result<warploom_ptx::module::Module, LinkErrors> {
    let read = |(name, text): (&str, &[u8])| {
        warploom_ptx::read(text).unwrap_or_else(|error| panic!("{error}")).named(name)
    };
    warploom_ptx::link(named(texts).into_iter().map(read).collect())
}

/// Returns the errors of a link, one a line.
fn errors(texts: &[String]) -> String {
    link(texts).expect_err("an error").to_string()
}

const CALL_F: &str = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], 5; call (y), f, (x); ld.param.b32 %result, [y]; }";
const EXTERN_F: &str = ".extern .func (.param .b32 r) f(.param .b32 x);";

fn function(linkage: &str, name: &str, add: u32) -> String {
    format!(
        "{linkage} .func (.param .b32 r) {name}(.param .b32 x)\n{{\n.reg .b32 %r<2>;\nld.param.b32 %r0, [x];\nadd.u32 %r1, %r0, {add};\nst.param.b32 [r], %r1;\nret;\n}}\n"
    )
}

#[test]
fn functions_are_found_in_other_modules() {
    let user = kernel(EXTERN_F, CALL_F);
    assert_eq!(run(&[user.clone(), head(&function(".visible", "f", 10))]), 15);
    // The order of the modules does not matter.
    assert_eq!(run(&[head(&function(".visible", "f", 10)), user.clone()]), 15);
    // The function calls a function of a third module.
    let through = head(
        ".extern .func (.param .b32 r) g(.param .b32 x);\n.visible .func (.param .b32 r) f(.param .b32 x)\n{\n\
         .reg .b32 %r<2>; ld.param.b32 %r0, [x];\n\
         { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call (b), g, (a); ld.param.b32 %r1, [b]; }\n\
         st.param.b32 [r], %r1; ret;\n}",
    );
    assert_eq!(run(&[user, through, head(&function(".visible", "g", 100))]), 105);
}

#[test]
fn variables_are_found_in_other_modules() {
    let read =
        "ld.global.u32 %r0, [v+4]; ld.const.u32 %r1, [c]; mad.lo.u32 %result, %r0, 100, %r1;";
    let declared = ".extern .global .align 4 .u32 v[]; .extern .const .align 4 .b32 c;";
    let defined = head(
        ".visible .global .align 4 .u32 v[3] = {1, 2, 3};\n.visible .const .align 4 .u32 c = 7;",
    );
    assert_eq!(run(&[kernel(declared, read), defined.clone()]), 207);
    // A declaration may give the variable as bytes, as it does for a structure.
    let declared = ".extern .global .align 4 .b8 v[12]; .extern .const .align 4 .b32 c;";
    assert_eq!(run(&[kernel(declared, read), defined.clone()]), 207);
    for engine in ENGINES {
        let (program, ..) = launch(&[kernel(declared, read), defined.clone()], engine);
        assert_eq!(program.read_variable("v").unwrap()[..8], [1, 0, 0, 0, 2, 0, 0, 0]);
    }
}

#[test]
fn shared_variables_are_found_in_other_modules() {
    let set = head(
        ".visible .shared .align 4 .u32 s;\n.visible .func set()\n{\nst.shared.u32 [s], 77;\nret;\n}",
    );
    let user = kernel(
        ".extern .shared .align 4 .u32 s;\n.extern .func set();",
        "call set; ld.shared.u32 %result, [s];",
    );
    assert_eq!(run(&[user, set]), 77);
}

#[test]
fn local_names_stay_apart() {
    let own = |value: u32| {
        format!(".global .u32 v = {value};\n.shared .u32 s;\n{}", function("", "f", value))
    };
    let get = "ld.global.u32 %r0, [v]; add.u32 %result, %result, %r0;";
    let other = head(&format!(
        "{}\n.visible .func (.param .b32 r) g(.param .b32 x)\n{{\n.reg .b32 %result, %r<8>;\n{CALL_F}\n{get}\n\
         st.param.b32 [r], %result;\nret;\n}}",
        own(2000)
    ));
    let user = kernel(
        &format!("{}\n.extern .func (.param .b32 r) g(.param .b32 x);", own(10)),
        &format!(
            "{CALL_F} {get} mov.u32 %r4, %result;\n\
             {{ .param .b32 a; .param .b32 b; st.param.b32 [a], 0; call (b), g, (a); ld.param.b32 %r5, [b]; }}\n\
             add.u32 %result, %r4, %r5;"
        ),
    );
    // `f` and `v` are 10 each in the first module, and 2000 each in the second; both `f` take 5.
    assert_eq!(run(&[user, other]), 25 + 4005);
}

#[test]
fn visible_comes_before_common_before_weak() {
    let user = kernel(".extern .global .u32 v;", "ld.global.u32 %result, [v];");
    let weak = |value: u32| head(&format!(".weak .global .u32 v = {value};"));
    let visible = head(".visible .global .u32 v = 9;");
    let common = head(".common .global .u32 v;");
    assert_eq!(run(&[user.clone(), weak(1), weak(2)]), 1, "the first");
    assert_eq!(run(&[user.clone(), weak(1), visible.clone()]), 9);
    assert_eq!(run(&[user.clone(), visible.clone(), weak(1)]), 9);
    assert_eq!(run(&[user.clone(), common.clone(), visible]), 9);
    assert_eq!(run(&[user.clone(), weak(1), common]), 0);
    let user = kernel(EXTERN_F, CALL_F);
    let f = |linkage: &str, add| head(&function(linkage, "f", add));
    assert_eq!(run(&[user.clone(), f(".weak", 1), f(".weak", 2)]), 6, "the first");
    assert_eq!(run(&[user.clone(), f(".weak", 1), f(".visible", 2)]), 7);
    // A visible function replaces the module's own weak function too.
    let own = kernel(&function(".weak", "f", 1), CALL_F);
    assert_eq!(run(&[own, f(".visible", 2)]), 7);
}

#[test]
fn statics_of_a_function_that_is_replaced_are_gone() {
    let f = |linkage: &str, value: u32| {
        format!(
            "{linkage} .func (.param .b32 r) f(.param .b32 x)\n{{\n.reg .b32 %r<2>; .global .u32 kept = {value};\n\
             ld.global.u32 %r0, [kept]; st.param.b32 [r], %r0; ret;\n}}\n"
        )
    };
    let linked = link(&[kernel(&f(".weak", 1), CALL_F), head(&f(".visible", 2))]).unwrap();
    assert_eq!(linked.variables.iter().filter(|variable| variable.name == "kept").count(), 1);
    assert_eq!(linked.functions.iter().filter(|function| function.name == "f").count(), 1);
    assert_eq!(run(&[kernel(&f(".weak", 1), CALL_F), head(&f(".visible", 2))]), 2);
}

#[test]
fn the_largest_common_variable_is_the_one() {
    let user = kernel(
        ".common .global .align 4 .b32 v[2];",
        "mov.u64 %d0, v; st.global.u32 [%d0+12], 3; ld.global.u32 %result, [%d0+12];",
    );
    let texts = [
        user,
        head(".common .global .align 8 .b32 v[4];"),
        head(".common .global .align 64 .b32 v[3];"),
    ];
    let linked = link(&texts).unwrap();
    let v: Vec<_> = linked.variables.iter().filter(|variable| variable.name == "v").collect();
    assert_eq!((v.len(), v[0].size, v[0].align), (1, 16, 64));
    assert_eq!(run(&texts), 3);
    let found = errors(&[texts[1].clone(), head(".visible .global .align 4 .b32 v[2] = {1, 2};")]);
    assert_eq!(found, "a.ptx:4:31: `v` has 16 bytes here, but 8 at b.ptx:4:32");
}

#[test]
fn initial_contents_hold_addresses_of_other_modules() {
    let tables = head(
        ".extern .global .u32 v[4];\n.extern .func (.param .b32 r) f(.param .b32 x);\n\
         .visible .global .u64 table[3] = {generic(v)+8, f, v+4};",
    );
    let body = "
        ld.global.u64 %d0, [table]; ld.u32 %r0, [%d0]; ld.global.u64 %d1, [table+16]; ld.global.u32 %r1, [%d1];
        ld.global.u64 %d2, [table+8];
        { .param .b32 x; .param .b32 y; st.param.b32 [x], 5; P: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (y), %d2, (x), P; ld.param.b32 %r2, [y]; }
        mad.lo.u32 %result, %r0, 1000, %r2; mad.lo.u32 %result, %r1, 100000, %result;";
    let user = kernel(".extern .global .u64 table[3];", body);
    let values = head(&format!(
        ".visible .global .u32 v[4] = {{6, 7, 8, 9}};\n{}",
        function(".visible", "f", 10)
    ));
    assert_eq!(run(&[user.clone(), tables.clone(), values.clone()]), 708_015);
    assert_eq!(run(&[values, tables, user]), 708_015);
}

#[test]
fn addresses_may_be_written_byte_by_byte() {
    let bytes = |of: &str| {
        let masks: Vec<String> = (0..8).map(|n| format!("0xff{}({of})", "00".repeat(n))).collect();
        masks.join(", ")
    };
    let user = kernel(
        &format!(
            ".extern .global .u32 v[4];\n.global .align 1 .b8 packed[21] = {{1, 2, 3, {}, 4, {}, 5}};",
            bytes("generic(v)+8"),
            bytes("v")
        ),
        "ld.global.u8 %r0, [packed+3]; ld.global.u8 %r1, [packed+11];
        mov.u64 %d3, packed; mov.u64 %d1, 0; mov.u32 %r0, 8;
        byte: sub.u32 %r0, %r0, 1; cvt.u64.u32 %d2, %r0; add.u64 %d2, %d2, %d3; ld.global.u8 %r1, [%d2+3];
        shl.b64 %d1, %d1, 8; cvt.u64.u32 %d4, %r1; or.b64 %d1, %d1, %d4; setp.ne.u32 %p0, %r0, 0; @%p0 bra byte;
        ld.u32 %r2, [%d1]; ld.global.u8 %r3, [packed+11]; ld.global.u8 %r4, [packed+20];
        mad.lo.u32 %result, %r2, 100, %r3; mad.lo.u32 %result, %result, 10, %r4;",
    );
    assert_eq!(run(&[user, head(".visible .global .u32 v[4] = {6, 7, 8, 9};")]), 8045);
    let lone = kernel(".global .u32 v;\n.global .b8 some[2] = {0xff00(v), 1};", "");
    let Err(error) = Program::load(lone.as_bytes(), None) else { panic!("a byte of an address") };
    assert!(error.to_string().contains("a byte of an address without those beside it"), "{error}");
}

#[test]
fn pointers_reach_what_functions_of_other_modules_have_in_shared_memory() {
    // The kernel names neither the function nor its variable.
    let table = head(
        ".extern .func (.param .b32 r) f(.param .b32 x);\n.visible .global .u64 table[1] = {f};",
    );
    let f = head(
        ".shared .align 4 .u32 own;\n.visible .func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b32 %r<2>;\n\
         ld.param.b32 %r0, [x]; st.shared.u32 [own], %r0; ld.shared.u32 %r1, [own]; st.param.b32 [r], %r1; ret;\n}",
    );
    let body = "
        st.shared.u32 [mine], 40; ld.global.u64 %d2, [table];
        { .param .b32 x; .param .b32 y; st.param.b32 [x], 5; P: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (y), %d2, (x), P; ld.param.b32 %r2, [y]; }
        ld.shared.u32 %r3, [mine]; add.u32 %result, %r2, %r3;";
    let user = kernel(".shared .align 4 .u32 mine;\n.extern .global .u64 table[1];", body);
    assert_eq!(run(&[user, table, f]), 45);
}

#[test]
fn aliases_are_definitions() {
    let user = kernel(EXTERN_F, CALL_F);
    let alias = format!(
        "{}.visible .func (.param .b32 r) f(.param .b32 x);\n.alias f, g;",
        function("", "g", 30)
    );
    assert_eq!(run(&[user, head(&alias)]), 35);
    let found = errors(&[head(&alias), head(&function(".visible", "f", 1))]);
    assert!(found.contains("`f` is defined twice: at a.ptx:"), "{found}");
}

#[test]
fn duplicates_and_misfits_name_both_places() {
    let f = |linkage: &str| head(&function(linkage, "f", 1));
    let cases = [
        (f(".visible"), f(".visible"), "b.ptx:4:32: `f` is defined twice: at a.ptx:4:32 before"),
        (
            head(".visible .global .u32 v;"),
            head(".visible .global .u32 v;"),
            "b.ptx:4:23: `v` is defined twice: at a.ptx:4:23 before",
        ),
        (
            kernel("", "mov.u32 %result, 0;"),
            kernel("", "mov.u32 %result, 1;"),
            "b.ptx:5:17: `k` is defined twice: at a.ptx:5:17 before",
        ),
        (
            f(".visible"),
            head(".extern .func (.param .b64 r) f(.param .b32 x);"),
            "b.ptx:4:31: `f` has other parameters or return values here than at a.ptx:4:32",
        ),
        (
            head(".extern .global .u32 v[3];"),
            head(".visible .global .u32 v[2];"),
            "a.ptx:4:22: `v` has 12 bytes here, but 8 at b.ptx:4:23",
        ),
        (
            head(".extern .global .f32 v;"),
            head(".visible .global .u32 v;"),
            "a.ptx:4:22: `v` is of `.f32` here, but of `.u32` at b.ptx:4:23",
        ),
        (
            head(".extern .global .u32 v;"),
            head(".visible .const .u32 v;"),
            "a.ptx:4:22: `v` is in `.global` here, but in `.const` at b.ptx:4:22",
        ),
        (
            f(".visible"),
            head(".extern .global .u32 f;"),
            "b.ptx:4:22: `f` is a variable here, but a function at a.ptx:4:32",
        ),
        (
            f(".visible"),
            head(".extern .entry f();"),
            "b.ptx:4:16: `f` is a kernel here, but none at a.ptx:4:32",
        ),
    ];
    for (a, b, expected) in cases {
        assert_eq!(errors(&[a, b]), expected);
    }
}

#[test]
fn missing_symbols_name_declaration_and_use() {
    let user = kernel(EXTERN_F, CALL_F);
    let found = errors(&[head(""), user]);
    assert_eq!(
        found,
        "b.ptx:4:31: `f` is defined in none of the modules, and is used at b.ptx:9:54"
    );
    let user = kernel(".extern .global .u32 v;", "\n\nld.global.u32 %result, [v];");
    let found = errors(&[user, head("")]);
    assert_eq!(
        found,
        "a.ptx:4:22: `v` is defined in none of the modules, and is used at a.ptx:11:1"
    );
    // Definitions that nothing uses may be missing.
    assert!(link(&[head(&format!(".extern .global .u32 v;\n{EXTERN_F}")), head(EXTERN_F)]).is_ok());
}

#[test]
fn what_the_driver_provides_stays_undefined() {
    let declared = ".extern .func (.param .b64 r) malloc(.param .b64 n);";
    let body = "{ .param .b64 x; .param .b64 y; st.param.b64 [x], 16; call (y), malloc, (x); ld.param.b64 %d0, [y]; }
        st.u32 [%d0], 12; ld.u32 %result, [%d0];";
    assert_eq!(run(&[kernel(declared, body), head(declared)]), 12);
}

#[test]
fn heads_are_joined() {
    let with = |head: &str| format!("{head}\n.address_size 64\n");
    let texts = [
        with(".version 6.0\n.target sm_50"),
        with(".version 7.8\n.target sm_70"),
        with(".version 8.0\n.target sm_60"),
    ];
    let linked = link(&texts).unwrap();
    assert_eq!((linked.version, linked.target.sm), ((8, 0), 70));
    let texts = [with(".version 8.0\n.target sm_90a"), with(".version 8.3\n.target sm_90")];
    assert_eq!(link(&texts).unwrap().target.suffix, Some('a'));
    let narrow = ".version 8.0\n.target sm_50\n.address_size 32\n".to_string();
    assert_eq!(errors(&[head(""), narrow]), "a.ptx has addresses of 64 bits, b.ptx of 32");
    let apart = with(".version 8.0\n.target sm_80, texmode_independent");
    assert_eq!(
        errors(&[head(""), apart]),
        "a.ptx has textures of mode unified, b.ptx of mode independent"
    );
    assert_eq!(
        warploom_ptx::link(vec![]).unwrap_err().to_string(),
        "found no module, expected one at least"
    );
}

#[test]
fn faults_name_the_line_of_the_module() {
    let user = kernel(&format!("{EXTERN_F}\n.file 1 \"user.cu\""), CALL_F);
    let f = head(
        ".file 1 \"lib.cu\"\n.visible .func (.param .b32 r) f(.param .b32 x)\n{\n.loc 1 33 2\ntrap;\nret;\n}",
    );
    for engine in ENGINES {
        let (_, _, outcome) = launch(&[user.clone(), f.clone()], engine);
        let fault = outcome.fault.expect("a trap").to_string();
        assert!(fault.contains("line 8 of b.ptx (lib.cu:33)"), "{fault}");
    }
}

#[test]
fn a_module_alone_has_lines_without_a_name() {
    let text = kernel("", "trap;");
    let program = Program::load(text.as_bytes(), None).unwrap();
    let options = LaunchOptions::new([1, 1, 1], [1, 1, 1]);
    let outcome = program.kernel("k").unwrap().launch(&[Arg::pointer(0)], &options).unwrap();
    let fault = outcome.fault.expect("a trap").to_string();
    assert!(fault.contains("line 9") && !fault.contains("line 9 of"), "{fault}");
}

/// Writes a manifest and its files, and returns the error of running it.
fn manifest(kernel: &str, files: &[(&str, &str)]) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join("m.toml");
    let rest = "launch = { grid = [1, 1, 1], block = [1, 1, 1] }\narg = [{ buffer = \"out\" }]\n\
                buffer.out = { zeros = 4 }\n";
    std::fs::write(&path, format!("kernel = {{ {kernel} }}\n{rest}")).unwrap();
    let launch = Launch::read(&path).map_err(|error| error.to_string())?;
    for engine in ENGINES {
        let session = Session::new(&launch).map_err(|error| error.to_string())?;
        let outcome =
            session.launch(&session.options(engine, 1), None).map_err(|error| error.to_string())?;
        assert!(outcome.fault.is_none());
        assert_eq!(session.buffer(0).unwrap(), 15_u32.to_le_bytes());
    }
    Ok(())
}

#[test]
fn manifests_name_what_is_linked() {
    let files = [
        ("a.ptx", kernel(EXTERN_F, CALL_F)),
        ("b.ptx", head(&function(".visible", "f", 10))),
        ("bad.ptx", head(".visible .func f() { no; }")),
        ("text.txt", "hello".to_string()),
    ];
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    manifest("binary = \"a.ptx\", link = [\"b.ptx\"]", &files).unwrap();
    for (kernel, expected) in [
        (
            "binary = \"a.ptx\", link = [\"text.txt\"]",
            "in text.txt: found no GPU binary, expected PTX",
        ),
        (
            "binary = \"text.txt\", link = [\"a.ptx\"]",
            "in text.txt: not a GPU binary: expected a cubin",
        ),
        ("binary = \"a.ptx\", link = [\"bad.ptx\"]", "in bad.ptx: 4:22: "),
        ("binary = \"a.ptx\", link = [\"none.ptx\"]", "none.ptx"),
        ("binary = \"a.ptx\", link = [\"a.ptx\"]", "`k` is defined twice: at a.ptx:5:17 before"),
    ] {
        let error = manifest(kernel, &files).expect_err(kernel);
        assert!(error.contains(expected), "{kernel}: {error}");
    }
}
