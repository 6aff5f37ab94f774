//! The kernel descriptor: the data from which the command processor starts a kernel's waves.
//!
//! Source: AMDGPUUsage, "Kernel Descriptor" and its tables for `compute_pgm_rsrc1`, `2`, `3` of
//! GFX6 to GFX9, and "Initial Kernel Execution State" for the order of registers.

use serde::{Deserialize, Serialize};

/// A kernel descriptor's fields. Reserved bytes are not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// The static LDS of a workgroup in bytes.
    pub group_segment_bytes: u32,
    /// The scratch of a lane in bytes, with callees if the compiler knew them.
    pub private_segment_bytes: u32,
    /// The size of the kernarg segment; 0 if unknown.
    pub kernarg_bytes: u32,
    /// The address of the first instruction minus the address of the descriptor.
    pub entry_offset: i64,
    /// `compute_pgm_rsrc1`.
    pub rsrc1: u32,
    /// `compute_pgm_rsrc2`.
    pub rsrc2: u32,
    /// `compute_pgm_rsrc3`: 0 on the GPUs here.
    pub rsrc3: u32,
    /// The enabled user SGPRs, the wave size, and the dynamic stack.
    pub properties: u16,
    /// `kernarg_preload`: 0 on the GPUs here.
    pub kernarg_preload: u16,
}

/// Values that hardware puts into SGPRs 0 and up if the kernel asks for them, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UserSgpr {
    /// The V# of the wave's scratch memory.
    PrivateSegmentBuffer,
    /// The address of the dispatch packet (`hsa_kernel_dispatch_packet_t`).
    DispatchPtr,
    /// The address of `amd_queue_t`.
    QueuePtr,
    /// The address of the kernel's arguments.
    KernargSegmentPtr,
    DispatchId,
    /// The offset of the queue's scratch and a lane's bytes, from which code computes FLAT_SCRATCH.
    FlatScratchInit,
    /// The scratch bytes of a lane.
    PrivateSegmentSize,
    /// The workgroups of the grid on axis 0 to 2, in code objects of versions 1 and 2.
    GridWorkgroupCount(u8),
}

impl UserSgpr {
    /// All values in order. Bit i of [`KernelDescriptor::properties`] asks for value i.
    pub const ALL: [UserSgpr; 10] = [
        UserSgpr::PrivateSegmentBuffer,
        UserSgpr::DispatchPtr,
        UserSgpr::QueuePtr,
        UserSgpr::KernargSegmentPtr,
        UserSgpr::DispatchId,
        UserSgpr::FlatScratchInit,
        UserSgpr::PrivateSegmentSize,
        UserSgpr::GridWorkgroupCount(0),
        UserSgpr::GridWorkgroupCount(1),
        UserSgpr::GridWorkgroupCount(2),
    ];

    /// Returns the number of SGPRs of the value.
    pub const fn registers(self) -> u32 {
        match self {
            UserSgpr::PrivateSegmentBuffer => 4,
            UserSgpr::PrivateSegmentSize | UserSgpr::GridWorkgroupCount(_) => 1,
            _ => 2,
        }
    }
}

/// Values that hardware puts into SGPRs after the user SGPRs, one SGPR each, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SystemSgpr {
    WorkgroupIdX,
    WorkgroupIdY,
    WorkgroupIdZ,
    /// First wave of the group in bit 31, ordered append term in bits 6 to 16, waves of the group
    /// in bits 0 to 5.
    WorkgroupInfo,
    /// The offset in bytes of the wave's scratch from the queue's scratch.
    ScratchWaveOffset,
}

/// The initial fields of the MODE register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FloatMode {
    /// Rounding of f32: 0 to nearest even, 1 up, 2 down, 3 toward zero.
    pub round_32: u8,
    /// Rounding of f64 and f16, likewise.
    pub round_64_16: u8,
    /// Denormals of f32. Bit 0: operands are kept; bit 1: results are kept.
    pub denorm_32: u8,
    /// Denormals of f64 and f16, likewise.
    pub denorm_64_16: u8,
    /// Whether a clamped NaN is 0.
    pub dx10_clamp: bool,
    /// Whether signalling NaNs become quiet, and minimum and maximum follow IEEE 754-2008.
    pub ieee: bool,
    /// Whether an f16 overflow gives the greatest number instead of infinity.
    pub fp16_overflow: bool,
}

impl KernelDescriptor {
    /// The size in the file, and the alignment.
    pub const BYTES: usize = 64;

    /// Properties of only code objects of versions 1 and 2: counts of workgroups in SGPRs.
    const COUNTS: u16 = 0x380;

