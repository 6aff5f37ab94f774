//! Images: loads, stores and atomics.

family! { ($) mimg_load {
    /// Loads a texel.
    ImageLoad (approximate "images that are not linear, or have several samples, fault" image::image_load) "image_load vdata, vaddr:b32, srsrc:b256; d16" { mimg 0x00 }
    /// Loads a texel of a level.
    ImageLoadMip (approximate "images that are not linear, or have several samples, fault" image::image_load_mip) "image_load_mip vdata, vaddr:b32, srsrc:b256; d16" { mimg 0x01 }
    /// Loads a texel without conversion.
    ImageLoadPck unimplemented "image_load_pck vdata, vaddr:b32, srsrc:b256" { mimg 0x02 }
    /// Loads a texel without conversion.
    ImageLoadPckSgn unimplemented "image_load_pck_sgn vdata, vaddr:b32, srsrc:b256" { mimg 0x03 }
    /// Loads a texel of a level without conversion.
    ImageLoadMipPck unimplemented "image_load_mip_pck vdata, vaddr:b32, srsrc:b256" { mimg 0x04 }
    /// Loads a texel of a level without conversion.
    ImageLoadMipPckSgn unimplemented "image_load_mip_pck_sgn vdata, vaddr:b32, srsrc:b256" { mimg 0x05 }
    /// Stores a texel.
    ImageStore (approximate "images that are not linear, or have several samples, fault; integers are clamped" image::image_store) "image_store vdata, vaddr:b32, srsrc:b256; d16" { mimg 0x08 }
    /// Stores a texel of a level.
    ImageStoreMip (approximate "images that are not linear, or have several samples, fault; integers are clamped" image::image_store_mip) "image_store_mip vdata, vaddr:b32, srsrc:b256; d16" { mimg 0x09 }
    /// Stores a texel without conversion.
    ImageStorePck unimplemented "image_store_pck vdata, vaddr:b32, srsrc:b256" { mimg 0x0a }
    /// Stores a texel of a level without conversion.
    ImageStoreMipPck unimplemented "image_store_mip_pck vdata, vaddr:b32, srsrc:b256" { mimg 0x0b }
    /// Size of the image.
    ImageGetResinfo (exact image::image_get_resinfo) "image_get_resinfo vdata, vaddr:b32, srsrc:b256" { mimg 0x0e }
    /// Atomic exchange.
    ImageAtomicSwap (approximate "images that are not linear, or have several samples, fault" image::image_atomic_swap) "image_atomic_swap vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x10 }
    /// Atomic compare and exchange.
    ImageAtomicCmpswap (approximate "images that are not linear, or have several samples, fault" image::image_atomic_cmpswap) "image_atomic_cmpswap vdata:b64, vaddr:b32, srsrc:b256" { mimg 0x11 }
    /// Atomic sum.
    ImageAtomicAdd (approximate "images that are not linear, or have several samples, fault" image::image_atomic_add) "image_atomic_add vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x12 }
    /// Atomic difference.
    ImageAtomicSub (approximate "images that are not linear, or have several samples, fault" image::image_atomic_sub) "image_atomic_sub vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x13 }
    /// Atomic signed minimum.
    ImageAtomicSmin (approximate "images that are not linear, or have several samples, fault" image::image_atomic_smin) "image_atomic_smin vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x14 }
    /// Atomic unsigned minimum.
    ImageAtomicUmin (approximate "images that are not linear, or have several samples, fault" image::image_atomic_umin) "image_atomic_umin vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x15 }
    /// Atomic signed maximum.
    ImageAtomicSmax (approximate "images that are not linear, or have several samples, fault" image::image_atomic_smax) "image_atomic_smax vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x16 }
    /// Atomic unsigned maximum.
    ImageAtomicUmax (approximate "images that are not linear, or have several samples, fault" image::image_atomic_umax) "image_atomic_umax vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x17 }
    /// Atomic and.
    ImageAtomicAnd (approximate "images that are not linear, or have several samples, fault" image::image_atomic_and) "image_atomic_and vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x18 }
    /// Atomic or.
    ImageAtomicOr (approximate "images that are not linear, or have several samples, fault" image::image_atomic_or) "image_atomic_or vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x19 }
    /// Atomic exclusive or.
    ImageAtomicXor (approximate "images that are not linear, or have several samples, fault" image::image_atomic_xor) "image_atomic_xor vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x1a }
    /// Atomic increment with wrap.
    ImageAtomicInc (approximate "images that are not linear, or have several samples, fault" image::image_atomic_inc) "image_atomic_inc vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x1b }
    /// Atomic decrement with wrap.
    ImageAtomicDec (approximate "images that are not linear, or have several samples, fault" image::image_atomic_dec) "image_atomic_dec vdata:b32, vaddr:b32, srsrc:b256" { mimg 0x1c }
    /// Level that would be sampled.
    ImageGetLod unimplemented "image_get_lod vdata, vaddr:b32, srsrc:b256, ssamp:b128" { mimg 0x60 }
} }
