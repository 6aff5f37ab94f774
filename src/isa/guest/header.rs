//! Headers of NVIDIA's graphics programs: the 80 bytes before the code of a graphics program, and
//! the attribute space that they map.
//!
//! Source: facts, `graphics.md`, sections 1.1 and 1.3. Bits are counted over all words.

use crate::shader::Stage;

/// The size of a header in bytes.
pub const HEADER_BYTES: usize = 4 * WORDS;
const WORDS: usize = 20;
const VERSION: u32 = 3;

/// The size of attribute space in words.
pub const ATTRIBUTE_WORDS: u16 = 256;
/// The number of targets of a fragment program.
pub const TARGETS: u8 = 8;
const SAMPLE_MASK: u32 = 608;
const DEPTH: u32 = 609;

/// Byte addresses in attribute space.
pub mod attribute {
    /// Position in the window, and 1/w; for a vertex program, the position.
    pub const POSITION: u16 = 0x70;
    pub const GENERIC: u16 = 0x80;
    pub const GENERIC_END: u16 = 0x280;
    /// The coordinates u, v of a vertex in its patch.
    pub const TESSELLATION: u16 = 0x2f0;
    pub const TESSELLATION_V: u16 = 0x2f4;
    pub const TESSELLATION_END: u16 = 0x2f8;
    pub const INSTANCE_ID: u16 = 0x2f8;
    pub const VERTEX_ID: u16 = 0x2fc;
    pub const FRONT: u16 = 0x3fc;
}

/// Returns the header's code for the program type: 2 for fragment programs, 1 for all other
/// programs.
const fn kind(stage: Stage) -> u32 {
    if matches!(stage, Stage::Fragment) { 2 } else { 1 }
}

/// How a fragment program's input is made of the vertices' outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    Unused,
    /// The value of the provoking vertex.
    Constant,
    /// Divided by w, then linear on the screen; the program multiplies by w.
    Perspective,
    /// Linear on the screen.
    Linear,
}

impl Interpolation {
    const ALL: [Interpolation; 4] = [
        Interpolation::Unused,
        Interpolation::Constant,
        Interpolation::Perspective,
        Interpolation::Linear,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Interpolation::Unused => "unused",
            Interpolation::Constant => "constant",
            Interpolation::Perspective => "perspective",
            Interpolation::Linear => "linear",
        }
    }

    /// Returns the interpolation of a name. None: no interpolation has that name.
    pub fn named(name: &str) -> Option<Interpolation> {
        Interpolation::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// A permission or property that one bit of a header states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flag {
    /// Each target has its own output: target 0's output does not go to all targets.
    Targets = 14,
    /// KIL is allowed.
    Kills = 15,
    /// Stores to global memory and atomic operations are allowed.
    Stores = 16,
    /// Loads and stores have an effect.
    Memory = 26,
    /// Instructions on doubles have an effect.
    Doubles = 27,
}

impl Flag {
    pub const ALL: [Flag; 5] =
        [Flag::Targets, Flag::Kills, Flag::Stores, Flag::Memory, Flag::Doubles];

    pub const fn name(self) -> &'static str {
        match self {
            Flag::Targets => "targets",
            Flag::Kills => "kills",
            Flag::Stores => "stores",
            Flag::Memory => "memory",
            Flag::Doubles => "doubles",
        }
    }
}

/// Why bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    #[error("{found} bytes: expected the {HEADER_BYTES} of a shader program header")]
    Short { found: usize },
    #[error("version {found} of a shader program header: expected {VERSION}")]
    Version { found: u32 },
    #[error("stage {found} in a shader program header: expected 1 to 5")]
    Stage { found: u32 },
    #[error("type {found} in the header of a {} program: expected {}", .stage.name(), kind(*.stage))]
    Kind { found: u32, stage: Stage },
}

/// The header of a graphics program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    words: [u32; WORDS],
    stage: Stage,
}

impl Header {
    /// Returns the header of a program that is allowed everything and has no inputs or outputs yet.
    pub fn new(stage: Stage) -> Header {
        let mut header = Header { words: [0; WORDS], stage };
        header.put(0, 5, kind(stage));
        header.put(5, 5, VERSION);
        header.put(10, 4, stage as u32 + 1);
        header.put(17, 4, 1);
        if stage != Stage::Fragment {
            // No attributes are stored for a later pass.
            header.put(140, 8, 0xff);
        }
        for flag in Flag::ALL {
            header.set(flag, flag != Flag::Kills || stage == Stage::Fragment);
        }
        header
    }

