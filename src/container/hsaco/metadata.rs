//! The note with a code object's metadata, a map of keys.
//!
//! The map is MessagePack, or in code objects of version 2 YAML (`yaml`).

use rmpv::Value;

use super::kernel::{AddressSpace, Arg, HiddenArg, HiddenKind, HsaKernel, ValueKind};
use super::notes::Note;
use super::{KernelDescriptor, yaml};
use crate::Error;

/// `NT_AMDGPU_METADATA` of notes of owner `AMDGPU`.
const NOTE: (&[u8], u32) = (b"AMDGPU", 32);
/// `NT_AMD_HSA_METADATA` of notes of owner `AMD`, in code objects of version 2. `NOTE_LLVM4`: the
/// note of LLVM 4.
const NOTE_V2: (&[u8], u32) = (b"AMD", 10);
const NOTE_LLVM4: (&[u8], u32) = (b"AMD", 8);
/// The note that earlier LLVM wrote for some months.
const NOTE_BINARY: (&[u8], u32) = (b"AMD", 7);
/// The major number of `amdhsa.version` in code object versions 2 to 6.
const MAJOR: u64 = 1;
/// The greatest depth of values: real values nest five deep.
const MAX_DEPTH: usize = 16;
/// The largest kernarg segment.
pub(super) const MAX_KERNARG_BYTES: u32 = 1 << 16;
/// The alignment that loaders give kernarg segments.
const KERNARG_ALIGN: u32 = 16;
/// The lanes of a GFX9 wave.
const WAVEFRONT_SIZE: u32 = 64;

/// The content of the note.
#[derive(Default)]
pub(super) struct Metadata {
    pub target: Option<String>,
    pub printf: Vec<String>,
    pub kernels: Kernels,
}

/// Kernels with their descriptions in the file.
#[derive(Default)]
pub(super) struct Kernels {
    pub described: Vec<Kernel>,
    /// Kernels with a wrong description: the name of the descriptor, and the error.
    pub unreadable: Vec<(String, Error)>,
}

/// A kernel with its description in the note.
pub(super) struct Kernel {
    /// The name of the kernel's descriptor.
    pub symbol: String,
    /// The offset of the note in the file.
    at: u64,
    group_bytes: Option<u32>,
    private_bytes: Option<u32>,
    /// Whether the descriptor may give a larger kernarg segment than `hsa` has.
    rounded: bool,
    /// The kernel without its descriptor.
    hsa: HsaKernel,
}

impl Kernel {
    /// Makes a kernel of which the file describes only the arguments.
    pub(super) fn of_arguments(symbol: String, at: u64, hsa: HsaKernel) -> Kernel {
        Kernel { symbol, at, group_bytes: None, private_bytes: None, rounded: true, hsa }
    }

    /// Returns the kernel with its descriptor.
    ///
    /// # Errors
    /// The note and the descriptor disagree.
    pub(super) fn check(mut self, descriptor: &KernelDescriptor) -> Result<HsaKernel, Error> {
        if self.rounded {
            self.hsa.kernarg_bytes = self.hsa.kernarg_bytes.max(descriptor.kernarg_bytes);
            (self.hsa.sgprs, self.hsa.vgprs) = (descriptor.sgprs(), descriptor.vgprs());
        }
        let kernarg = Some(self.hsa.kernarg_bytes).filter(|_| descriptor.kernarg_bytes != 0);
        for (what, note, found) in [
            ("group segment", self.group_bytes, descriptor.group_segment_bytes),
            ("private segment", self.private_bytes, descriptor.private_segment_bytes),
            ("kernarg segment", kernarg, descriptor.kernarg_bytes),
        ] {
            if let Some(bytes) = note.filter(|&bytes| bytes != found) {
                return Err(self.wrong(
                    format!("{what} of {bytes} bytes"),
                    format!("{found}, as its descriptor says"),
                ));
            }
        }
        // In code object versions before 5, neither the note nor the descriptor has the flag.
        let uses_dynamic_stack = self.hsa.uses_dynamic_stack || descriptor.uses_dynamic_stack();
        Ok(HsaKernel { uses_dynamic_stack, ..self.hsa })
    }

    pub(super) fn wrong(&self, what: impl std::fmt::Display, expected: impl Into<String>) -> Error {
        Error::malformed(self.at, format!("metadata: kernel {}: {what}", self.symbol), expected)
    }
}

