//! Cubins, with the output of the vendor's `cuobjdump -res-usage -elf` and `nvdisasm` as ground
//! truth.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use object::{Object, ObjectSection, ObjectSymbol};
use warploom_container::{
    Addresses, Error, FunctionId, Linked, Module, SectionId, SectionKind, SymbolId, SymbolKind,
};

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/maxwell").join(name))
        .unwrap()
}

fn module(name: &str) -> Module {
    let mut modules = warploom_container::modules(&bytes(name)).unwrap();
    assert_eq!(modules.len(), 1);
    modules.remove(0)
}

const GLOBAL: u64 = 0x7_1234_0000;

/// Links a module. The global sections follow each other from `GLOBAL`, 64 KiB apart.
fn linked(name: &str) -> Linked {
    let module = Arc::new(module(name));
    let mut addresses =
        Addresses { constants: 0x9_0000_0000, shared_window: 0x100_0000, ..Addresses::default() };
    for (i, s) in module.sections.iter().enumerate().filter(|(_, s)| s.kind == SectionKind::Global)
    {
        let count = addresses.globals.len() as u64;
        addresses.globals.insert(SectionId(i), GLOBAL + count * 0x10000);
        assert!(s.size < 0x10000);
    }
    let header = |k| matches!(k, SymbolKind::Texture | SymbolKind::Surface | SymbolKind::Sampler);
    for (i, _) in module.symbols.iter().enumerate().filter(|(_, s)| header(s.kind)) {
        let count = addresses.handles.len() as u32;
        addresses.handles.insert(SymbolId(i), (0x71 + count) * 0x10_0001);
    }
    Linked::new(module, addresses).unwrap()
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// The name, registers, stack, static shared bytes, barriers and parameter bytes of a kernel.
type Usage = (&'static str, u32, u32, u64, u32, u32);

#[test]
fn resource_usage_is_as_the_vendor_prints_it() {
    let expected: &[(&str, &[Usage])] = &[
        ("kernels/saxpy.sm_50.cubin", &[("saxpy", 7, 0, 0, 0, 24)]),
        ("kernels/mandel.sm_50.cubin", &[("mandel", 11, 0, 0, 0, 36)]),
        ("kernels/matmul.sm_50.cubin", &[("matmul", 30, 0, 2112, 1, 36)]),
        ("kernels/reduce.sm_50.cubin", &[("votes", 18, 0, 0, 1, 20), ("reduce", 9, 0, 128, 1, 20)]),
        (
            "kernels/local.sm_50.cubin",
            &[
                ("sw", 8, 0, 0, 0, 16),
                ("types", 24, 0, 0, 0, 88),
                ("consts", 14, 0, 0, 0, 16),
                ("local", 38, 256, 0, 0, 20),
            ],
        ),
        ("kernels/calls.sm_50.cubin", &[("virt", 14, 40, 0, 0, 12), ("calls", 22, 0, 0, 0, 24)]),
        (
            "kernels/atomics.sm_50.cubin",
            &[
                ("fences", 8, 0, 0, 0, 16),
                ("fatom", 14, 0, 0, 0, 40),
                ("satom", 24, 0, 1280, 1, 40),
                ("red64", 10, 0, 0, 0, 24),
                ("atom64", 32, 0, 0, 0, 32),
                ("red32", 10, 0, 0, 0, 28),
                ("atom32", 29, 0, 0, 0, 36),
            ],
        ),
        ("containers/linked.sm_50.cubin", &[("linking", 22, 8, 656, 1, 12)]),
        (
            "containers/shared-linked.sm_50.cubin",
            &[
                ("bounded", 4, 0, 0, 0, 8),
                ("shared_one", 6, 0, 12, 1, 8),
                ("shared_all", 27, 0, 96, 1, 8),
            ],
        ),
    ];
    for (file, kernels) in expected {
        let module = module(file);
        let found: BTreeMap<&str, _> = module
            .kernels()
            .map(|(_, f)| {
                let stack = f.stack_bytes.unwrap_or(0);
                (f.name.as_str(), (f.registers, stack, f.shared_bytes, f.barriers, f.param_bytes))
            })
            .collect();
        let expected: BTreeMap<&str, _> =
            kernels.iter().map(|&(n, a, b, c, d, e)| (n, (a, b, c, d, e))).collect();
        assert_eq!(found, expected, "{file}");
        assert!(module.kernels().all(|(_, f)| f.param_base == 0x140), "{file}");
    }
}

#[test]
fn parameters_have_offsets_and_sizes() {
    let module = module("kernels/saxpy.sm_50.cubin");
    let saxpy = module.function(module.kernel("saxpy").unwrap());
    let params: Vec<(u32, u32)> = saxpy.params.iter().map(|p| (p.offset, p.size)).collect();
    // saxpy(int n, float a, const float *x, float *y)
    assert_eq!(params, [(0, 4), (4, 4), (8, 8), (16, 8)]);
    assert_eq!(saxpy.exits, [0x58, 0xe8]);
    assert!(module.kernel("nothing").is_none());
}

#[test]
fn launch_bounds() {
    let bounded = module("containers/shared-linked.sm_50.cubin");
    let bounded = bounded.function(bounded.kernel("bounded").unwrap());
    assert_eq!((bounded.max_threads, bounded.required_threads), (Some([96, 1, 1]), None));
    let headers = module("containers/headers.sm_50.cubin");
    assert_eq!(
        headers.function(headers.kernel("headers").unwrap()).required_threads,
        Some([8, 4, 2])
    );
}

#[test]
fn device_functions_lie_in_their_kernel() {
    let module = module("kernels/calls.sm_50.cubin");
    let virt: Vec<(&str, u64, u64)> = (module.functions.iter())
        .filter(|f| module.section(f.section).name == ".text.virt")
        .map(|f| (f.name.as_str(), f.offset, f.size))
        .collect();
    assert_eq!(
        virt,
        [
            ("$virt$_Z2f1f", 0x170, 0x20),
            ("$virt$_Z2f2f", 0x190, 0x10),
            ("$virt$_ZN1B1vEi", 0x1a0, 0x18),
            ("$virt$_ZN1D1vEi", 0x1b8, 0x88),
            ("virt", 0, 0x240),
        ]
    );
    let d = module.functions.iter().find(|f| f.name == "$virt$_ZN1D1vEi").unwrap();
    assert_eq!((d.frame_bytes, d.kernel), (8, false));
}

#[test]
fn constants_and_symbols() {
    let linked = linked("kernels/local.sm_50.cubin");
    let module = linked.module();
    let kernel = |name| module.kernel(name).unwrap();
    assert_eq!(linked.bank(kernel("sw"), 2).len(), 48);
    assert_eq!(linked.bank(kernel("sw"), 2)[..8], [0xf0, 2, 0, 0, 0x20, 3, 0, 0]);
    assert!(linked.bank(kernel("consts"), 2).is_empty());
    let bank3 = linked.bank(kernel("consts"), 3);
    assert_eq!(
        (bank3.len(), &bank3[0x100..0x108]),
        (0x110, &[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40][..])
    );
    // Bank 4 holds the addresses of gvar (offset 8) and gptr (offset 0); gptr points to gvar.
    let bank4 = linked.bank(kernel("consts"), 4);
    assert_eq!((word(bank4, 0), word(bank4, 8)), (GLOBAL + 8, GLOBAL));
    let gvar = module.variable("gvar").unwrap();
    assert_eq!((linked.address(gvar), module.symbol(gvar).size), (Some(GLOBAL + 8), 4));
    let globals = module.symbol(gvar).section.unwrap();
    assert_eq!(
        linked.content(globals),
        [&(GLOBAL + 8).to_le_bytes()[..], &[0x2a, 0, 0, 0]].concat()
    );
}

#[test]
fn indirect_targets_are_known() {
    let sw = linked("kernels/local.sm_50.cubin");
    let code = sw.code(sw.module().kernel("sw").unwrap());
    assert_eq!(code.bytes.len(), 0x380);
    assert_eq!(code.entry, 0);
    for target in [0x110, 0xb8, 0x2d8, 0x178, 0x160, 0x1f0, 0x1d8, 0x2f0, 0x320, 0x238, 0x330] {
        assert!(code.targets.contains(&target), "{target:#x} of {:x?}", code.targets);
    }
    let virt = linked("kernels/calls.sm_50.cubin");
    let code = virt.code(virt.module().kernel("virt").unwrap());
    assert_eq!(code.targets, [0, 0x170, 0x190, 0x1a0, 0x1b8]);
}

/// Proves that relocations of a linked file are applied. Whole instruction words are checked:
/// opcode and registers from `nvdisasm -hex`, the immediate at bit 20, as in the vendor's encoding.
#[test]
fn relocations_of_a_linked_file() {
    let linked = linked("containers/linked.sm_50.cubin");
    let module = linked.module();
    let kernel = module.kernel("linking").unwrap();
    let code = linked.code(kernel);
    let address = |name: &str| {
        let i = module.symbols.iter().position(|s| s.name == name).unwrap();
        linked.address(SymbolId(i)).unwrap()
    };
    let (external, local, print) = (address("external"), address("_Z5locali"), address("vprintf"));
    assert!(
        local >= 0x340 && external >= local + 0x80 && print >= external + 0x40,
        "{local:x} {external:x} {print:x}"
    );
    assert_eq!(word(&code.bytes, 0xb0), 0xe220_0000_0000_0040 | external << 20, "JCAL external");
    assert_eq!(word(&code.bytes, 0xd0), 0xe220_0000_0000_0040 | local << 20, "JCAL local");
    assert_eq!(word(&code.bytes, 0x288), 0xe220_0000_0000_0040 | print << 20, "JCAL vprintf");
    assert_eq!(
        word(&code.bytes, 0x2b8),
        0x0100_0000_0008_f002 | local << 20,
        "@!P0 MOV32I R2, 32@lo(local)"
    );
    let array = address("array");
    assert_eq!(array, GLOBAL + 0x18);
    assert_eq!(
        word(&code.bytes, 0x188),
        0x0100_0000_0007_f008 | (array & 0xffff_ffff) << 20,
        "32@lo(array)"
    );
    assert_eq!(
        word(&code.bytes, 0x190),
        0x0100_0000_0007_f000 | (array >> 32) << 20,
        "32@hi(array)"
    );
    // The device functions themselves: `local` reads `counter`, `external` reads `bias`.
    assert_eq!(
        word(&code.bytes, local as usize + 8),
        0x0100_0000_0007_f006 | (address("counter") & 0xffff_ffff) << 20
    );
    assert_eq!(
        word(&code.bytes, external as usize + 8),
        0x0100_0000_0007_f006 | (address("bias") & 0xffff_ffff) << 20
    );
    // Pointers in data: counter (generic), external and local (32 bit).
    let data = linked.content(module.symbol(module.variable("array").unwrap()).section.unwrap());
    assert_eq!(
        [word(data, 0), word(data, 8), word(data, 16)],
        [address("counter"), external, local]
    );

    assert!(code.targets.contains(&external) && code.targets.contains(&local));
    let place = |pc| linked.locate(kernel, pc).map(|p| (p.function, p.offset, p.undefined));
    assert_eq!(place(0xb0), Some(("linking".into(), 0xb0, false)));
    assert_eq!(place(external + 8), Some(("external".into(), 8, false)));
    assert_eq!(place(print), Some(("vprintf".into(), 0, true)));
    assert_eq!(place(0x9_0000), None);
}

#[test]
fn relocatable_files_get_their_shared_memory_placed() {
    let all = linked("containers/shared.rdc.sm_50.cubin");
    let module = all.module();
    let kernel = module.kernel("shared_all").unwrap();
    let address = |name: &str| all.address(module.variable(name).unwrap()).unwrap();
    // a3, d5 and c7 belong to the file; the kernel's own array follows them, aligned to 2.
    let own = module
        .symbols
        .iter()
        .position(|s| s.name.contains("shared_allE1q") || s.name.contains("E1q"))
        .unwrap();
    let own = all.address(SymbolId(own)).unwrap();
    assert_eq!([address("a3"), address("d5"), address("c7"), own], [0, 16, 56, 64]);
    let total = module.function(kernel).shared_bytes;
    assert_eq!(total, 64 + 18);
    let code = all.code(kernel).bytes;
    // The vendor's linker makes equal instructions with other offsets: a3 at 0, d5 at 0x10, q at
    // 0x38, c7 at 0x4a, dynamic at 0x60.
    let vendor = linked("containers/shared-linked.sm_50.cubin");
    let theirs = vendor.code(vendor.module().kernel("shared_all").unwrap()).bytes;
    let field = |word: u64| word >> 20 & 0xff_ffff;
    let opcode = |word: u64| word & !(0xff_ffff << 20);
    let moved =
        BTreeMap::from([(0, 0), (0x10, 16), (0x38, 64), (0x4a, 56), (0x60, 96), (0x68, 96 + 8)]);
    let mut compared = 0;
    for r in module.relocations.iter().filter(|r| r.name == "R_CUDA_ABS24_20") {
        if module.section(r.section).name != ".text.shared_all" {
            continue;
        }
        let (ours, vendors) = (word(&code, r.offset as usize), word(&theirs, r.offset as usize));
        assert_eq!(opcode(ours), opcode(vendors), "at {:#x}", r.offset);
        assert_eq!(Some(&field(ours)), moved.get(&field(vendors)), "at {:#x}", r.offset);
        compared += 1;
    }
    assert_eq!(compared, 10);
}

#[test]
fn constant_operands_of_a_relocatable_file() {
    let relocatable = linked("containers/linking.rdc.sm_50.cubin");
    let ours = relocatable.code(relocatable.module().kernel("linking").unwrap()).bytes;
    let vendor = linked("containers/linked.sm_50.cubin");
    let theirs = vendor.code(vendor.module().kernel("linking").unwrap()).bytes;
    assert_eq!(word(&ours, 0x168), word(&theirs, 0x168), "F2I.S32.F32.TRUNC R3, c[0x3] [0xc]");
}

#[test]
fn constant_banks_indexed_by_a_register_in_a_relocatable_file() {
    let code = |name| {
        let linked = linked(name);
        linked.code(linked.module().kernel("lookup").unwrap()).bytes
    };
    let (ours, theirs) =
        (code("containers/lookup.rdc.sm_50.cubin"), code("containers/lookup-linked.sm_50.cubin"));
    // LDC R3, c[0x2][R3+-0x7ff4] and LDC R0, c[0x2][R0+-0x8000]
    assert_eq!(word(&theirs, 0xe8), 0xef94_0028_0007_0000);
    for at in [0x68, 0xe8] {
        assert_eq!(word(&ours, at), word(&theirs, at), "at {at:#x}");
    }
}

/// Proves that relocations of shared memory are ignored, since nothing loads content into it.
/// Hand-written kernels of cuBLAS and cuDNN have relocations there, against symbols without a type
/// that no file defines.
#[test]
fn relocations_of_shared_memory_are_not_looked_at() {
    let name = "containers/shared.rdc.sm_50.cubin";
    let mut file = bytes(name);
    let (table, count) = (word(&file, 0x28) as usize, usize::from(file[0x3c]));
    let header = |i: usize| table + 64 * i;
    let kind = |file: &[u8], i: usize| word(file, header(i) + 4) as u32;
    let is_shared = |file: &[u8], i: usize| kind(file, i) == 0x7000_000a;
    let shared = (0..count).find(|&i| is_shared(&file, i)).unwrap();
    let relocations = (0..count).find(|&i| matches!(kind(&file, i), 4 | 9)).unwrap();
    let first = word(&file, header(relocations) + 0x18) as usize;
    // Points the relocations at the shared section, and the first of them at the symbol without a
    // name, which is undefined.
    file[header(relocations) + 0x2c..][..4].copy_from_slice(&(shared as u32).to_le_bytes());
    file[first + 12..][..4].fill(0);
    let changed = warploom_container::modules(&file).unwrap().remove(0);
    assert!(changed.relocations.len() < module(name).relocations.len());
}

#[test]
fn header_indices_go_to_bank_0() {
    let linked = linked("containers/headers.sm_50.cubin");
    let bank = linked.bank(linked.module().kernel("headers").unwrap(), 0);
    // Handles with equal indices of header and sampler, in symbol order: surface 0x71, texture
    // 0x72, sampler 0x73. Texture and sampler share the word at 0x148; a word with one relocation
    // gets the whole handle.
    assert_eq!(word(bank, 0x148), 0x73 << 20 | 0x72 | (0x71 << 20 | 0x71) << 32);
}

#[test]
fn all_kernels_of_the_corpus_have_code() {
    for entry in std::fs::read_dir(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/maxwell/kernels"),
    )
    .unwrap()
    {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "cubin") {
            continue;
        }
        let linked = linked(&format!("kernels/{}", path.file_name().unwrap().to_str().unwrap()));
        let kernels: Vec<FunctionId> = linked.module().kernels().map(|(id, _)| id).collect();
        assert!(!kernels.is_empty(), "{path:?}");
        for kernel in kernels {
            let function = linked.module().function(kernel);
            assert_eq!(linked.code(kernel).bytes.len() as u64 % 32, 0);
            assert!(function.registers > 0 && !function.exits.is_empty(), "{}", function.name);
        }
    }
}

/// Links a file's modules, and checks that the file's size bounds the memory that they hold.
fn check(bytes: &[u8]) -> Result<(), Error> {
    let modules = warploom_container::modules(bytes)?;
    for module in modules {
        let held: usize =
            module.sections.iter().map(|s| s.data.len() + s.name.len()).sum::<usize>()
                + module.symbols.iter().map(|s| s.name.len()).sum::<usize>()
                + module
                    .functions
                    .iter()
                    .map(|f| f.name.len() + 4 * f.exits.len() + 8 * f.params.len())
                    .sum::<usize>();
        assert!(held <= 16 * bytes.len(), "{held} bytes from {}", bytes.len());
        let linked =
            Linked::new(Arc::new(module), Addresses { constants: 1, ..Addresses::default() })?;
        let kernels: Vec<FunctionId> = linked.module().kernels().map(|(id, _)| id).collect();
        for kernel in kernels {
            let code = linked.code(kernel);
            assert!(code.bytes.len() <= 2 * bytes.len() + 0x2000);
            linked.locate(kernel, code.entry);
            (0..18).for_each(|bank| assert!(linked.bank(kernel, bank).len() <= bytes.len()));
        }
    }
    Ok(())
}

#[test]
fn truncated_files_are_errors() {
    for name in ["kernels/saxpy.sm_50.cubin", "containers/headers.sm_50.cubin"] {
        let bytes = bytes(name);
        // The file ends with program headers, which are not needed. Everything before them is
        // needed.
        let needed = word(&bytes, 0x20) as usize;
        for length in 0..bytes.len() {
            let result = check(&bytes[..length]);
            if length < needed {
                let message = result.expect_err(&format!("{name} cut to {length}")).to_string();
                assert!(message.contains("expected"), "{message}");
            }
        }
    }
}

#[test]
fn flipped_bits_do_no_harm() {
    for name in [
        "kernels/saxpy.sm_50.cubin",
        "containers/linked.sm_50.cubin",
        "containers/shared.rdc.sm_50.cubin",
    ] {
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

/// Proves that an unreadable kernel leaves the other kernel readable, in a file of `votes` and
/// `reduce`.
#[test]
fn an_unreadable_kernel_hides_no_other() {
    let good = bytes("kernels/reduce.sm_50.cubin");
    let file = object::File::parse(&*good).unwrap();
    let (start, size) = file.section_by_name(".nv.info.votes").unwrap().file_range().unwrap();
    // A parameter: format 4, attribute 0x17, 12 bytes. Its ordinal follows the first word.
    let records = &good[start as usize..(start + size) as usize];
    let parameter = records.windows(4).position(|record| record == [4, 0x17, 12, 0]).unwrap();
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok("votes")).unwrap();
    let table = file.section_by_name(".symtab").unwrap().file_range().unwrap().0 as usize;
    for (at, new, expected) in [
        (start as usize + parameter + 8, 9_u8, "parameter 9"),
        (start as usize + parameter + 2, 0xff, "attribute 0x17 of 255 bytes"),
        // The start of the kernel's code.
        (table + 24 * symbol.index().0 + 8, 4, "function votes at 0x4"),
    ] {
        let mut bad = good.clone();
        bad[at] = new;
        let module = warploom_container::modules(&bad).unwrap().remove(0);
        assert_eq!(
            module.kernels().map(|(_, kernel)| &*kernel.name).collect::<Vec<_>>(),
            ["reduce"],
            "{expected}"
        );
        let error = module.unreadable("votes").unwrap_or_else(|| panic!("{expected}")).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn messages_say_what_and_where() {
    let message = |bytes: &[u8]| warploom_container::modules(bytes).unwrap_err().to_string();
    assert!(message(b"").starts_with("not a GPU binary"), "{}", message(b""));
    assert!(message(b"hello, world").contains("68656c6c6f"), "{}", message(b"hello, world"));
    let mut other = bytes("kernels/saxpy.sm_50.cubin");
    other[0x30] = 70;
    assert!(message(&other).contains("sm_70"), "{}", message(&other));
    // The values that CUDA 13 writes: ABI version 8, flags 0x06006404.
    other[8] = 8;
    other[0x30..0x34].copy_from_slice(&0x0600_6404_u32.to_le_bytes());
    assert!(message(&other).contains("sm_100"), "{}", message(&other));
    let mut far = bytes("kernels/saxpy.sm_50.cubin");
    far[0x28..0x30].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(message(&far).contains("section table"), "{}", message(&far));
}
