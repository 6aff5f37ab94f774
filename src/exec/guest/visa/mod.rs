//! Intel vISA: the payload of threads, from `.ze_info`, and tables of surfaces.

mod images;
mod payload;
mod print;

use rustc_hash::FxHashMap;
use warploom_container::visa::{VisaKernel, VisaModule};
use warploom_container::{Code, CodePlace, Function as ModuleFunction, Linked};
use warploom_guest::LiftError;
use warploom_guest::fidelity::Fidelity;
use warploom_guest::platform::Platform;
use warploom_ir::Function;
use warploom_runtime::memory::Memory;
use warploom_runtime::window::Windows;
use warploom_visa::lift::{self, Kernel};
use warploom_visa::module::Routine;
use warploom_visa::{binary, table, text};

use super::{Environment, Guest, Image, ImageDriver, Launching, Lifting, Placed, SourcePlace};
use crate::images::{ImageDescription, Sampler, Texture};
use crate::{Arg, Error, FidelityClass, ImagePool};

pub(super) struct Visa;

fn module(linked: &Linked) -> &VisaModule {
    linked.module().visa.as_deref().expect("a module of vISA has its routines")
}

fn kernel(function: &ModuleFunction) -> &VisaKernel {
    function.visa.as_deref().expect("a function of vISA has its routine")
}

/// Returns the GPU that code is for. If the text does not name it, the size of registers decides.
fn platform(module: &VisaModule) -> Platform {
    let by_size =
        if module.module.register_bytes() == 64 { Platform::Pvc } else { Platform::Tgllp };
    module.module.platform.unwrap_or(by_size)
}

/// Returns the addresses of functions and data by name.
fn symbols(linked: &Linked) -> FxHashMap<String, u64> {
    let all = linked.module().symbols.iter().enumerate();
    let address = |id: usize| linked.address(warploom_container::SymbolId(id));
    all.filter_map(|(id, symbol)| Some((symbol.name.clone(), address(id)?))).collect()
}

impl Guest for Visa {
    fn windows(&self) -> Windows {
        Windows::default()
    }

    fn lift(&self, lifting: &Lifting<'_>) -> Result<Function, LiftError> {
        let linked = lifting.linked;
        let (visa, of) = (module(linked), kernel(linked.module().function(lifting.kernel)));
        let (platform, symbols) = (platform(visa), symbols(linked));
        let payload =
            of.info.as_ref().map(|info| payload::layout(info, platform)).unwrap_or_default();
        let (module, routine) = (&visa.module, of.routine);
        let images = lifting.images;
        lift::lift_kernel(&Kernel {
            module,
            routine,
            platform,
            payload: &payload,
            images,
            symbols: &symbols,
        })
    }

    fn instruction(&self, code: &Code, pc: u64) -> Option<Placed> {
        if code.bytes.starts_with(&binary::MAGIC) {
            return in_binary(code, pc);
        }
        let rest = code.bytes.get(usize::try_from(pc).ok()?..).filter(|rest| !rest.is_empty())?;
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let line = String::from_utf8_lossy(&rest[..end]);
        let text = line
            .split("//")
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let opcode = if text.starts_with('(') {
            text.split_once(") ").map(|(_, rest)| rest)
        } else {
            Some(text.as_str())
        };
        let mnemonic =
            opcode.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default().to_owned();
        let next = pc + skip(&rest[end..]) as u64 + end as u64;
        let fidelity = table::with_name(&mnemonic).and_then(|(rows, _)| rows.first().copied());
        let fidelity = fidelity.map_or(Fidelity::Unimplemented, |row| row.fidelity);
        Some(Placed { pc, next, text, mnemonic, class: FidelityClass::from(fidelity) })
    }

    fn line(&self, linked: &Linked, place: &CodePlace) -> Option<SourcePlace> {
        let code = linked
            .module()
            .sections
            .first()
            .map(|section| section.data.as_slice())
            .unwrap_or_default();
        let before = code.get(..usize::try_from(place.offset).ok()?)?;
        let line = before.iter().filter(|&&byte| byte == b'\n').count() as u32 + 1;
        Some(SourcePlace { part: None, line: Some(line), source: None })
    }

    fn provides(&self, _: &str) -> bool {
        false
    }

    fn environment(&self, launch: &Launching<'_>) -> Result<Environment, Error> {
        payload::environment(launch)
    }

    fn images(&self) -> &dyn ImageDriver {
        self
    }
}

impl ImageDriver for Visa {
    fn image(
        &self,
        memory: &Memory,
        name: &str,
        description: &ImageDescription,
    ) -> Result<Image, Error> {
        images::image(memory, name, description)
    }

    fn image_argument(&self, _: &Memory, number: usize, _: &Image) -> Result<Arg, Error> {
        Ok(images::argument(number))
    }

    fn image_pool(
        &self,
        memory: &Memory,
        images: &[Image],
        _: &[Texture],
    ) -> Result<Option<ImagePool>, Error> {
        images::pool(memory, images)
    }

    fn sampler(&self, sampler: Sampler) -> Option<Vec<u32>> {
        Some(images::sampler_words(sampler))
    }
}

/// Returns an instruction of an old binary file.
fn in_binary(code: &Code, pc: u64) -> Option<Placed> {
    let routines = &code.visa.as_ref()?.module.routines;
    let of = |routine: &Routine| routine.code.binary_search_by_key(&pc, |insn| insn.at.into()).ok();
    let (routine, at) = routines.iter().find_map(|routine| Some((routine, of(routine)?)))?;
    let insn = &routine.code[at];
    let next = routine.code.get(at + 1).map_or(pc + 1, |next| next.at.into());
    let (text, mnemonic) = (text::instruction_text(routine, insn), insn.row.name.to_owned());
    Some(Placed { pc, next, text, mnemonic, class: FidelityClass::from(insn.row.fidelity) })
}

/// Returns the number of bytes up to the next line that has an instruction.
fn skip(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let line = &rest[blank..];
        let end = line.iter().position(|&byte| byte == b'\n').unwrap_or(line.len());
        let content =
            line[..end].split(|&byte| byte == b'/').next().unwrap_or_default().trim_ascii_end();
        let is_code = !content.is_empty() && !content.ends_with(b":") && !content.starts_with(b".");
        if is_code || line.is_empty() {
            return at + blank;
        }
        at += blank + end;
    }
}
