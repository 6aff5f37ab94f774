//! Selects the modules of a file: of each fat binary and offload bundle, the member that suits a
//! GPU best.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::foreign::foreign_kind;
use super::{Arch, Error, Format, Module, cubin, fatbin, hsaco, ptx, recognise, sph, text, visa};

/// Returns every module of the file that can run.
///
/// From a fat binary or an offload bundle, nested ones included, it takes the best member. An sm_52
/// driver's choice comes first: sm_52 before sm_50. Then follow sm_53, PTX, the newest GPU up to
/// sm_90 first, and code of sm_75 to sm_89, the newest first. Of AMD's GPUs, gfx900 comes first, then
/// gfx906, with XNACK off.
pub fn modules(bytes: &[u8]) -> Result<Vec<Module>, Error> {
    modules_for(bytes, None)
}

/// Returns the modules that this GPU's driver would take.
pub fn modules_for(bytes: &[u8], arch: Option<Arch>) -> Result<Vec<Module>, Error> {
    Ok(read_for(bytes, arch)?.modules)
}

/// The modules of a file that can run.
pub struct Modules {
    pub modules: Vec<Module>,
    /// The reasons why selected members cannot be read. The next best member replaces each.
    pub unreadable: Vec<Error>,
}

/// Returns the modules that this GPU's driver would take, and the errors of unreadable members.
///
/// # Errors
///
/// No member can be read, or the file itself cannot be read.
pub fn read_for(bytes: &[u8], arch: Option<Arch>) -> Result<Modules, Error> {
    let rank = |code: Arch| match arch {
        Some(gpu) => gpu.rank(code).map(|rank| (0, rank)),
        None => Arch::default_rank(code),
    };
    let mut refused = BTreeSet::new();
    let mut unreadable = vec![];
    loop {
        let best = match candidates(bytes, arch, &rank, &refused) {
            Ok(Candidates::Module(module)) => {
                return Ok(Modules { modules: vec![*module], unreadable });
            }
            Ok(Candidates::Members(best)) => best,
            // No member is left.
            Err(_) if !unreadable.is_empty() => return Err(unreadable.swap_remove(0)),
            Err(error) => return Err(error),
        };
        let mut modules = vec![];
        let before = refused.len();
        for (unit, (_, member)) in best {
            let place = (unit, member.offset);
            match member.module() {
                // Members do not tell the suffix of their target.
                Ok(module) if arch.is_some_and(|gpu| !gpu.takes(&module)) => {
                    refused.insert(place);
                }
                Ok(module) => modules.push(module),
                Err(error) => {
                    refused.insert(place);
                    unreadable.push(error);
                }
            }
        }
        if refused.len() == before {
            return Ok(Modules { modules, unreadable });
        }
    }
}

/// Returns the PTX texts in a file that can be linked for a GPU: of each fat binary the best.
///
/// # Errors
///
/// The file cannot be read, or a text cannot be unpacked.
pub fn texts_for(bytes: &[u8], arch: Option<Arch>) -> Result<Vec<Vec<u8>>, Error> {
    let rank = |code: Arch| match (code, arch) {
        (Arch::Compute(_), Some(gpu)) => gpu.rank(code).map(|rank| (0, rank)),
        (Arch::Compute(_), None) => Arch::default_rank(code),
        _ => None,
    };
    match candidates(bytes, arch, &rank, &BTreeSet::new()) {
        Ok(Candidates::Members(best)) => {
            best.into_values().map(|(_, member)| member.content.map(Cow::into_owned)).collect()
        }
        Ok(Candidates::Module(_)) | Err(Error::NotForArch { .. } | Error::NoCandidate { .. }) => {
            Ok(vec![])
        }
        Err(error) => Err(error),
    }
}

