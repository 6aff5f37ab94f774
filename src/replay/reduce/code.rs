//! The code of a kernel, in units that can go.

use std::ops::Range;
use std::path::{Path, PathBuf};

use warploom_container::{Format, Isa, Module, recognise};
use warploom_guest::platform::Platform;

use crate::{Error, Launch, Manifest, write};

/// The code of a launch.
pub enum Code {
    /// A text: PTX, vISA, assembly or the IR.
    Text { lines: Vec<String>, name: String, visa: Option<OfVisa> },
    /// A file with machine code.
    Machine { file: Vec<u8>, name: String, places: Vec<Range<usize>>, nop: Vec<u8> },
}

/// The facts of a zebin besides its text.
pub struct OfVisa {
    ze_info: Vec<u8>,
    platform: Option<Platform>,
}

/// The file beside a text of vISA.
const ZE_INFO: &str = "kernel.zeinfo";
/// NOP without a guard; scheduling words stay.
const MAXWELL_NOP: u64 = 0x50b0_0000_0007_0f00;
const TURING_NOP: u128 = 0x000f_c000_0000_0000_0000_0000_0000_7918;
/// `s_nop 0`.
const GFX9_NOP: u32 = 0xbf80_0000;

impl Code {
    /// Returns the code of a launch's binary.
    ///
    /// # Errors
    /// The binary is of a kind that cannot be taken apart.
    pub fn of(launch: &Launch) -> Result<Code, String> {
        let bytes = &launch.binary;
        let name = launch.binary_path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.into_owned();
        if launch.raw.is_some() && recognise(bytes).is_none() {
            return Ok(Code::of_stream(bytes.clone(), name));
        }
        let text = |text: &str, name: String, visa| Code::Text {
            lines: text.lines().map(str::to_owned).collect(),
            name,
            visa,
        };
        match recognise(bytes) {
            Some(Format::VisaText | Format::Assembly | Format::Ir) => {
                return Ok(text(&String::from_utf8_lossy(bytes), name, None));
            }
            Some(Format::Ptx | Format::Zebin | Format::Cubin | Format::Hsaco) => {}
            Some(Format::FatBinary | Format::OffloadBundle | Format::HostElf) => {
                return Err("a file with code for several GPUs: extract the code for one".into());
            }
            Some(other) => return Err(format!("a launch of a {other} cannot be reduced")),
            None => return Err("the binary is not recognised".into()),
        }
        let module = warploom::read_module(bytes, launch.entry.as_deref(), launch.arch)
            .map_err(|error| error.to_string())?;
        match module.isa {
            Isa::Ptx { .. } => {
                let ptx = module.ptx.as_ref().ok_or("PTX without a module")?;
                Ok(text(&warploom_ptx::text::print(&ptx.module), name, None))
            }
            Isa::Visa { platform } => {
                let visa = module.visa.as_ref().ok_or("vISA without a module")?;
                let ze_info =
                    warploom_container::ze_info(bytes).ok_or("a zebin without .ze_info")?;
                let printed = warploom_visa::text::print(&visa.module);
                let name = Path::new(&name).with_extension("visaasm");
                let name = name.to_string_lossy().into_owned();
                Ok(text(&printed, name, Some(OfVisa { ze_info, platform })))
            }
            _ => Code::of_machine(launch, &module, name),
        }
    }

