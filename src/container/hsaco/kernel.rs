//! The data of a code object that a module keeps: [`HsaModule`], [`HsaKernel`].
//!
//! Source: AMDGPUUsage, "Code Object V3 Metadata" to "V5 Metadata", and "Kernarg Segment".

use std::ops::Range;

use super::{Feature, KernelDescriptor};

/// The facts about a whole code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HsaModule {
    /// Code object version, 3 to 6.
    pub version: u8,
    /// Whether page faults can be retried.
    pub xnack: Feature,
    pub sramecc: Feature,
    /// `amdhsa.target`, for example `amdgcn-amd-amdhsa--gfx906:xnack-`. Version 3 does not have it.
    pub target: Option<String>,
    /// `amdhsa.printf`: format strings, each `ID:ARGUMENTS:BYTES OF EACH..:FORMAT`.
    pub printf: Vec<String>,
    /// The ranges of the image with instructions, in ascending order.
    ///
    /// They are its executable sections, or its segments if it has no sections.
    pub code: Vec<Range<u64>>,
}

/// The facts about one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HsaKernel {
    /// The offset of the descriptor in the image.
    pub descriptor_at: u64,
    pub descriptor: KernelDescriptor,
    /// The arguments of the source, in order.
    pub args: Vec<Arg>,
    /// Arguments that the runtime provides, in order.
    pub hidden: Vec<HiddenArg>,
    /// The size of the kernarg segment with hidden arguments.
    pub kernarg_bytes: u32,
    pub kernarg_align: u32,
    /// The lanes of a wave: always 64.
    pub wavefront_size: u32,
    /// The most lanes of a workgroup.
    pub max_flat_workgroup_size: Option<u32>,
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// Whether the compiler did not know how much scratch calls need.
    pub uses_dynamic_stack: bool,
    pub sgprs: u32,
    pub vgprs: u32,
    pub sgpr_spills: u32,
    pub vgpr_spills: u32,
    /// The language of the source, for example `OpenCL C`.
    pub language: Option<String>,
}

/// An argument of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    pub name: Option<String>,
    /// The type in the source, for example `float*`.
    pub type_name: Option<String>,
    /// The offset in bytes from the start of the kernarg segment.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
    pub kind: ValueKind,
    /// The address space of a pointer's target.
    pub address_space: Option<AddressSpace>,
    /// The alignment of a [`ValueKind::DynamicSharedPointer`]'s memory; 0 if the file does not say.
    pub pointee_align: u32,
}

/// The form of an argument in the kernarg segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// The bytes of the argument.
    ByValue,
    /// A 64-bit address.
    GlobalBuffer,
    /// A 32-bit offset in LDS, past static LDS and earlier arguments of this kind.
    DynamicSharedPointer,
    /// A 64-bit address of a sampler's descriptor.
    Sampler,
    /// A 64-bit address of an image's descriptor.
    Image,
    Pipe,
    Queue,
}

impl ValueKind {
    /// The spelling of each kind in the note.
    pub(super) const NAMES: &[(&str, ValueKind)] = &[
        ("by_value", ValueKind::ByValue),
        ("global_buffer", ValueKind::GlobalBuffer),
        ("dynamic_shared_pointer", ValueKind::DynamicSharedPointer),
        ("sampler", ValueKind::Sampler),
        ("image", ValueKind::Image),
        ("pipe", ValueKind::Pipe),
        ("queue", ValueKind::Queue),
    ];

