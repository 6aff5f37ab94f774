//! HSA code objects, with the output of LLVM's `llvm-readelf` and `llvm-objdump` as ground truth
//! (`tests/fixtures/gfx9/ground_truth.py`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use warploom_container::hsaco::{
    self, Feature, HiddenKind, KernelDescriptor, SystemSgpr, UserSgpr, ValueKind,
};
use warploom_container::{
    Addresses, Error, Format, Linked, Module, RelocKind, SectionId, SectionKind, SymbolKind,
};

fn bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gfx9").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).unwrap()
}

fn parsed(name: &str) -> Module {
    let mut modules =
        warploom_container::modules(&bytes(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(modules.len(), 1);
    modules.remove(0)
}

const BASE: u64 = 0x7_1234_0000;
const IMAGE: SectionId = SectionId(0);

fn link(module: Module) -> Result<Linked, Error> {
    let globals = BTreeMap::from([(IMAGE, BASE)]);
    Linked::new(Arc::new(module), Addresses { globals, ..Addresses::default() })
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

#[test]
fn kernels_are_as_llvm_reads_them() {
    let table = text("kernels.tsv");
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let columns = lines.next().unwrap();
    let mut checked = 0;
    for row in lines {
        let cell = |name: &str| row[columns.iter().position(|c| *c == name).unwrap()];
        let number = |name: &str| match cell(name).strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
            None => cell(name).parse().unwrap(),
        };
        let label = format!("{} {}", cell("file"), cell("kernel"));
        let module = parsed(cell("file"));
        let function =
            module.function(module.kernel(cell("kernel")).unwrap_or_else(|| panic!("{label}")));
        let hsa = function.hsa.as_ref().unwrap();
        assert_eq!((function.offset, function.size), (number("entry"), number("size")), "{label}");
        assert_eq!(module.symbol(function.symbol).kind, SymbolKind::Function, "{label}");
        assert_eq!(hsa.descriptor_at, number("descriptor"), "{label}");
        assert_eq!(
            (u64::from(hsa.vgprs), u64::from(hsa.sgprs)),
            (number("vgprs"), number("sgprs")),
            "{label}"
        );
        assert!(
            hsa.descriptor.vgprs() >= hsa.vgprs && function.registers == hsa.descriptor.vgprs(),
            "{label}"
        );
        assert_eq!(hsa.max_flat_workgroup_size.map(u64::from), Some(number("lanes")), "{label}");
        assert_eq!(function.shared_bytes, number("lds"), "{label}");
        assert_eq!(u64::from(hsa.descriptor.private_segment_bytes), number("scratch"), "{label}");
        assert_eq!(u64::from(hsa.kernarg_bytes), number("kernarg"), "{label}");
        let hidden =
            hsa.hidden.iter().map(|arg| (arg.offset, format!("hidden_{}", arg.kind.name())));
        let explicit = hsa.args.iter().map(|arg| (arg.offset, arg.kind.name().to_string()));
        let kinds: Vec<String> = explicit.chain(hidden).map(|(_, kind)| kind).collect();
        assert_eq!(kinds.join(","), cell("arguments"), "{label}");
        let params: Vec<(u32, u32)> = function.params.iter().map(|p| (p.offset, p.size)).collect();
        assert_eq!(params, hsa.args.iter().map(|arg| (arg.offset, arg.size)).collect::<Vec<_>>());
        checked += 1;
    }
    assert!(checked >= 34, "{checked}");
}

/// Returns the assembler's directives that describe a descriptor.
fn directives(d: &KernelDescriptor) -> Vec<(&'static str, u32)> {
    let mode = d.float_mode();
    let system = |wanted| u32::from(d.system_sgprs().any(|(sgpr, _)| sgpr == wanted));
    let user = |wanted| u32::from(d.user_sgprs().any(|(sgpr, _)| sgpr == wanted));
    let exception = |bit: u32| d.exceptions() >> bit & 1;
    vec![
        ("group_segment_fixed_size", d.group_segment_bytes),
        ("private_segment_fixed_size", d.private_segment_bytes),
        ("kernarg_size", d.kernarg_bytes),
        ("next_free_vgpr", d.vgprs()),
        ("reserve_vcc", 0),
        ("reserve_flat_scratch", 0),
        ("reserve_xnack_mask", 0),
        // The field counts steps of 8; registers are allocated in steps of 16.
        ("next_free_sgpr", ((d.rsrc1 >> 6 & 15) + 1) * 8),
        ("float_round_mode_32", mode.round_32.into()),
        ("float_round_mode_16_64", mode.round_64_16.into()),
        ("float_denorm_mode_32", mode.denorm_32.into()),
        ("float_denorm_mode_16_64", mode.denorm_64_16.into()),
        ("dx10_clamp", mode.dx10_clamp.into()),
        ("ieee_mode", mode.ieee.into()),
        ("fp16_overflow", mode.fp16_overflow.into()),
        ("system_sgpr_private_segment_wavefront_offset", system(SystemSgpr::ScratchWaveOffset)),
        ("system_sgpr_workgroup_id_x", system(SystemSgpr::WorkgroupIdX)),
        ("system_sgpr_workgroup_id_y", system(SystemSgpr::WorkgroupIdY)),
        ("system_sgpr_workgroup_id_z", system(SystemSgpr::WorkgroupIdZ)),
        ("system_sgpr_workgroup_info", system(SystemSgpr::WorkgroupInfo)),
        ("system_vgpr_workitem_id", d.workitem_ids() - 1),
        ("exception_fp_ieee_invalid_op", exception(2)),
        ("exception_fp_denorm_src", exception(3)),
        ("exception_fp_ieee_div_zero", exception(4)),
        ("exception_fp_ieee_overflow", exception(5)),
        ("exception_fp_ieee_underflow", exception(6)),
        ("exception_fp_ieee_inexact", exception(7)),
        ("exception_int_div_zero", exception(8)),
        ("user_sgpr_private_segment_buffer", user(UserSgpr::PrivateSegmentBuffer)),
        ("user_sgpr_dispatch_ptr", user(UserSgpr::DispatchPtr)),
        ("user_sgpr_queue_ptr", user(UserSgpr::QueuePtr)),
        ("user_sgpr_kernarg_segment_ptr", user(UserSgpr::KernargSegmentPtr)),
        ("user_sgpr_dispatch_id", user(UserSgpr::DispatchId)),
        ("user_sgpr_flat_scratch_init", user(UserSgpr::FlatScratchInit)),
        ("user_sgpr_private_segment_size", user(UserSgpr::PrivateSegmentSize)),
        ("uses_dynamic_stack", d.uses_dynamic_stack().into()),
    ]
}

#[test]
fn descriptors_are_as_llvm_disassembles_them() {
    let text = text("descriptors.txt");
    let mut checked = 0;
    let mut lines = text.lines().peekable();
    while let Some(title) = lines.next() {
        let (file, kernel) = title.split_once(' ').unwrap();
        let module = parsed(file);
        let kernel = module.function(module.kernel(kernel).unwrap());
        let directives = directives(&kernel.hsa.as_ref().unwrap().descriptor);
        let mut compared = 0;
        while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
            let name = line.split_whitespace().next().unwrap();
            let (_, value) =
                directives.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(line, format!("  {name} {value}"), "{title}");
            compared += 1;
        }
        // LLVM does not print the last directive for all versions.
        assert!(compared + 1 >= directives.len(), "{title}: {compared}");
        checked += 1;
    }
    assert!(checked >= 34, "{checked}");
}

#[test]
fn registers_follow_each_other() {
    let module = parsed("containers/variables.hsaco");
    let descriptor = module.functions[0].hsa.as_ref().unwrap().descriptor;
    let user: Vec<_> = descriptor.user_sgprs().collect();
    let expected = [
        (UserSgpr::PrivateSegmentBuffer, 0),
        (UserSgpr::DispatchPtr, 4),
        (UserSgpr::KernargSegmentPtr, 6),
        (UserSgpr::DispatchId, 8),
        (UserSgpr::FlatScratchInit, 10),
    ];
    assert_eq!(user, expected);
    assert_eq!(descriptor.user_sgpr_count(), 12);
    // The code starts with s_add_u32 flat_scratch_lo, s10, s15: the wave's offset is in s15.
    let system: Vec<_> = descriptor.system_sgprs().collect();
    let expected = [
        (SystemSgpr::WorkgroupIdX, 12),
        (SystemSgpr::WorkgroupIdY, 13),
        (SystemSgpr::WorkgroupIdZ, 14),
        (SystemSgpr::ScratchWaveOffset, 15),
    ];
    assert_eq!(system, expected);
}

#[test]
fn versions_and_gpus() {
    use Feature::{Any, Off, On, Unsupported};
    let cases = [
        ("v3", 3, "AMD gfx900 (GFX9)", On, Off),
        ("v4", 4, "AMD gfx900 (GFX9)", Any, Unsupported),
        ("v5", 5, "AMD gfx900 (GFX9)", Any, Unsupported),
        ("v6", 6, "AMD gfx900 (GFX9)", Any, Unsupported),
        ("xnack", 5, "AMD gfx900 (GFX9)", On, Unsupported),
        ("gfx902", 5, "AMD gfx902 (GFX9)", Any, Unsupported),
        ("gfx906", 5, "AMD gfx906 (GFX9)", Any, Off),
        ("gfx9-generic", 6, "AMD gfx9-generic (GFX9)", Any, Unsupported),
    ];
    for (name, version, isa, xnack, sramecc) in cases {
        let module = parsed(&format!("containers/variants.{name}.hsaco"));
        assert_eq!(module.isa.to_string(), isa, "{name}");
        let hsa = module.hsa.as_ref().unwrap();
        assert_eq!((hsa.version, hsa.xnack, hsa.sramecc), (version, xnack, sramecc), "{name}");
        let kernel = module.function(module.kernel("variants").unwrap());
        assert_eq!(kernel.required_threads, Some([64, 2, 1]), "{name}");
        let args: Vec<_> = kernel
            .hsa
            .as_ref()
            .unwrap()
            .args
            .iter()
            .map(|a| (a.kind, a.type_name.as_deref()))
            .collect();
        let expected = [
            (ValueKind::GlobalBuffer, Some("int*")),
            (ValueKind::DynamicSharedPointer, Some("int*")),
            (ValueKind::ByValue, Some("int")),
            (ValueKind::ByValue, Some("short2")),
        ];
        assert_eq!(args, expected, "{name}");
        let helper = module.functions.iter().find(|f| f.name == "helper").unwrap();
        assert_eq!((helper.kernel, helper.size), (false, 56), "{name}");
        assert!(module.variable("table").is_some(), "{name}");
    }
    let target = parsed("containers/variants.gfx906.hsaco").hsa.unwrap().target;
    assert_eq!(target.as_deref(), Some("amdgcn-amd-amdhsa--gfx906:sramecc-"));
}

#[test]
fn an_image_is_linked_at_its_address() {
    let linked = link(parsed("containers/variables.hsaco")).unwrap();
    let module = linked.module();
    let image = module.section(IMAGE);
    assert_eq!((image.kind, image.align), (SectionKind::Image, 0x1000));
    // According to llvm-readelf, .data ends at 0x3d80 and .bss at 0x3f11.
    assert_eq!((image.data.len(), image.size), (0x3d80, 0x3f11));
    let address = |name: &str| linked.address(module.variable(name).unwrap()).unwrap();
    assert_eq!(address("variable"), BASE + 0x3d60);
    assert_eq!(address("zeros"), BASE + 0x3d80);
    assert!(module.variable("variables.kd").is_none());
    let content = linked.content(IMAGE);
    assert_eq!(word(content, 0x3d68), BASE + 0x3d60, "pointer");
    assert_eq!(
        [word(content, 0x3d70), word(content, 0x3d78)],
        [BASE + 0x1b00, BASE + 0x1b30],
        "functions"
    );

    let kernel = module.kernel("variables").unwrap();
    let code = linked.code(kernel);
    assert_eq!((code.base, code.entry), (BASE, BASE + 0x1c00));
    assert_eq!(code.bytes, content);
    // No instruction jumps to a kernel.
    assert_eq!(code.targets, [BASE + 0x1b00, BASE + 0x1b30]);
    let place = |pc| linked.locate(kernel, pc).map(|p| (p.function, p.offset));
    assert_eq!(place(BASE + 0x1c04), Some(("variables".into(), 0x1c04)));
    assert_eq!(place(BASE + 0x1b34), Some(("_ZL6secondi".into(), 0x1b34)));
    assert_eq!(place(0x1c04), None);

    // In a stripped file, a function that is called through a table is still code, but has no name.
    let stripped = parsed("containers/variables.stripped.hsaco");
    assert_eq!(stripped.functions.len(), 1);
}

/// Proves each kind of relocation. The test replaces the compiler's relocation at 0x3d68 with one
/// to the address of `variable` (symbol 1 at 0x3d60), in several forms.
#[test]
fn kinds_of_relocation() {
    let relocated = |ty: u64, symbol: u64, addend: u64| {
        let mut bytes = bytes("containers/variables.hsaco");
        let at = 0x988;
        assert_eq!(
            [word(&bytes, at), word(&bytes, at + 8), word(&bytes, at + 16)],
            [0x3d68, 13, 0x3d60]
        );
        bytes[at + 8..at + 16].copy_from_slice(&(symbol << 32 | ty).to_le_bytes());
        bytes[at + 16..at + 24].copy_from_slice(&addend.to_le_bytes());
        let linked = link(warploom_container::modules(&bytes)?.remove(0))?;
        Ok::<u64, Error>(word(linked.content(IMAGE), 0x3d68))
    };
    let before = word(&parsed("containers/variables.hsaco").section(IMAGE).data, 0x3d68);
    let low = |value: u64| before >> 32 << 32 | value & 0xffff_ffff;
    let variable = BASE + 0x3d60;
    assert_eq!(relocated(0, 0, 0).unwrap(), before);
    assert_eq!(relocated(3, 1, 8).unwrap(), variable + 8, "ABS64");
    assert_eq!(relocated(1, 1, 8).unwrap(), low(variable + 8), "ABS32_LO");
    assert_eq!(relocated(2, 1, 8).unwrap(), low((variable + 8) >> 32), "ABS32_HI");
    assert_eq!(relocated(5, 1, 4).unwrap(), 4_u64.wrapping_sub(8), "REL64");
    assert_eq!(relocated(4, 1, 4).unwrap(), low(4_u64.wrapping_sub(8)), "REL32");
    assert_eq!(relocated(10, 1, 4).unwrap(), low(4_u64.wrapping_sub(8)), "REL32_LO");
    assert_eq!(relocated(11, 1, 4).unwrap(), low(u64::MAX), "REL32_HI");
    let message = |ty, symbol| relocated(ty, symbol, 0).unwrap_err().to_string();
    assert!(message(6, 1).contains("does not fit into 32 bits"), "{}", message(6, 1));
    assert!(message(7, 1).contains("R_AMDGPU_GOTPCREL"), "{}", message(7, 1));
    assert!(message(99, 1).contains("type 99"), "{}", message(99, 1));
    assert!(message(3, 77).contains("symbol 77"), "{}", message(3, 77));

    // Undefines the variable: symbol 1 gets section index 0.
    let mut undefined = bytes("containers/variables.hsaco");
    let dynsym = parsed_section(&undefined, ".dynsym");
    undefined[dynsym + 24 + 6..dynsym + 24 + 8].copy_from_slice(&[0, 0]);
    undefined[0x988 + 8..0x988 + 16].copy_from_slice(&(1_u64 << 32 | 3).to_le_bytes());
    let module = warploom_container::modules(&undefined).unwrap().remove(0);
    assert!(matches!(module.relocations[0].kind, RelocKind::Address { .. }));
    let message = link(module).unwrap_err().to_string();
    assert!(
        message.contains("R_AMDGPU_ABS64 against variable") && message.contains("not defined"),
        "{message}"
    );
}

/// Returns the offset of a section in the file.
fn parsed_section(bytes: &[u8], name: &str) -> usize {
    use object::{Object, ObjectSection};
    let file = object::File::parse(bytes).unwrap();
    file.section_by_name(name).unwrap().file_range().unwrap().0 as usize
}

#[test]
fn bundles_give_their_best_member() {
    for (name, format) in [("variables.bundle", Format::OffloadBundle), ("host.o", Format::HostElf)]
    {
        let bytes = bytes(&format!("containers/{name}"));
        assert_eq!(warploom_container::recognise(&bytes), Some(format));
        let bundles = hsaco::bundle::bundles(&bytes, format).unwrap();
        let ids: Vec<_> =
            bundles.iter().flat_map(|b| &b.entries).map(|entry| entry.target_id()).collect();
        assert_eq!(ids, ["", "gfx1030", "gfx900", "gfx906", "gfx908"], "{name}");
        let modules = warploom_container::modules(&bytes).unwrap();
        assert_eq!(modules.len(), 1);
        assert_eq!(modules[0].isa.to_string(), "AMD gfx900 (GFX9)");
        assert!(modules[0].kernel("variables").is_some());
    }
    let entry = |id: &str| {
        hsaco::bundle::Entry { id: id.into(), offset: 0, content: [][..].into() }
            .target_id()
            .to_string()
    };
    assert_eq!(entry("hipv4-amdgcn-amd-amdhsa--gfx906:sramecc-:xnack+"), "gfx906:sramecc-:xnack+");
    assert_eq!(entry("openmp-amdgcn-amd-amdhsa--gfx902"), "gfx902");
}

/// Proves that clang's compressed bundles unpack, for each version of the header and each method.
#[test]
fn compressed_bundles() {
    let packed = bytes("containers/variables.ccob");
    assert_eq!(warploom_container::recognise(&packed), Some(Format::OffloadBundle));
    assert_eq!(packed[4..8], [2, 0, 1, 0], "version 2, Zstandard");
    let unpacked = u32::from_le_bytes(packed[12..16].try_into().unwrap());
    let with = |version: u16, method: u16, stream: &[u8]| {
        let mut bytes = b"CCOB".to_vec();
        bytes.extend([version.to_le_bytes(), method.to_le_bytes()].concat());
        match version {
            1 => bytes.extend(unpacked.to_le_bytes()),
            2 => bytes.extend([24 + stream.len() as u32, unpacked].map(u32::to_le_bytes).concat()),
            _ => bytes.extend(
                [32 + stream.len() as u64, u64::from(unpacked)].map(u64::to_le_bytes).concat(),
            ),
        }
        bytes.extend([0; 8]);
        [&bytes, stream].concat()
    };
    let bundles = |bytes: &[u8]| {
        let bundles =
            hsaco::bundle::bundles(bytes, Format::OffloadBundle).unwrap_or_else(|e| panic!("{e}"));
        assert!(bundles.iter().all(|bundle| bundle.compressed));
        bundles.into_iter().map(|bundle| bundle.entries[1].content.to_vec()).collect::<Vec<_>>()
    };
    let kernel = bundles(&packed);
    assert_eq!(warploom_container::recognise(&kernel[0]), Some(Format::Hsaco));
    for version in 1..=3 {
        assert_eq!(bundles(&with(version, 1, &packed[24..])), kernel, "{version}");
    }
    // A bundle without entries has 32 bytes; here, zeros separate two bundles.
    let nothing = [b"__CLANG_OFFLOAD_BUNDLE__".as_slice(), &[0; 8]].concat();
    let zlib = miniz_oxide::deflate::compress_to_vec_zlib(&nothing, 6);
    let mut small = with(2, 0, &zlib);
    small[12..16].copy_from_slice(&32_u32.to_le_bytes());
    let both = [&small[..], &[0; 100], &packed].concat();
    let found = hsaco::bundle::bundles(&both, Format::OffloadBundle).unwrap();
    assert_eq!(
        found.iter().map(|b| (b.offset, b.entries.len())).collect::<Vec<_>>(),
        [(0, 0), (small.len() as u64 + 100, 3)]
    );

    let message = |bytes: &[u8]| warploom_container::modules(bytes).unwrap_err().to_string();
    assert!(message(&with(4, 1, &packed[24..])).contains("version 4"));
    assert!(message(&with(2, 7, &packed[24..])).contains("method 7"));
    assert!(message(&with(2, 0, &packed[24..])).contains("unpacks to"));
    for length in 4..packed.len() {
        assert!(message(&packed[..length]).contains("expected"), "{length}");
    }
    let mut flipped = packed.clone();
    for i in 0..packed.len() * 8 {
        flipped[i / 8] ^= 1 << (i % 8);
        let _ = check(&flipped);
        flipped[i / 8] ^= 1 << (i % 8);
    }
}

#[test]
fn nothing_that_gfx9_runs() {
    let bytes = bytes("containers/variables.bundle");
    let mut other = bytes.clone();
    for name in [b"--gfx906", b"--gfx900"] {
        let at = bytes.windows(8).position(|w| w == name).unwrap();
        other[at..at + 8].copy_from_slice(b"--gfx940");
    }
    let message = warploom_container::modules(&other).unwrap_err().to_string();
    assert!(message.contains("gfx900 to gfx906") && message.contains("gfx1030"), "{message}");
}

#[test]
fn messages_say_what_and_where() {
    let message = |name: &str| {
        warploom_container::modules(&bytes(&format!("containers/wrong.{name}.hsaco")))
            .unwrap_err()
            .to_string()
    };
    for gpu in ["gfx803", "gfx908", "gfx1030"] {
        let message = message(gpu);
        let expected = "it is not GFX9 that warploom runs: expected gfx900, gfx902, gfx904, gfx906";
        assert!(
            message.contains(&format!("code for {gpu}")) && message.contains(expected),
            "{message}"
        );
    }
}

/// Proves the error message for each change of one field in a good file.
#[test]
fn files_that_lie() {
    let good = bytes("containers/variants.v5.hsaco");
    let changed = |at: usize, new: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        match warploom_container::modules(&bytes) {
            Err(error) => error.to_string(),
            // The file has another kernel, which is readable.
            Ok(mut modules) => modules.remove(0).unreadable.remove(0).error.to_string(),
        }
    };
    let expect = |at: usize, new: &[u8], parts: &[&str]| {
        let message = changed(at, new);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}: expected {parts:?}");
    };
    let find = |text: &str| {
        let at = good.windows(text.len()).position(|w| w == text.as_bytes());
        at.unwrap_or_else(|| panic!("{text}")) + text.len()
    };
    expect(7, &[65], &["PAL", "expected 64 (HSA)"]);
    expect(8, &[9], &["ABI version 9"]);
    expect(0x10, &[1], &["type 1", "linked code object"]);
    // The first segment.
    let load = 64 + 56;
    expect(load + 0x28, &(1_u64 << 40).to_le_bytes(), &["segment", "below 1 GiB"]);
    expect(load + 0x20, &(1_u64 << 40).to_le_bytes(), &["segment", "within the file"]);
    expect(load + 56 + 0x10, &0_u64.to_le_bytes(), &["ascending order"]);
    // The descriptor of `variants` at address 0x780, which is also its offset in the file.
    expect(
        0x780 + 16,
        &0x10_0000_u64.to_le_bytes(),
        &["variants.kd", "a multiple of 4 in the image"],
    );
    expect(0x780 + 16, &0x1282_u64.to_le_bytes(), &["variants.kd", "a multiple of 4"]);
    expect(0x780 + 52, &[0], &["variants.kd", "0 user SGPRs"]);
    expect(0x780 + 56, &(1_u16 << 10).to_le_bytes(), &["variants.kd", "32 lanes"]);
    expect(0x780, &[64], &["variants.kd", "group segment of 0 bytes", "expected 64"]);
    // The note.
    expect(find(".wavefront_size"), &[32], &["amdhsa.kernels[0]", "waves of 32 lanes"]);
    expect(find(".value_kind"), &[0xa3, b'x', b'y', b'z'], &["metadata"]);
    expect(
        find(".kernarg_segment_size"),
        &[3],
        &["amdhsa.kernels[0]: .args[0]", "kernarg segment of 3 bytes"],
    );
    expect(find("amdhsa.version"), &[0xc0], &["amdhsa.version", "a list"]);
    expect(find("amdhsa.version") + 1, &[2], &["version 2.2", "expected version 1"]);
    expect(find("variants.kd") - 1, b"x", &["variants.kx", "no such symbol"]);
    expect(find("amdhsa.kernels"), &[0xdf, 0xff, 0xff, 0xff, 0xff], &["metadata", "MessagePack"]);
}