    fn of_machine(launch: &Launch, module: &Module, name: String) -> Result<Code, String> {
        let file = launch.binary.clone();
        let wanted = launch.entry.as_deref();
        let kernel = module
            .kernels()
            .find(|(_, kernel)| wanted.is_none_or(|name| name == kernel.name))
            .map(|(_, kernel)| kernel)
            .ok_or("no such kernel")?;
        let range = warploom_container::code_in_file(&file, module, kernel)
            .ok_or("the kernel's code was not found in the file")?;
        let step =
            |bytes: usize| (range.start..range.end + 1 - bytes.min(range.end)).step_by(bytes);
        let (places, nop): (Vec<Range<usize>>, Vec<u8>) = match module.isa {
            Isa::Maxwell { .. } => {
                // Each fourth word schedules the three after it.
                let words = step(8).filter(|at| (at - range.start) % 32 != 0);
                (words.map(|at| at..at + 8).collect(), MAXWELL_NOP.to_le_bytes().into())
            }
            Isa::Turing { .. } => {
                (step(16).map(|at| at..at + 16).collect(), TURING_NOP.to_le_bytes().into())
            }
            _ => (words_of_gfx9(&file, range.clone()), GFX9_NOP.to_le_bytes().into()),
        };
        let inside = |place: &Range<usize>| place.end <= range.end;
        let places = places.into_iter().filter(inside).collect();
        Ok(Code::Machine { file, name, places, nop })
    }

    fn of_stream(file: Vec<u8>, name: String) -> Code {
        let places = words_of_gfx9(&file, 0..file.len());
        Code::Machine { file, name, places, nop: GFX9_NOP.to_le_bytes().into() }
    }

    pub fn units(&self) -> usize {
        match self {
            Code::Text { lines, .. } => lines.len(),
            Code::Machine { places, .. } => places.len(),
        }
    }

    /// Returns the binary with only some units.
    pub fn binary(&self, kept: &[bool]) -> Vec<u8> {
        match self {
            Code::Text { lines, .. } => {
                let lines = lines.iter().zip(kept).filter(|(_, kept)| **kept);
                lines.flat_map(|(line, _)| [line.as_bytes(), b"\n"].concat()).collect()
            }
            Code::Machine { file, places, nop, .. } => {
                let mut file = file.clone();
                for (place, _) in places.iter().zip(kept).filter(|(_, kept)| !**kept) {
                    for word in file[place.clone()].chunks_exact_mut(nop.len()) {
                        word.copy_from_slice(nop);
                    }
                }
                file
            }
        }
    }

    /// Returns the offsets of the units that are left in the kernel's machine code.
    pub fn offsets(&self, kept: &[bool]) -> Option<Vec<usize>> {
        let Code::Machine { places, .. } = self else { return None };
        let start = places.first()?.start;
        let left = places.iter().zip(kept).filter(|(_, kept)| **kept);
        Some(left.map(|(place, _)| place.start - start).collect())
    }

    pub fn file_name(&self) -> &str {
        match self {
            Code::Text { name, .. } | Code::Machine { name, .. } => name,
        }
    }

    fn visa(&self) -> Option<&OfVisa> {
        match self {
            Code::Text { visa, .. } => visa.as_ref(),
            Code::Machine { .. } => None,
        }
    }

    /// Puts what the text lacks into a manifest.
    pub fn describe(&self, manifest: &mut Manifest) {
        if let Some(visa) = self.visa() {
            manifest.kernel.platform = visa.platform.map(|platform| platform.name().to_owned());
        }
    }

    /// Puts what the text lacks into a launch.
    pub fn complete(&self, launch: &mut Launch) {
        if let Some(visa) = self.visa() {
            launch.ze_info = Some(visa.ze_info.clone());
            launch.platform = visa.platform;
        }
    }

    /// Writes further files of the code into a folder.
    pub fn write_beside(&self, folder: &Path) -> Result<Option<PathBuf>, Error> {
        let Some(visa) = self.visa() else { return Ok(None) };
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "made a folder", e))?;
        let path = folder.join(ZE_INFO);
        write::file(&path, |into| into.write_all(&visa.ze_info))?;
        Ok(Some(PathBuf::from(ZE_INFO)))
    }
}

/// Returns the places of GFX9's instructions.
fn words_of_gfx9(file: &[u8], range: Range<usize>) -> Vec<Range<usize>> {
    let mut places = vec![];
    let mut at = range.start;
    while at + 4 <= range.end {
        let instruction = warploom_gfx9::Instruction::decode(&file[at..range.end]);
        let bytes = instruction.map_or(4, |one| one.bytes() as usize);
        places.push(at..at + bytes);
        at += bytes;
    }
    places
}