    /// Decodes the 64 bytes.
    pub fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        KernelDescriptor {
            group_segment_bytes: word(0),
            private_segment_bytes: word(4),
            kernarg_bytes: word(8),
            entry_offset: (u64::from(word(16)) | u64::from(word(20)) << 32) as i64,
            rsrc3: word(44),
            rsrc1: word(48),
            rsrc2: word(52),
            properties: word(56) as u16 & !Self::COUNTS,
            kernarg_preload: (word(56) >> 16) as u16,
        }
    }

    /// Returns the VGPRs of a lane, in steps of 4 (`GRANULATED_WORKITEM_VGPR_COUNT`).
    pub const fn vgprs(&self) -> u32 {
        ((self.rsrc1 & 0x3f) + 1) * 4
    }

    /// Returns the SGPRs of a wave with VCC, FLAT_SCRATCH and XNACK_MASK.
    ///
    /// They come in steps of 16 (`GRANULATED_WAVEFRONT_SGPR_COUNT`).
    pub const fn sgprs(&self) -> u32 {
        ((self.rsrc1 >> 6 & 0xf) / 2 + 1) * 16
    }

    pub fn float_mode(&self) -> FloatMode {
        let bit = |at: u32| self.rsrc1 >> at & 1 == 1;
        FloatMode {
            round_32: (self.rsrc1 >> 12 & 3) as u8,
            round_64_16: (self.rsrc1 >> 14 & 3) as u8,
            denorm_32: (self.rsrc1 >> 16 & 3) as u8,
            denorm_64_16: (self.rsrc1 >> 18 & 3) as u8,
            dx10_clamp: bit(21),
            ieee: bit(23),
            fp16_overflow: bit(26),
        }
    }

    /// Tells whether scratch is set up: an SGPR has the wave's offset (`ENABLE_PRIVATE_SEGMENT`).
    pub const fn enable_private_segment(&self) -> bool {
        self.rsrc2 & 1 == 1
    }

    /// Returns the number of SGPRs before the system SGPRs (`USER_SGPR_COUNT`).
    pub const fn user_sgpr_count(&self) -> u32 {
        self.rsrc2 >> 1 & 0x1f
    }

    /// Returns the number of work-item ids in VGPRs (`ENABLE_VGPR_WORKITEM_ID` + 1).
    ///
    /// 1 is x, 2 is x and y, 3 is x, y and z.
    pub const fn workitem_ids(&self) -> u32 {
        (self.rsrc2 >> 11 & 3) + 1
    }

    /// Returns the exceptions that trap (`ENABLE_EXCEPTION_*`).
    ///
    /// Bit 0 is address watch, bit 1 memory. From bit 2 on: invalid operation, denormal source,
    /// division by zero, overflow, underflow, inexact, integer division by zero.
    pub const fn exceptions(&self) -> u32 {
        (self.rsrc2 >> 13 & 3) | (self.rsrc2 >> 24 & 0x7f) << 2
    }

    /// Tells whether waves have 32 lanes (`ENABLE_WAVEFRONT_SIZE32`), which GFX9 cannot do.
    pub const fn is_wave32(&self) -> bool {
        self.properties >> 10 & 1 == 1
    }

    /// Tells whether calls need more scratch than `private_segment_bytes`.
    ///
    /// The flag is `USES_DYNAMIC_STACK`, from code object version 5 on.
    pub const fn uses_dynamic_stack(&self) -> bool {
        self.properties >> 11 & 1 == 1
    }

    /// Returns the enabled user SGPRs, each with its first register.
    pub fn user_sgprs(&self) -> impl Iterator<Item = (UserSgpr, u32)> {
        let enabled = (0..).zip(UserSgpr::ALL).filter(|(i, _)| self.properties >> i & 1 == 1);
        enabled.scan(0, |next, (_, sgpr)| {
            let first = *next;
            *next += sgpr.registers();
            Some((sgpr, first))
        })
    }

    /// Returns the enabled system SGPRs, each with its register.
    pub fn system_sgprs(&self) -> impl Iterator<Item = (SystemSgpr, u32)> {
        let enabled = [
            (SystemSgpr::WorkgroupIdX, self.rsrc2 >> 7 & 1 == 1),
            (SystemSgpr::WorkgroupIdY, self.rsrc2 >> 8 & 1 == 1),
            (SystemSgpr::WorkgroupIdZ, self.rsrc2 >> 9 & 1 == 1),
            (SystemSgpr::WorkgroupInfo, self.rsrc2 >> 10 & 1 == 1),
            (SystemSgpr::ScratchWaveOffset, self.enable_private_segment()),
        ];
        enabled
            .into_iter()
            .filter(|(_, enabled)| *enabled)
            .map(|(sgpr, _)| sgpr)
            .zip(self.user_sgpr_count()..)
    }
}
