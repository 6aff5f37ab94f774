//! Buffers: loads and stores.

family! { ($) mubuf {
    /// Loads one component, converted.
    BufferLoadFormatX (exact buffer_format::buffer_load_format_x) "buffer_load_format_x vdata:b32, vaddr, srsrc:b128, soffset; tfe lds" { mubuf 0x00 }
    /// Loads two components, converted.
    BufferLoadFormatXy (exact buffer_format::buffer_load_format_xy) "buffer_load_format_xy vdata:b64, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x01 }
    /// Loads three components, converted.
    BufferLoadFormatXyz (exact buffer_format::buffer_load_format_xyz) "buffer_load_format_xyz vdata:b96, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x02 }
    /// Loads four components, converted.
    BufferLoadFormatXyzw (exact buffer_format::buffer_load_format_xyzw) "buffer_load_format_xyzw vdata:b128, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x03 }
    /// Stores one component, converted.
    BufferStoreFormatX (exact buffer_format::buffer_store_format_x) "buffer_store_format_x vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x04 }
    /// Stores two components, converted.
    BufferStoreFormatXy (exact buffer_format::buffer_store_format_xy) "buffer_store_format_xy vdata:b64, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x05 }
    /// Stores three components, converted.
    BufferStoreFormatXyz (exact buffer_format::buffer_store_format_xyz) "buffer_store_format_xyz vdata:b96, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x06 }
    /// Stores four components, converted.
    BufferStoreFormatXyzw (exact buffer_format::buffer_store_format_xyzw) "buffer_store_format_xyzw vdata:b128, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x07 }
    /// Loads one component into halves, converted.
    BufferLoadFormatD16X (exact buffer_format::buffer_load_format_d16_x) "buffer_load_format_d16_x vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x08 }
    /// Loads two components into halves, converted.
    BufferLoadFormatD16Xy (exact buffer_format::buffer_load_format_d16_xy) "buffer_load_format_d16_xy vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x09 }
    /// Loads three components into halves, converted.
    BufferLoadFormatD16Xyz (exact buffer_format::buffer_load_format_d16_xyz) "buffer_load_format_d16_xyz vdata:b64, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x0a }
    /// Loads four components into halves, converted.
    BufferLoadFormatD16Xyzw (exact buffer_format::buffer_load_format_d16_xyzw) "buffer_load_format_d16_xyzw vdata:b64, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x0b }
    /// Stores one component from halves, converted.
    BufferStoreFormatD16X (exact buffer_format::buffer_store_format_d16_x) "buffer_store_format_d16_x vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x0c }
    /// Stores two components from halves, converted.
    BufferStoreFormatD16Xy (exact buffer_format::buffer_store_format_d16_xy) "buffer_store_format_d16_xy vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x0d }
    /// Stores three components from halves, converted.
    BufferStoreFormatD16Xyz (exact buffer_format::buffer_store_format_d16_xyz) "buffer_store_format_d16_xyz vdata:b64, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x0e }
    /// Stores four components from halves, converted.
    BufferStoreFormatD16Xyzw (exact buffer_format::buffer_store_format_d16_xyzw) "buffer_store_format_d16_xyzw vdata:b64, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x0f }
    /// Loads an unsigned byte.
    BufferLoadUbyte (exact buffer::buffer_load_ubyte) "buffer_load_ubyte vdata:b32, vaddr, srsrc:b128, soffset; tfe lds" { mubuf 0x10 }
    /// Loads a signed byte.
    BufferLoadSbyte (exact buffer::buffer_load_sbyte) "buffer_load_sbyte vdata:b32, vaddr, srsrc:b128, soffset; tfe lds" { mubuf 0x11 }
    /// Loads an unsigned half.
    BufferLoadUshort (exact buffer::buffer_load_ushort) "buffer_load_ushort vdata:b32, vaddr, srsrc:b128, soffset; tfe lds" { mubuf 0x12 }
    /// Loads a signed half.
    BufferLoadSshort (exact buffer::buffer_load_sshort) "buffer_load_sshort vdata:b32, vaddr, srsrc:b128, soffset; tfe lds" { mubuf 0x13 }
    /// Loads a dword.
    BufferLoadDword (exact buffer::buffer_load_dword) "buffer_load_dword vdata:b32, vaddr, srsrc:b128, soffset; tfe lds" { mubuf 0x14 }
    /// Loads two dwords.
    BufferLoadDwordx2 (exact buffer::buffer_load_dwordx2) "buffer_load_dwordx2 vdata:b64, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x15 }
    /// Loads three dwords.
    BufferLoadDwordx3 (exact buffer::buffer_load_dwordx3) "buffer_load_dwordx3 vdata:b96, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x16 }
    /// Loads four dwords.
    BufferLoadDwordx4 (exact buffer::buffer_load_dwordx4) "buffer_load_dwordx4 vdata:b128, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x17 }
    /// Stores a byte.
    BufferStoreByte (exact buffer::buffer_store_byte) "buffer_store_byte vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x18 }
    /// Stores bits 16 to 23.
    BufferStoreByteD16Hi (exact buffer::buffer_store_byte_d16_hi) "buffer_store_byte_d16_hi vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x19 }
    /// Stores a half.
    BufferStoreShort (exact buffer::buffer_store_short) "buffer_store_short vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x1a }
    /// Stores the high half.
    BufferStoreShortD16Hi (exact buffer::buffer_store_short_d16_hi) "buffer_store_short_d16_hi vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x1b }
    /// Stores a dword.
    BufferStoreDword (exact buffer::buffer_store_dword) "buffer_store_dword vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x1c }
    /// Stores two dwords.
    BufferStoreDwordx2 (exact buffer::buffer_store_dwordx2) "buffer_store_dwordx2 vdata:b64, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x1d }
    /// Stores three dwords.
    BufferStoreDwordx3 (exact buffer::buffer_store_dwordx3) "buffer_store_dwordx3 vdata:b96, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x1e }
    /// Stores four dwords.
    BufferStoreDwordx4 (exact buffer::buffer_store_dwordx4) "buffer_store_dwordx4 vdata:b128, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x1f }
    /// Loads an unsigned byte into the low half.
    BufferLoadUbyteD16 (exact buffer::buffer_load_ubyte_d16) "buffer_load_ubyte_d16 vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x20 }
    /// Loads an unsigned byte into the high half.
    BufferLoadUbyteD16Hi (exact buffer::buffer_load_ubyte_d16_hi) "buffer_load_ubyte_d16_hi vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x21 }
    /// Loads a signed byte into the low half.
    BufferLoadSbyteD16 (exact buffer::buffer_load_sbyte_d16) "buffer_load_sbyte_d16 vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x22 }
    /// Loads a signed byte into the high half.
    BufferLoadSbyteD16Hi (exact buffer::buffer_load_sbyte_d16_hi) "buffer_load_sbyte_d16_hi vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x23 }
    /// Loads a half into the low half.
    BufferLoadShortD16 (exact buffer::buffer_load_short_d16) "buffer_load_short_d16 vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x24 }
    /// Loads a half into the high half.
    BufferLoadShortD16Hi (exact buffer::buffer_load_short_d16_hi) "buffer_load_short_d16_hi vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x25 }
    /// Loads one component into the high half, converted.
    BufferLoadFormatD16HiX (exact buffer_format::buffer_load_format_d16_hi_x) "buffer_load_format_d16_hi_x vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x26 }
    /// Stores one component from the high half, converted.
    BufferStoreFormatD16HiX (exact buffer_format::buffer_store_format_d16_hi_x) "buffer_store_format_d16_hi_x vdata:b32, vaddr, srsrc:b128, soffset; tfe" { mubuf 0x27 }
    /// Stores a dword of LDS.
    BufferStoreLdsDword unimplemented "buffer_store_lds_dword srsrc:b128, soffset; lds_only" { mubuf 0x3d }
    /// Writes back and invalidates the vector cache.
    BufferWbinvl1 (exact buffer::buffer_wbinvl1) "buffer_wbinvl1" { mubuf 0x3e }
    /// Writes back and invalidates the vector cache.
    BufferWbinvl1Vol (exact buffer::buffer_wbinvl1_vol) "buffer_wbinvl1_vol" { mubuf 0x3f }
} }
