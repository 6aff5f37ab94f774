//! `.ze_info`: the facts about each kernel that the driver needs. Facts, `visa-semantics.md` 8 and
//! 13a.

use rmpv::Value;

use crate::yaml;

/// The content of a `.ze_info`.
#[derive(Clone, Debug, PartialEq)]
pub struct ZeInfo {
    pub version: String,
    pub kernels: Vec<KernelInfo>,
    /// The names of all kernels, in order.
    pub names: Vec<String>,
    /// Kernels whose entry is wrong, with the error.
    pub unreadable: Vec<(String, String)>,
}

/// The facts about one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelInfo {
    pub name: String,
    pub env: ExecutionEnv,
    /// The cross-thread payload.
    pub payload: Vec<PayloadArgument>,
    /// The payload of a single thread: its local ids.
    pub per_thread: Vec<PayloadArgument>,
    /// `binding_table_indices`: argument and index.
    pub binding_table: Vec<(u32, u32)>,
    pub memory_buffers: Vec<MemoryBuffer>,
    pub samplers: Vec<InlineSampler>,
    /// The names and types of the arguments in the source, in order.
    pub args: Vec<ArgumentInfo>,
    /// `intel_reqd_workgroup_walk_order`, `work_group_walk_order_dimensions`: the fastest dimension
    /// first.
    pub walk_order: [u8; 3],
}

/// `execution_env`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutionEnv {
    pub simd_size: u32,
    /// The registers of a thread.
    pub grf_count: u32,
    /// The static shared local memory in bytes.
    pub slm_size: u64,
    pub barrier_count: u32,
    /// The bytes of the cross-thread payload that go into a register of their own.
    pub inline_data_payload_size: u32,
    pub required_work_group_size: Option<[u32; 3]>,
    /// The private memory of a thread in bytes.
    pub private_size: u64,
    pub spill_size: u64,
    pub has_stack_calls: bool,
    pub has_printf_calls: bool,
    /// Whether hardware makes the local ids.
    pub generate_local_id: bool,
}

/// The kind of an entry of the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    ByValue,
    ByPointer,
    /// The local ids of the lanes, one vector for each dimension.
    LocalId,
    GlobalIdOffset,
    LocalSize,
    EnqueuedLocalSize,
    GlobalSize,
    GroupCount,
    WorkDimensions,
    PrivateBase,
    PrintfBuffer,
    ConstBase,
    GlobalBase,
    ImplicitArgBuffer,
    AssertBuffer,
    SyncBuffer,
    BufferOffset,
    BufferAddress,
    InlineSampler,
    /// A kind by its name: a property of an image or a sampler.
    Other(String),
}

/// Kinds by name.
const KINDS: [(&str, ArgumentKind); 19] = [
    ("arg_byvalue", ArgumentKind::ByValue),
    ("arg_bypointer", ArgumentKind::ByPointer),
    ("local_id", ArgumentKind::LocalId),
    ("global_id_offset", ArgumentKind::GlobalIdOffset),
    ("local_size", ArgumentKind::LocalSize),
    ("enqueued_local_size", ArgumentKind::EnqueuedLocalSize),
    ("global_size", ArgumentKind::GlobalSize),
    ("group_count", ArgumentKind::GroupCount),
    ("work_dimensions", ArgumentKind::WorkDimensions),
    ("private_base_stateless", ArgumentKind::PrivateBase),
    ("printf_buffer", ArgumentKind::PrintfBuffer),
    ("const_base", ArgumentKind::ConstBase),
    ("global_base", ArgumentKind::GlobalBase),
    ("implicit_arg_buffer", ArgumentKind::ImplicitArgBuffer),
    ("assert_buffer", ArgumentKind::AssertBuffer),
    ("sync_buffer", ArgumentKind::SyncBuffer),
    ("buffer_offset", ArgumentKind::BufferOffset),
    ("buffer_address", ArgumentKind::BufferAddress),
    ("inline_sampler", ArgumentKind::InlineSampler),
];

impl ArgumentKind {
    pub fn from_name(name: &str) -> ArgumentKind {
        let known = KINDS.into_iter().find(|(one, _)| *one == name);
        known.map_or_else(|| ArgumentKind::Other(name.to_string()), |(_, kind)| kind)
    }

    pub fn name(&self) -> &str {
        match self {
            ArgumentKind::Other(name) => name,
            known => KINDS.iter().find(|(_, kind)| kind == known).map_or("", |(name, _)| *name),
        }
    }
}

/// The way in which memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// By a 64-bit address.
    Stateless,
    /// By an index into the binding table.
    Stateful,
    /// By a handle.
    Bindless,
    /// Shared local memory, by an offset.
    Slm,
}

impl AddressMode {
    const ALL: [AddressMode; 4] =
        [AddressMode::Stateless, AddressMode::Stateful, AddressMode::Bindless, AddressMode::Slm];

