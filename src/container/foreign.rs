//! Files that people take for GPU binaries: the kind of such a file, and how to get GPU code from
//! it.

use super::{Format, recognise};

/// The kind of a file that no GPU driver takes, and how to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    pub kind: &'static str,
    pub advice: &'static str,
}

const fn foreign(kind: &'static str, advice: &'static str) -> Option<Foreign> {
    Some(Foreign { kind, advice })
}

const SPIR_V: &str = "it is an intermediate language; compile it to vISA or a zebin (ocloc), or save \
                      the code that the driver makes of it";

/// The first bytes of files, with their kind.
const MAGICS: &[(&[u8], &str, &str)] = &[
    (&[0x03, 0x02, 0x23, 0x07], "SPIR-V", SPIR_V),
    (&[0x07, 0x23, 0x02, 0x03], "SPIR-V (big-endian)", SPIR_V),
    (
        b"BC\xc0\xde",
        "LLVM bitcode",
        "compile it with llc, or with clang for a GPU of the GFX9 generation or for PTX",
    ),
    (
        b"DXBC",
        "a DirectX shader container (DXBC or DXIL)",
        "save the code that the driver makes of it",
    ),
    (b"MTLB", "a Metal library", "GPUs of Apple are not provided"),
    (
        b"!<arch>\n",
        "an archive (.a)",
        "extract its members (ar x) and name one, or link it: `link` in a manifest",
    ),
    (b"PK\x03\x04", "a ZIP archive, such as a wheel", "unpack it and name a file in it"),
    (b"\x1f\x8b", "a gzip file", "unpack it first (gzip -d)"),
    (b"\xfd7zXZ\x00", "an xz file", "unpack it first (xz -d)"),
    (b"BZh", "a bzip2 file", "unpack it first (bzip2 -d)"),
    (b"(\xb5/\xfd", "a zstd file", "unpack it first (zstd -d)"),
    (b"MZ", "a Windows program or library", "extract its GPU code first (cuobjdump -xelf all)"),
    (b"\xcf\xfa\xed\xfe", "a macOS program or library", "it has no GPU code that is provided"),
    (
        b"\x93NUMPY",
        "a NumPy array",
        "it is the content of a buffer: --arg buffer=FILE, or [buffer.NAME] in a manifest",
    ),
    (b"\x89PNG\r\n", "a PNG image", "it is the content of a surface: [surface.NAME] in a manifest"),
];

/// Words of source text, with the language.
const SOURCES: &[(&str, &str, &str)] = &[
    (
        "__global__",
        "CUDA or HIP source",
        "compile it first: nvcc -cubin, nvcc -ptx or hipcc --genco",
    ),
    ("__kernel", "OpenCL source", "compile it first, for example by clang for gfx906 or by ocloc"),
    (
        "cl_mem_fence",
        "OpenCL source",
        "compile it first, for example by clang for gfx906 or by ocloc",
    ),
    ("#version", "GLSL source", "compile it with the GPU's driver and save the driver's code"),
    (
        "RWStructuredBuffer",
        "HLSL source",
        "compile it with the GPU's driver and save the driver's code",
    ),
    ("@triton.jit", "a Triton program", "run it: warploom cuda -- python FILE"),
    ("import ", "a Python program", "run it: warploom cuda -- python FILE"),
    ("#include", "C or C++ source", "compile it first: nvcc -cubin, nvcc -ptx or hipcc --genco"),
    (
        "target triple",
        "LLVM IR as text",
        "compile it with llc, or with clang for a GPU of the GFX9 generation or for PTX",
    ),
    ("tt.func", "Triton's IR", "warploom runs what Triton makes of it: PTX or a cubin"),
    (
        "Function : ",
        "a listing of machine code (cuobjdump or nvdisasm)",
        "name the binary itself, or write assembly that begins with .target",
    ),
    (
        "[kernel]",
        "a manifest",
        "warploom run takes manifests; this command takes the binary that it names",
    ),
];

/// The ELF files of CPUs that have no GPU code in them.
const ELF: (&str, &str) = (
    "a program, library or object file of a CPU",
    "it has no section .nv_fatbin or .hip_fatbin; libraries that it loads may have one",
);

/// The longest part of a text in which words are looked for, in bytes.
const LOOKED_AT: usize = 1 << 16;

/// Returns the kind of a file that no GPU driver takes.
pub fn foreign_kind(bytes: &[u8]) -> Option<Foreign> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return foreign("an empty file", "expected GPU code");
    }
    if let Some((_, kind, advice)) = MAGICS.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return foreign(kind, advice);
    }
    if bytes.starts_with(b"\x7fELF") && recognise(bytes) == Some(Format::HostElf) {
        return foreign(ELF.0, ELF.1);
    }
    let text = &bytes[..bytes.len().min(LOOKED_AT)];
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        // The cut may be inside of a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return None,
    };
    if text.starts_with(['{']) && text.contains('"') {
        return foreign("JSON", "expected GPU code, or for `warploom run` a manifest in TOML");
    }
    SOURCES
        .iter()
        .find(|(word, ..)| text.contains(word))
        .and_then(|(_, kind, advice)| foreign(kind, advice))
}

#[cfg(test)]
mod tests {
    use super::foreign_kind;

    #[test]
    fn kinds_are_told_apart() {
        let kind = |bytes: &[u8]| foreign_kind(bytes).map(|found| found.kind);
        assert_eq!(kind(b""), Some("an empty file"));
        assert_eq!(kind(b"\x03\x02\x23\x07\0\0\x01\0"), Some("SPIR-V"));
        assert_eq!(kind(b"PK\x03\x04rest"), Some("a ZIP archive, such as a wheel"));
        assert_eq!(kind(b"#include <x>\n__global__ void f() {}\n"), Some("CUDA or HIP source"));
        assert_eq!(kind(b"import torch\n"), Some("a Python program"));
        assert_eq!(kind("\u{e9}".repeat(1 << 16).as_bytes()), None);
        assert_eq!(kind(b"\x01\x02\x03\xff"), None);
    }
}