impl HsaKernel {
    /// Makes a kernel without a description.
    ///
    /// Its only argument is the whole kernarg segment.
    pub(super) fn without_metadata(descriptor: KernelDescriptor) -> HsaKernel {
        let segment = Arg {
            name: None,
            type_name: None,
            offset: 0,
            size: descriptor.kernarg_bytes,
            kind: ValueKind::ByValue,
            address_space: None,
            pointee_align: 0,
        };
        HsaKernel {
            descriptor_at: 0,
            descriptor,
            args: Some(segment).filter(|segment| segment.size > 0).into_iter().collect(),
            hidden: vec![],
            kernarg_bytes: descriptor.kernarg_bytes,
            kernarg_align: KERNARG_ALIGN,
            wavefront_size: WAVEFRONT_SIZE,
            max_flat_workgroup_size: None,
            reqd_workgroup_size: None,
            uses_dynamic_stack: descriptor.uses_dynamic_stack(),
            sgprs: descriptor.sgprs(),
            vgprs: descriptor.vgprs(),
            sgpr_spills: 0,
            vgpr_spills: 0,
            language: None,
        }
    }
}

/// Reads the metadata note. A file without such a note has no metadata.
pub(super) fn read(notes: &[Note<'_>]) -> Result<Metadata, Error> {
    for note in notes {
        return match (note.owner, note.kind) {
            NOTE => {
                let root = rmpv::decode::read_value_with_max_depth(&mut &*note.content, MAX_DEPTH)
                    .map_err(|e| {
                        Error::malformed(note.at, format!("metadata: {e}"), "a MessagePack map")
                    })?;
                parse(&root, note.at)
            }
            NOTE_V2 | NOTE_LLVM4 => parse(&yaml::read(note.content, note.at)?, note.at),
            NOTE_BINARY => Err(Error::Unsupported {
                what: format!("metadata of version 1 (in notes at offset {:#x})", note.at),
                why: "of compilers before LLVM 4, whose argument layout is not read".into(),
            }),
            _ => continue,
        };
    }
    Ok(Metadata::default())
}

fn parse(root: &Value, at: u64) -> Result<Metadata, Error> {
    let place = ValuePath { at, path: "metadata".into() };
    let root = place.map(root)?;
    if let Some(version) = root.list("amdhsa.version")?
        && version.first().and_then(Value::as_u64) != Some(MAJOR)
    {
        let versions: Vec<String> = version.iter().map(Value::to_string).collect();
        return Err(place.wrong(format!("version {}", versions.join(".")), "version 1"));
    }
    let mut metadata = Metadata { target: root.text("amdhsa.target")?, ..Metadata::default() };
    for line in root.list("amdhsa.printf")?.unwrap_or_default() {
        // Formats are bytes: invalid UTF-8 is replaced.
        let Value::String(line) = line else {
            return Err(place.wrong("amdhsa.printf", "a list of strings"));
        };
        metadata.printf.push(String::from_utf8_lossy(line.as_bytes()).into_owned());
    }
    for (i, value) in root.list("amdhsa.kernels")?.unwrap_or_default().iter().enumerate() {
        let place = ValuePath { at, path: format!("metadata: amdhsa.kernels[{i}]") };
        let map = place.map(value)?;
        let symbol = map
            .text(".symbol")?
            .ok_or_else(|| place.wrong(".symbol is missing", "the name of a kernel descriptor"))?;
        match kernel(&place, &map, symbol.clone()) {
            Ok(kernel) => metadata.kernels.described.push(kernel),
            Err(error) => metadata.kernels.unreadable.push((symbol, error)),
        }
    }
    Ok(metadata)
}

fn kernel(place: &ValuePath, map: &Map<'_>, symbol: String) -> Result<Kernel, Error> {
    let kernarg_bytes = map.need(".kernarg_segment_size")?;
    if kernarg_bytes > MAX_KERNARG_BYTES {
        return Err(
            place.wrong(format!("kernarg segment of {kernarg_bytes} bytes"), "at most 64 KiB")
        );
    }
    let kernarg_align = map.number(".kernarg_segment_align")?.unwrap_or(KERNARG_ALIGN);
    if !kernarg_align.is_power_of_two() || kernarg_align > 1 << 12 {
        return Err(
            place.wrong(format!("kernarg alignment {kernarg_align}"), "a power of two to 4096")
        );
    }
    let wavefront_size = map.number(".wavefront_size")?.unwrap_or(WAVEFRONT_SIZE);
    if wavefront_size != WAVEFRONT_SIZE {
        return Err(place.wrong(format!("waves of {wavefront_size} lanes"), "64, as GFX9 has"));
    }
    let mut hsa = HsaKernel {
        kernarg_bytes,
        kernarg_align,
        max_flat_workgroup_size: map.number(".max_flat_workgroup_size")?,
        reqd_workgroup_size: None,
        uses_dynamic_stack: map.flag(".uses_dynamic_stack"),
        sgprs: map.number(".sgpr_count")?.unwrap_or(0),
        vgprs: map.number(".vgpr_count")?.unwrap_or(0),
        sgpr_spills: map.number(".sgpr_spill_count")?.unwrap_or(0),
        vgpr_spills: map.number(".vgpr_spill_count")?.unwrap_or(0),
        language: map.text(".language")?,
        ..HsaKernel::without_metadata(KernelDescriptor::default())
    };
    if let Some(size) = map.list(".reqd_workgroup_size")? {
        let axes: Option<Vec<u32>> = size.iter().map(|v| v.as_u64()?.try_into().ok()).collect();
        let axes = axes.and_then(|axes| axes.try_into().ok());
        hsa.reqd_workgroup_size =
            Some(axes.ok_or_else(|| place.wrong(".reqd_workgroup_size", "three numbers"))?);
    }
    for (i, value) in map.list(".args")?.unwrap_or_default().iter().enumerate() {
        let place = ValuePath { at: place.at, path: format!("{}: .args[{i}]", place.path) };
        arg(&place, &place.map(value)?, &mut hsa)?;
    }
    Ok(Kernel {
        symbol,
        at: place.at,
        group_bytes: map.number(".group_segment_fixed_size")?,
        private_bytes: map.number(".private_segment_fixed_size")?,
        rounded: false,
        hsa,
    })
}

/// Adds an argument to the kernel.
fn arg(place: &ValuePath, map: &Map<'_>, hsa: &mut HsaKernel) -> Result<(), Error> {
    let (offset, size) = (map.need(".offset")?, map.need(".size")?);
    if offset.checked_add(size).is_none_or(|end| end > hsa.kernarg_bytes) {
        let what = format!("{size} bytes at offset {offset}");
        return Err(place.wrong(
            what,
            format!("a place in the kernarg segment of {} bytes", hsa.kernarg_bytes),
        ));
    }
    let kind = map.text(".value_kind")?.unwrap_or_default();
    let sized = |bytes: Option<u32>| match bytes {
        Some(bytes) if bytes != size => {
            Err(place.wrong(format!("{kind} of {size} bytes"), format!("{bytes} bytes")))
        }
        _ => Ok(()),
    };
    if let Some(name) = kind.strip_prefix("hidden_") {
        let kind = named(HiddenKind::NAMES, name);
        let kind = kind.ok_or_else(|| {
            place.wrong(format!("kind {name:?} of hidden argument"), "a known kind")
        })?;
        sized(kind.bytes())?;
        hsa.hidden.push(HiddenArg { kind, offset, size });
        return Ok(());
    }
    let names = || ValueKind::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let kind = named(ValueKind::NAMES, &kind).ok_or_else(|| {
        place.wrong(format!(".value_kind {kind:?}"), format!("hidden_* or one of {}", names()))
    })?;
    sized(kind.bytes())?;
    let address_space = match map.text(".address_space")? {
        None => None,
        Some(name) => Some(
            named(AddressSpace::NAMES, &name)
                .ok_or_else(|| place.wrong(format!(".address_space {name:?}"), "a known one"))?,
        ),
    };
    hsa.args.push(Arg {
        name: map.text(".name")?,
        type_name: map.text(".type_name")?,
        offset,
        size,
        kind,
        address_space,
        pointee_align: map.number(".pointee_align")?.unwrap_or(0),
    });
    Ok(())
}

fn named<T: Copy>(names: &[(&str, T)], name: &str) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
}

