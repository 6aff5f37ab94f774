//! Scratch memory.

family! { ($) scratch {
    /// Loads an unsigned byte.
    ScratchLoadUbyte (exact flat::scratch_load_ubyte) "scratch_load_ubyte vdst:b32, vaddr:b32, saddr:b32; lds" { scratch 0x10 }
    /// Loads a signed byte.
    ScratchLoadSbyte (exact flat::scratch_load_sbyte) "scratch_load_sbyte vdst:b32, vaddr:b32, saddr:b32; lds" { scratch 0x11 }
    /// Loads an unsigned half.
    ScratchLoadUshort (exact flat::scratch_load_ushort) "scratch_load_ushort vdst:b32, vaddr:b32, saddr:b32; lds" { scratch 0x12 }
    /// Loads a signed half.
    ScratchLoadSshort (exact flat::scratch_load_sshort) "scratch_load_sshort vdst:b32, vaddr:b32, saddr:b32; lds" { scratch 0x13 }
    /// Loads a dword.
    ScratchLoadDword (exact flat::scratch_load_dword) "scratch_load_dword vdst:b32, vaddr:b32, saddr:b32; lds" { scratch 0x14 }
    /// Loads two dwords.
    ScratchLoadDwordx2 (exact flat::scratch_load_dwordx2) "scratch_load_dwordx2 vdst:b64, vaddr:b32, saddr:b32" { scratch 0x15 }
    /// Loads three dwords.
    ScratchLoadDwordx3 (exact flat::scratch_load_dwordx3) "scratch_load_dwordx3 vdst:b96, vaddr:b32, saddr:b32" { scratch 0x16 }
    /// Loads four dwords.
    ScratchLoadDwordx4 (exact flat::scratch_load_dwordx4) "scratch_load_dwordx4 vdst:b128, vaddr:b32, saddr:b32" { scratch 0x17 }
    /// Stores a byte.
    ScratchStoreByte (exact flat::scratch_store_byte) "scratch_store_byte vaddr:b32, vdata:b32, saddr:b32" { scratch 0x18 }
    /// Stores bits 16 to 23.
    ScratchStoreByteD16Hi (exact flat::scratch_store_byte_d16_hi) "scratch_store_byte_d16_hi vaddr:b32, vdata:b32, saddr:b32" { scratch 0x19 }
    /// Stores a half.
    ScratchStoreShort (exact flat::scratch_store_short) "scratch_store_short vaddr:b32, vdata:b32, saddr:b32" { scratch 0x1a }
    /// Stores the high half.
    ScratchStoreShortD16Hi (exact flat::scratch_store_short_d16_hi) "scratch_store_short_d16_hi vaddr:b32, vdata:b32, saddr:b32" { scratch 0x1b }
    /// Stores a dword.
    ScratchStoreDword (exact flat::scratch_store_dword) "scratch_store_dword vaddr:b32, vdata:b32, saddr:b32" { scratch 0x1c }
    /// Stores two dwords.
    ScratchStoreDwordx2 (exact flat::scratch_store_dwordx2) "scratch_store_dwordx2 vaddr:b32, vdata:b64, saddr:b32" { scratch 0x1d }
    /// Stores three dwords.
    ScratchStoreDwordx3 (exact flat::scratch_store_dwordx3) "scratch_store_dwordx3 vaddr:b32, vdata:b96, saddr:b32" { scratch 0x1e }
    /// Stores four dwords.
    ScratchStoreDwordx4 (exact flat::scratch_store_dwordx4) "scratch_store_dwordx4 vaddr:b32, vdata:b128, saddr:b32" { scratch 0x1f }
    /// Loads an unsigned byte into the low half.
    ScratchLoadUbyteD16 (exact flat::scratch_load_ubyte_d16) "scratch_load_ubyte_d16 vdst:b32, vaddr:b32, saddr:b32" { scratch 0x20 }
    /// Loads an unsigned byte into the high half.
    ScratchLoadUbyteD16Hi (exact flat::scratch_load_ubyte_d16_hi) "scratch_load_ubyte_d16_hi vdst:b32, vaddr:b32, saddr:b32" { scratch 0x21 }
    /// Loads a signed byte into the low half.
    ScratchLoadSbyteD16 (exact flat::scratch_load_sbyte_d16) "scratch_load_sbyte_d16 vdst:b32, vaddr:b32, saddr:b32" { scratch 0x22 }
    /// Loads a signed byte into the high half.
    ScratchLoadSbyteD16Hi (exact flat::scratch_load_sbyte_d16_hi) "scratch_load_sbyte_d16_hi vdst:b32, vaddr:b32, saddr:b32" { scratch 0x23 }
    /// Loads a half into the low half.
    ScratchLoadShortD16 (exact flat::scratch_load_short_d16) "scratch_load_short_d16 vdst:b32, vaddr:b32, saddr:b32" { scratch 0x24 }
    /// Loads a half into the high half.
    ScratchLoadShortD16Hi (exact flat::scratch_load_short_d16_hi) "scratch_load_short_d16_hi vdst:b32, vaddr:b32, saddr:b32" { scratch 0x25 }
} }
