//! Code objects of version 2, and binaries of AMD's OpenCL 2 that hold them: kernels run, arguments
//! are as tools print them, and errors in files are reported.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use warploom::EngineKind;
use warploom_container::hsaco::{
    AddressSpace, HiddenKind, HsaKernel, SystemSgpr, UserSgpr, ValueKind,
};
use warploom_container::{Addresses, Format, Linked, Module};
use warploom_replay::{Launch, Session, compare};
use warploom_testing::ir::{Random, Source};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gfx9")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join(name)).unwrap()
}

fn module(bytes: &[u8]) -> Module {
    warploom_container::modules(bytes).unwrap_or_else(|e| panic!("{e}")).remove(0)
}

fn hsa<'m>(module: &'m Module, kernel: &str) -> &'m HsaKernel {
    module.function(module.kernel(kernel).unwrap()).hsa.as_ref().unwrap()
}

/// Returns the offset, size and kind of each argument.
fn layout(hsa: &HsaKernel) -> Vec<(u32, u32, ValueKind)> {
    hsa.args.iter().map(|arg| (arg.offset, arg.size, arg.kind)).collect()
}

/// The kernels leave the results that `make.py` computed.
#[test]
fn kernels_run() {
    let mut manifests = 0;
    for entry in std::fs::read_dir(fixtures().join("version2")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        manifests += 1;
        let launch = Launch::read(&path).unwrap();
        for (engine, threads) in
            [EngineKind::Jit, EngineKind::Interp].into_iter().flat_map(|e| [(e, 1), (e, 2)])
        {
            let label = format!("{} ({engine}, {threads} threads)", path.display());
            let session = Session::new(&launch).unwrap_or_else(|e| panic!("{label}: {e}"));
            let outcome = session.launch(&session.options(engine, threads), None).unwrap();
            assert_eq!(outcome.fault, None, "{label}");
            let expect = launch.buffers[0].expect.as_ref().unwrap();
            let comparison = compare(&session.buffer(0).unwrap(), &expect.array, expect.tolerance);
            assert_eq!(comparison.mismatches, 0, "{label}: {comparison}");
        }
    }
    assert_eq!(manifests, 5);
}

/// The metadata is as `llvm-readelf --notes` of LLVM 14 prints it, and the rest as the compiler's
/// assembly has it.
#[test]
fn compilers_metadata() {
    let module = module(&bytes("containers/variants.v2.hsaco"));
    let about = module.hsa.as_ref().unwrap();
    assert_eq!((about.version, about.xnack.to_string().as_str()), (2, "on"));
    assert_eq!(module.isa.to_string(), "AMD gfx900 (GFX9)");
    let names: Vec<&str> = module.kernels().map(|(_, f)| f.name.as_str()).collect();
    assert_eq!(names, ["variants", "plain"]);
    let variants = hsa(&module, "variants");
    let by_value = ValueKind::ByValue;
    let expected = [
        (0, 8, ValueKind::GlobalBuffer),
        (8, 4, ValueKind::DynamicSharedPointer),
        (12, 4, by_value),
        (16, 4, by_value),
    ];
    assert_eq!(layout(variants), expected);
    assert_eq!((variants.kernarg_bytes, variants.kernarg_align), (20, 8));
    assert_eq!((variants.sgprs, variants.vgprs), (39, 5));
    assert_eq!(variants.reqd_workgroup_size, Some([64, 2, 1]));
    assert_eq!(
        (variants.max_flat_workgroup_size, variants.language.as_deref()),
        (Some(128), Some("OpenCL C"))
    );
    assert_eq!(variants.args[1].pointee_align, 4);
    assert_eq!(variants.args[1].address_space, Some(AddressSpace::Local));
    let types: Vec<_> = variants.args.iter().map(|arg| arg.type_name.as_deref().unwrap()).collect();
    assert_eq!(types, ["int*", "int*", "int", "short2"]);
    let function = module.function(module.kernel("variants").unwrap());
    assert_eq!((function.offset, function.size), (0x1d00, 436 - 256));

    let compiled = bytes("version2/compiled.hsaco");
    let module = self::module(&compiled);
    let compiled = hsa(&module, "compiled");
    let offsets: Vec<u32> = compiled.args.iter().map(|arg| arg.offset).collect();
    assert_eq!(offsets, [0, 8, 16, 24, 28, 32]);
    assert_eq!(compiled.hidden[0].offset, 40);
    let kinds: Vec<_> = compiled.hidden.iter().map(|arg| arg.kind).collect();
    let offset = HiddenKind::GlobalOffset;
    assert_eq!(kinds[..3], [offset(0), offset(1), offset(2)]);
    assert_eq!(
        kinds[3..],
        [HiddenKind::None, HiddenKind::None, HiddenKind::None, HiddenKind::MultigridSyncArg]
    );
}

