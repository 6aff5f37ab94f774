//! Zebins, vISA text and old binaries as modules, through the library and the command.

mod support {
    pub mod visa;
}

use std::process::Command;

use support::visa::corpus;
use warploom_container::visa::info::{AddressMode, ArgumentKind, ZeInfo};
use warploom_container::{Format, Isa, Module};
use warploom_guest::platform::Platform;
use warploom_visa::binary;

fn file(end: &str) -> Vec<u8> {
    let extension = end.rsplit('.').next().unwrap();
    corpus(&[extension])
        .into_iter()
        .find(|(path, _)| path.ends_with(end))
        .unwrap_or_else(|| panic!("{end}"))
        .1
}

fn module(bytes: &[u8]) -> Module {
    let mut all = warploom_container::modules(bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn formats_are_recognised_by_content() {
    assert_eq!(warploom_container::recognise(&file("kernels/life.dg2.zebin")), Some(Format::Zebin));
    assert_eq!(
        warploom_container::recognise(&file("skl-4.0/k06_image.simd32_img.visaasm")),
        Some(Format::VisaText)
    );
    assert_eq!(
        warploom_container::recognise(&file("bmg/k10_stackcall.simd16_entry_0001_f0.visaasm")),
        Some(Format::VisaText)
    );
    assert_eq!(
        warploom_container::recognise(&file("typed_atomic.visaasm")),
        Some(Format::VisaText)
    );
    assert_eq!(
        warploom_container::recognise(&file("skl-4.0/k06_image.simd32_img.isa")),
        Some(Format::VisaBinary)
    );
    assert_eq!(
        warploom_container::recognise(b"// a\n/* b */ .version 7.0\n.target sm_70\n"),
        Some(Format::Ptx)
    );
    assert_eq!(
        warploom_container::recognise(b".version 4.2\n/* c */\n// d\n.kernel \"k\"\n"),
        Some(Format::VisaText)
    );
}

#[test]
fn every_zebin_is_a_module() {
    let mut zebins = 0;
    for (path, bytes) in corpus(&["zebin"]) {
        let module = module(&bytes);
        zebins += 1;
        let name = path.to_str().unwrap();
        let said = |platform: &&Platform| name.contains(platform.name());
        let expected = *Platform::ALL.iter().find(said).unwrap();
        assert_eq!(module.isa, Isa::Visa { platform: Some(expected) }, "{name}");
        let visa = module.visa.as_ref().unwrap();
        assert_eq!(visa.module.register_bytes(), expected.register_bytes(), "{name}");
        assert!(module.kernels().count() == 1, "{name}");
        assert!(module.kernels().all(|(_, kernel)| kernel.name != "kernel"), "{name}");
        for (_, kernel) in module.kernels() {
            let of = kernel.visa.as_ref().unwrap();
            let info = of.info.as_ref().unwrap();
            let routine = &visa.module.routines[of.routine];
            assert_eq!(routine.name, kernel.name);
            assert_eq!(routine.simd_size(), info.env.simd_size, "{name}");
            assert_eq!(kernel.params.len(), info.args.len(), "{name}");
            // An instruction's offset is its place in the code.
            for one in &routine.code {
                let text = &module.sections[0].data[one.at as usize..];
                let label = matches!(one.row.name, "label" | "subroutine");
                assert!(
                    label || text.starts_with(one.row.name.as_bytes()),
                    "{name}: {}",
                    one.row.name
                );
            }
            // `visa.md`, section 4: the inputs of the text have the offsets of the arguments.
            payload_is_that_of_the_inputs(name, routine, info, expected.register_bytes());
        }
    }
    assert!(zebins >= 49, "{zebins}");
}

fn payload_is_that_of_the_inputs(
    name: &str,
    routine: &warploom_visa::module::Routine,
    info: &warploom_container::visa::KernelInfo,
    register: u32,
) {
    let per_thread: u32 = info.per_thread.iter().map(|arg| arg.size).sum();
    let inline = info.env.inline_data_payload_size;
    // Old compilers' arguments that only the binding table has take no bytes.
    let pointers =
        info.payload.iter().filter(|arg| arg.kind == ArgumentKind::ByPointer && arg.size > 0);
    for arg in pointers {
        let offset = match arg.offset < inline || inline == 0 {
            true => register + per_thread + arg.offset,
            false => {
                register + per_thread + inline.next_multiple_of(register) + (arg.offset - inline)
            }
        };
        let is_it = |input: &&warploom_visa::module::Input| input.offset == offset as i32;
        // Arguments that the kernel does not use have no input.
        let unused = arg.address_mode == Some(AddressMode::Bindless)
            || routine.inputs.iter().any(|one| is_it(&one));
        assert!(unused, "{name}: no input at {offset}");
    }
}

#[test]
fn arguments_of_a_zebin() {
    let module = module(&file("kernels/lists.dg2.zebin"));
    let (_, kernel) = module.kernels().next().unwrap();
    assert_eq!(kernel.name, "lists");
    let places: Vec<_> = kernel.params.iter().map(|param| (param.offset, param.size)).collect();
    assert_eq!(places, [(24, 8), (32, 8), (40, 8)]);
    let info = kernel.visa.as_ref().unwrap().info.as_ref().unwrap();
    assert!(info.env.has_stack_calls);
    assert_eq!(info.env.private_size, 33664);
    let private = info.memory_buffers.iter().find(|one| one.usage == "private_space").unwrap();
    assert_eq!((private.size, private.per_lane), (4208, true));
    let names: Vec<_> = info.args.iter().map(|arg| (&*arg.name, &*arg.type_name)).collect();
    assert_eq!(names, [("out", "int*;8"), ("next", "int*;8"), ("w", "int*;8")]);
    // The function that the kernel calls.
    let function = module.functions.iter().find(|function| !function.kernel).unwrap();
    assert_eq!(function.name, "follow");
}

#[test]
fn data_of_a_zebin() {
    let hello = module(&file("kernels/hello.bmg.zebin"));
    let symbol = &hello.symbols[hello.variable(".str").unwrap().0];
    let section = hello.section(symbol.section.unwrap());
    assert_eq!((&*section.name, symbol.size), (".data.const.string", 16));
    assert!(section.data.starts_with(b"item"), "{:?}", String::from_utf8_lossy(&section.data));
    // The kernel that only carries symbols does not count.
    assert_eq!(hello.kernels().map(|(_, one)| &*one.name).collect::<Vec<_>>(), ["hello"]);
    let sha = module(&file("kernels/sha.pvc.zebin"));
    let symbol = &sha.symbols[sha.variable("K").unwrap().0];
    assert_eq!(sha.section(symbol.section.unwrap()).size, 32);
}

#[test]
fn info_next_to_text() {
    let mut made = module(&file("bmg/k10_stackcall.simd16_entry_0001_f0.visaasm"));
    assert_eq!(made.isa, Isa::Visa { platform: Some(Platform::Bmg) });
    let info = ZeInfo::read(&file("bmg/k10_stackcall.zeinfo")).unwrap();
    warploom_container::visa::apply(&mut made, info).unwrap();
    let mut other = module(&file("typed_atomic.visaasm"));
    let info = ZeInfo::read(&file("bmg/k10_stackcall.zeinfo")).unwrap();
    let error = warploom_container::visa::apply(&mut other, info).unwrap_err().to_string();
    assert!(error.contains("typed_atomic_test"), "{error}");
}

/// Proves that a zebin without vISA sections is refused, with a message that names the compiler
/// option. The test changes the types of the vISA sections.
#[test]
fn a_zebin_without_visa_is_refused_with_the_option() {
    let mut bytes = file("kernels/life.dg2.zebin");
    let table = u64::from_le_bytes(bytes[0x28..0x30].try_into().unwrap()) as usize;
    let count = u16::from_le_bytes(bytes[0x3c..0x3e].try_into().unwrap()) as usize;
    for section in 0..count {
        let kind = table + section * 64 + 4;
        if bytes[kind..kind + 4] == 0xff00_0013_u32.to_le_bytes() {
            bytes[kind] = 0x14;
        }
    }
    let error = warploom_container::modules(&bytes).unwrap_err().to_string();
    assert!(error.contains("-ze-emit-zebin-visa-sections"), "{error}");
}

#[test]
fn errors_name_the_place() {
    let source = String::from_utf8(file("typed_atomic.visaasm")).unwrap();
    let cases = [
        ("cmp.lt", "cmp.xx", "19:8: found `.xx`, expected a relation, as `.lt`"),
        ("T6 V32.0 V33.0 %null.0 %null.0 V34.0 %null.0 V35.0", "T6 V32.0", "expected a variable"),
        ("0x7:ud", "0x7:zz", "expected a type"),
        ("V37 v_type=G type=ud", "V36 v_type=G type=f", "`V36` is declared a second time"),
        ("(P1)", "(P9)", "`P9` is not declared"),
        ("ret (M1, 1)", "ret (M9, 1)", "expected a mask, M1 to M8_NM"),
        ("ret (M1, 1)", "goto (M1, 1) nowhere", "label `nowhere` is not defined"),
        ("ret (M1, 1)", "rat (M1, 1)", "instruction `rat`, which is none"),
        (".version 4.1", ".version 9.1", "version 9.1, expected 3.0 to 4.2"),
    ];
    for (from, to, expected) in cases {
        assert!(source.contains(from), "{from}");
        let error = warploom_container::modules(source.replacen(from, to, 1).as_bytes())
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{to}: {error}");
    }
}

fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as usize
}

#[test]
fn damaged_files_are_errors() {
    let mut state = 7;
    for end in [
        "kernels/hello.dg2.zebin",
        "kernels/lists.bmg.zebin",
        "dg2/k14_inline_typed_atomic.zebin",
        "typed_atomic.visaasm",
    ] {
        let bytes = file(end);
        for length in (0..bytes.len()).step_by(bytes.len().div_ceil(200)) {
            let _ = warploom_container::modules(&bytes[..length]);
        }
        for turn in 0..1_500 {
            let mut damaged = bytes.clone();
            for _ in 0..=turn % 3 {
                // Most damage hits the end of the file, with its tables, because that part is read.
                let at = if turn % 2 == 0 {
                    random(&mut state) % bytes.len()
                } else {
                    bytes.len() - 1 - random(&mut state) % bytes.len().min(6000)
                };
                damaged[at] = if turn % 5 == 0 {
                    random(&mut state) as u8
                } else {
                    damaged[at] ^ 1 << (random(&mut state) % 8)
                };
            }
            let _ = warploom_container::modules(&damaged);
        }
    }
}

/// Proves that damaged files do not panic. The test takes minutes: `cargo test --test
/// container_visa -- --ignored`.
#[test]
#[ignore = "a million inputs"]
fn a_million_damaged_files_are_errors() {
    let names = [
        "dg2/k14_inline_typed_atomic.zebin",
        "typed_atomic.visaasm",
        "typed_atomic.skl.isa",
        "skl-4.0/k01_saxpy.simd32_saxpy.isa",
        "skl-4.0/k01_saxpy.simd32_saxpy.visaasm",
    ];
    let files: Vec<_> = names.into_iter().map(file).collect();
    let (mut state, mut read) = (11, 0_u32);
    for turn in 0..1_000_000 {
        let bytes = &files[turn % files.len()];
        let mut damaged = bytes.clone();
        for _ in 0..=random(&mut state) % 4 {
            let at = random(&mut state) % damaged.len();
            match random(&mut state) % 4 {
                0 => damaged[at] = random(&mut state) as u8,
                1 => damaged[at] ^= 1 << (random(&mut state) % 8),
                2 if damaged.len() > 1 => drop(damaged.remove(at)),
                _ => damaged.truncate(at.max(1)),
            }
        }
        read += u32::from(warploom_container::modules(&damaged).is_ok());
    }
    assert!(read > 1_000, "{read} are read all the same");
}

fn warploom(args: &[&str]) -> String {
    let (code, text) = ends(args);
    assert_eq!(code, 0, "{args:?}: {text}");
    text
}

/// Returns the exit code, and the text on standard output and then on standard error.
fn ends(args: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_warploom")).args(args).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

/// Returns the bytes with a text in place of the last occurrence of another.
fn patched(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = bytes
        .windows(from.len())
        .rposition(|window| window == from.as_bytes())
        .unwrap_or_else(|| panic!("{from}"));
    [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
}

/// Proves that an unreadable kernel leaves the other kernel readable, in a zebin of `good` and
/// `scoped`, in that order.
#[test]
fn an_unreadable_kernel_of_a_zebin_hides_no_other() {
    let case = format!("{}/tests/fixtures/cases/visa_inline_scopes", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(format!("{case}/k.zebin")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(&case).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let zebin = path("k.zebin");
    for (from, to, expected) in [
        ("mul (M1, 16)", "mux (M1, 16)", "instruction `mux`, which is none"),
        (".kernel \"scoped\"", ".kernex \"scoped\"", "directive `.kernex`, which is none"),
        ("simd_size:       16", "simd_size:       xy", "`simd_size: \"xy\"`, expected a number"),
        (
            ".decl t v_type=G type=d",
            ".decl t v_type=G type=f",
            "`t` is declared a second time with another type",
        ),
    ] {
        std::fs::write(&zebin, patched(&bytes, from, to)).unwrap();
        assert!(
            warploom(&["run", &path("good.toml"), "--engine", "both"]).contains("as expected"),
            "{to}"
        );
        let refused = |args: &[&str]| {
            let (code, text) = ends(args);
            assert!(code == 3 && text.contains(expected), "{args:?} ends with {code}: {text}");
            text
        };
        assert!(refused(&["run", &path("m.toml")]).contains("kernel `scoped` cannot be read"));
        // If only its entry in .ze_info is wrong, the kernel's text is readable.
        if !to.starts_with("simd_size") {
            refused(&["disasm", &zebin, "scoped"]);
        }
        let shown = warploom(&["inspect", &zebin]);
        for part in ["kernel good\n", "kernel scoped\n  unreadable", expected] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(warploom(&["disasm", &zebin, "good"]).contains(".kernel \"good\""));
        let all = warploom(&["disasm", &zebin]);
        assert!(
            all.contains(".kernel \"good\"") && all.contains("// not read: kernel scoped: "),
            "{all}"
        );
    }
    // A file with two kernels, readable or not, requires a name.
    let manifest =
        std::fs::read_to_string(path("good.toml")).unwrap().replace("entry = \"good\"\n", "");
    std::fs::write(path("unnamed.toml"), manifest).unwrap();
    let (code, text) = ends(&["run", &path("unnamed.toml")]);
    assert!(
        code == 3 && text.contains("several kernels: name one of good, scoped"),
        "{code}: {text}"
    );
    // A file that is broken as a whole is refused.
    std::fs::write(&zebin, &bytes[..bytes.len() / 2]).unwrap();
    assert!(refused_file(&zebin).contains("section table"), "{}", refused_file(&zebin));
}

fn refused_file(path: &str) -> String {
    let (code, text) = ends(&["inspect", path]);
    assert_eq!(code, 3, "{text}");
    text
}

#[test]
fn an_unreadable_kernel_of_a_text_or_a_binary_hides_no_other() {
    let kernel = |name: &str, body: &str| {
        format!(".version 4.1\n.kernel \"{name}\"\n.kernel_attr SimdSize=16\n{body}\nret (M1, 1)\n")
    };
    let read = |bytes: &[u8]| {
        let module = module(bytes);
        let readable: Vec<String> =
            module.kernels().map(|(_, kernel)| kernel.name.clone()).collect();
        let unreadable: Vec<_> =
            module.unreadable.iter().map(|one| (one.name.clone(), one.error.to_string())).collect();
        (readable, unreadable)
    };
    let (readable, unreadable) =
        read(format!("{}{}{}", kernel("a", ""), kernel("b", "what"), kernel("c", "")).as_bytes());
    assert_eq!(readable, ["a", "c"]);
    assert!(
        unreadable.len() == 1 && unreadable[0].0 == "b" && unreadable[0].1.contains("9:"),
        "{unreadable:?}"
    );

    let both =
        warploom_visa::text::read(format!("{}{}", kernel("a", ""), kernel("b", "")).as_bytes())
            .unwrap();
    let mut bytes = binary::write(&both).unwrap();
    assert_eq!(read(&bytes), (vec!["a".to_string(), "b".to_string()], vec![]));
    let routines = binary::read(&bytes).unwrap().routines;
    bytes[routines[0].binary.as_ref().unwrap().code_at as usize] = 0xff;
    let (readable, unreadable) = read(&bytes);
    assert_eq!(readable, ["b"]);
    assert!(
        unreadable.len() == 1 && unreadable[0].0 == "a" && unreadable[0].1.contains("opcode 0xff"),
        "{unreadable:?}"
    );
    // Both kernels are unreadable.
    bytes[routines[1].binary.as_ref().unwrap().code_at as usize] = 0xff;
    assert!(warploom_container::modules(&bytes).is_err());
}

#[test]
fn command_line() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/visa");
    let zebin = format!("{folder}/kernels/lists.dg2.zebin");
    let shown = warploom(&["inspect", &zebin]);
    for expected in [
        "module for Intel vISA for dg2",
        "kernel lists",
        "next (int*;8)",
        "private_base_stateless",
        "follow:",
    ] {
        assert!(shown.contains(expected), "{expected}:\n{shown}");
    }
    assert!(warploom(&["disasm", &zebin, "follow"]).contains(".global_function \"follow\""));
    for name in [
        "skl-4.0/k03_reduce_subgroup.simd16_reduce.isa",
        "skl-4.0/k03_reduce_subgroup.simd16_reduce.visaasm",
    ] {
        let path = format!("{folder}/{name}");
        assert!(warploom(&["inspect", &path]).contains("kernel reduce"));
        // The text form and the binary form give equal texts.
        let text = std::fs::read_to_string(format!(
            "{folder}/skl-4.0/k03_reduce_subgroup.simd16_reduce.visaasm"
        ))
        .unwrap();
        assert!(warploom(&["disasm", &path]).trim_end() == text.trim_end(), "{name}");
    }
}
