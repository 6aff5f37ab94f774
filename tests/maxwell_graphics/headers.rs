//! Headers: the instructions they forbid, the recognition of files with headers, and programs as
//! text.

use warploom_container::Stage;
use warploom_guest::header::{Flag, Header, Interpolation};

use crate::support::{Case, fixture};

/// Bits of headers forbid instructions (facts, `graphics.md`, section 1.1: bits 15, 16, 26 and 27).
#[test]
fn what_headers_forbid() {
    let run = |forbidden: &str, code: &str| {
        let set = "MOV R2, c[0x3][0x0]\nMOV R3, c[0x3][0x4]\nMOV32I R0, 0x7\nMOV32I R1, 0x40080000\nMOV32I R4, 0x5";
        let directives = format!(".output target0 rg\n.local 16\n.forbid {forbidden}");
        Case::fragment(&directives, &format!("{set}\n{code}"), &[1; 4])
            .with(
                "[export.target0]
                [bank.3]
                zeros = 8
                parts = [{ at = 0, buffer = \"memory\" }]
                [buffer.memory]
                values = [1, 2, 3, 4]
                dtype = \"u32\"",
            )
            .run()
    };
    for (forbidden, text) in [
        ("kills", "KIL"),
        ("stores", "STG.E [R2], R4"),
        ("stores", "ST.E [R2], R4"),
        ("stores", "RED.E.ADD [R2], R4"),
        ("stores", "ATOM.E.ADD R0, [R2], R4"),
        ("stores", "SUST.D.2D.IGN [R2], R4, R4"),
        ("stores", "SUATOM.D.2D.ADD.IGN R0, [R2], R4, R4"),
    ] {
        let fault = run(forbidden, text).fault.unwrap_or_else(|| panic!("{text} is allowed"));
        assert!(fault.contains("illegal") && fault.contains(text), "{fault}");
        // No fault occurs before a lane reaches the instruction.
        assert_eq!(
            run(forbidden, &format!("ISETP.NE.AND P0, PT, RZ, RZ, PT\n@P0 {text}")).fault,
            None
        );
    }
    for (forbidden, text) in [
        ("memory", "LDG.E R0, [R2]"),
        ("memory", "LD.E R0, [R2]"),
        ("memory", "STG.E [R2], R4"),
        ("memory", "ATOM.E.ADD R0, [R2], R4"),
        ("memory stores", "STG.E [R2], R4"),
        ("memory", "LDL R0, [RZ]"),
        ("doubles", "DADD R0, R0, R0"),
        ("doubles", "DMUL R0, R0, R0"),
        ("doubles", "F2F.F64.F32 R0, R1"),
        ("doubles", "I2F.F64.S32 R0, R4"),
        ("doubles", "MUFU.RCP64H R1, R1"),
    ] {
        let after = run(forbidden, text);
        assert_eq!(after.fault, None, "{text}");
        assert_eq!(after.buffers[0], [1, 2, 3, 4], "{text}");
        assert!(
            after.exported[0].iter().all(|words| words[..2] == [7, 0x4008_0000]),
            "{text} does something"
        );
    }
    // Nothing else is affected.
    let after = run("kills stores memory doubles targets", "FADD R0, R1, R1\nLDC R1, c[0x3][0x10]");
    assert_eq!(after.exported[0][0][..2], [0x4088_0000, 0]);
}

#[test]
fn files_are_recognised_by_content() {
    let bytes = std::fs::read(fixture("perspective.bin")).expect("the program");
    assert_eq!(
        warploom_container::recognise(&bytes),
        Some(warploom_container::Format::MaxwellShader)
    );
    let modules = warploom_container::modules(&bytes).expect("a module");
    let function = &modules[0].functions[0];
    let header = function.header.as_deref().expect("a header");
    assert_eq!((function.name.as_str(), header.stage()), ("fragment", Stage::Fragment));
    let inputs: Vec<u16> =
        (0..0x400).step_by(4).filter(|&a| header.input(a) != Interpolation::Unused).collect();
    assert_eq!(inputs, [0x70, 0x74, 0x7c, 0x80, 0x84, 0x88, 0x90, 0xa0]);
    assert_eq!((header.target(0), header.target(1), header.target(2)), (15, 15, 0));
    assert!(header.has(Flag::Targets) && !header.has(Flag::Kills));
    // Any bytes may follow the code, which ends with a branch to itself.
    let longer =
        warploom_container::modules(&[bytes.as_slice(), &[0xab; 33]].concat()).expect("a module");
    assert_eq!(longer[0].sections[0].data, modules[0].sections[0].data);
    for (at, what) in [(0, "type"), (1, "stage")] {
        let mut changed = bytes.clone();
        changed[at] ^= 0x20;
        assert_ne!(
            warploom_container::recognise(&changed),
            Some(warploom_container::Format::MaxwellShader),
            "{what}"
        );
    }
    let problem = |bytes: &[u8]| {
        warploom_container::sph::with_header("x", bytes).expect_err("no program").to_string()
    };
    assert_eq!(problem(&bytes[..40]), "40 bytes: expected the 80 of a shader program header");
    assert_eq!(problem(&[0x81; 100]), "version 12 of a shader program header: expected 3");
    assert!(problem(&bytes[..bytes.len() - 13]).contains("a multiple of 8 bytes"));
}

/// Assembly with directives gives the corpus's header and code.
#[test]
fn text_is_a_program() {
    let programs = [
        (
            "perspective",
            ".stage fragment\n.input 0x70 xyw\n.input 0x80 xyz perspective\n.input 0x90 x linear\n.input 0xa0 x constant
            .output target0 rgba\n.output target1 rgba\n.forbid kills stores memory doubles",
        ),
        (
            "transform",
            ".stage vertex\n.input 0x80 xyzw\n.input 0x90 xy\n.input 0x2f8 x\n.input 0x2fc x
            .output 0x70 xyzw\n.output 0x80 xyzw\n.output 0x2c0 x\n.forbid targets kills stores memory doubles",
        ),
    ];
    for (name, directives) in programs {
        let text = std::fs::read_to_string(fixture(&format!("{name}.sass"))).expect("the text");
        let kernel = format!(".kernel {name}");
        let text = text.replace(&kernel, &format!("{kernel}\n{directives}"));
        let module = &warploom_container::modules(text.as_bytes())
            .unwrap_or_else(|error| panic!("{name}: {error}"))[0];
        let binary = std::fs::read(fixture(&format!("{name}.bin"))).expect("the program");
        let expected = &warploom_container::modules(&binary).expect("a module")[0];
        let function = &module.functions[0];
        let (found, wanted) = (function.header.as_deref(), expected.functions[0].header.as_deref());
        assert_eq!(found.map(Header::bytes), wanted.map(Header::bytes), "{name}");
        let (code, wanted) = (&module.sections[0].data, &expected.sections[0].data);
        // Assembled text has scheduling words of 0 and lacks the branch to itself.
        let same = |(at, (a, b)): (usize, (&[u8], &[u8]))| at % 4 == 0 || a == b;
        assert!(code.chunks(8).zip(wanted.chunks(8)).enumerate().all(same), "{name}");
    }
}

#[test]
fn mistakes_in_a_text() {
    let problem = |directives: &str| {
        let text = format!(".target sm_53\n{directives}\nEXIT\n");
        warploom_container::modules(text.as_bytes()).expect_err(directives).to_string()
    };
    for (directives, expected) in [
        (
            ".stage pixel",
            "line 2: `pixel`: expected vertex, tess_control, tess_eval, geometry, fragment",
        ),
        (
            ".stage vertex\n.input 0x81 x",
            "line 3: `0x81`: expected a multiple of 4 below 0x3f8, such as 0x80",
        ),
        (".stage vertex\n.input 0x80 xr", "line 3: `xr`: expected letters of xyzw"),
        (
            ".stage vertex\n.input 0x80 x linear",
            "line 3: `0x80 x linear`: expected an address and its words, such as 0x80 xyz",
        ),
        (
            ".stage fragment\n.input 0x80 x flat",
            "line 3: `flat`: expected constant, perspective or linear",
        ),
        (
            ".stage fragment\n.input 0x70 x constant",
            "line 3: 0x70 cannot be an input that is constant",
        ),
        (".stage fragment\n.output target8 r", "line 3: `target8`: expected target0 to target7"),
        (".stage fragment\n.output 0x70 x", "line 3: `0x70`: expected target0 to target7"),
        (".stage vertex\n.output 0x3c0 x", "line 3: 0x3c0 cannot be an output"),
        (
            ".stage vertex\n.forbid discard",
            "line 3: `discard`: expected targets, kills, stores, memory, doubles",
        ),
        (".stage vertex\n.shared 16", "line 3: `.shared`: a graphics program has none"),
        (".stage vertex\n.max_vertices 2000", "line 3: `2000`: expected up to 1024 vertices"),
    ] {
        assert_eq!(problem(directives), expected);
    }
}

/// Keys of a manifest that do not fit the program.
#[test]
fn mistakes_in_a_manifest() {
    let case =
        || Case::fragment(".output target0 r", "MOV R0, RZ", &[1; 4]).with("[export.target0]");
    let changed = |from: &str, to: &str| {
        Case { manifest: case().manifest.replace(from, to), ..case() }.problem()
    };
    assert!(changed("maxwell-sph", "maxwell-raw").contains("kernel.header: missing"));
    let vertex = Case::vertex(".output 0x70 x", "EXIT", 3).with("[export.\"0x70\"]");
    let stage = Case { program: case().program, ..vertex }.problem();
    assert_eq!(stage, "the manifest says that the program is of stage vertex, its header fragment");
    let bank = case().with("[bank.3]\nzeros = 8\nparts = [{ at = 6, u32 = 1 }]").problem();
    assert!(
        bank.contains("bank.3.parts 1") && bank.contains("expected a multiple of 4 in 8 bytes"),
        "{bank}"
    );
}

/// The command reports on a program and runs a program.
#[test]
fn the_command_knows_graphics_programs() {
    let output = |arguments: &[&str]| {
        let file = fixture(arguments[1]);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_warploom"));
        command.env("WARPLOOM_CACHE", "off");
        let output = command
            .arg(arguments[0])
            .arg(file)
            .args(&arguments[2..])
            .output()
            .expect("the command");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // A run's summary is on standard error.
        String::from_utf8([output.stdout, output.stderr].concat()).expect("text")
    };
    let expected = "module for NVIDIA sm_53 (Maxwell)

fragment program fragment
  code       128 bytes in .text.fragment
  local      0 bytes
  allows     targets
  inputs     0xa0 constant
  inputs     0x80-0x88 perspective
  inputs     0x70-0x74, 0x7c, 0x90 linear
  outputs    target0 rgba
  outputs    target1 rgba
";
    assert_eq!(output(&["inspect", "perspective.bin"]), expected);
    let inputs = "  inputs     0x80-0x94, 0x2f8-0x2fc given\n  outputs    0x70-0x8c, 0x2c0\n";
    assert!(output(&["inspect", "transform.bin"]).contains(inputs));
    let covered = output(&["inspect", "perspective.bin", "--coverage"]);
    assert!(covered.contains("0 kernels (0.00 %) can reach what is not executed"), "{covered}");
    let listing = output(&["disasm", "perspective.bin", "--hex"]);
    assert!(listing.contains("/*0018*/                   IPA R0, a[0x80], R8 ;"), "{listing}");
    let ran = output(&["run", "perspective.toml", "--engine", "both"]);
    assert!(ran.contains("both engines agree") && ran.contains("fragment program"), "{ran}");
}
