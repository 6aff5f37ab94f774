//! Fat binaries.

#[path = "support/fat_file.rs"]
mod fat_file;

use std::path::Path;

use fat_file::{fat, host, member};
use warploom::Program;
use warploom_container::fatbin::{self, MemberKind, Packing};
use warploom_container::{Format, Isa};

fn cubin(name: &str) -> Vec<u8> {
    std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/maxwell/kernels").join(name),
    )
    .unwrap()
}

fn kernels(bytes: &[u8]) -> Vec<Vec<String>> {
    let modules = warploom_container::modules(bytes).unwrap();
    modules.iter().map(|m| m.kernels().map(|(_, f)| f.name.clone()).collect()).collect()
}

/// Returns the cubin with another target device, which shows which member was chosen.
fn for_sm(mut cubin: Vec<u8>, sm: u8) -> Vec<u8> {
    cubin[0x30] = sm;
    cubin
}

#[test]
fn stored_and_lz4_members() {
    let saxpy = cubin("saxpy.sm_50.cubin");
    for lz4 in [false, true] {
        let file = fat(&[
            member(1, 50, b".version 7.0", false, ""),
            member(2, 50, &saxpy, lz4, "saxpy.cu"),
        ]);
        assert_eq!(warploom_container::recognise(&file), Some(Format::FatBinary));
        assert_eq!(kernels(&file), [["saxpy"]]);
        let list = fatbin::fat_binaries(&file, Format::FatBinary).unwrap();
        let members = &list[0].members;
        assert_eq!((members[0].kind, members[1].kind), (MemberKind::Ptx, MemberKind::Cubin));
        assert_eq!(members[1].packing, if lz4 { Packing::Lz4 } else { Packing::Stored });
        assert_eq!((members[1].arch, members[1].name.as_deref()), (50, Some("saxpy.cu")));
        assert_eq!(members[1].size, saxpy.len() as u64);
        assert_eq!(*members[1].content().unwrap(), *saxpy);
    }
}

#[test]
fn the_best_member_for_a_maxwell_device_is_chosen() {
    let saxpy = cubin("saxpy.sm_50.cubin");
    let of = |sms: &[u8]| {
        let members: Vec<_> = sms
            .iter()
            .map(|&sm| member(2, sm.into(), &for_sm(saxpy.clone(), sm), sm % 2 == 0, ""))
            .collect();
        warploom_container::modules(&fat(&members)).map(|m| m[0].isa)
    };
    assert_eq!(of(&[50, 52, 53, 60]).unwrap(), Isa::Maxwell { sm: 52 });
    assert_eq!(of(&[70, 53, 50]).unwrap(), Isa::Maxwell { sm: 50 });
    assert_eq!(of(&[53]).unwrap(), Isa::Maxwell { sm: 53 });
    assert_eq!(of(&[75, 80, 90]).unwrap(), Isa::Turing { sm: 80 });
    let message = of(&[60, 90]).unwrap_err().to_string();
    assert!(message.contains("cubin for sm_60, cubin for sm_90"), "{message}");
}

#[test]
fn members_for_other_devices_are_not_unpacked() {
    let saxpy = cubin("saxpy.sm_50.cubin");
    let mut other = member(2, 80, &for_sm(saxpy.clone(), 80), true, "");
    other[64 + 9..64 + 40].fill(0xff);
    let file = fat(&[member(2, 50, &saxpy, true, ""), other]);
    let mut seen = vec![];
    fatbin::visit(&file, Format::FatBinary, &|_| true, &mut |visited| {
        seen.push((visited.member.arch, visited.content.is_some_and(|content| content.is_ok())));
    })
    .unwrap();
    assert_eq!(seen, [(50, true), (80, false)]);
    assert_eq!(kernels(&file), [["saxpy"]]);
    let message =
        warploom_container::modules_for(&file, "sm_53".parse().ok()).unwrap_err().to_string();
    assert!(message.contains("cubin for sm_50, cubin for sm_80"), "{message}");
}

#[test]
fn nested_fat_binaries() {
    let inner = fat(&[member(2, 50, &cubin("mandel.sm_50.cubin"), true, "")]);
    for lz4 in [false, true] {
        let file = fat(&[
            member(2, 50, &cubin("saxpy.sm_50.cubin"), false, ""),
            member(2, 50, &inner, lz4, ""),
            member(16, 0, &inner, lz4, ""),
        ]);
        assert_eq!(kernels(&file), [["saxpy"], ["mandel"], ["mandel"]]);
    }
    let mut deep = inner;
    for _ in 0..5 {
        deep = fat(&[member(2, 50, &deep, true, "")]);
    }
    let message = warploom_container::modules(&deep).unwrap_err().to_string();
    assert!(message.contains("levels of nesting"), "{message}");
}

#[test]
fn host_files() {
    let one = fat(&[member(2, 52, &for_sm(cubin("saxpy.sm_50.cubin"), 52), true, "")]);
    let two = fat(&[member(2, 50, &cubin("reduce.sm_50.cubin"), false, "")]);
    let section = [one.as_slice(), &[0; 24], &two].concat();
    let file = host(&[(".text", b"code"), (".nv_fatbin", &section), ("__nv_relfatbin", &two)]);
    assert_eq!(warploom_container::recognise(&file), Some(Format::HostElf));
    assert_eq!(kernels(&file), [vec!["saxpy"], vec!["votes", "reduce"], vec!["votes", "reduce"]]);
    let message =
        warploom_container::modules(&host(&[(".text", b"code")])).unwrap_err().to_string();
    assert!(message.starts_with("not a GPU binary"), "{message}");
}

