//! The properties that the device claims to have.
//!
//! Sources: CUDA C++ Programming Guide, "Compute Capabilities", and the documentation of
//! `CUdevice_attribute`. Where a property depends on the board instead of the generation, the
//! number is that of some board of the generation.

use crate::driver;

/// A GPU that the device claims to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Compute capability times ten.
    pub sm: u32,
}

impl Default for Profile {
    /// Returns sm_89, which runs the most programs: PTX for it and for all older GPUs, and the
    /// machine code that CUDA 13 makes for sm_80, sm_86 and sm_89.
    fn default() -> Self {
        Profile { sm: 89 }
    }
}

/// Limits of blocks and of an SM's registers.
pub const WARP: u32 = 32;
pub const MAX_BLOCK: u32 = 1024;
pub const MAX_BLOCK_DIM: [u32; 3] = [1024, 1024, 64];
pub const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
/// The shared memory of a block that does not opt in to more.
pub const SHARED_PER_BLOCK: u32 = 48 << 10;

impl Profile {
    /// Returns the device of a name. The error is the text of a message.
    pub fn named(name: &str) -> Result<Profile, String> {
        warploom_container::cuda_device(name).map(|sm| Profile { sm })
    }

    pub fn name(self) -> String {
        format!("warploom (CC {}.{})", self.sm / 10, self.sm % 10)
    }

    /// Returns the number of SMs, the number of threads that run blocks.
    pub fn multiprocessors() -> u32 {
        driver::get().threads.max(1) as u32
    }

    pub fn shared_per_sm(self) -> u32 {
        let kib = match self.sm {
            50 | 53 | 60 | 62 | 75 => 64,
            70 | 72 => 96,
            52 | 61 => 96,
            80 | 87 => 164,
            86 | 89 | 120.. => 100,
            _ => 228,
        };
        kib << 10
    }

    /// Returns the shared memory that a block may have if it opts in.
    pub fn shared_opt_in(self) -> u32 {
        let kib = match self.sm {
            ..70 => 48,
            70 | 72 => 96,
            75 => 64,
            80 | 87 => 163,
            86 | 89 | 120.. => 99,
            _ => 227,
        };
        kib << 10
    }

    /// Returns the part of each block's shared memory that the system reserves.
    pub fn shared_reserved(self) -> u32 {
        if self.sm >= 80 { 1024 } else { 0 }
    }

    /// Returns the allocation unit of shared memory in bytes.
    pub fn shared_unit(self) -> u32 {
        if self.sm >= 80 { 128 } else { 256 }
    }

    pub fn threads_per_sm(self) -> u32 {
        match self.sm {
            75 => 1024,
            86 | 87 | 89 | 120.. => 1536,
            _ => 2048,
        }
    }

    pub fn blocks_per_sm(self) -> u32 {
        match self.sm {
            75 | 86 | 87 => 16,
            89 | 110.. => 24,
            _ => 32,
        }
    }

    pub fn registers_per_sm(self) -> u32 {
        65536
    }

    pub fn registers_per_block(self) -> u32 {
        if matches!(self.sm, 53 | 62) { 32768 } else { 65536 }
    }

    /// Returns a `CUdevice_attribute`. Attributes for features that the device lacks are 0.
    pub fn attribute(self, attribute: i32) -> Option<i32> {
        let (new, from_6) = (self.sm >= 80, self.sm >= 60);
        let value = match attribute {
            1 => MAX_BLOCK,
            2..=4 => MAX_BLOCK_DIM[attribute as usize - 2],
            5..=7 => MAX_GRID[attribute as usize - 5],
            8 => SHARED_PER_BLOCK,
            9 => 65536,
            10 => WARP,
            11 => i32::MAX as u32,
            12 => self.registers_per_block(),
            13 => 1_000_000,
            14 => 512,
            15 => 1,
            16 => Profile::multiprocessors(),
            18 => u32::from(matches!(self.sm, 53 | 62 | 72 | 87 | 110 | 121)),
            19 => 1,
            21 | 22 => {
                if from_6 {
                    131_072
                } else {
                    65536
                }
            }
            23 => 65536,
            24..=26 if from_6 => 16384,
            24..=26 => 4096,
            27 | 28 | 42 if from_6 => 32768,
            27 | 28 | 42 => 16384,
            29 | 43 => 2048,
            30 => 512,
            31 => 1,
            33 => 1,
            36 => 3_500_000,
            37 => 256,
            38 => {
                if new {
                    40 << 20
                } else {
                    2 << 20
                }
            }
            39 => self.threads_per_sm(),
            40 => 2,
            41 => 1,
            44 => 1,
            45 | 46 if from_6 => 32768,
            45 | 46 => 16384,
            47 | 48 if from_6 => 8192,
            47 | 48 => 2048,
            49 if from_6 => 32768,
            49 => 16384,
            51 => 32,
            52 | 53 if from_6 => 32768,
            52 | 53 => 16384,
            54 => 2046,
            55 if from_6 => 32768,
            55 => 16384,
            56 if from_6 => 131_072,
            56 => 65536,
            57 if from_6 => 65536,
            57 => 32768,
            58..=60 if from_6 => 16384,
            58..=60 => 4096,
            61 | 63 | 64 | 66 | 67 if from_6 => 32768,
            61 | 63 | 64 | 66 | 67 => 16384,
            62 | 65 => 2048,
            68 => 2046,
            69 => 134_217_728,
            70 => 65000,
            71 => 65000,
            72 => 1_048_544,
            73 | 74 if from_6 => 32768,
            73 | 74 | 77 => 16384,
            75 => self.sm / 10,
            76 => self.sm % 10,
            78..=80 => 1,
            81 => self.shared_per_sm(),
            82 => self.registers_per_sm(),
            83 => 1,
            87 => match self.sm {
                60 | 70 | 80 | 90 | 100 => 2,
                ..100 => 32,
                _ => 64,
            },
            89 => 1,
            90 => u32::from(from_6),
            91 => 1,
            92..=94 => 1,
            95 => 1,
            97 => self.shared_opt_in(),
            98 => 0,
            99 => 1,
            102 => 1,
            106 => self.blocks_per_sm(),
            109 if new => 134_213_632,
            108 if new => 30 << 20,
            111 => self.shared_reserved(),
            115 => 1,
            121..=123 => 1,
            0 | 145.. => return None,
            ..0 => return None,
            // Features that are missing, and properties of a separate board: 0.
            _ => 0,
        };
        Some(i32::try_from(value).unwrap_or(i32::MAX))
    }
}

/// Returns an identifier that stays the same on this machine.
pub fn uuid() -> [u8; 16] {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let machine = std::fs::read("/etc/machine-id").unwrap_or_default();
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, &machine).hash(&mut hasher);
        hasher.finish().to_le_bytes()
    };
    let mut uuid = [0; 16];
    uuid[..8].copy_from_slice(&half(1));
    uuid[8..].copy_from_slice(&half(2));
    uuid
}

/// Returns the text of the identifier as tools print it after `GPU-`.
pub fn uuid_text() -> String {
    let hex: String = uuid().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