/// The candidates of a file: the best member of each unit.
enum Candidates {
    Module(Box<Module>),
    Members(BTreeMap<Unit, (Rank, Member<'static>)>),
}

/// Returns the candidates, except members that were refused.
fn candidates(
    bytes: &[u8],
    arch: Option<Arch>,
    rank: &dyn Fn(Arch) -> Option<Rank>,
    refused: &BTreeSet<(Unit, u64)>,
) -> Result<Candidates, Error> {
    let mut found = Found::default();
    let mut best: BTreeMap<Unit, (Rank, Member<'static>)> = BTreeMap::new();
    match File::read(bytes)? {
        File::Module(module) => {
            if arch.is_none_or(|gpu| gpu.takes(&module)) {
                return Ok(Candidates::Module(module));
            }
            found.add(module.isa.to_string());
        }
        File::Container(format) => {
            visit(bytes, format, &|code| rank(code).is_some(), &mut |member| {
                found.add(member.label.clone());
                if let Some(rank) = member.arch.and_then(rank)
                    && best.get(&member.unit).is_none_or(|(held, _)| *held < rank)
                    && !refused.contains(&(member.unit, member.offset))
                {
                    best.insert(member.unit, (rank, member.into_owned()));
                }
            })?
        }
    }
    if best.is_empty() {
        let found = found.to_string();
        return Err(match arch {
            Some(arch) => Error::NotForArch { arch, found },
            None => Error::NoCandidate { found },
        });
    }
    Ok(Candidates::Members(best))
}

/// Shows each module that warploom runs, whatever its GPU, with its name in messages.
pub fn each_module(
    bytes: &[u8],
    show: &mut dyn FnMut(&str, Result<Module, Error>),
) -> Result<(), Error> {
    match File::read(bytes)? {
        File::Module(module) => {
            show(&module.isa.to_string(), Ok(*module));
            Ok(())
        }
        File::Container(format) => visit(bytes, format, &|_| true, &mut |member| {
            if member.arch.is_some() {
                let label = member.label.clone();
                show(&label, member.module());
            }
        }),
    }
}

/// The rank of a member: greater is better.
type Rank = (usize, u32);

/// A file as it is read.
enum File {
    Module(Box<Module>),
    /// A container of members for several GPUs.
    Container(Format),
}

impl File {
    fn read(bytes: &[u8]) -> Result<File, Error> {
        let unrecognised = || match foreign_kind(bytes) {
            Some(foreign) => Error::Foreign(foreign),
            None => Error::Unrecognised { start: bytes.iter().take(16).copied().collect() },
        };
        let module = match recognise(bytes).ok_or_else(unrecognised)? {
            Format::Cubin => cubin::parse(bytes)?,
            Format::Hsaco => hsaco::parse(bytes)?,
            Format::Ptx => ptx::parse(bytes)?,
            Format::Zebin => visa::parse_zebin(bytes)?,
            Format::VisaText => visa::parse_text(bytes)?,
            Format::VisaBinary => visa::parse_binary(bytes)?,
            Format::AmdOpenCl => hsaco::opencl::parse(bytes)?,
            Format::MaxwellShader => sph::parse(bytes)?,
            format @ (Format::Assembly | Format::Ir) => text::parse(bytes, format)?,
            format @ (Format::FatBinary | Format::OffloadBundle) => {
                return Ok(File::Container(format));
            }
            Format::HostElf => {
                let mut empty = true;
                visit(bytes, Format::HostElf, &|_| false, &mut |_| empty = false)?;
                return if empty {
                    Err(unrecognised())
                } else {
                    Ok(File::Container(Format::HostElf))
                };
            }
        };
        Ok(File::Module(Box::new(module)))
    }
}

/// A fat binary or an offload bundle with its number: one of its members is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    FatBinary(usize),
    Bundle(usize),
}

/// Code for one GPU in a container.
struct Member<'a> {
    unit: Unit,
    /// The name in messages, and the offset.
    label: String,
    offset: u64,
    /// The GPU. `None`: the member is nothing that warploom runs.
    arch: Option<Arch>,
    /// The content. It is empty in a member for a GPU that is not wanted.
    content: Result<Cow<'a, [u8]>, Error>,
}

impl Member<'_> {
    fn into_owned(self) -> Member<'static> {
        Member { content: self.content.map(|content| Cow::Owned(content.into_owned())), ..self }
    }

    fn module(self) -> Result<Module, Error> {
        let parsed = self.content.and_then(|content| match self.unit {
            Unit::FatBinary(_) if recognise(&content) == Some(Format::Ptx) => ptx::parse(&content),
            Unit::FatBinary(_) => cubin::parse(&content),
            Unit::Bundle(_) => hsaco::parse(&content),
        });
        parsed.map_err(|source| Error::Member {
            member: self.label,
            offset: self.offset,
            source: Box::new(source),
        })
    }
}

/// Shows the members of a container, nested ones included. `wanted` selects the GPUs.
fn visit(
    bytes: &[u8],
    format: Format,
    wanted: &dyn Fn(Arch) -> bool,
    show: &mut dyn FnMut(Member<'_>),
) -> Result<(), Error> {
    let said = |member: &fatbin::Member<'_>| match member.kind {
        fatbin::MemberKind::Cubin => Some(Format::Cubin),
        fatbin::MemberKind::Ptx => Some(Format::Ptx),
        _ => None,
    };
    let arch = |member: &fatbin::Member<'_>, format| match format {
        Format::Cubin => {
            format!("sm_{}", member.arch).parse().ok().filter(|&arch| Arch::runs(arch))
        }
        Format::Ptx => Some(Arch::Compute(member.arch)),
        _ => None,
    };
    let unpacks = |member: &fatbin::Member<'_>| {
        said(member).is_none_or(|format| arch(member, format).is_some_and(wanted))
    };
    fatbin::visit(bytes, format, &unpacks, &mut |visited| {
        let member = visited.member;
        let format = match &visited.content {
            Some(Ok(content)) => recognise(content),
            Some(Err(_)) | None => said(member),
        };
        show(Member {
            unit: Unit::FatBinary(visited.unit),
            label: member.label(),
            offset: member.offset,
            arch: format.and_then(|format| arch(member, format)),
            content: visited.content.unwrap_or(Ok(Cow::Borrowed(&[]))),
        });
    })?;
    for (number, bundle) in hsaco::bundle::bundles(bytes, format)?.into_iter().enumerate() {
        for entry in bundle.entries {
            let is_code = recognise(&entry.content) == Some(Format::Hsaco);
            show(Member {
                unit: Unit::Bundle(number),
                arch: entry.target_id().parse().ok().filter(|_| is_code),
                label: entry.id,
                offset: entry.offset,
                content: Ok(entry.content),
            });
        }
    }
    Ok(())
}

/// The labels of members for messages, each once.
#[derive(Default)]
struct Found(Vec<String>);

impl Found {
    fn add(&mut self, label: String) {
        if self.0.len() <= MAX_LISTED && !self.0.contains(&label) {
            self.0.push(label);
        }
    }
}

/// The most members that a message names.
const MAX_LISTED: usize = 12;

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.get(..MAX_LISTED) {
            Some(first) if first.len() < self.0.len() => write!(f, "{}, ...", first.join(", ")),
            _ if self.0.is_empty() => f.write_str("nothing"),
            _ => f.write_str(&self.0.join(", ")),
        }
    }
}
