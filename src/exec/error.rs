//! Reasons why a launch did not take place. Faults of the guest are no errors: see
//! [`super::Fault`].

use warploom_guest::LiftError;
use warploom_guest::suggest::{did_you_mean, first_of};
use warploom_interp::InterpError;
use warploom_runtime::launch::LaunchError;
use warploom_runtime::memory::{CopyError, MapError};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Container(#[from] warploom_container::Error),
    #[error("the binary has no kernels")]
    NoKernels,
    #[error("the binary has several kernels: name one of {}", first_of(.names))]
    SeveralKernels { names: Vec<String> },
    #[error(
        "the binary has no kernel `{name}`{}: it has {}",
        did_you_mean(.name, .names.iter().map(String::as_str)),
        first_of(.names)
    )]
    NoSuchKernel { name: String, names: Vec<String> },
    #[error("kernel `{name}` cannot be read: {source}")]
    Unreadable { name: String, source: warploom_container::Error },
    #[error(
        "the module has no variable `{name}`{}: it has {}",
        did_you_mean(.name, .names.iter().map(String::as_str)),
        list(.names)
    )]
    NoSuchVariable { name: String, names: Vec<String> },
    #[error("{bytes} bytes for variable `{name}`, which has {size}")]
    VariableSize { name: String, bytes: u64, size: u64 },
    #[error("kernel `{kernel}` has {expected} parameters: {given} arguments are given")]
    ArgumentCount { kernel: String, expected: usize, given: usize },
    #[error(
        "argument {number} of kernel `{kernel}` has {given} bytes: the parameter at offset {offset:#x} has {expected}"
    )]
    ArgumentSize { kernel: String, number: usize, offset: u32, expected: u32, given: usize },
    #[error(
        "argument {number} of kernel `{kernel}` is local memory: expected the bytes of a parameter"
    )]
    LocalArgument { kernel: String, number: usize },
    #[error("kernel `{kernel}` has no kernel descriptor")]
    NoDescriptor { kernel: String },
    #[error(
        "kernel `{kernel}` asks for f16 overflows to the greatest number (FP16_OVFL), which are not executed"
    )]
    Fp16Overflow { kernel: String },
    #[error(
        "a block of {block:?} lanes: kernel `{kernel}` was compiled for blocks of exactly {required:?}"
    )]
    RequiredBlock { kernel: String, block: [u32; 3], required: [u32; 3] },
    #[error(
        "a block of {block:?} lanes: kernel `{kernel}` was compiled for at most {limit} lanes in a block"
    )]
    BlockBound { kernel: String, block: [u32; 3], limit: u64 },
    #[error("kernel `{kernel}`: {given} are more than {target} has: {limit}")]
    TargetLimit { kernel: String, given: String, target: String, limit: String },
    #[error(
        "kernel `{kernel}` asks for clusters of {cluster:?} blocks (.reqnctapercluster): expected clusters of one block, \
         larger ones are not executed"
    )]
    Cluster { kernel: String, cluster: [u32; 3] },
    #[error(
        "{total} bytes of shared memory ({static_bytes} static, {dynamic} dynamic) are more than 4 GiB"
    )]
    SharedMemory { total: u64, static_bytes: u64, dynamic: u32 },
    #[error("kernel `{kernel}`: {what} take more than the 64 KiB that there are for them")]
    Payload { kernel: String, what: &'static str },
    #[error(
        "kernel `{kernel}` asks for {what}, at {offset:#x} of its payload: warploom does not provide it"
    )]
    NotProvided { kernel: String, what: String, offset: u32 },
    #[error("{count} {what}: expected at most {most}")]
    ImagePool { what: &'static str, count: u64, most: u64 },
    #[error(
        "kernels of this instruction set take descriptors as arguments, not from a pool of images"
    )]
    NoPool,
    #[error("surface `{name}`: {problem}")]
    Surface { name: String, problem: String },
    #[error(
        "kernel `{kernel}` uses `{variable}`, a .{ty} of the module: expected a [{table}.{variable}] that it stands for"
    )]
    Unbound { kernel: String, variable: String, ty: &'static str, table: &'static str },
    #[error(
        "argument {number} is a sampler: samplers of this instruction set are not executed yet"
    )]
    Sampler { number: usize },
    #[error("buffer `{name}`: {problem}")]
    Placed { name: String, problem: MapError },
    #[error("kernel `{kernel}`: its instruction set has no check of waits")]
    NoCheck { kernel: String },
    #[error("a graphics program runs over arrays: expected a manifest with [vertices] or [pixels]")]
    NoShaders,
    #[error("reciprocals = \"table\": only those of Maxwell kernels have tables")]
    NoTables,
    #[error("the manifest says that the program is of stage {manifest}, its header {header}")]
    ShaderStage { manifest: &'static str, header: &'static str },
    #[error("kernel.header: {}", if *.given { "the header is in front of the code (format = \"maxwell-sph\"): expected none" } else { "missing: the code has no header in front of it (format = \"maxwell-raw\")" })]
    ShaderHeader { given: bool },
    #[error("{problem}")]
    ShaderInput { problem: String },
    #[error(
        "{bytes} bytes for constant bank {bank}: expected bank 0 to 17, and at most {most} bytes"
    )]
    ShaderBank { bank: u8, bytes: usize, most: usize },
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("guest memory: {0}")]
    Map(#[from] MapError),
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error(transparent)]
    Lift(#[from] LiftError),
    #[error(transparent)]
    Interp(#[from] InterpError),
    #[error(transparent)]
    Rules(#[from] warploom_analysis::UnknownRule),
    #[error("{stage} of kernel `{kernel}`: {problem}")]
    Stage { kernel: String, stage: String, problem: String },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