    /// Reads the header at the start of some bytes.
    ///
    /// # Errors
    /// The bytes are not a header.
    pub fn read(bytes: &[u8]) -> Result<Header, HeaderError> {
        let Some((bytes, _)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Err(HeaderError::Short { found: bytes.len() });
        };
        let mut header = Header { words: [0; WORDS], stage: Stage::Vertex };
        for (word, bytes) in header.words.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let version = header.field(5, 5);
        if version != VERSION {
            return Err(HeaderError::Version { found: version });
        }
        let found = header.field(10, 4);
        let stage = Stage::ALL
            .into_iter()
            .find(|&stage| stage as u32 + 1 == found)
            .ok_or(HeaderError::Stage { found })?;
        let found = header.field(0, 5);
        if found != kind(stage) {
            return Err(HeaderError::Kind { found, stage });
        }
        header.stage = stage;
        Ok(header)
    }

    pub fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(self.words) {
            *place = word.to_le_bytes();
        }
        bytes
    }

    /// Extracts `bits` bits (at most 24) from bit `at` on; they lie in one word.
    fn field(&self, at: u32, bits: u32) -> u32 {
        self.words[at as usize / 32] >> (at % 32) & (u32::MAX >> (32 - bits))
    }

    fn put(&mut self, at: u32, bits: u32, value: u32) {
        let mask = u32::MAX >> (32 - bits);
        let word = &mut self.words[at as usize / 32];
        *word = *word & !(mask << (at % 32)) | (value & mask) << (at % 32);
    }

    pub fn stage(&self) -> Stage {
        self.stage
    }

    pub fn has(&self, flag: Flag) -> bool {
        self.field(flag as u32, 1) != 0
    }

    pub fn set(&mut self, flag: Flag, holds: bool) {
        self.put(flag as u32, 1, holds.into());
    }

    /// Returns the bytes of local memory of a lane.
    pub fn local_bytes(&self) -> u32 {
        self.field(32, 24) + self.field(64, 24)
    }

    pub fn set_local_bytes(&mut self, bytes: u32) {
        self.put(32, 24, bytes);
    }

    /// Returns the bytes of memory per warp for the divergence stack beyond the hardware's own.
    pub fn crs_bytes(&self) -> u32 {
        self.field(96, 24).saturating_mul(512)
    }

    /// Returns the threads of a patch (tessellation control), or the instances of a primitive
    /// (geometry).
    pub fn threads(&self) -> u32 {
        self.field(88, 8)
    }

    pub fn set_threads(&mut self, threads: u8) {
        self.put(88, 8, threads.into());
    }

    /// Returns the most vertices that a thread of a geometry program emits.
    pub fn max_vertices(&self) -> u32 {
        self.field(128, 12)
    }

    pub fn set_max_vertices(&mut self, vertices: u16) {
        self.put(128, 12, vertices.into());
    }

    /// Merges the headers of two programs of a stage that one thread runs one after the other:
    /// whatever either needs, reads, writes or is allowed.
    pub fn with(mut self, first: &Header) -> Header {
        let (local, crs) = (
            self.local_bytes().max(first.local_bytes()),
            self.field(96, 24).max(first.field(96, 24)),
        );
        for flag in Flag::ALL {
            self.set(flag, self.has(flag) || first.has(flag));
        }
        for address in (0..4 * ATTRIBUTE_WORDS).step_by(4) {
            if first.input(address) != Interpolation::Unused {
                self.set_input(address, first.input(address));
            }
            if first.writes(address) {
                self.set_output(address);
            }
        }
        self.put(64, 24, 0);
        self.set_local_bytes(local);
        self.put(96, 24, crs);
        self
    }

    /// Returns how an input word is made. An input of a stage other than fragment is constant, if
    /// it is used.
    pub fn input(&self, address: u16) -> Interpolation {
        let Some((at, bits)) = self.input_bits(address) else { return Interpolation::Unused };
        match (self.field(at, bits), bits, self.stage) {
            (0, ..) => Interpolation::Unused,
            (code, 2, _) => Interpolation::ALL[code as usize],
            (_, _, Stage::Fragment) => Interpolation::Linear,
            _ => Interpolation::Constant,
        }
    }

    /// Marks an input word as used. False: the map has no place for the word, or cannot express
    /// `how`.
    pub fn set_input(&mut self, address: u16, how: Interpolation) -> bool {
        let Some((at, bits)) = self.input_bits(address) else { return false };
        self.put(
            at,
            bits,
            if bits == 1 { u32::from(how != Interpolation::Unused) } else { how as u32 },
        );
        self.input(address) == how
    }

    /// Returns the first bit of an input word in the map of inputs, and the number of its bits.
    fn input_bits(&self, address: u16) -> Option<(u32, u32)> {
        let a = u32::from(address);
        if self.stage != Stage::Fragment {
            return (a < 0x3c0).then_some((160 + a / 4, 1));
        }
        match a {
            0..0x80 => Some((160 + a / 4, 1)),
            0x80..0x280 => Some((192 + (a - 0x80) / 2, 2)),
            0x280..0x2a0 => Some((448 + (a - 0x280) / 2, 2)),
            0x2c0..0x300 => Some((464 + (a - 0x2c0) / 4, 1)),
            0x300..0x3a0 => Some((480 + (a - 0x300) / 2, 2)),
            _ => None,
        }
    }

    /// Whether the program writes an attribute word; fragment programs write none.
    pub fn writes(&self, address: u16) -> bool {
        self.output_bit(address).is_some_and(|at| self.field(at, 1) != 0)
    }

    /// Marks an output word as written. False: the map has no place for it.
    pub fn set_output(&mut self, address: u16) -> bool {
        let at = self.output_bit(address);
        at.inspect(|&at| self.put(at, 1, 1)).is_some()
    }

    fn output_bit(&self, address: u16) -> Option<u32> {
        (self.stage != Stage::Fragment && address < 0x3c0).then(|| 400 + u32::from(address) / 4)
    }

    /// Returns the components that a fragment program writes to a target, red in bit 0.
    pub fn target(&self, target: u8) -> u8 {
        let fragment = self.stage == Stage::Fragment && target < TARGETS;
        if fragment { self.field(576 + 4 * u32::from(target), 4) as u8 } else { 0 }
    }

    /// Sets the components of a target below [`TARGETS`].
    pub fn set_target(&mut self, target: u8, components: u8) {
        self.put(576 + 4 * u32::from(target), 4, components.into());
    }

    pub fn writes_sample_mask(&self) -> bool {
        self.stage == Stage::Fragment && self.field(SAMPLE_MASK, 1) != 0
    }

    pub fn set_sample_mask(&mut self) {
        self.put(SAMPLE_MASK, 1, 1);
    }

    pub fn writes_depth(&self) -> bool {
        self.stage == Stage::Fragment && self.field(DEPTH, 1) != 0
    }

    pub fn set_depth(&mut self) {
        self.put(DEPTH, 1, 1);
    }

    /// Returns the written targets, each with its first register: every target that has a component
    /// takes four registers.
    pub fn target_registers(&self) -> impl Iterator<Item = (u8, u8)> {
        (0..TARGETS).filter(|&target| self.target(target) != 0).zip((0..).step_by(4))
    }

    /// Returns the register of the sample mask. Depth is in the next register, even if there is no
    /// mask.
    pub fn sample_mask_register(&self) -> u8 {
        4 * self.target_registers().count() as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks addresses and bits against the facts.
    #[test]
    fn maps_are_where_the_facts_have_them() {
        let bit = |header: &Header, at: u32| header.bytes()[at as usize / 8] >> (at % 8) & 1 != 0;
        for (address, at) in
            [(0x60, 184), (0x70, 188), (0x80, 192), (0x280, 320), (0x2c0, 336), (0x2f8, 350)]
        {
            let mut header = Header::new(Stage::Vertex);
            assert!(
                header.set_input(address, Interpolation::Constant) && bit(&header, at),
                "{address:#x}"
            );
            assert!(
                header.set_output(address) && bit(&header, at + 240) && header.writes(address),
                "{address:#x}"
            );
        }
        let fragment = [
            (0x7c, 191, Interpolation::Linear),
            (0x80, 193, Interpolation::Perspective),
            (0x90, 200, Interpolation::Constant),
            (0x280, 449, Interpolation::Perspective),
            (0x2c0, 464, Interpolation::Linear),
            (0x2fc, 479, Interpolation::Linear),
            (0x300, 480, Interpolation::Constant),
        ];
        for (address, at, how) in fragment {
            let mut header = Header::new(Stage::Fragment);
            assert!(header.set_input(address, how) && bit(&header, at), "{address:#x}");
            assert_eq!(header.input(address), how);
        }
        let mut header = Header::new(Stage::Fragment);
        assert!(!header.set_input(0x3fc, Interpolation::Constant));
        header.set_target(2, 0b1000);
        header.set_depth();
        assert!(bit(&header, 576 + 11) && bit(&header, 609));
        assert_eq!(header.sample_mask_register(), 4);
        assert_eq!(Header::read(&header.bytes()), Ok(header));
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let fragment = Header::new(Stage::Fragment).bytes();
        let changed = |at: usize, value: u8| {
            let mut bytes = fragment;
            bytes[at] = value;
            Header::read(&bytes)
        };
        assert_eq!(Header::read(&fragment[..79]), Err(HeaderError::Short { found: 79 }));
        assert_eq!(changed(0, 0x82), Err(HeaderError::Version { found: 4 }));
        assert_eq!(changed(0, 0x61), Err(HeaderError::Kind { found: 1, stage: Stage::Fragment }));
        assert_eq!(changed(1, 0x18), Err(HeaderError::Stage { found: 6 }));
    }
}