    pub fn name(self) -> &'static str {
        match self {
            AddressMode::Stateless => "stateless",
            AddressMode::Stateful => "stateful",
            AddressMode::Bindless => "bindless",
            AddressMode::Slm => "slm",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSpace {
    Global,
    Local,
    Constant,
    Image,
    Sampler,
}

/// An entry of a payload.
#[derive(Clone, Debug, PartialEq)]
pub struct PayloadArgument {
    pub kind: ArgumentKind,
    /// The offset in bytes from the payload's start.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
    /// The argument of the kernel that the entry belongs to.
    pub arg_index: Option<u32>,
    pub address_mode: Option<AddressMode>,
    pub address_space: Option<AddressSpace>,
    /// For example `readonly`, `writeonly`, `readwrite`.
    pub access: Option<String>,
    /// For example `image_2d`.
    pub image_type: Option<String>,
    pub sampler_index: Option<u32>,
    /// The offset of the bytes in a by-value argument.
    pub source_offset: u32,
    /// The alignment of a pointer to shared local memory.
    pub slm_alignment: u32,
    /// The index of a base of constants or variables.
    pub bti: Option<u32>,
}

/// `per_thread_memory_buffers`
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryBuffer {
    /// For example `scratch`, `global`.
    pub ty: String,
    /// For example `private_space`, `spill_fill_space`.
    pub usage: String,
    /// The size in bytes; of a lane if `per_lane`.
    pub size: u64,
    pub per_lane: bool,
}

/// `inline_samplers`
#[derive(Clone, Debug, PartialEq)]
pub struct InlineSampler {
    pub index: u32,
    /// For example `clamp_edge`, `repeat`.
    pub address_mode: String,
    /// For example `nearest`, `linear`.
    pub filter: String,
    pub normalized: bool,
}

/// `args_info`
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentInfo {
    pub index: u32,
    pub name: String,
    pub type_name: String,
}

/// The most arguments of a kernel.
const MAX_ARGUMENTS: u32 = 1 << 12;

impl KernelInfo {
    /// Returns the number of arguments of the source.
    pub fn arguments(&self) -> u32 {
        let indices = self.payload.iter().filter_map(|arg| arg.arg_index);
        let tables = self.binding_table.iter().map(|&(index, _)| index);
        let named = self.args.iter().map(|arg| arg.index);
        indices.chain(tables).chain(named).max().map_or(0, |last| last.saturating_add(1))
    }
}

impl KernelInfo {
    /// Adds names and types of the arguments.
    fn describe(&mut self, args: &[Value]) -> Result<(), String> {
        for arg in args {
            let text = |key| word(arg, key).unwrap_or_default();
            let index = small(arg, "index")?;
            self.args.push(ArgumentInfo {
                index,
                name: text("name"),
                type_name: text("type_name"),
            });
        }
        Ok(())
    }
}

impl ZeInfo {
    /// Reads the text of a `.ze_info`.
    ///
    /// # Errors
    /// The error describes a fault of the text as a whole.
    pub fn read(text: &[u8]) -> Result<ZeInfo, String> {
        let text = String::from_utf8_lossy(text);
        let root = yaml::tree(text.trim_end_matches('\0'))?;
        if !root.is_map() {
            return Err("not a map".into());
        }
        let version = word(&root, "version").unwrap_or_default();
        let mut info = ZeInfo { version, kernels: vec![], names: vec![], unreadable: vec![] };
        for one in list(&root, "kernels") {
            let name = word(one, "name").ok_or("a kernel without a name")?;
            info.names.push(name.clone());
            match kernel(&name, one) {
                Ok(kernel) => info.kernels.push(kernel),
                Err(problem) => info.unreadable.push((name, problem)),
            }
        }
        for misc in list(&root, "kernels_misc_info") {
            let name = word(misc, "name");
            let Some(at) =
                info.kernels.iter().position(|kernel| Some(&kernel.name) == name.as_ref())
            else {
                continue;
            };
            if let Err(problem) = info.kernels[at].describe(list(misc, "args_info")) {
                info.unreadable.push((info.kernels.remove(at).name, problem));
            }
        }
        let (kernels, others) =
            info.kernels.into_iter().partition(|kernel| kernel.arguments() <= MAX_ARGUMENTS);
        info.kernels = kernels;
        let others: Vec<KernelInfo> = others;
        let many =
            |kernel: KernelInfo| (kernel.name.clone(), format!("{} arguments", kernel.arguments()));
        info.unreadable.extend(others.into_iter().map(many));
        Ok(info)
    }
}

/// Returns the value of a key.
fn get<'v>(map: &'v Value, key: &str) -> Option<&'v Value> {
    map.as_map()?.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
}