/// Proves that an unreadable kernel leaves the other kernel readable, in files of `variants` and
/// `plain`.
#[test]
fn an_unreadable_kernel_hides_no_other() {
    let check = |file: &str, at: usize, new: &[u8], expected: &str| {
        let mut bytes = bytes(&format!("containers/{file}"));
        bytes[at..at + new.len()].copy_from_slice(new);
        let module = warploom_container::modules(&bytes).unwrap().remove(0);
        assert_eq!(
            module.kernels().map(|(_, kernel)| &*kernel.name).collect::<Vec<_>>(),
            ["plain"],
            "{file}"
        );
        let error = module.unreadable("variants").unwrap_or_else(|| panic!("{file}")).to_string();
        assert!(module.unreadable.len() == 1 && error.contains(expected), "{file}: {error}");
    };
    let note = |file: &str, text: &str| {
        let bytes = bytes(&format!("containers/{file}"));
        bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap() + text.len()
    };
    // The kernel's descriptor, and its entry in the note.
    check("variants.v5.hsaco", 0x780 + 56, &(1_u16 << 10).to_le_bytes(), "32 lanes");
    check(
        "variants.v5.hsaco",
        note("variants.v5.hsaco", ".wavefront_size"),
        &[32],
        "waves of 32 lanes",
    );
    check(
        "variants.v2.hsaco",
        note("variants.v2.hsaco", "WavefrontSize:   "),
        b"32",
        "waves of 32 lanes",
    );
}

