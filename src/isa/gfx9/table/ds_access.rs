//! LDS: reads, writes and exchanges among lanes.

family! { ($) ds_access {
    /// Writes a dword.
    DsWriteB32 (exact lds::ds_write_b32) "ds_write_b32 addr:b32, data0:b32; offset gds" { ds 0x0d }
    /// Writes two elements of one dword each.
    DsWrite2B32 (exact lds::ds_write2_b32) "ds_write2_b32 addr:b32, data0:b32, data1:b32; offsets gds" { ds 0x0e }
    /// Writes two elements of one dword each, offsets in units of 64 elements.
    DsWrite2st64B32 (exact lds::ds_write2st64_b32) "ds_write2st64_b32 addr:b32, data0:b32, data1:b32; offsets gds" { ds 0x0f }
    /// Writes at M0 plus four times the lane.
    DsWriteAddtidB32 (exact lds::ds_write_addtid_b32) "ds_write_addtid_b32 data0:b32; offset gds" { ds 0x1d }
    /// Writes a byte.
    DsWriteB8 (exact lds::ds_write_b8) "ds_write_b8 addr:b32, data0:b32; offset gds" { ds 0x1e }
    /// Writes a half.
    DsWriteB16 (exact lds::ds_write_b16) "ds_write_b16 addr:b32, data0:b32; offset gds" { ds 0x1f }
    /// Reads a dword.
    DsReadB32 (exact lds::ds_read_b32) "ds_read_b32 vdst:b32, addr:b32; offset gds" { ds 0x36 }
    /// Reads two elements of one dword each.
    DsRead2B32 (exact lds::ds_read2_b32) "ds_read2_b32 vdst:b64, addr:b32; offsets gds" { ds 0x37 }
    /// Reads two elements of one dword each, offsets in units of 64 elements.
    DsRead2st64B32 (exact lds::ds_read2st64_b32) "ds_read2st64_b32 vdst:b64, addr:b32; offsets gds" { ds 0x38 }
    /// Reads a signed byte.
    DsReadI8 (exact lds::ds_read_i8) "ds_read_i8 vdst:b32, addr:b32; offset gds" { ds 0x39 }
    /// Reads an unsigned byte.
    DsReadU8 (exact lds::ds_read_u8) "ds_read_u8 vdst:b32, addr:b32; offset gds" { ds 0x3a }
    /// Reads a signed half.
    DsReadI16 (exact lds::ds_read_i16) "ds_read_i16 vdst:b32, addr:b32; offset gds" { ds 0x3b }
    /// Reads an unsigned half.
    DsReadU16 (exact lds::ds_read_u16) "ds_read_u16 vdst:b32, addr:b32; offset gds" { ds 0x3c }
    /// Exchanges values among neighbouring lanes by a pattern.
    DsSwizzleB32 (exact lds_lanes::ds_swizzle_b32) "ds_swizzle_b32 vdst:b32, addr:b32; swizzle gds" { ds 0x3d }
    /// Sends a value to a lane.
    DsPermuteB32 (exact lds_lanes::ds_permute_b32) "ds_permute_b32 vdst:b32, addr:b32, data0:b32; offset" { ds 0x3e }
    /// Fetches a value from a lane.
    DsBpermuteB32 (exact lds_lanes::ds_bpermute_b32) "ds_bpermute_b32 vdst:b32, addr:b32, data0:b32; offset" { ds 0x3f }
    /// Writes two dwords.
    DsWriteB64 (exact lds::ds_write_b64) "ds_write_b64 addr:b32, data0:b64; offset gds" { ds 0x4d }
    /// Writes two elements of two dwords each.
    DsWrite2B64 (exact lds::ds_write2_b64) "ds_write2_b64 addr:b32, data0:b64, data1:b64; offsets gds" { ds 0x4e }
    /// Writes two elements of two dwords each, offsets in units of 64 elements.
    DsWrite2st64B64 (exact lds::ds_write2st64_b64) "ds_write2st64_b64 addr:b32, data0:b64, data1:b64; offsets gds" { ds 0x4f }
    /// Writes bits 16 to 23.
    DsWriteB8D16Hi (exact lds::ds_write_b8_d16_hi) "ds_write_b8_d16_hi addr:b32, data0:b32; offset gds" { ds 0x54 }
    /// Writes the high half.
    DsWriteB16D16Hi (exact lds::ds_write_b16_d16_hi) "ds_write_b16_d16_hi addr:b32, data0:b32; offset gds" { ds 0x55 }
    /// Reads an unsigned byte into the low half.
    DsReadU8D16 (exact lds::ds_read_u8_d16) "ds_read_u8_d16 vdst:b32, addr:b32; offset gds" { ds 0x56 }
    /// Reads an unsigned byte into the high half.
    DsReadU8D16Hi (exact lds::ds_read_u8_d16_hi) "ds_read_u8_d16_hi vdst:b32, addr:b32; offset gds" { ds 0x57 }
    /// Reads a signed byte into the low half.
    DsReadI8D16 (exact lds::ds_read_i8_d16) "ds_read_i8_d16 vdst:b32, addr:b32; offset gds" { ds 0x58 }
    /// Reads a signed byte into the high half.
    DsReadI8D16Hi (exact lds::ds_read_i8_d16_hi) "ds_read_i8_d16_hi vdst:b32, addr:b32; offset gds" { ds 0x59 }
    /// Reads an unsigned half into the low half.
    DsReadU16D16 (exact lds::ds_read_u16_d16) "ds_read_u16_d16 vdst:b32, addr:b32; offset gds" { ds 0x5a }
    /// Reads an unsigned half into the high half.
    DsReadU16D16Hi (exact lds::ds_read_u16_d16_hi) "ds_read_u16_d16_hi vdst:b32, addr:b32; offset gds" { ds 0x5b }
    /// Reads two dwords.
    DsReadB64 (exact lds::ds_read_b64) "ds_read_b64 vdst:b64, addr:b32; offset gds" { ds 0x76 }
    /// Reads two elements of two dwords each.
    DsRead2B64 (exact lds::ds_read2_b64) "ds_read2_b64 vdst:b128, addr:b32; offsets gds" { ds 0x77 }
    /// Reads two elements of two dwords each, offsets in units of 64 elements.
    DsRead2st64B64 (exact lds::ds_read2st64_b64) "ds_read2st64_b64 vdst:b128, addr:b32; offsets gds" { ds 0x78 }
    /// Reads at M0 plus four times the lane.
    DsReadAddtidB32 (exact lds::ds_read_addtid_b32) "ds_read_addtid_b32 vdst:b32; offset gds" { ds 0xb6 }
    /// Writes three dwords.
    DsWriteB96 (exact lds::ds_write_b96) "ds_write_b96 addr:b32, data0:b96; offset gds" { ds 0xde }
    /// Writes four dwords.
    DsWriteB128 (exact lds::ds_write_b128) "ds_write_b128 addr:b32, data0:b128; offset gds" { ds 0xdf }
    /// Reads three dwords.
    DsReadB96 (exact lds::ds_read_b96) "ds_read_b96 vdst:b96, addr:b32; offset gds" { ds 0xfe }
    /// Reads four dwords.
    DsReadB128 (exact lds::ds_read_b128) "ds_read_b128 vdst:b128, addr:b32; offset gds" { ds 0xff }
} }