    /// Returns the kind's name in the note.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Returns the size in the kernarg segment; `None`: any size.
    pub const fn bytes(self) -> Option<u32> {
        match self {
            ValueKind::ByValue => None,
            ValueKind::DynamicSharedPointer => Some(4),
            _ => Some(8),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    Private,
    Global,
    Constant,
    Local,
    Generic,
    Region,
}

impl AddressSpace {
    pub(super) const NAMES: &[(&str, AddressSpace)] = &[
        ("private", AddressSpace::Private),
        ("global", AddressSpace::Global),
        ("constant", AddressSpace::Constant),
        ("local", AddressSpace::Local),
        ("generic", AddressSpace::Generic),
        ("region", AddressSpace::Region),
    ];

    /// Returns the address space's name in the note.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, space)| *space == self).map_or("", |(name, _)| name)
    }
}

/// An argument that the runtime provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenArg {
    pub kind: HiddenKind,
    /// The offset in bytes from the start of the kernarg segment.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
}

/// The kinds of [`HiddenArg`]. (v5) means from code object version 5 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HiddenKind {
    /// Not used: the runtime passes 0.
    None,
    /// The launch's first global id, on axis 0 to 2.
    GlobalOffset(u8),
    /// The workgroups of the launch, without partial ones (v5).
    BlockCount(u8),
    /// The lanes of a workgroup (v5).
    GroupSize(u8),
    /// The lanes of the last workgroup if it is partial, else 0 (v5).
    Remainder(u8),
    /// The number of dimensions, 1 to 3 (v5).
    GridDims,
    PrintfBuffer,
    HostcallBuffer,
    MultigridSyncArg,
    /// The heap of device code (v5).
    HeapV1,
    DefaultQueue,
    CompletionAction,
    /// The high half of addresses in scratch (v5, where hardware does not tell it).
    PrivateBase,
    /// The high half of addresses in LDS (v5, where hardware does not tell it).
    SharedBase,
    /// The address of `amd_queue_t` (v5).
    QueuePtr,
    /// The dynamic LDS of the launch in bytes (v5).
    DynamicLdsSize,
}

impl HiddenKind {
    /// The spelling of each kind in the note, after `hidden_`.
    pub(super) const NAMES: &[(&str, HiddenKind)] = &[
        ("none", HiddenKind::None),
        ("global_offset_x", HiddenKind::GlobalOffset(0)),
        ("global_offset_y", HiddenKind::GlobalOffset(1)),
        ("global_offset_z", HiddenKind::GlobalOffset(2)),
        ("block_count_x", HiddenKind::BlockCount(0)),
        ("block_count_y", HiddenKind::BlockCount(1)),
        ("block_count_z", HiddenKind::BlockCount(2)),
        ("group_size_x", HiddenKind::GroupSize(0)),
        ("group_size_y", HiddenKind::GroupSize(1)),
        ("group_size_z", HiddenKind::GroupSize(2)),
        ("remainder_x", HiddenKind::Remainder(0)),
        ("remainder_y", HiddenKind::Remainder(1)),
        ("remainder_z", HiddenKind::Remainder(2)),
        ("grid_dims", HiddenKind::GridDims),
        ("printf_buffer", HiddenKind::PrintfBuffer),
        ("hostcall_buffer", HiddenKind::HostcallBuffer),
        ("multigrid_sync_arg", HiddenKind::MultigridSyncArg),
        ("heap_v1", HiddenKind::HeapV1),
        ("default_queue", HiddenKind::DefaultQueue),
        ("completion_action", HiddenKind::CompletionAction),
        ("private_base", HiddenKind::PrivateBase),
        ("shared_base", HiddenKind::SharedBase),
        ("queue_ptr", HiddenKind::QueuePtr),
        ("dynamic_lds_size", HiddenKind::DynamicLdsSize),
    ];

    /// Returns the kind's name in the note, without `hidden_`.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Returns the size in the kernarg segment; `None`: any size.
    pub const fn bytes(self) -> Option<u32> {
        match self {
            HiddenKind::None => None,
            HiddenKind::GroupSize(_) | HiddenKind::Remainder(_) | HiddenKind::GridDims => Some(2),
            HiddenKind::BlockCount(_)
            | HiddenKind::PrivateBase
            | HiddenKind::SharedBase
            | HiddenKind::DynamicLdsSize => Some(4),
            _ => Some(8),
        }
    }
}