/// Code objects of versions 5 and 2, and a code object in a binary of AMD's OpenCL.
const FILES: [&str; 4] = [
    "containers/variants.v5.hsaco",
    "containers/variables.hsaco",
    "version2/compiled.hsaco",
    "version2/opencl.hints.bin",
];

/// Links a file's modules, and checks that the file's size bounds the memory that they hold.
fn check(bytes: &[u8]) -> Result<(), Error> {
    for module in warploom_container::modules(bytes)? {
        let held: usize = module.sections.iter().map(|s| s.data.len()).sum();
        assert!(held <= bytes.len() + (16 << 20), "{held} bytes from {}", bytes.len());
        let names: usize = module.symbols.iter().map(|s| s.name.len()).sum();
        assert!(names <= 5 * bytes.len());
        for (_, kernel) in module.kernels() {
            let hsa = kernel.hsa.as_ref().unwrap();
            assert!(
                hsa.args.len() + hsa.hidden.len() <= bytes.len() && hsa.kernarg_bytes <= 1 << 16
            );
            let ends = hsa.hidden.iter().map(|arg| arg.offset + arg.size);
            assert!(
                ends.chain(hsa.args.iter().map(|arg| arg.offset + arg.size))
                    .all(|end| end <= hsa.kernarg_bytes)
            );
        }
        // Linking copies the image, so images that a flipped bit made large are skipped.
        if held <= 1 << 16 {
            let linked = link(module)?;
            for (kernel, _) in linked.module().kernels() {
                let code = linked.code(kernel);
                linked.locate(kernel, code.entry).unwrap();
            }
        }
    }
    Ok(())
}

