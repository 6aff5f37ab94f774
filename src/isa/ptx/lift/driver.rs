//! Constant banks: the data of a launch that a kernel reads.

/// Kernel parameters, from byte 0 on.
pub const PARAMS: u8 = 0;
/// The driver's values, at the offsets below.
pub const BANK: u8 = 1;
/// `.const` variables.
pub const CONSTANTS: u8 = 3;

/// Generic addresses of offset 0 of shared and of local memory; addresses of copies of `.const`
/// variables and of kernel parameters: `i64`.
pub const SHARED_WINDOW: u32 = 0;
pub const LOCAL_WINDOW: u32 = 8;
pub const CONSTANT_COPY: u32 = 16;
pub const PARAM_COPY: u32 = 24;
/// Bytes of dynamic shared memory: `i32`.
pub const DYNAMIC_SHARED: u32 = 32;
/// The end of a lane's local memory, behind which the host finds arguments of services: `i32`.
pub const LOCAL_END: u32 = 36;
/// Bytes of the copies of kernel parameters and of `.const` variables: `i32`.
pub const PARAM_BYTES: u32 = 40;
pub const CONSTANT_BYTES: u32 = 44;
/// The end of the frames of functions, down to which a lane's stack may grow: `i32`.
pub const FRAMES_END: u32 = 48;
/// %total_smem_size: `i32`.
pub const TOTAL_SHARED: u32 = 52;
/// The number of the launch, and its start time in nanoseconds: `i64`.
pub const GRID: u32 = 56;
pub const START_TIME: u32 = 64;
/// 1 if the launch has clusters, which have one block; else 0: `i32`.
pub const EXPLICIT_CLUSTER: u32 = 72;
/// %envreg0 to 31.
pub const ENVIRONMENT: u32 = 80;
pub const BYTES: u32 = ENVIRONMENT + 4 * 32;

/// %nsmid and %nwarpid. No behaviour depends on them.
pub const PROCESSORS: u32 = 16;
pub const WARPS: u32 = 64;
/// Bytes of shared memory that the system keeps for itself.
pub const RESERVED_SHARED: u32 = 1 << 10;
/// Nanoseconds between the starts of two launches: more than any launch takes.
pub const LAUNCH_TIME: u64 = 1 << 40;
