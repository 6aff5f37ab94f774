//! Scalar memory: atomics.

family! { ($) smem_atomic {
    /// Atomic exchange.
    SBufferAtomicSwap (exact scalar_memory::s_buffer_atomic_swap) "s_buffer_atomic_swap sdata:b32, sbase:b128, offset; glc" { smem 0x40 }
    /// Atomic compare and exchange.
    SBufferAtomicCmpswap (exact scalar_memory::s_buffer_atomic_cmpswap) "s_buffer_atomic_cmpswap sdata:b64, sbase:b128, offset; glc" { smem 0x41 }
    /// Atomic sum.
    SBufferAtomicAdd (exact scalar_memory::s_buffer_atomic_add) "s_buffer_atomic_add sdata:b32, sbase:b128, offset; glc" { smem 0x42 }
    /// Atomic difference.
    SBufferAtomicSub (exact scalar_memory::s_buffer_atomic_sub) "s_buffer_atomic_sub sdata:b32, sbase:b128, offset; glc" { smem 0x43 }
    /// Atomic signed minimum.
    SBufferAtomicSmin (exact scalar_memory::s_buffer_atomic_smin) "s_buffer_atomic_smin sdata:b32, sbase:b128, offset; glc" { smem 0x44 }
    /// Atomic unsigned minimum.
    SBufferAtomicUmin (exact scalar_memory::s_buffer_atomic_umin) "s_buffer_atomic_umin sdata:b32, sbase:b128, offset; glc" { smem 0x45 }
    /// Atomic signed maximum.
    SBufferAtomicSmax (exact scalar_memory::s_buffer_atomic_smax) "s_buffer_atomic_smax sdata:b32, sbase:b128, offset; glc" { smem 0x46 }
    /// Atomic unsigned maximum.
    SBufferAtomicUmax (exact scalar_memory::s_buffer_atomic_umax) "s_buffer_atomic_umax sdata:b32, sbase:b128, offset; glc" { smem 0x47 }
    /// Atomic and.
    SBufferAtomicAnd (exact scalar_memory::s_buffer_atomic_and) "s_buffer_atomic_and sdata:b32, sbase:b128, offset; glc" { smem 0x48 }
    /// Atomic or.
    SBufferAtomicOr (exact scalar_memory::s_buffer_atomic_or) "s_buffer_atomic_or sdata:b32, sbase:b128, offset; glc" { smem 0x49 }
    /// Atomic exclusive or.
    SBufferAtomicXor (exact scalar_memory::s_buffer_atomic_xor) "s_buffer_atomic_xor sdata:b32, sbase:b128, offset; glc" { smem 0x4a }
    /// Atomic increment with wrap.
    SBufferAtomicInc (exact scalar_memory::s_buffer_atomic_inc) "s_buffer_atomic_inc sdata:b32, sbase:b128, offset; glc" { smem 0x4b }
    /// Atomic decrement with wrap.
    SBufferAtomicDec (exact scalar_memory::s_buffer_atomic_dec) "s_buffer_atomic_dec sdata:b32, sbase:b128, offset; glc" { smem 0x4c }
    /// Atomic exchange of 64 bits.
    SBufferAtomicSwapX2 (exact scalar_memory::s_buffer_atomic_swap_x2) "s_buffer_atomic_swap_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x60 }
    /// Atomic compare and exchange of 64 bits.
    SBufferAtomicCmpswapX2 (exact scalar_memory::s_buffer_atomic_cmpswap_x2) "s_buffer_atomic_cmpswap_x2 sdata:b128, sbase:b128, offset; glc" { smem 0x61 }
    /// Atomic sum of 64 bits.
    SBufferAtomicAddX2 (exact scalar_memory::s_buffer_atomic_add_x2) "s_buffer_atomic_add_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x62 }
    /// Atomic difference of 64 bits.
    SBufferAtomicSubX2 (exact scalar_memory::s_buffer_atomic_sub_x2) "s_buffer_atomic_sub_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x63 }
    /// Atomic signed minimum of 64 bits.
    SBufferAtomicSminX2 (exact scalar_memory::s_buffer_atomic_smin_x2) "s_buffer_atomic_smin_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x64 }
    /// Atomic unsigned minimum of 64 bits.
    SBufferAtomicUminX2 (exact scalar_memory::s_buffer_atomic_umin_x2) "s_buffer_atomic_umin_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x65 }
    /// Atomic signed maximum of 64 bits.
    SBufferAtomicSmaxX2 (exact scalar_memory::s_buffer_atomic_smax_x2) "s_buffer_atomic_smax_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x66 }
    /// Atomic unsigned maximum of 64 bits.
    SBufferAtomicUmaxX2 (exact scalar_memory::s_buffer_atomic_umax_x2) "s_buffer_atomic_umax_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x67 }
    /// Atomic and of 64 bits.
    SBufferAtomicAndX2 (exact scalar_memory::s_buffer_atomic_and_x2) "s_buffer_atomic_and_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x68 }
    /// Atomic or of 64 bits.
    SBufferAtomicOrX2 (exact scalar_memory::s_buffer_atomic_or_x2) "s_buffer_atomic_or_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x69 }
    /// Atomic exclusive or of 64 bits.
    SBufferAtomicXorX2 (exact scalar_memory::s_buffer_atomic_xor_x2) "s_buffer_atomic_xor_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x6a }
    /// Atomic increment with wrap of 64 bits.
    SBufferAtomicIncX2 (exact scalar_memory::s_buffer_atomic_inc_x2) "s_buffer_atomic_inc_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x6b }
    /// Atomic decrement with wrap of 64 bits.
    SBufferAtomicDecX2 (exact scalar_memory::s_buffer_atomic_dec_x2) "s_buffer_atomic_dec_x2 sdata:b64, sbase:b128, offset; glc" { smem 0x6c }
    /// Atomic exchange.
    SAtomicSwap (exact scalar_memory::s_atomic_swap) "s_atomic_swap sdata:b32, sbase:b64, offset; glc" { smem 0x80 }
    /// Atomic compare and exchange.
    SAtomicCmpswap (exact scalar_memory::s_atomic_cmpswap) "s_atomic_cmpswap sdata:b64, sbase:b64, offset; glc" { smem 0x81 }
    /// Atomic sum.
    SAtomicAdd (exact scalar_memory::s_atomic_add) "s_atomic_add sdata:b32, sbase:b64, offset; glc" { smem 0x82 }
    /// Atomic difference.
    SAtomicSub (exact scalar_memory::s_atomic_sub) "s_atomic_sub sdata:b32, sbase:b64, offset; glc" { smem 0x83 }
    /// Atomic signed minimum.
    SAtomicSmin (exact scalar_memory::s_atomic_smin) "s_atomic_smin sdata:b32, sbase:b64, offset; glc" { smem 0x84 }
    /// Atomic unsigned minimum.
    SAtomicUmin (exact scalar_memory::s_atomic_umin) "s_atomic_umin sdata:b32, sbase:b64, offset; glc" { smem 0x85 }
    /// Atomic signed maximum.
    SAtomicSmax (exact scalar_memory::s_atomic_smax) "s_atomic_smax sdata:b32, sbase:b64, offset; glc" { smem 0x86 }
    /// Atomic unsigned maximum.
    SAtomicUmax (exact scalar_memory::s_atomic_umax) "s_atomic_umax sdata:b32, sbase:b64, offset; glc" { smem 0x87 }
    /// Atomic and.
    SAtomicAnd (exact scalar_memory::s_atomic_and) "s_atomic_and sdata:b32, sbase:b64, offset; glc" { smem 0x88 }
    /// Atomic or.
    SAtomicOr (exact scalar_memory::s_atomic_or) "s_atomic_or sdata:b32, sbase:b64, offset; glc" { smem 0x89 }
    /// Atomic exclusive or.
    SAtomicXor (exact scalar_memory::s_atomic_xor) "s_atomic_xor sdata:b32, sbase:b64, offset; glc" { smem 0x8a }
    /// Atomic increment with wrap.
    SAtomicInc (exact scalar_memory::s_atomic_inc) "s_atomic_inc sdata:b32, sbase:b64, offset; glc" { smem 0x8b }
    /// Atomic decrement with wrap.
    SAtomicDec (exact scalar_memory::s_atomic_dec) "s_atomic_dec sdata:b32, sbase:b64, offset; glc" { smem 0x8c }
    /// Atomic exchange of 64 bits.
    SAtomicSwapX2 (exact scalar_memory::s_atomic_swap_x2) "s_atomic_swap_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xa0 }
    /// Atomic compare and exchange of 64 bits.
    SAtomicCmpswapX2 (exact scalar_memory::s_atomic_cmpswap_x2) "s_atomic_cmpswap_x2 sdata:b128, sbase:b64, offset; glc" { smem 0xa1 }
    /// Atomic sum of 64 bits.
    SAtomicAddX2 (exact scalar_memory::s_atomic_add_x2) "s_atomic_add_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xa2 }
    /// Atomic difference of 64 bits.
    SAtomicSubX2 (exact scalar_memory::s_atomic_sub_x2) "s_atomic_sub_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xa3 }
    /// Atomic signed minimum of 64 bits.
    SAtomicSminX2 (exact scalar_memory::s_atomic_smin_x2) "s_atomic_smin_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xa4 }
    /// Atomic unsigned minimum of 64 bits.
    SAtomicUminX2 (exact scalar_memory::s_atomic_umin_x2) "s_atomic_umin_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xa5 }
    /// Atomic signed maximum of 64 bits.
    SAtomicSmaxX2 (exact scalar_memory::s_atomic_smax_x2) "s_atomic_smax_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xa6 }
    /// Atomic unsigned maximum of 64 bits.
    SAtomicUmaxX2 (exact scalar_memory::s_atomic_umax_x2) "s_atomic_umax_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xa7 }
    /// Atomic and of 64 bits.
    SAtomicAndX2 (exact scalar_memory::s_atomic_and_x2) "s_atomic_and_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xa8 }
    /// Atomic or of 64 bits.
    SAtomicOrX2 (exact scalar_memory::s_atomic_or_x2) "s_atomic_or_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xa9 }
    /// Atomic exclusive or of 64 bits.
    SAtomicXorX2 (exact scalar_memory::s_atomic_xor_x2) "s_atomic_xor_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xaa }
    /// Atomic increment with wrap of 64 bits.
    SAtomicIncX2 (exact scalar_memory::s_atomic_inc_x2) "s_atomic_inc_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xab }
    /// Atomic decrement with wrap of 64 bits.
    SAtomicDecX2 (exact scalar_memory::s_atomic_dec_x2) "s_atomic_dec_x2 sdata:b64, sbase:b64, offset; glc" { smem 0xac }
} }