#[test]
fn truncated_files_are_errors() {
    for name in FILES {
        let bytes = bytes(name);
        for length in 0..bytes.len() {
            let message =
                check(&bytes[..length]).expect_err(&format!("{name} cut to {length}")).to_string();
            assert!(message.contains("expected"), "{message}");
        }
    }
    let bundle = bytes("containers/variables.bundle");
    for length in (0..0x2000).chain((0x2000..bundle.len()).step_by(97)) {
        check(&bundle[..length]).expect_err("a cut bundle");
    }
}

#[test]
fn flipped_bits_do_no_harm() {
    for name in FILES {
        let mut bytes = bytes(name);
        let (mut good, mut bad) = (0, 0);
        for i in 0..bytes.len() * 8 {
            bytes[i / 8] ^= 1 << (i % 8);
            match check(&bytes) {
                Ok(()) => good += 1,
                Err(e) => {
                    assert!(!e.to_string().is_empty());
                    bad += 1;
                }
            }
            bytes[i / 8] ^= 1 << (i % 8);
        }
        assert!(good > 0 && bad > 0, "{name}: {good} {bad}");
    }
}

#[test]
fn variables_are_in_guest_memory() {
    let program = warploom::Program::load(&bytes("containers/variables.hsaco"), None).unwrap();
    let variable = program.variable("variable").unwrap();
    let (pointer, address) = (program.variable("pointer").unwrap(), variable.address);
    let read = |address: u64| {
        let mut word = [0; 8];
        program.memory().read(address, &mut word).unwrap();
        u64::from_le_bytes(word)
    };
    assert_eq!(read(pointer.address), address);
    assert_eq!((read(address) as u32, variable.size), (5, 4));
    program.write_variable("variable", &[9, 0, 0, 0]).unwrap();
    assert_eq!(read(address) as u32, 9);
    program.reset().unwrap();
    assert_eq!(read(address) as u32, 5);
    assert!(program.variable("variables.kd").is_err());
}