fn list<'v>(map: &'v Value, key: &str) -> &'v [Value] {
    get(map, key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns text, or the text of a value that looks like a number.
fn word(map: &Value, key: &str) -> Option<String> {
    match get(map, key)? {
        Value::String(text) => text.as_str().map(str::to_string),
        other => Some(other.to_string()),
    }
}

fn number(map: &Value, key: &str) -> Result<u64, String> {
    match get(map, key) {
        None => Ok(0),
        Some(value) => value.as_u64().ok_or_else(|| format!("`{key}: {value}`, expected a number")),
    }
}

fn small(map: &Value, key: &str) -> Result<u32, String> {
    optional(map, key).map(|number| number.unwrap_or(0))
}

fn optional(map: &Value, key: &str) -> Result<Option<u32>, String> {
    if get(map, key).is_none() {
        return Ok(None);
    }
    let number = number(map, key)?;
    u32::try_from(number).map(Some).map_err(|_| format!("`{key}: {number}`, expected 32 bits"))
}

fn flag(map: &Value, key: &str) -> bool {
    get(map, key).and_then(Value::as_bool).unwrap_or(false)
}

/// Returns three numbers.
fn triple(map: &Value, key: &str) -> Result<Option<[u32; 3]>, String> {
    let all = list(map, key);
    if all.is_empty() {
        return Ok(None);
    }
    let numbers: Option<Vec<u32>> =
        all.iter().map(|value| u32::try_from(value.as_u64()?).ok()).collect();
    let three = numbers.and_then(|numbers| <[u32; 3]>::try_from(numbers).ok());
    three.map(Some).ok_or_else(|| format!("`{key}`, expected three numbers"))
}

fn kernel(name: &str, map: &Value) -> Result<KernelInfo, String> {
    let none = Value::Nil;
    let env = get(map, "execution_env").unwrap_or(&none);
    let attributes = get(map, "user_attributes").unwrap_or(&none);
    let mut kernel =
        KernelInfo { name: name.to_string(), env: execution_env(env)?, ..KernelInfo::default() };
    let order = triple(attributes, "intel_reqd_workgroup_walk_order")?;
    let order = order.or(triple(env, "work_group_walk_order_dimensions")?);
    let is_order = |order: &[u32; 3]| (0..3).all(|dimension| order.contains(&dimension));
    kernel.walk_order =
        order.filter(is_order).map_or([0, 1, 2], |order| order.map(|dimension| dimension as u8));
    for (key, arguments) in [
        ("payload_arguments", &mut kernel.payload),
        ("per_thread_payload_arguments", &mut kernel.per_thread),
    ] {
        for one in list(map, key) {
            arguments.push(payload(one)?);
        }
    }
    for one in list(map, "binding_table_indices") {
        let entry = (small(one, "arg_index")?, small(one, "bti_value")?);
        kernel.binding_table.push(entry);
    }
    for one in list(map, "per_thread_memory_buffers") {
        let text = |key| word(one, key).unwrap_or_default();
        let size = number(one, "size")?;
        let per_lane = flag(one, "is_simt_thread");
        kernel.memory_buffers.push(MemoryBuffer {
            ty: text("type"),
            usage: text("usage"),
            size,
            per_lane,
        });
    }
    for one in list(map, "inline_samplers") {
        let text = |key| word(one, key).unwrap_or_default();
        kernel.samplers.push(InlineSampler {
            index: small(one, "sampler_index")?,
            address_mode: text("addrmode"),
            filter: text("filtermode"),
            normalized: flag(one, "normalized"),
        });
    }
    Ok(kernel)
}

fn execution_env(map: &Value) -> Result<ExecutionEnv, String> {
    Ok(ExecutionEnv {
        simd_size: small(map, "simd_size")?,
        grf_count: small(map, "grf_count")?,
        slm_size: number(map, "slm_size")?,
        barrier_count: small(map, "barrier_count")?,
        inline_data_payload_size: small(map, "inline_data_payload_size")?,
        required_work_group_size: triple(map, "required_work_group_size")?,
        private_size: number(map, "private_size")?,
        spill_size: number(map, "spill_size")?,
        has_stack_calls: flag(map, "has_stack_calls"),
        has_printf_calls: flag(map, "has_printf_calls"),
        generate_local_id: flag(map, "generate_local_id"),
    })
}

fn payload(map: &Value) -> Result<PayloadArgument, String> {
    let kind = word(map, "arg_type").ok_or("an argument without `arg_type`")?;
    let address_mode = match word(map, "addrmode").as_deref() {
        None => None,
        Some(name) => match AddressMode::ALL.into_iter().find(|mode| mode.name() == name) {
            Some(mode) => Some(mode),
            None => return Err(format!("`addrmode: {name}`, which is none")),
        },
    };
    let address_space = match word(map, "addrspace").as_deref() {
        None => None,
        Some("global") => Some(AddressSpace::Global),
        Some("local") => Some(AddressSpace::Local),
        Some("constant") => Some(AddressSpace::Constant),
        Some("image") => Some(AddressSpace::Image),
        Some("sampler") => Some(AddressSpace::Sampler),
        Some(other) => return Err(format!("`addrspace: {other}`, which is none")),
    };
    Ok(PayloadArgument {
        kind: ArgumentKind::from_name(&kind),
        offset: small(map, "offset")?,
        size: small(map, "size")?,
        arg_index: optional(map, "arg_index")?,
        address_mode,
        address_space,
        access: word(map, "access_type"),
        image_type: word(map, "image_type"),
        sampler_index: optional(map, "sampler_index")?,
        source_offset: small(map, "source_offset")?,
        slm_alignment: small(map, "slm_alignment")?,
        bti: optional(map, "bti_value")?,
    })
}
