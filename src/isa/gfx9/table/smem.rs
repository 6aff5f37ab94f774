//! Scalar memory: loads, stores and caches.

family! { ($) smem {
    /// Loads from memory.
    SLoadDword unimplemented "s_load_dword sdata:b32, sbase:b64, offset; glc" { smem 0x00 }
    /// Loads from memory.
    SLoadDwordx2 unimplemented "s_load_dwordx2 sdata:b64, sbase:b64, offset; glc" { smem 0x01 }
    /// Loads from memory.
    SLoadDwordx4 unimplemented "s_load_dwordx4 sdata:b128, sbase:b64, offset; glc" { smem 0x02 }
    /// Loads from memory.
    SLoadDwordx8 unimplemented "s_load_dwordx8 sdata:b256, sbase:b64, offset; glc" { smem 0x03 }
    /// Loads from memory.
    SLoadDwordx16 unimplemented "s_load_dwordx16 sdata:b512, sbase:b64, offset; glc" { smem 0x04 }
    /// Loads from scratch memory.
    SScratchLoadDword unimplemented "s_scratch_load_dword sdata:b32, sbase:b64, offset; glc" { smem 0x05 }
    /// Loads from scratch memory.
    SScratchLoadDwordx2 unimplemented "s_scratch_load_dwordx2 sdata:b64, sbase:b64, offset; glc" { smem 0x06 }
    /// Loads from scratch memory.
    SScratchLoadDwordx4 unimplemented "s_scratch_load_dwordx4 sdata:b128, sbase:b64, offset; glc" { smem 0x07 }
    /// Loads from a buffer.
    SBufferLoadDword unimplemented "s_buffer_load_dword sdata:b32, sbase:b128, offset; glc" { smem 0x08 }
    /// Loads from a buffer.
    SBufferLoadDwordx2 unimplemented "s_buffer_load_dwordx2 sdata:b64, sbase:b128, offset; glc" { smem 0x09 }
    /// Loads from a buffer.
    SBufferLoadDwordx4 unimplemented "s_buffer_load_dwordx4 sdata:b128, sbase:b128, offset; glc" { smem 0x0a }
    /// Loads from a buffer.
    SBufferLoadDwordx8 unimplemented "s_buffer_load_dwordx8 sdata:b256, sbase:b128, offset; glc" { smem 0x0b }
    /// Loads from a buffer.
    SBufferLoadDwordx16 unimplemented "s_buffer_load_dwordx16 sdata:b512, sbase:b128, offset; glc" { smem 0x0c }
    /// Stores to memory.
    SStoreDword unimplemented "s_store_dword sdata:b32, sbase:b64, offset; glc" { smem 0x10 }
    /// Stores to memory.
    SStoreDwordx2 unimplemented "s_store_dwordx2 sdata:b64, sbase:b64, offset; glc" { smem 0x11 }
    /// Stores to memory.
    SStoreDwordx4 unimplemented "s_store_dwordx4 sdata:b128, sbase:b64, offset; glc" { smem 0x12 }
    /// Stores to scratch memory.
    SScratchStoreDword unimplemented "s_scratch_store_dword sdata:b32, sbase:b64, offset; glc" { smem 0x15 }
    /// Stores to scratch memory.
    SScratchStoreDwordx2 unimplemented "s_scratch_store_dwordx2 sdata:b64, sbase:b64, offset; glc" { smem 0x16 }
    /// Stores to scratch memory.
    SScratchStoreDwordx4 unimplemented "s_scratch_store_dwordx4 sdata:b128, sbase:b64, offset; glc" { smem 0x17 }
    /// Stores to a buffer.
    SBufferStoreDword unimplemented "s_buffer_store_dword sdata:b32, sbase:b128, offset; glc" { smem 0x18 }
    /// Stores to a buffer.
    SBufferStoreDwordx2 unimplemented "s_buffer_store_dwordx2 sdata:b64, sbase:b128, offset; glc" { smem 0x19 }
    /// Stores to a buffer.
    SBufferStoreDwordx4 unimplemented "s_buffer_store_dwordx4 sdata:b128, sbase:b128, offset; glc" { smem 0x1a }
    /// Invalidates the scalar data cache.
    SDcacheInv unimplemented "s_dcache_inv" { smem 0x20 }
    /// Writes the scalar data cache back.
    SDcacheWb unimplemented "s_dcache_wb" { smem 0x21 }
    /// Invalidates the scalar data cache.
    SDcacheInvVol unimplemented "s_dcache_inv_vol" { smem 0x22 }
    /// Writes the scalar data cache back.
    SDcacheWbVol unimplemented "s_dcache_wb_vol" { smem 0x23 }
    /// Clock counter.
    SMemtime unimplemented "s_memtime sdata:b64" { smem 0x24 }
    /// Real-time counter.
    SMemrealtime unimplemented "s_memrealtime sdata:b64" { smem 0x25 }
    /// Prefetches an address translation.
    SAtcProbe unimplemented "s_atc_probe probe, sbase:b64, offset" { smem 0x26 }
    /// Prefetches an address translation.
    SAtcProbeBuffer unimplemented "s_atc_probe_buffer probe, sbase:b128, offset" { smem 0x27 }
    /// Discards cache lines.
    SDcacheDiscard unimplemented "s_dcache_discard sbase:b64, offset" { smem 0x28 }
    /// Discards cache lines.
    SDcacheDiscardX2 unimplemented "s_dcache_discard_x2 sbase:b64, offset" { smem 0x29 }
} }
