//! Buffers: atomics.

family! { ($) mubuf_atomic {
    /// Atomic exchange.
    BufferAtomicSwap (exact buffer::buffer_atomic_swap) "buffer_atomic_swap vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x40 }
    /// Atomic compare and exchange.
    BufferAtomicCmpswap (exact buffer::buffer_atomic_cmpswap) "buffer_atomic_cmpswap vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x41 }
    /// Atomic sum.
    BufferAtomicAdd (exact buffer::buffer_atomic_add) "buffer_atomic_add vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x42 }
    /// Atomic difference.
    BufferAtomicSub (exact buffer::buffer_atomic_sub) "buffer_atomic_sub vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x43 }
    /// Atomic signed minimum.
    BufferAtomicSmin (exact buffer::buffer_atomic_smin) "buffer_atomic_smin vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x44 }
    /// Atomic unsigned minimum.
    BufferAtomicUmin (exact buffer::buffer_atomic_umin) "buffer_atomic_umin vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x45 }
    /// Atomic signed maximum.
    BufferAtomicSmax (exact buffer::buffer_atomic_smax) "buffer_atomic_smax vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x46 }
    /// Atomic unsigned maximum.
    BufferAtomicUmax (exact buffer::buffer_atomic_umax) "buffer_atomic_umax vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x47 }
    /// Atomic and.
    BufferAtomicAnd (exact buffer::buffer_atomic_and) "buffer_atomic_and vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x48 }
    /// Atomic or.
    BufferAtomicOr (exact buffer::buffer_atomic_or) "buffer_atomic_or vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x49 }
    /// Atomic exclusive or.
    BufferAtomicXor (exact buffer::buffer_atomic_xor) "buffer_atomic_xor vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x4a }
    /// Atomic increment with wrap.
    BufferAtomicInc (exact buffer::buffer_atomic_inc) "buffer_atomic_inc vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x4b }
    /// Atomic decrement with wrap.
    BufferAtomicDec (exact buffer::buffer_atomic_dec) "buffer_atomic_dec vdata:b32, vaddr, srsrc:b128, soffset" { mubuf 0x4c }
    /// Atomic exchange of 64 bits.
    BufferAtomicSwapX2 (exact buffer::buffer_atomic_swap_x2) "buffer_atomic_swap_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x60 }
    /// Atomic compare and exchange of 64 bits.
    BufferAtomicCmpswapX2 (exact buffer::buffer_atomic_cmpswap_x2) "buffer_atomic_cmpswap_x2 vdata:b128, vaddr, srsrc:b128, soffset" { mubuf 0x61 }
    /// Atomic sum of 64 bits.
    BufferAtomicAddX2 (exact buffer::buffer_atomic_add_x2) "buffer_atomic_add_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x62 }
    /// Atomic difference of 64 bits.
    BufferAtomicSubX2 (exact buffer::buffer_atomic_sub_x2) "buffer_atomic_sub_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x63 }
    /// Atomic signed minimum of 64 bits.
    BufferAtomicSminX2 (exact buffer::buffer_atomic_smin_x2) "buffer_atomic_smin_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x64 }
    /// Atomic unsigned minimum of 64 bits.
    BufferAtomicUminX2 (exact buffer::buffer_atomic_umin_x2) "buffer_atomic_umin_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x65 }
    /// Atomic signed maximum of 64 bits.
    BufferAtomicSmaxX2 (exact buffer::buffer_atomic_smax_x2) "buffer_atomic_smax_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x66 }
    /// Atomic unsigned maximum of 64 bits.
    BufferAtomicUmaxX2 (exact buffer::buffer_atomic_umax_x2) "buffer_atomic_umax_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x67 }
    /// Atomic and of 64 bits.
    BufferAtomicAndX2 (exact buffer::buffer_atomic_and_x2) "buffer_atomic_and_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x68 }
    /// Atomic or of 64 bits.
    BufferAtomicOrX2 (exact buffer::buffer_atomic_or_x2) "buffer_atomic_or_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x69 }
    /// Atomic exclusive or of 64 bits.
    BufferAtomicXorX2 (exact buffer::buffer_atomic_xor_x2) "buffer_atomic_xor_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x6a }
    /// Atomic increment with wrap of 64 bits.
    BufferAtomicIncX2 (exact buffer::buffer_atomic_inc_x2) "buffer_atomic_inc_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x6b }
    /// Atomic decrement with wrap of 64 bits.
    BufferAtomicDecX2 (exact buffer::buffer_atomic_dec_x2) "buffer_atomic_dec_x2 vdata:b64, vaddr, srsrc:b128, soffset" { mubuf 0x6c }
} }