#[test]
fn printf_formats_are_kept() {
    let module = parsed("containers/printf.hsaco");
    // `llvm-readelf -n` prints this text; the compiler counts the number.
    assert_eq!(module.hsa.as_ref().unwrap().printf, ["1:3:4:4:8:item %d has %d, %s\\n"]);
    let hidden = &module.functions[0].hsa.as_ref().unwrap().hidden;
    assert!(hidden.iter().any(|arg| arg.kind == HiddenKind::PrintfBuffer && arg.size == 8));
}

#[test]
fn hidden_arguments_have_kinds() {
    let module = parsed("corpus/k03_reduce.hsaco");
    let hsa = module.functions[0].hsa.clone().unwrap();
    let of =
        |kind| hsa.hidden.iter().find(|arg| arg.kind == kind).map(|arg| (arg.offset, arg.size));
    // `llvm-readelf -n` lists these values.
    assert_eq!(of(HiddenKind::BlockCount(1)), Some((28, 4)));
    assert_eq!(of(HiddenKind::GroupSize(2)), Some((40, 2)));
    assert_eq!(of(HiddenKind::GlobalOffset(0)), Some((64, 8)));
    assert_eq!(of(HiddenKind::GridDims), Some((88, 2)));
    assert_eq!(of(HiddenKind::DynamicLdsSize), Some((144, 4)));
    assert_eq!(of(HiddenKind::QueuePtr), None);
}
