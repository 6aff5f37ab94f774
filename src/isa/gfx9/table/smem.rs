//! Scalar memory: loads, stores and caches.

family! { ($) smem {
    /// Loads from memory.
    SLoadDword (exact scalar_memory::s_load_dword) "s_load_dword sdata:b32, sbase:b64, offset; glc" { smem 0x00 }
    /// Loads from memory.
    SLoadDwordx2 (exact scalar_memory::s_load_dwordx2) "s_load_dwordx2 sdata:b64, sbase:b64, offset; glc" { smem 0x01 }
    /// Loads from memory.
    SLoadDwordx4 (exact scalar_memory::s_load_dwordx4) "s_load_dwordx4 sdata:b128, sbase:b64, offset; glc" { smem 0x02 }
    /// Loads from memory.
    SLoadDwordx8 (exact scalar_memory::s_load_dwordx8) "s_load_dwordx8 sdata:b256, sbase:b64, offset; glc" { smem 0x03 }
    /// Loads from memory.
    SLoadDwordx16 (exact scalar_memory::s_load_dwordx16) "s_load_dwordx16 sdata:b512, sbase:b64, offset; glc" { smem 0x04 }
    /// Loads from scratch memory.
    SScratchLoadDword (exact scalar_memory::s_scratch_load_dword) "s_scratch_load_dword sdata:b32, sbase:b64, offset; glc" { smem 0x05 }
    /// Loads from scratch memory.
    SScratchLoadDwordx2 (exact scalar_memory::s_scratch_load_dwordx2) "s_scratch_load_dwordx2 sdata:b64, sbase:b64, offset; glc" { smem 0x06 }
    /// Loads from scratch memory.
    SScratchLoadDwordx4 (exact scalar_memory::s_scratch_load_dwordx4) "s_scratch_load_dwordx4 sdata:b128, sbase:b64, offset; glc" { smem 0x07 }
    /// Loads from a buffer.
    SBufferLoadDword (exact scalar_memory::s_buffer_load_dword) "s_buffer_load_dword sdata:b32, sbase:b128, offset; glc" { smem 0x08 }
    /// Loads from a buffer.
    SBufferLoadDwordx2 (exact scalar_memory::s_buffer_load_dwordx2) "s_buffer_load_dwordx2 sdata:b64, sbase:b128, offset; glc" { smem 0x09 }
    /// Loads from a buffer.
    SBufferLoadDwordx4 (exact scalar_memory::s_buffer_load_dwordx4) "s_buffer_load_dwordx4 sdata:b128, sbase:b128, offset; glc" { smem 0x0a }
    /// Loads from a buffer.
    SBufferLoadDwordx8 (exact scalar_memory::s_buffer_load_dwordx8) "s_buffer_load_dwordx8 sdata:b256, sbase:b128, offset; glc" { smem 0x0b }
    /// Loads from a buffer.
    SBufferLoadDwordx16 (exact scalar_memory::s_buffer_load_dwordx16) "s_buffer_load_dwordx16 sdata:b512, sbase:b128, offset; glc" { smem 0x0c }
    /// Stores to memory.
    SStoreDword (exact scalar_memory::s_store_dword) "s_store_dword sdata:b32, sbase:b64, offset; glc" { smem 0x10 }
    /// Stores to memory.
    SStoreDwordx2 (exact scalar_memory::s_store_dwordx2) "s_store_dwordx2 sdata:b64, sbase:b64, offset; glc" { smem 0x11 }
    /// Stores to memory.
    SStoreDwordx4 (exact scalar_memory::s_store_dwordx4) "s_store_dwordx4 sdata:b128, sbase:b64, offset; glc" { smem 0x12 }
    /// Stores to scratch memory.
    SScratchStoreDword (exact scalar_memory::s_scratch_store_dword) "s_scratch_store_dword sdata:b32, sbase:b64, offset; glc" { smem 0x15 }
    /// Stores to scratch memory.
    SScratchStoreDwordx2 (exact scalar_memory::s_scratch_store_dwordx2) "s_scratch_store_dwordx2 sdata:b64, sbase:b64, offset; glc" { smem 0x16 }
    /// Stores to scratch memory.
    SScratchStoreDwordx4 (exact scalar_memory::s_scratch_store_dwordx4) "s_scratch_store_dwordx4 sdata:b128, sbase:b64, offset; glc" { smem 0x17 }
    /// Stores to a buffer.
    SBufferStoreDword (exact scalar_memory::s_buffer_store_dword) "s_buffer_store_dword sdata:b32, sbase:b128, offset; glc" { smem 0x18 }
    /// Stores to a buffer.
    SBufferStoreDwordx2 (exact scalar_memory::s_buffer_store_dwordx2) "s_buffer_store_dwordx2 sdata:b64, sbase:b128, offset; glc" { smem 0x19 }
    /// Stores to a buffer.
    SBufferStoreDwordx4 (exact scalar_memory::s_buffer_store_dwordx4) "s_buffer_store_dwordx4 sdata:b128, sbase:b128, offset; glc" { smem 0x1a }
    /// Invalidates the scalar data cache.
    SDcacheInv (exact scalar_memory::s_dcache_inv) "s_dcache_inv" { smem 0x20 }
    /// Writes the scalar data cache back.
    SDcacheWb (exact scalar_memory::s_dcache_wb) "s_dcache_wb" { smem 0x21 }
    /// Invalidates the scalar data cache.
    SDcacheInvVol (exact scalar_memory::s_dcache_inv_vol) "s_dcache_inv_vol" { smem 0x22 }
    /// Writes the scalar data cache back.
    SDcacheWbVol (exact scalar_memory::s_dcache_wb_vol) "s_dcache_wb_vol" { smem 0x23 }
    /// Clock counter.
    SMemtime (exact scalar_memory::s_memtime) "s_memtime sdata:b64" { smem 0x24 }
    /// Real-time counter.
    SMemrealtime (exact scalar_memory::s_memrealtime) "s_memrealtime sdata:b64" { smem 0x25 }
    /// Prefetches an address translation.
    SAtcProbe (exact scalar_memory::s_atc_probe) "s_atc_probe probe, sbase:b64, offset" { smem 0x26 }
    /// Prefetches an address translation.
    SAtcProbeBuffer (exact scalar_memory::s_atc_probe_buffer) "s_atc_probe_buffer probe, sbase:b128, offset" { smem 0x27 }
    /// Discards cache lines.
    SDcacheDiscard (exact scalar_memory::s_dcache_discard) "s_dcache_discard sbase:b64, offset" { smem 0x28 }
    /// Discards cache lines.
    SDcacheDiscardX2 (exact scalar_memory::s_dcache_discard_x2) "s_dcache_discard_x2 sbase:b64, offset" { smem 0x29 }
} }
