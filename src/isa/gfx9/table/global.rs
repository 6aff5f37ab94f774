//! Global memory.

family! { ($) global {
    /// Loads an unsigned byte.
    GlobalLoadUbyte (exact flat::global_load_ubyte) "global_load_ubyte vdst:b32, vaddr:b64, saddr:b64; lds" { global 0x10 }
    /// Loads a signed byte.
    GlobalLoadSbyte (exact flat::global_load_sbyte) "global_load_sbyte vdst:b32, vaddr:b64, saddr:b64; lds" { global 0x11 }
    /// Loads an unsigned half.
    GlobalLoadUshort (exact flat::global_load_ushort) "global_load_ushort vdst:b32, vaddr:b64, saddr:b64; lds" { global 0x12 }
    /// Loads a signed half.
    GlobalLoadSshort (exact flat::global_load_sshort) "global_load_sshort vdst:b32, vaddr:b64, saddr:b64; lds" { global 0x13 }
    /// Loads a dword.
    GlobalLoadDword (exact flat::global_load_dword) "global_load_dword vdst:b32, vaddr:b64, saddr:b64; lds" { global 0x14 }
    /// Loads two dwords.
    GlobalLoadDwordx2 (exact flat::global_load_dwordx2) "global_load_dwordx2 vdst:b64, vaddr:b64, saddr:b64" { global 0x15 }
    /// Loads three dwords.
    GlobalLoadDwordx3 (exact flat::global_load_dwordx3) "global_load_dwordx3 vdst:b96, vaddr:b64, saddr:b64" { global 0x16 }
    /// Loads four dwords.
    GlobalLoadDwordx4 (exact flat::global_load_dwordx4) "global_load_dwordx4 vdst:b128, vaddr:b64, saddr:b64" { global 0x17 }
    /// Stores a byte.
    GlobalStoreByte (exact flat::global_store_byte) "global_store_byte vaddr:b64, vdata:b32, saddr:b64" { global 0x18 }
    /// Stores bits 16 to 23.
    GlobalStoreByteD16Hi (exact flat::global_store_byte_d16_hi) "global_store_byte_d16_hi vaddr:b64, vdata:b32, saddr:b64" { global 0x19 }
    /// Stores a half.
    GlobalStoreShort (exact flat::global_store_short) "global_store_short vaddr:b64, vdata:b32, saddr:b64" { global 0x1a }
    /// Stores the high half.
    GlobalStoreShortD16Hi (exact flat::global_store_short_d16_hi) "global_store_short_d16_hi vaddr:b64, vdata:b32, saddr:b64" { global 0x1b }
    /// Stores a dword.
    GlobalStoreDword (exact flat::global_store_dword) "global_store_dword vaddr:b64, vdata:b32, saddr:b64" { global 0x1c }
    /// Stores two dwords.
    GlobalStoreDwordx2 (exact flat::global_store_dwordx2) "global_store_dwordx2 vaddr:b64, vdata:b64, saddr:b64" { global 0x1d }
    /// Stores three dwords.
    GlobalStoreDwordx3 (exact flat::global_store_dwordx3) "global_store_dwordx3 vaddr:b64, vdata:b96, saddr:b64" { global 0x1e }
    /// Stores four dwords.
    GlobalStoreDwordx4 (exact flat::global_store_dwordx4) "global_store_dwordx4 vaddr:b64, vdata:b128, saddr:b64" { global 0x1f }
    /// Loads an unsigned byte into the low half.
    GlobalLoadUbyteD16 (exact flat::global_load_ubyte_d16) "global_load_ubyte_d16 vdst:b32, vaddr:b64, saddr:b64" { global 0x20 }
    /// Loads an unsigned byte into the high half.
    GlobalLoadUbyteD16Hi (exact flat::global_load_ubyte_d16_hi) "global_load_ubyte_d16_hi vdst:b32, vaddr:b64, saddr:b64" { global 0x21 }
    /// Loads a signed byte into the low half.
    GlobalLoadSbyteD16 (exact flat::global_load_sbyte_d16) "global_load_sbyte_d16 vdst:b32, vaddr:b64, saddr:b64" { global 0x22 }
    /// Loads a signed byte into the high half.
    GlobalLoadSbyteD16Hi (exact flat::global_load_sbyte_d16_hi) "global_load_sbyte_d16_hi vdst:b32, vaddr:b64, saddr:b64" { global 0x23 }
    /// Loads a half into the low half.
    GlobalLoadShortD16 (exact flat::global_load_short_d16) "global_load_short_d16 vdst:b32, vaddr:b64, saddr:b64" { global 0x24 }
    /// Loads a half into the high half.
    GlobalLoadShortD16Hi (exact flat::global_load_short_d16_hi) "global_load_short_d16_hi vdst:b32, vaddr:b64, saddr:b64" { global 0x25 }
    /// Atomic exchange.
    GlobalAtomicSwap (exact flat::global_atomic_swap) "global_atomic_swap vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x40 }
    /// Atomic compare and exchange.
    GlobalAtomicCmpswap (exact flat::global_atomic_cmpswap) "global_atomic_cmpswap vdst:b32, vaddr:b64, vdata:b64, saddr:b64" { global 0x41 }
    /// Atomic sum.
    GlobalAtomicAdd (exact flat::global_atomic_add) "global_atomic_add vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x42 }
    /// Atomic difference.
    GlobalAtomicSub (exact flat::global_atomic_sub) "global_atomic_sub vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x43 }
    /// Atomic signed minimum.
    GlobalAtomicSmin (exact flat::global_atomic_smin) "global_atomic_smin vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x44 }
    /// Atomic unsigned minimum.
    GlobalAtomicUmin (exact flat::global_atomic_umin) "global_atomic_umin vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x45 }
    /// Atomic signed maximum.
    GlobalAtomicSmax (exact flat::global_atomic_smax) "global_atomic_smax vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x46 }
    /// Atomic unsigned maximum.
    GlobalAtomicUmax (exact flat::global_atomic_umax) "global_atomic_umax vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x47 }
    /// Atomic and.
    GlobalAtomicAnd (exact flat::global_atomic_and) "global_atomic_and vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x48 }
    /// Atomic or.
    GlobalAtomicOr (exact flat::global_atomic_or) "global_atomic_or vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x49 }
    /// Atomic exclusive or.
    GlobalAtomicXor (exact flat::global_atomic_xor) "global_atomic_xor vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x4a }
    /// Atomic increment with wrap.
    GlobalAtomicInc (exact flat::global_atomic_inc) "global_atomic_inc vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x4b }
    /// Atomic decrement with wrap.
    GlobalAtomicDec (exact flat::global_atomic_dec) "global_atomic_dec vdst:b32, vaddr:b64, vdata:b32, saddr:b64" { global 0x4c }
    /// Atomic exchange of 64 bits.
    GlobalAtomicSwapX2 (exact flat::global_atomic_swap_x2) "global_atomic_swap_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x60 }
    /// Atomic compare and exchange of 64 bits.
    GlobalAtomicCmpswapX2 (exact flat::global_atomic_cmpswap_x2) "global_atomic_cmpswap_x2 vdst:b64, vaddr:b64, vdata:b128, saddr:b64" { global 0x61 }
    /// Atomic sum of 64 bits.
    GlobalAtomicAddX2 (exact flat::global_atomic_add_x2) "global_atomic_add_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x62 }
    /// Atomic difference of 64 bits.
    GlobalAtomicSubX2 (exact flat::global_atomic_sub_x2) "global_atomic_sub_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x63 }
    /// Atomic signed minimum of 64 bits.
    GlobalAtomicSminX2 (exact flat::global_atomic_smin_x2) "global_atomic_smin_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x64 }
    /// Atomic unsigned minimum of 64 bits.
    GlobalAtomicUminX2 (exact flat::global_atomic_umin_x2) "global_atomic_umin_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x65 }
    /// Atomic signed maximum of 64 bits.
    GlobalAtomicSmaxX2 (exact flat::global_atomic_smax_x2) "global_atomic_smax_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x66 }
    /// Atomic unsigned maximum of 64 bits.
    GlobalAtomicUmaxX2 (exact flat::global_atomic_umax_x2) "global_atomic_umax_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x67 }
    /// Atomic and of 64 bits.
    GlobalAtomicAndX2 (exact flat::global_atomic_and_x2) "global_atomic_and_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x68 }
    /// Atomic or of 64 bits.
    GlobalAtomicOrX2 (exact flat::global_atomic_or_x2) "global_atomic_or_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x69 }
    /// Atomic exclusive or of 64 bits.
    GlobalAtomicXorX2 (exact flat::global_atomic_xor_x2) "global_atomic_xor_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x6a }
    /// Atomic increment with wrap of 64 bits.
    GlobalAtomicIncX2 (exact flat::global_atomic_inc_x2) "global_atomic_inc_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x6b }
    /// Atomic decrement with wrap of 64 bits.
    GlobalAtomicDecX2 (exact flat::global_atomic_dec_x2) "global_atomic_dec_x2 vdst:b64, vaddr:b64, vdata:b64, saddr:b64" { global 0x6c }
} }
