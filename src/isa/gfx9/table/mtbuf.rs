//! Buffers with a format in the instruction.

family! { ($) mtbuf {
    /// Loads one component, converted.
    TbufferLoadFormatX (exact buffer_format::tbuffer_load_format_x) "tbuffer_load_format_x vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x00 }
    /// Loads two components, converted.
    TbufferLoadFormatXy (exact buffer_format::tbuffer_load_format_xy) "tbuffer_load_format_xy vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x01 }
    /// Loads three components, converted.
    TbufferLoadFormatXyz (exact buffer_format::tbuffer_load_format_xyz) "tbuffer_load_format_xyz vdata:b96, vaddr, srsrc:b128, soffset" { mtbuf 0x02 }
    /// Loads four components, converted.
    TbufferLoadFormatXyzw (exact buffer_format::tbuffer_load_format_xyzw) "tbuffer_load_format_xyzw vdata:b128, vaddr, srsrc:b128, soffset" { mtbuf 0x03 }
    /// Stores one component, converted.
    TbufferStoreFormatX (exact buffer_format::tbuffer_store_format_x) "tbuffer_store_format_x vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x04 }
    /// Stores two components, converted.
    TbufferStoreFormatXy (exact buffer_format::tbuffer_store_format_xy) "tbuffer_store_format_xy vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x05 }
    /// Stores three components, converted.
    TbufferStoreFormatXyz (exact buffer_format::tbuffer_store_format_xyz) "tbuffer_store_format_xyz vdata:b96, vaddr, srsrc:b128, soffset" { mtbuf 0x06 }
    /// Stores four components, converted.
    TbufferStoreFormatXyzw (exact buffer_format::tbuffer_store_format_xyzw) "tbuffer_store_format_xyzw vdata:b128, vaddr, srsrc:b128, soffset" { mtbuf 0x07 }
    /// Loads one component into halves, converted.
    TbufferLoadFormatD16X (exact buffer_format::tbuffer_load_format_d16_x) "tbuffer_load_format_d16_x vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x08 }
    /// Loads two components into halves, converted.
    TbufferLoadFormatD16Xy (exact buffer_format::tbuffer_load_format_d16_xy) "tbuffer_load_format_d16_xy vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x09 }
    /// Loads three components into halves, converted.
    TbufferLoadFormatD16Xyz (exact buffer_format::tbuffer_load_format_d16_xyz) "tbuffer_load_format_d16_xyz vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x0a }
    /// Loads four components into halves, converted.
    TbufferLoadFormatD16Xyzw (exact buffer_format::tbuffer_load_format_d16_xyzw) "tbuffer_load_format_d16_xyzw vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x0b }
    /// Stores one component from halves, converted.
    TbufferStoreFormatD16X (exact buffer_format::tbuffer_store_format_d16_x) "tbuffer_store_format_d16_x vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x0c }
    /// Stores two components from halves, converted.
    TbufferStoreFormatD16Xy (exact buffer_format::tbuffer_store_format_d16_xy) "tbuffer_store_format_d16_xy vdata:b32, vaddr, srsrc:b128, soffset" { mtbuf 0x0d }
    /// Stores three components from halves, converted.
    TbufferStoreFormatD16Xyz (exact buffer_format::tbuffer_store_format_d16_xyz) "tbuffer_store_format_d16_xyz vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x0e }
    /// Stores four components from halves, converted.
    TbufferStoreFormatD16Xyzw (exact buffer_format::tbuffer_store_format_d16_xyzw) "tbuffer_store_format_d16_xyzw vdata:b64, vaddr, srsrc:b128, soffset" { mtbuf 0x0f }
} }