#[test]
fn damaged_members_say_where() {
    let saxpy = cubin("saxpy.sm_50.cubin");
    let mut long = fat(&[member(2, 50, &saxpy, true, "")]);
    long[16 + 56..16 + 64].copy_from_slice(&(1_u64 << 50).to_le_bytes());
    let message = warploom_container::modules(&long).unwrap_err().to_string();
    assert!(
        message.contains("cubin for sm_50 at offset 0x10") && message.contains("LZ4"),
        "{message}"
    );
    let mut bad = fat(&[member(2, 50, &saxpy, true, "")]);
    bad[16 + 64 + 9..16 + 64 + 40].fill(0xff);
    assert!(warploom_container::modules(&bad).unwrap_err().to_string().contains("LZ4"));
    let mut after = fat(&[member(2, 50, &saxpy, false, "")]);
    let end = after.len();
    after.extend(b"rest");
    let message = warploom_container::modules(&after).unwrap_err().to_string();
    assert!(message.contains(&format!("{end:#x}")) && message.contains("ba55ed50"), "{message}");
    let mut zstd = zstd();
    zstd[16 + 72 + 40] ^= 0xff;
    let message = warploom_container::modules(&zstd).unwrap_err().to_string();
    assert!(
        message.contains("PTX for sm_80 at offset 0x10") && message.contains("Zstandard"),
        "{message}"
    );
}

/// The output of nvcc 13.5, `nvcc --fatbin -gencode arch=compute_80,code=compute_80`, for the
/// kernel `__global__ void triple(int *p) { p[threadIdx.x] = threadIdx.x * 3; }` with a main
/// program.
fn zstd() -> Vec<u8> {
    include_bytes!("fixtures/cuda/zstd.fatbin").to_vec()
}

#[test]
fn members_under_zstandard() {
    let zstd = zstd();
    assert_eq!(kernels(&zstd), [["_Z6triplePi"]]);
    let all = fatbin::fat_binaries(&zstd, Format::FatBinary).unwrap();
    let member = &all[0].members[0];
    assert_eq!((member.kind, member.packing, member.arch), (MemberKind::Ptx, Packing::Zstd, 80));
    let text = member.content().unwrap();
    assert_eq!(text.len() as u64, member.size);
    assert!(text.windows(15).any(|part| part == b".visible .entry"));
}

/// Proves that an unreadable member hides neither members of other fat binaries, nor a member of
/// its own fat binary that the device can run too.
#[test]
fn an_unreadable_member_hides_no_other() {
    let saxpy = cubin("saxpy.sm_50.cubin");
    let mut broken = member(2, 52, &for_sm(saxpy.clone(), 52), true, "");
    broken[64 + 9..64 + 40].fill(0xff);
    let alone = fat(&[broken.clone()]);
    let beside = fat(&[broken, member(2, 50, &saxpy, false, "")]);
    let other = fat(&[member(2, 50, &cubin("reduce.sm_50.cubin"), false, "")]);
    let found = |bytes: &[u8]| {
        let found = warploom_container::read_for(bytes, None).unwrap();
        let names: Vec<Vec<String>> = found
            .modules
            .iter()
            .map(|module| module.kernel_names().map(str::to_string).collect())
            .collect();
        (names, found.unreadable.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let (names, unreadable) = found(&host(&[(".nv_fatbin", &[&alone[..], &other].concat())]));
    assert_eq!(names, [["votes", "reduce"]]);
    assert!(
        unreadable.len() == 1 && unreadable[0].contains("cubin for sm_52 at offset"),
        "{unreadable:?}"
    );
    let (names, unreadable) = found(&host(&[(".nv_fatbin", &[&beside[..], &other].concat())]));
    assert_eq!(names, [vec!["saxpy"], vec!["votes", "reduce"]]);
    assert!(unreadable.len() == 1 && unreadable[0].contains("LZ4"), "{unreadable:?}");
    assert!(warploom_container::modules(&alone).unwrap_err().to_string().contains("LZ4"));
    // The unreadable member may hold a kernel that no other member has. Its error says more than
    // that there is no such kernel.
    let file = host(&[(".nv_fatbin", &[&alone[..], &other].concat())]);
    let error = Program::load(&file, Some("saxpy")).map(drop).unwrap_err().to_string();
    assert!(error.contains("cubin for sm_52"), "{error}");
    assert!(Program::load(&file, Some("reduce")).is_ok());
}

#[test]
fn truncated_and_flipped_files_do_no_harm() {
    let small = member(2, 50, &cubin("saxpy.sm_50.cubin"), true, "saxpy.cu");
    let fatbin = fat(&[small.clone(), member(2, 52, &fat(&[small]), false, "")]);
    for mut file in [fatbin.clone(), host(&[(".nv_fatbin", &fatbin)]), zstd()] {
        for length in 0..file.len() {
            assert!(warploom_container::modules(&file[..length]).is_err(), "cut to {length}");
        }
        for i in 0..file.len() * 8 {
            file[i / 8] ^= 1 << (i % 8);
            if let Err(e) = warploom_container::modules(&file) {
                assert!(!e.to_string().is_empty());
            }
            file[i / 8] ^= 1 << (i % 8);
        }
    }
}
