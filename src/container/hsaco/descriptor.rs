//! The kernel descriptor: what the command processor reads to start waves of a kernel.
//!
//! Source: AMDGPUUsage, "Kernel Descriptor" and its tables for `compute_pgm_rsrc1`, `2`, `3` of GFX6 to GFX9, and "Initial
//! Kernel Execution State" for the order of registers.

use serde::{Deserialize, Serialize};

/// A kernel descriptor's fields. Reserved bytes are not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// Static LDS of a workgroup in bytes.
    pub group_segment_bytes: u32,
    /// Scratch of a lane in bytes, callees included if the compiler knew them.
    pub private_segment_bytes: u32,
    /// Size of the kernarg segment; 0 if unknown.
    pub kernarg_bytes: u32,
    /// Address of the first instruction less that of the descriptor.
    pub entry_offset: i64,
    /// `compute_pgm_rsrc1`.
    pub rsrc1: u32,
    /// `compute_pgm_rsrc2`.
    pub rsrc2: u32,
    /// `compute_pgm_rsrc3`: 0 on the GPUs here.
    pub rsrc3: u32,
    /// Which user SGPRs are set up, wave size, dynamic stack.
    pub properties: u16,
    /// `kernarg_preload`: 0 on the GPUs here.
    pub kernarg_preload: u16,
}

/// What the hardware puts into SGPRs 0 and up if the kernel asks for it, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UserSgpr {
    /// V# of the wave's scratch memory.
    PrivateSegmentBuffer,
    /// Address of the dispatch packet (`hsa_kernel_dispatch_packet_t`).
    DispatchPtr,
    /// Address of `amd_queue_t`.
    QueuePtr,
    /// Address of the kernel's arguments.
    KernargSegmentPtr,
    DispatchId,
    /// Offset of the queue's scratch and bytes of a lane, from which code computes FLAT_SCRATCH.
    FlatScratchInit,
    /// Bytes of scratch of a lane.
    PrivateSegmentSize,
    /// Workgroups of the grid on axis 0 to 2, in code objects of versions 1 and 2.
    GridWorkgroupCount(u8),
}

impl UserSgpr {
    /// All, in order. A kernel asks for number i with bit i of [`KernelDescriptor::properties`].
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

    /// How many SGPRs it takes.
    pub const fn registers(self) -> u32 {
        match self {
            UserSgpr::PrivateSegmentBuffer => 4,
            UserSgpr::PrivateSegmentSize | UserSgpr::GridWorkgroupCount(_) => 1,
            _ => 2,
        }
    }
}

/// What the hardware puts into the SGPR after the user SGPRs, one each, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SystemSgpr {
    WorkgroupIdX,
    WorkgroupIdY,
    WorkgroupIdZ,
    /// First wave of the group in bit 31, ordered append term in bits 6 to 16, waves of the group in bits 0 to 5.
    WorkgroupInfo,
    /// Offset of the wave's scratch from the queue's in bytes.
    ScratchWaveOffset,
}

/// Initial fields of the MODE register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FloatMode {
    /// Of f32: 0 to nearest even, 1 up, 2 down, 3 toward zero.
    pub round_32: u8,
    /// Of f64 and f16, likewise.
    pub round_64_16: u8,
    /// Denormals of f32. Bit 0: operands are kept; bit 1: results are kept.
    pub denorm_32: u8,
    /// Denormals of f64 and f16, likewise.
    pub denorm_64_16: u8,
    /// A clamped NaN is 0.
    pub dx10_clamp: bool,
    /// Signalling NaNs become quiet, and minimum and maximum follow IEEE 754-2008.
    pub ieee: bool,
    /// An f16 overflow gives the greatest number instead of infinity.
    pub fp16_overflow: bool,
}

impl KernelDescriptor {
    /// Size in the file, and its alignment.
    pub const BYTES: usize = 64;

    /// Properties that only code objects of versions 1 and 2 have: counts of workgroups in SGPRs.
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

    /// VGPRs of a lane, in steps of 4 (`GRANULATED_WORKITEM_VGPR_COUNT`).
    pub const fn vgprs(&self) -> u32 {
        ((self.rsrc1 & 0x3f) + 1) * 4
    }

    /// SGPRs of a wave with VCC, FLAT_SCRATCH and XNACK_MASK, in steps of 16 (`GRANULATED_WAVEFRONT_SGPR_COUNT`).
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

    /// Scratch is set up: there is a wave offset in an SGPR (`ENABLE_PRIVATE_SEGMENT`).
    pub const fn enable_private_segment(&self) -> bool {
        self.rsrc2 & 1 == 1
    }

    /// SGPRs before the system SGPRs (`USER_SGPR_COUNT`).
    pub const fn user_sgpr_count(&self) -> u32 {
        self.rsrc2 >> 1 & 0x1f
    }

    /// Work-item ids in VGPRs: 1 for x, 2 for x and y, 3 for x, y and z (`ENABLE_VGPR_WORKITEM_ID` + 1).
    pub const fn workitem_ids(&self) -> u32 {
        (self.rsrc2 >> 11 & 3) + 1
    }

    /// Exceptions that trap (`ENABLE_EXCEPTION_*`): address watch in bit 0, memory in bit 1, then from bit 2 invalid
    /// operation, denormal source, division by zero, overflow, underflow, inexact, integer division by zero.
    pub const fn exceptions(&self) -> u32 {
        (self.rsrc2 >> 13 & 3) | (self.rsrc2 >> 24 & 0x7f) << 2
    }

    /// Waves have 32 lanes (`ENABLE_WAVEFRONT_SIZE32`), which GFX9 cannot do.
    pub const fn is_wave32(&self) -> bool {
        self.properties >> 10 & 1 == 1
    }

    /// Calls need more scratch than `private_segment_bytes` (`USES_DYNAMIC_STACK`, from code object version 5).
    pub const fn uses_dynamic_stack(&self) -> bool {
        self.properties >> 11 & 1 == 1
    }

    /// The user SGPRs that are set up, each with its first register.
    pub fn user_sgprs(&self) -> impl Iterator<Item = (UserSgpr, u32)> {
        let enabled = (0..).zip(UserSgpr::ALL).filter(|(i, _)| self.properties >> i & 1 == 1);
        enabled.scan(0, |next, (_, sgpr)| {
            let first = *next;
            *next += sgpr.registers();
            Some((sgpr, first))
        })
    }

    /// The system SGPRs that are set up, each with its register.
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