/// Registers are as `entry.s` asks for them.
#[test]
fn registers_follow_each_other() {
    let module = module(&bytes("version2/entry.hsaco"));
    let counts = hsa(&module, "counts");
    let user: Vec<_> = counts.descriptor.user_sgprs().collect();
    let expected = [
        (UserSgpr::PrivateSegmentBuffer, 0),
        (UserSgpr::DispatchPtr, 4),
        (UserSgpr::KernargSegmentPtr, 6),
        (UserSgpr::PrivateSegmentSize, 8),
        (UserSgpr::GridWorkgroupCount(0), 9),
        (UserSgpr::GridWorkgroupCount(1), 10),
        (UserSgpr::GridWorkgroupCount(2), 11),
    ];
    assert_eq!(user, expected);
    let system: Vec<_> = counts.descriptor.system_sgprs().collect();
    assert_eq!(system[3..], [(SystemSgpr::WorkgroupInfo, 15), (SystemSgpr::ScratchWaveOffset, 16)]);
    // A kernel without a description takes its arguments as one.
    assert_eq!(layout(counts), [(0, 8, ValueKind::ByValue)]);
    let others = module.function(module.kernel("others").unwrap());
    assert_eq!(others.offset, others.hsa.as_ref().unwrap().descriptor_at + 512);
}

/// Reads metadata of LLVM 4, as its tests have it, in a code object of LLVM 14.
#[test]
fn older_metadata() {
    let text = "---
{ amd.MDVersion: [ 2, 1 ], amd.PrintfInfo: [ '1:1:4:%d\\n' ], amd.Kernels:
  - { amd.KernelName: compiled, amd.Language: OpenCL C, amd.LanguageVersion: [ 2, 0 ], amd.ReqdWorkGroupSize: [ 64, 1, 1 ], amd.Args:
      - { amd.ArgSize: 8, amd.ArgAlign: 8, amd.ArgKind: 1, amd.ArgValueType: 6, amd.ArgTypeName: 'int *', amd.ArgAddrQual: 1 }
      - { amd.ArgSize: 1, amd.ArgAlign: 1, amd.ArgKind: 0, amd.ArgValueType: 1, amd.ArgTypeName: char }
      - { amd.ArgSize: 4, amd.ArgAlign: 4, amd.ArgPointeeAlign: 4, amd.ArgKind: 2, amd.ArgAddrQual: 3 }
      - { amd.ArgSize: 76, amd.ArgAlign: 8, amd.ArgKind: 0, amd.ArgName: rest }
      - { amd.ArgSize: 4, amd.ArgAlign: 4, amd.ArgKind: 10 } } }
...
";
    let text = text
        .replace("Kernels:\n", "Kernels: [\n")
        .replace("  - { amd.KernelName", "  { amd.KernelName");
    let text = text
        .replace("amd.Args:\n", "amd.Args: [\n")
        .replace("      - {", "      {")
        .replace(" }\n", " },\n");
    let text = text.replace("amd.ArgKind: 10 } } },\n", "amd.ArgKind: 10 } ] } ] }\n");
    let (mut file, start) = with_metadata(&text);
    // Owner and type precede the metadata.
    assert_eq!(file[start - 8..start], [10, 0, 0, 0, b'A', b'M', b'D', 0]);
    file[start - 8] = 8;
    let module = module(&file);
    let compiled = hsa(&module, "compiled");
    let kinds = [
        ValueKind::GlobalBuffer,
        ValueKind::ByValue,
        ValueKind::DynamicSharedPointer,
        ValueKind::ByValue,
    ];
    let expected: Vec<_> = [(0, 8), (8, 1), (12, 4), (16, 76)]
        .into_iter()
        .zip(kinds)
        .map(|((o, s), k)| (o, s, k))
        .collect();
    assert_eq!(layout(compiled), expected);
    assert_eq!(
        compiled.hidden.iter().map(|arg| (arg.kind, arg.offset)).collect::<Vec<_>>(),
        [(HiddenKind::None, 92)]
    );
    assert_eq!(compiled.reqd_workgroup_size, Some([64, 1, 1]));
    assert_eq!(compiled.args[0].address_space, Some(AddressSpace::Global));
    assert_eq!(module.hsa.as_ref().unwrap().printf, ["1:1:4:%d\\n"]);
    file[start - 8] = 7;
    let message = warploom_container::modules(&file).map(drop).unwrap_err().to_string();
    assert!(
        message.contains("metadata of version 1") && message.contains("before LLVM 4"),
        "{message}"
    );
}

