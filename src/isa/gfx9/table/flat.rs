//! Flat memory.

family! { ($) flat {
    /// Loads an unsigned byte.
    FlatLoadUbyte (exact flat::flat_load_ubyte) "flat_load_ubyte vdst:b32, vaddr:b64" { flat 0x10 }
    /// Loads a signed byte.
    FlatLoadSbyte (exact flat::flat_load_sbyte) "flat_load_sbyte vdst:b32, vaddr:b64" { flat 0x11 }
    /// Loads an unsigned half.
    FlatLoadUshort (exact flat::flat_load_ushort) "flat_load_ushort vdst:b32, vaddr:b64" { flat 0x12 }
    /// Loads a signed half.
    FlatLoadSshort (exact flat::flat_load_sshort) "flat_load_sshort vdst:b32, vaddr:b64" { flat 0x13 }
    /// Loads a dword.
    FlatLoadDword (exact flat::flat_load_dword) "flat_load_dword vdst:b32, vaddr:b64" { flat 0x14 }
    /// Loads two dwords.
    FlatLoadDwordx2 (exact flat::flat_load_dwordx2) "flat_load_dwordx2 vdst:b64, vaddr:b64" { flat 0x15 }
    /// Loads three dwords.
    FlatLoadDwordx3 (exact flat::flat_load_dwordx3) "flat_load_dwordx3 vdst:b96, vaddr:b64" { flat 0x16 }
    /// Loads four dwords.
    FlatLoadDwordx4 (exact flat::flat_load_dwordx4) "flat_load_dwordx4 vdst:b128, vaddr:b64" { flat 0x17 }
    /// Stores a byte.
    FlatStoreByte (exact flat::flat_store_byte) "flat_store_byte vaddr:b64, vdata:b32" { flat 0x18 }
    /// Stores bits 16 to 23.
    FlatStoreByteD16Hi (exact flat::flat_store_byte_d16_hi) "flat_store_byte_d16_hi vaddr:b64, vdata:b32" { flat 0x19 }
    /// Stores a half.
    FlatStoreShort (exact flat::flat_store_short) "flat_store_short vaddr:b64, vdata:b32" { flat 0x1a }
    /// Stores the high half.
    FlatStoreShortD16Hi (exact flat::flat_store_short_d16_hi) "flat_store_short_d16_hi vaddr:b64, vdata:b32" { flat 0x1b }
    /// Stores a dword.
    FlatStoreDword (exact flat::flat_store_dword) "flat_store_dword vaddr:b64, vdata:b32" { flat 0x1c }
    /// Stores two dwords.
    FlatStoreDwordx2 (exact flat::flat_store_dwordx2) "flat_store_dwordx2 vaddr:b64, vdata:b64" { flat 0x1d }
    /// Stores three dwords.
    FlatStoreDwordx3 (exact flat::flat_store_dwordx3) "flat_store_dwordx3 vaddr:b64, vdata:b96" { flat 0x1e }
    /// Stores four dwords.
    FlatStoreDwordx4 (exact flat::flat_store_dwordx4) "flat_store_dwordx4 vaddr:b64, vdata:b128" { flat 0x1f }
    /// Loads an unsigned byte into the low half.
    FlatLoadUbyteD16 (exact flat::flat_load_ubyte_d16) "flat_load_ubyte_d16 vdst:b32, vaddr:b64" { flat 0x20 }
    /// Loads an unsigned byte into the high half.
    FlatLoadUbyteD16Hi (exact flat::flat_load_ubyte_d16_hi) "flat_load_ubyte_d16_hi vdst:b32, vaddr:b64" { flat 0x21 }
    /// Loads a signed byte into the low half.
    FlatLoadSbyteD16 (exact flat::flat_load_sbyte_d16) "flat_load_sbyte_d16 vdst:b32, vaddr:b64" { flat 0x22 }
    /// Loads a signed byte into the high half.
    FlatLoadSbyteD16Hi (exact flat::flat_load_sbyte_d16_hi) "flat_load_sbyte_d16_hi vdst:b32, vaddr:b64" { flat 0x23 }
    /// Loads a half into the low half.
    FlatLoadShortD16 (exact flat::flat_load_short_d16) "flat_load_short_d16 vdst:b32, vaddr:b64" { flat 0x24 }
    /// Loads a half into the high half.
    FlatLoadShortD16Hi (exact flat::flat_load_short_d16_hi) "flat_load_short_d16_hi vdst:b32, vaddr:b64" { flat 0x25 }
    /// Atomic exchange.
    FlatAtomicSwap (exact flat::flat_atomic_swap) "flat_atomic_swap vdst:b32, vaddr:b64, vdata:b32" { flat 0x40 }
    /// Atomic compare and exchange.
    FlatAtomicCmpswap (exact flat::flat_atomic_cmpswap) "flat_atomic_cmpswap vdst:b32, vaddr:b64, vdata:b64" { flat 0x41 }
    /// Atomic sum.
    FlatAtomicAdd (exact flat::flat_atomic_add) "flat_atomic_add vdst:b32, vaddr:b64, vdata:b32" { flat 0x42 }
    /// Atomic difference.
    FlatAtomicSub (exact flat::flat_atomic_sub) "flat_atomic_sub vdst:b32, vaddr:b64, vdata:b32" { flat 0x43 }
    /// Atomic signed minimum.
    FlatAtomicSmin (exact flat::flat_atomic_smin) "flat_atomic_smin vdst:b32, vaddr:b64, vdata:b32" { flat 0x44 }
    /// Atomic unsigned minimum.
    FlatAtomicUmin (exact flat::flat_atomic_umin) "flat_atomic_umin vdst:b32, vaddr:b64, vdata:b32" { flat 0x45 }
    /// Atomic signed maximum.
    FlatAtomicSmax (exact flat::flat_atomic_smax) "flat_atomic_smax vdst:b32, vaddr:b64, vdata:b32" { flat 0x46 }
    /// Atomic unsigned maximum.
    FlatAtomicUmax (exact flat::flat_atomic_umax) "flat_atomic_umax vdst:b32, vaddr:b64, vdata:b32" { flat 0x47 }
    /// Atomic and.
    FlatAtomicAnd (exact flat::flat_atomic_and) "flat_atomic_and vdst:b32, vaddr:b64, vdata:b32" { flat 0x48 }
    /// Atomic or.
    FlatAtomicOr (exact flat::flat_atomic_or) "flat_atomic_or vdst:b32, vaddr:b64, vdata:b32" { flat 0x49 }
    /// Atomic exclusive or.
    FlatAtomicXor (exact flat::flat_atomic_xor) "flat_atomic_xor vdst:b32, vaddr:b64, vdata:b32" { flat 0x4a }
    /// Atomic increment with wrap.
    FlatAtomicInc (exact flat::flat_atomic_inc) "flat_atomic_inc vdst:b32, vaddr:b64, vdata:b32" { flat 0x4b }
    /// Atomic decrement with wrap.
    FlatAtomicDec (exact flat::flat_atomic_dec) "flat_atomic_dec vdst:b32, vaddr:b64, vdata:b32" { flat 0x4c }
    /// Atomic exchange of 64 bits.
    FlatAtomicSwapX2 (exact flat::flat_atomic_swap_x2) "flat_atomic_swap_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x60 }
    /// Atomic compare and exchange of 64 bits.
    FlatAtomicCmpswapX2 (exact flat::flat_atomic_cmpswap_x2) "flat_atomic_cmpswap_x2 vdst:b64, vaddr:b64, vdata:b128" { flat 0x61 }
    /// Atomic sum of 64 bits.
    FlatAtomicAddX2 (exact flat::flat_atomic_add_x2) "flat_atomic_add_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x62 }
    /// Atomic difference of 64 bits.
    FlatAtomicSubX2 (exact flat::flat_atomic_sub_x2) "flat_atomic_sub_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x63 }
    /// Atomic signed minimum of 64 bits.
    FlatAtomicSminX2 (exact flat::flat_atomic_smin_x2) "flat_atomic_smin_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x64 }
    /// Atomic unsigned minimum of 64 bits.
    FlatAtomicUminX2 (exact flat::flat_atomic_umin_x2) "flat_atomic_umin_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x65 }
    /// Atomic signed maximum of 64 bits.
    FlatAtomicSmaxX2 (exact flat::flat_atomic_smax_x2) "flat_atomic_smax_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x66 }
    /// Atomic unsigned maximum of 64 bits.
    FlatAtomicUmaxX2 (exact flat::flat_atomic_umax_x2) "flat_atomic_umax_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x67 }
    /// Atomic and of 64 bits.
    FlatAtomicAndX2 (exact flat::flat_atomic_and_x2) "flat_atomic_and_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x68 }
    /// Atomic or of 64 bits.
    FlatAtomicOrX2 (exact flat::flat_atomic_or_x2) "flat_atomic_or_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x69 }
    /// Atomic exclusive or of 64 bits.
    FlatAtomicXorX2 (exact flat::flat_atomic_xor_x2) "flat_atomic_xor_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x6a }
    /// Atomic increment with wrap of 64 bits.
    FlatAtomicIncX2 (exact flat::flat_atomic_inc_x2) "flat_atomic_inc_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x6b }
    /// Atomic decrement with wrap of 64 bits.
    FlatAtomicDecX2 (exact flat::flat_atomic_dec_x2) "flat_atomic_dec_x2 vdst:b64, vaddr:b64, vdata:b64" { flat 0x6c }
} }
