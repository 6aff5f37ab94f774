//! Converts the YAML metadata of version 2 code objects to the map of keys of later versions.
//!
//! Source: AMDGPUUsage of LLVM 14, "Code Object V2 Metadata"; LLVM 4's `AMDGPURuntimeMetadata.h`
//! for keys that begin with `amd.`.

use rmpv::Value;

use super::kernel::{AddressSpace, HiddenKind, ValueKind};
use crate::Error;
use crate::yaml::tree;

/// Keys of kernels, with the keys of later versions: of the kernel, its `Attrs` and its
/// `CodeProps`.
const KERNEL_KEYS: [(&str, &str); 13] = [
    ("Language", ".language"),
    ("ReqdWorkGroupSize", ".reqd_workgroup_size"),
    ("KernargSegmentSize", ".kernarg_segment_size"),
    ("KernargSegmentAlign", ".kernarg_segment_align"),
    ("GroupSegmentFixedSize", ".group_segment_fixed_size"),
    ("PrivateSegmentFixedSize", ".private_segment_fixed_size"),
    ("WavefrontSize", ".wavefront_size"),
    ("NumSGPRs", ".sgpr_count"),
    ("NumVGPRs", ".vgpr_count"),
    ("NumSpilledSGPRs", ".sgpr_spill_count"),
    ("NumSpilledVGPRs", ".vgpr_spill_count"),
    ("MaxFlatWorkGroupSize", ".max_flat_workgroup_size"),
    ("IsDynamicCallStack", ".uses_dynamic_stack"),
];

/// Kinds of arguments by number, in metadata of LLVM 4.
const KINDS: [&str; 14] = [
    "ByValue",
    "GlobalBuffer",
    "DynamicSharedPointer",
    "Sampler",
    "Image",
    "Pipe",
    "Queue",
    "HiddenGlobalOffsetX",
    "HiddenGlobalOffsetY",
    "HiddenGlobalOffsetZ",
    "HiddenNone",
    "HiddenPrintfBuffer",
    "HiddenDefaultQueue",
    "HiddenCompletionAction",
];
/// Address spaces by number, in metadata of LLVM 4.
const SPACES: [AddressSpace; 6] = [
    AddressSpace::Private,
    AddressSpace::Global,
    AddressSpace::Constant,
    AddressSpace::Local,
    AddressSpace::Generic,
    AddressSpace::Region,
];

/// Reads the note at an offset of the file.
pub(super) fn read(note: &[u8], at: u64) -> Result<Value, Error> {
    let text = String::from_utf8_lossy(note);
    let root = tree(text.trim_end_matches('\0'))
        .and_then(|root| if root.is_map() { Ok(root) } else { Err("not a map".into()) })
        .map_err(|problem| Error::malformed(at, format!("metadata: {problem}"), "a YAML map"))?;
    let mut out = vec![];
    if let Some(Value::Array(version)) = get(&root, "Version") {
        out.push(("amdhsa.version".into(), Value::Array(version.clone())));
    }
    if let Some(printf) = get(&root, "Printf").or_else(|| get(&root, "PrintfInfo")) {
        out.push(("amdhsa.printf".into(), printf.clone()));
    }
    if let Some(Value::Array(kernels)) = get(&root, "Kernels") {
        out.push(("amdhsa.kernels".into(), Value::Array(kernels.iter().map(kernel).collect())));
    }
    Ok(Value::Map(out))
}

/// Returns the value of a key. LLVM 4 puts `amd.` before keys.
fn get<'v>(map: &'v Value, key: &str) -> Option<&'v Value> {
    let is_it = |name: &Value| {
        name.as_str().is_some_and(|name| name.strip_prefix("amd.").unwrap_or(name) == key)
    };
    map.as_map()?.iter().find(|(name, _)| is_it(name)).map(|(_, value)| value)
}

fn kernel(old: &Value) -> Value {
    let places = [Some(old), get(old, "Attrs"), get(old, "CodeProps")];
    let mut new: Vec<(Value, Value)> = vec![];
    for (key, name) in KERNEL_KEYS {
        if let Some(value) = places.iter().flatten().find_map(|place| get(place, key)) {
            new.push((name.into(), value.clone()));
        }
    }
    // Later versions have a symbol for the descriptor. This version has none: `NAME@kd` is the
    // kernel's symbol.
    let symbol =
        get(old, "SymbolName").or_else(|| get(old, "Name")).or_else(|| get(old, "KernelName"));
    if let Some(symbol) = symbol.and_then(Value::as_str) {
        new.push((".symbol".into(), symbol.strip_suffix("@kd").unwrap_or(symbol).into()));
    }
    let (mut args, mut end) = (vec![], 0_u64);
    for arg in get(old, "Args").and_then(Value::as_array).into_iter().flatten() {
        args.push(argument(arg, &mut end));
    }
    new.push((".args".into(), Value::Array(args)));
    if !new.iter().any(|(key, _)| key.as_str() == Some(".kernarg_segment_size")) {
        new.push((".kernarg_segment_size".into(), end.into()));
    }
    Value::Map(new)
}

/// Converts an argument, and places it at the next multiple of its alignment after earlier
/// arguments.
///
/// An argument whose size or alignment is no number gets no place.
fn argument(old: &Value, end: &mut u64) -> Value {
    let find = |key: &str| get(old, key).or_else(|| get(old, &format!("Arg{key}")));
    let number = |key: &str| find(key).and_then(Value::as_u64);
    let mut new: Vec<(Value, Value)> = vec![];
    if let (Some(size), Some(align)) =
        (number("Size"), number("Align").filter(|align| align.is_power_of_two()))
    {
        let offset = end.checked_next_multiple_of(align).unwrap_or(u64::MAX);
        *end = offset.saturating_add(size);
        new.extend([(".offset".into(), offset.into()), (".size".into(), size.into())]);
    }
    let kind = match find("ValueKind").or_else(|| find("Kind")) {
        Some(kind) if kind.is_str() => kind.as_str(),
        Some(kind) => kind.as_u64().and_then(|n| KINDS.get(usize::try_from(n).ok()?)).copied(),
        None => None,
    };
    new.extend(kind.map(|kind| (".value_kind".into(), later_name(kind).into())));
    let space = match find("AddrSpaceQual").or_else(|| find("AddrQual")) {
        Some(space) if space.is_str() => space.as_str().map(str::to_lowercase),
        Some(space) => space
            .as_u64()
            .and_then(|n| SPACES.get(usize::try_from(n).ok()?))
            .map(|s| s.name().into()),
        None => None,
    };
    new.extend(space.map(|space| (".address_space".into(), space.into())));
    for (key, name) in
        [("Name", ".name"), ("TypeName", ".type_name"), ("PointeeAlign", ".pointee_align")]
    {
        new.extend(find(key).map(|value| (name.into(), value.clone())));
    }
    Value::Map(new)
}

/// Returns the later name of a kind: `dynamic_shared_pointer` for `DynamicSharedPointer`.
///
/// The names differ only in case and underscores.
fn later_name(kind: &str) -> String {
    let alike = |name: &str| name.replace('_', "").eq_ignore_ascii_case(kind);
    let value =
        ValueKind::NAMES.iter().find(|(name, _)| alike(name)).map(|(name, _)| (*name).to_string());
    let hidden = || {
        HiddenKind::NAMES.iter().map(|(name, _)| format!("hidden_{name}")).find(|name| alike(name))
    };
    value.or_else(hidden).unwrap_or_else(|| kind.into())
}