#[test]
fn opencl_binaries() {
    for name in ["opencl.bin", "opencl.hints.bin"] {
        let bytes = bytes(&format!("version2/{name}"));
        assert_eq!(warploom_container::recognise(&bytes), Some(Format::AmdOpenCl));
        let module = module(&bytes);
        assert_eq!(module.isa.to_string(), "AMD gfx900 (GFX9)");
        let scale = hsa(&module, "scale");
        let expected = [
            (0x30, 8, ValueKind::GlobalBuffer),
            (0x38, 4, ValueKind::ByValue),
            (0x40, 4, ValueKind::DynamicSharedPointer),
            // A vector begins at a multiple of its elements' size.
            (0x48, 16, ValueKind::ByValue),
        ];
        assert_eq!(layout(scale), expected);
        assert_eq!(scale.kernarg_bytes, 96);
        assert_eq!(scale.reqd_workgroup_size, Some([64, 1, 1]));
        let names: Vec<_> = scale.args.iter().map(|arg| arg.name.as_deref().unwrap()).collect();
        assert_eq!(names, ["out", "n", "tmp", "v"]);
        let hidden: Vec<_> = scale.hidden.iter().map(|arg| (arg.kind, arg.offset)).collect();
        let offset = HiddenKind::GlobalOffset;
        assert_eq!(hidden[..3], [(offset(0), 0), (offset(1), 8), (offset(2), 16)]);
        let rest = [
            (HiddenKind::PrintfBuffer, 24),
            (HiddenKind::DefaultQueue, 32),
            (HiddenKind::CompletionAction, 40),
        ];
        assert_eq!(hidden[3..], rest);
    }
}

