//! What NVIDIA's driver tells lifted code about the images of a launch: a constant bank that no instruction can name.

/// The bank.
pub const BANK: u8 = 32;

/// Where what is in the bank.
pub mod at {
    /// Guest address of the table of image records ([`warploom_ir::image`]), one for each texture header and one of zeros behind
    /// them: 64 bits.
    pub const RECORDS: u32 = 0;
    /// Number of texture headers.
    pub const HEADERS: u32 = 8;
    /// Guest address of the table of sampler records, one for each sampler and one for handles that name none: 64 bits.
    pub const SAMPLERS: u32 = 16;
    pub const SAMPLER_COUNT: u32 = 24;
    /// Guest addresses of the tables that queries read, of surfaces, textures and samplers, with an entry of zeros behind each: 64
    /// bits each.
    pub const QUERIES: [u32; 3] = [32, 40, 48];
    /// From here on are the records of the images whose handles are known, in order.
    pub const KNOWN: u32 = warploom_ir::image::RECORD_BYTES as u32;
}

/// Bits of a handle that are the index of a texture header; the others are that of a sampler.
pub const HEADER_BITS: u32 = 20;

/// Handles that can be known.
pub const MAX_KNOWN: usize = 256;

/// Bytes from entry to entry of the tables that queries read.
pub const QUERY_BYTES: usize = 64;

/// Where an entry has what. Source: facts, `maxwell-surfaces.md`, section 6, item 3.
pub mod query {
    pub mod surface {
        pub const DATA_TYPE: u32 = 0xc;
        pub const ORDER: u32 = 0x10;
        pub const LINEAR: u32 = 0x14;
        pub const LAYERS: u32 = 0x1c;
    }

    /// Of a texture that brings its sampler along. The first of [`TEXTURE`].
    pub mod sampled {
        pub const UNNORMALIZED: u32 = 0;
        /// Three words.
        pub const ADDRESS: u32 = 0xc;
        pub const FILTER: u32 = 0x18;
        pub const TEXTURE: u32 = 0x1c;
    }

    /// Where what [`texture`] numbers begins in a texture without a sampler.
    pub const TEXTURE: u32 = 0xc;

    /// What is said of a texture, in words from where that begins.
    pub mod texture {
        pub const NORMALIZED: u32 = 0;
        pub const DATA_TYPE: u32 = 4;
        pub const ORDER: u32 = 8;
        pub const LAYERS: u32 = 12;
        pub const LEVELS: u32 = 16;
        pub const SAMPLES: u32 = 20;
    }

    pub mod sampler {
        /// Three words.
        pub const ADDRESS: u32 = 0;
        pub const FILTER: u32 = 0xc;
        pub const UNNORMALIZED: u32 = 0x10;
    }
}
