//! Buffers with a format in the instruction.

family! { ($) mtbuf {
    /// Loads one component, converted.
    TbufferLoadFormatX unimplemented "tbuffer_load_format_x vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x00 }
    /// Loads two components, converted.
    TbufferLoadFormatXy unimplemented "tbuffer_load_format_xy vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x01 }
    /// Loads three components, converted.
    TbufferLoadFormatXyz unimplemented "tbuffer_load_format_xyz vdata:b96, vaddr, srsrc:b128, soffset" { mtbuf 0x02 }
    /// Loads four components, converted.
    TbufferLoadFormatXyzw unimplemented "tbuffer_load_format_xyzw vdata:b128, vaddr, srsrc:b128, soffset" { mtbuf 0x03 }
    /// Stores one component, converted.
    TbufferStoreFormatX unimplemented "tbuffer_store_format_x vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x04 }
    /// Stores two components, converted.
    TbufferStoreFormatXy unimplemented "tbuffer_store_format_xy vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x05 }
    /// Stores three components, converted.
    TbufferStoreFormatXyz unimplemented "tbuffer_store_format_xyz vdata:b96, vaddr, srsrc:b128, soffset" { mtbuf 0x06 }
    /// Stores four components, converted.
    TbufferStoreFormatXyzw unimplemented "tbuffer_store_format_xyzw vdata:b128, vaddr, srsrc:b128, soffset" { mtbuf 0x07 }
    /// Loads one component into halves, converted.
    TbufferLoadFormatD16X unimplemented "tbuffer_load_format_d16_x vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x08 }
    /// Loads two components into halves, converted.
    TbufferLoadFormatD16Xy unimplemented "tbuffer_load_format_d16_xy vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x09 }
    /// Loads three components into halves, converted.
    TbufferLoadFormatD16Xyz unimplemented "tbuffer_load_format_d16_xyz vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x0a }
    /// Loads four components into halves, converted.
    TbufferLoadFormatD16Xyzw unimplemented "tbuffer_load_format_d16_xyzw vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x0b }
    /// Stores one component from halves, converted.
    TbufferStoreFormatD16X unimplemented "tbuffer_store_format_d16_x vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x0c }
    /// Stores two components from halves, converted.
    TbufferStoreFormatD16Xy unimplemented "tbuffer_store_format_d16_xy vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x0d }
    /// Stores three components from halves, converted.
    TbufferStoreFormatD16Xyz unimplemented "tbuffer_store_format_d16_xyz vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x0e }
    /// Stores four components from halves, converted.
    TbufferStoreFormatD16Xyzw unimplemented "tbuffer_store_format_d16_xyzw vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x0f }
} }