/// Changes one field in a good file; the message must name the error.
#[test]
fn files_that_lie() {
    let expect = |file: &str, at: &dyn Fn(&[u8]) -> usize, new: &[u8], parts: &[&str]| {
        let mut bytes = bytes(&format!("version2/{file}"));
        let at = at(&bytes);
        bytes[at..at + new.len()].copy_from_slice(new);
        let message = warploom_container::modules(&bytes)
            .map(|_| ())
            .expect_err(&format!("{parts:?}"))
            .to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}: expected {parts:?}");
    };
    let find = |text: &'static [u8]| {
        move |bytes: &[u8]| bytes.windows(text.len()).position(|w| w == text).unwrap()
    };
    // The note of the GPU: lengths of names, then version 9.0.0.
    let gpu = |bytes: &[u8]| find(&[4, 0, 7, 0, 9, 0, 0, 0])(bytes) + 4;
    expect(
        "entry.hsaco",
        &gpu,
        &[8, 0, 0, 0, 0, 0, 0, 0, 3],
        &["code for gfx803", "expected gfx900"],
    );
    expect(
        "opencl.bin",
        &gpu,
        &[8, 0, 0, 0, 0, 0, 0, 0, 3],
        &["code object in .text", "code for gfx803"],
    );
    // The structure in front of the code: version 1.2, machine kind 1, version 9.
    let compiled = |field: usize| {
        move |bytes: &[u8]| find(&[1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 9, 0])(bytes) + field
    };
    let kernel = "compiled";
    expect("compiled.hsaco", &compiled(0), &[2], &[kernel, "version 2.2", "version 1"]);
    expect("compiled.hsaco", &compiled(16), &[1, 1], &[kernel, "a multiple of 4"]);
    expect("compiled.hsaco", &compiled(16 + 4), &[1], &[kernel, "a multiple of 4 in the image"]);
    expect("compiled.hsaco", &compiled(58), &[0], &[kernel, "addresses of 32 bits"]);
    expect(
        "compiled.hsaco",
        &compiled(64),
        &[4],
        &[kernel, "group segment of 0 bytes", "expected 4"],
    );
    expect(
        "compiled.hsaco",
        &compiled(72),
        &[95],
        &[kernel, "kernarg segment of 96 bytes", "expected 95"],
    );
    expect("compiled.hsaco", &compiled(72 + 2), &[1], &[kernel, "at most 64 KiB"]);
    expect("compiled.hsaco", &compiled(103), &[5], &[kernel, "waves of 2^5 lanes"]);
    // The metadata.
    expect("compiled.hsaco", &find(b"[ 1, 0 ]"), b"[ 3", &["version 3.0", "expected version 1"]);
    expect("compiled.hsaco", &find(b"Kernels:"), b"Kernels: [", &["metadata", "a YAML map"]);
    expect("compiled.hsaco", &find(b"Name:            compiled"), &[b'['; 25], &["metadata"]);
    expect(
        "compiled.hsaco",
        &find(b"GlobalBuffer"),
        b"GlobalButter",
        &[".args[0]", "GlobalButter"],
    );
    expect(
        "compiled.hsaco",
        &find(b"compiled@kd"),
        b"compilex@kd",
        &["compilex", "no such symbol"],
    );
    // The argument descriptions of OpenCL binaries: the first entry has 0x58 bytes.
    let entry =
        |field: usize| move |bytes: &[u8]| find(b"GFX9\0\x58\0\0\0\0\0\0\0")(bytes) + 5 + field;
    expect("opencl.bin", &entry(0), &[0x57], &["kernel scale", "argument 1", "0x58 bytes"]);
    expect("opencl.bin", &entry(8 + 7), &[1], &["kernel scale", "a string of"]);
    expect("opencl.bin", &entry(0x34), &[13], &["kernel scale", "_.global_offset_0", "type 13"]);
    expect("opencl.bin", &entry(0x28), &[5], &["kernel scale", "length 5"]);
    let header = |field: usize| move |bytes: &[u8]| find(b"before\xe0")(bytes) + 6 + field;
    expect("opencl.bin", &header(0), &[0xdf], &["kernel scale", "a header of 223 bytes"]);
    expect("opencl.bin", &header(0xa0), &[200], &["kernel scale", "200 arguments"]);
    expect(
        "opencl.bin",
        &find(b"&__OpenCL_scale_kernel\0"),
        b"&__OpenCL_other_kernel",
        &["scale", "no such symbol"],
    );
    // Relocation types and machines that warploom does not read.
    let sampler = |bytes: &[u8]| find(&[0x34, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])(bytes) + 8;
    expect(
        "opencl.bin",
        &sampler,
        &[4],
        &["a constant sampler", "pass the sampler as an argument"],
    );
    expect("opencl.bin", &|_| 0x12, &[0x5a], &["addresses of 32 bits"]);
    let inner = |bytes: &[u8]| 1 + bytes[1..].windows(4).position(|w| w == b"\x7fELF").unwrap();
    expect("opencl.bin", &inner, &[0], &["drivers before 1912.05"]);
}

