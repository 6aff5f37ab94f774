//! Builds fat binaries in the layout of the vendor's toolkits (`facts/maxwell.md`, "Fat binaries").
//! The vendor's `cuobjdump -lelf` lists the resulting files.

#![allow(dead_code, reason = "each test uses a part")]

/// Returns a member: a header of 64 bytes, the name if there is one, and content padded to 8 bytes.
pub fn member(kind: u16, arch: u32, content: &[u8], lz4: bool, name: &str) -> Vec<u8> {
    let packed = if lz4 { lz4_flex::block::compress(content) } else { content.to_vec() };
    let name_bytes = if name.is_empty() { 0 } else { (name.len() + 1).next_multiple_of(8) };
    let (header, size) = (64 + name_bytes, packed.len().next_multiple_of(8));
    let mut out = Vec::new();
    out.extend(kind.to_le_bytes());
    out.extend(0x0101_u16.to_le_bytes());
    out.extend((header as u32).to_le_bytes());
    out.extend((size as u64).to_le_bytes());
    out.extend((if lz4 { packed.len() as u32 } else { 0 }).to_le_bytes());
    out.extend(0_u32.to_le_bytes());
    out.extend([7, 0, 1, 0]);
    out.extend(arch.to_le_bytes());
    out.extend((if name.is_empty() { 0 } else { 64_u32 }).to_le_bytes());
    out.extend((name.len() as u32).to_le_bytes());
    out.extend((if lz4 { 0x2011_u64 } else { 0x11 }).to_le_bytes());
    out.extend(0_u64.to_le_bytes());
    out.extend((if lz4 { content.len() as u64 } else { 0 }).to_le_bytes());
    out.extend(name.as_bytes());
    out.resize(header, 0);
    out.extend(packed);
    out.resize(header + size, 0);
    out
}

pub fn fat(members: &[Vec<u8>]) -> Vec<u8> {
    let content = members.concat();
    let mut out = 0xba55_ed50_u32.to_le_bytes().to_vec();
    out.extend([1, 0, 16, 0]);
    out.extend((content.len() as u64).to_le_bytes());
    out.extend(content);
    out
}

/// Returns a host's ELF file with these sections.
pub fn host(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let mut names = vec![0];
    let mut body = Vec::new();
    let mut table = vec![[0_u64; 8]];
    for (name, content) in sections.iter().chain(&[(".shstrtab", &[][..])]) {
        let (at, name_at) = (64 + body.len(), names.len());
        names.extend(name.bytes().chain([0]));
        let (content, kind) =
            if content.is_empty() { (names.as_slice(), 3) } else { (*content, 1) };
        body.extend(content);
        let size = content.len() as u64;
        body.resize(body.len().next_multiple_of(8), 0);
        table.push([name_at as u64 | kind << 32, 2, 0, at as u64, size, 0, 8, 0]);
    }
    let mut out = b"\x7fELF\x02\x01\x01".to_vec();
    out.resize(16, 0);
    out.extend([3, 0, 62, 0, 1, 0, 0, 0]);
    out.extend([0; 16]);
    out.extend((64 + body.len() as u64).to_le_bytes());
    out.extend([
        0,
        0,
        0,
        0,
        64,
        0,
        56,
        0,
        0,
        0,
        64,
        0,
        table.len() as u8,
        0,
        table.len() as u8 - 1,
        0,
    ]);
    out.extend(body);
    out.extend(table.iter().flatten().flat_map(|w| w.to_le_bytes()));
    out
}