/// The position of a value, for messages.
struct ValuePath {
    at: u64,
    path: String,
}

impl ValuePath {
    fn wrong(&self, what: impl std::fmt::Display, expected: impl Into<String>) -> Error {
        Error::malformed(self.at, format!("{}: {what}", self.path), expected)
    }

    fn map<'v>(&'v self, value: &'v Value) -> Result<Map<'v>, Error> {
        let entries = value.as_map().ok_or_else(|| self.wrong("not a map", "a map of keys"))?;
        Ok(Map { place: self, entries })
    }
}

/// A map of keys. If a key occurs twice, its first value counts.
struct Map<'v> {
    place: &'v ValuePath,
    entries: &'v [(Value, Value)],
}

impl<'v> Map<'v> {
    fn get(&self, key: &str) -> Option<&'v Value> {
        self.entries.iter().find(|(k, _)| k.as_str() == Some(key)).map(|(_, value)| value)
    }

    fn number(&self, key: &str) -> Result<Option<u32>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        let wrong = || self.place.wrong(key, "a number from 0 to 4294967295");
        number.map(Some).ok_or_else(wrong)
    }

    fn need(&self, key: &str) -> Result<u32, Error> {
        self.number(key)?.ok_or_else(|| self.place.wrong(format!("{key} is missing"), "a number"))
    }

    fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    fn text(&self, key: &str) -> Result<Option<String>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let text = value.as_str().ok_or_else(|| self.place.wrong(key, "a string"))?;
        Ok(Some(text.to_string()))
    }

    fn list(&self, key: &str) -> Result<Option<&'v [Value]>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let list = value.as_array().ok_or_else(|| self.place.wrong(key, "a list"))?;
        Ok(Some(list))
    }
}