/// Returns compiled.hsaco with other metadata, and the metadata's offset.
fn with_metadata(text: &str) -> (Vec<u8>, usize) {
    let mut file = bytes("version2/compiled.hsaco");
    let start = file.windows(4).position(|w| w == b"---\n").unwrap();
    let end = start + file[start..].windows(4).position(|w| w == b"...\n").unwrap() + 4;
    assert!(text.len() <= end - start, "{} {}", text.len(), end - start);
    file[start..end].fill(0);
    file[start..start + text.len()].copy_from_slice(text.as_bytes());
    (file, start)
}

/// A small file cannot expand to a large value: deeply nested lists and aliases are errors.
#[test]
fn metadata_is_bounded() {
    let message = |text: &str| {
        warploom_container::modules(&with_metadata(text).0).map(drop).unwrap_err().to_string()
    };
    let nested = format!("---\n{}1{}\n", "[".repeat(17), "]".repeat(17));
    assert!(
        message(&nested).contains("line 2: values nest more than 16 deep"),
        "{}",
        message(&nested)
    );
    let named = message("---\nKernels: [ &a 1, *a ]\n");
    assert!(named.contains("line 2: an alias"), "{named}");
    assert!(message("---\n").contains("not a map: expected a YAML map"), "{}", message("---\n"));
}

/// Files with several changes at once (bits, bytes and copied pieces) cause no panic. A loaded file
/// holds at most 16 MiB more than its size; if it links, each kernel has code.
#[test]
fn random_changes_do_no_harm() {
    let seeds = std::env::var("WARPLOOM_SEEDS").map_or(3000, |seeds| seeds.parse().unwrap());
    for (number, name) in
        ["containers/variants.v2.hsaco", "version2/opencl.hints.bin"].into_iter().enumerate()
    {
        let good = bytes(name);
        let (mut loads, mut fails) = (0, 0);
        for seed in 0..seeds {
            let mut random = Random::new(2 * seed + number as u64);
            let mut file = good.clone();
            for _ in 0..=random.below(6) {
                let at = random.below(file.len() as u32) as usize;
                let other = random.below(file.len() as u32) as usize;
                let length = (1 + random.below(24) as usize).min(file.len() - at.max(other));
                match random.below(4) {
                    0 => file[at] = random.below(256) as u8,
                    1 => file.copy_within(other..other + length, at),
                    2 => {
                        file[at..at + length].fill([0, 0xff, b'[', b'\n'][random.below(4) as usize])
                    }
                    _ => file[at] ^= 1 << random.below(8),
                }
            }
            let Ok(modules) = warploom_container::modules(&file) else {
                fails += 1;
                continue;
            };
            loads += 1;
            for module in modules.into_iter().filter(|module| module.sections[0].size <= 1 << 20) {
                let held: usize = module.sections.iter().map(|section| section.data.len()).sum();
                assert!(held <= file.len() + (16 << 20), "{name}, seed {seed}");
                let Ok(linked) = Linked::new(Arc::new(module), Addresses::default()) else {
                    continue;
                };
                for (kernel, _) in linked.module().kernels() {
                    linked.locate(kernel, linked.code(kernel).entry).unwrap();
                }
            }
        }
        assert!(loads > 0 && fails > 0, "{name}: {loads} load, {fails} do not");
    }
}
