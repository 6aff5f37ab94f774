//! A launch as a manifest.
//!
//! Its buffers are pages of allocations: allocations that its parameters point into, and
//! allocations that the former point into. Buffers keep their addresses, so pointers in structures
//! and memory stay valid. The pages are copied before and after the launch. Calls wait for their
//! work meanwhile, so nothing else changes the pages.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use warploom_container::{Arch, Module};
use warploom_replay::manifest::{self, Manifest};
use warploom_replay::{Array, Dtype, write};

use super::{Choice, note};
use crate::image::Image;
use crate::texture;

/// The alignment of buffers in manifests.
const PAGE: u64 = 64 << 10;
/// The number of pointers in a row to follow, the parameter's own included.
const STEPS: usize = 2;

/// The memory of the driver that runs the launch.
pub trait Machine {
    /// Returns the start and bytes of the allocation that contains an address.
    fn find(&self, address: u64) -> Option<(u64, u64)>;
    /// Reads memory into zeros. Bytes that do not exist stay 0.
    fn read(&self, address: u64, into: &mut [u8]);

    fn content(&self, address: u64, bytes: u64) -> Vec<u8> {
        let mut content = vec![0; bytes as usize];
        self.read(address, &mut content);
        content
    }
}

/// The launch and its inputs.
pub struct Subject {
    /// The GPU whose driver chooses among code for several GPUs.
    pub arch: Option<Arch>,
    pub launch: manifest::Launch,
    pub args: Vec<Vec<u8>>,
    /// The module's variables: name, address, bytes.
    pub variables: Vec<(String, u64, u64)>,
    /// The textures and surfaces, and the handles that the module's variables stand for.
    pub images: Option<texture::Content>,
    pub image_variables: BTreeMap<String, u32>,
    /// The bytes of the `printf` buffer.
    pub printf_bytes: Option<u64>,
}
/// A launch to write, with its memory before the launch.
pub struct Before<'a, M> {
    machine: &'a M,
    subject: Subject,
    choice: Choice,
    pages: Vec<(u64, Vec<u8>)>,
    variables: Vec<Vec<u8>>,
}

impl<'a, M: Machine> Before<'a, M> {
    /// Copies the memory that the launch may use.
    pub fn of(choice: Choice, machine: &'a M, subject: Subject) -> Option<Before<'a, M>> {
        let ranges = ranges(machine, &subject);
        let bytes: u64 = ranges.iter().map(|(start, end)| end - start).sum();
        let most = choice.settings.max_bytes;
        if bytes > most {
            choice.cannot(format_args!("its buffers have {bytes} bytes, more than {most}"));
            return None;
        }
        let variables = subject
            .variables
            .iter()
            .map(|&(_, address, bytes)| machine.content(address, bytes))
            .collect();
        let pages = ranges
            .iter()
            .map(|&(start, end)| (start, machine.content(start, end - start)))
            .collect();
        Some(Before { machine, subject, choice, pages, variables })
    }

    /// Writes the launch with its results, and its output if known. A launch with a fault has no
    /// results to compare with.
    pub fn write(self, image: &Image, is_good: bool, printed: &[u8]) {
        match self.files(image, is_good, printed) {
            Ok(()) => note(|summary| summary.captured += 1),
            Err(error) => self.choice.cannot(error),
        }
    }

    fn files(
        &self,
        image: &Image,
        is_good: bool,
        printed: &[u8],
    ) -> Result<(), warploom_replay::Error> {
        let folder = &self.choice.settings.folder;
        let base = file_name(&self.choice.kernel, self.choice.count);
        let save = |name: &str, bytes: Vec<u8>| -> Result<PathBuf, warploom_replay::Error> {
            let file = format!("{base}.{name}.npy");
            write::array(&folder.join(&file), &Array::flat(Dtype::U8, bytes))?;
            Ok(PathBuf::from(file))
        };
        let mut buffers = BTreeMap::new();
        for (n, (address, before)) in self.pages.iter().enumerate() {
            let name = format!("memory{n}");
            let after = self.machine.content(*address, before.len() as u64);
            let file = save(&name, before.clone())?;
            let expect = if !is_good {
                None
            } else if after == *before {
                Some(file.clone())
            } else {
                Some(save(&format!("{name}.expected"), after)?)
            };
            let address = Some(format!("{address:#x}").into());
            buffers.insert(
                name,
                manifest::Buffer { file: Some(file), address, expect, ..Default::default() },
            );
        }
        let mut symbols = BTreeMap::new();
        for ((name, address, bytes), before) in self.subject.variables.iter().zip(&self.variables) {
            let after = self.machine.content(*address, *bytes);
            let file = save(name, before.clone())?;
            let expect = if is_good && after != *before {
                Some(save(&format!("{name}.expected"), after)?)
            } else {
                None
            };
            symbols.insert(
                name.clone(),
                manifest::Symbol { file: Some(file), expect, ..Default::default() },
            );
        }
        let mut printf =
            manifest::Printf { bytes: self.subject.printf_bytes, ..Default::default() };
        if is_good && !printed.is_empty() {
            let file = format!("{base}.printed.txt");
            write::file(&folder.join(&file), |into| into.write_all(printed))?;
            printf.expect = Some(file.into());
        }
        let save_raw = |name: &str, bytes: &[u8]| -> Result<PathBuf, warploom_replay::Error> {
            let file = format!("{base}.{name}.bin");
            write::file(&folder.join(&file), |into| into.write_all(bytes))?;
            Ok(file.into())
        };
        let pool =
            |images: &texture::Content| -> Result<manifest::ImagePool, warploom_replay::Error> {
                let (headers, samplers) = (
                    save_raw("headers", &images.headers)?,
                    save_raw("samplers", &images.samplers)?,
                );
                let variables = self.subject.image_variables.clone();
                Ok(manifest::ImagePool { headers, samplers: Some(samplers), variables })
            };
        let manifest = Manifest {
            kernel: self.kernel(image, folder)?,
            launch: self.subject.launch.clone(),
            args: self.subject.args.iter().map(|bytes| argument(bytes)).collect(),
            buffers,
            image_pool: self.subject.images.as_ref().map(pool).transpose()?,
            symbols,
            printf,
            ..Manifest::default()
        };
        write::manifest(&folder.join(format!("{base}.toml")), &manifest)
    }

    /// Writes the module's image, which all its launches share.
    fn kernel(
        &self,
        image: &Image,
        folder: &Path,
    ) -> Result<manifest::Kernel, warploom_replay::Error> {
        let mut files = image.files().into_iter().map(|bytes| {
            let mut hasher = std::hash::DefaultHasher::new();
            bytes.hash(&mut hasher);
            let name = PathBuf::from(format!("module-{:016x}.bin", hasher.finish()));
            let path = folder.join(&name);
            if !path.exists() {
                write::file(&path, |into| into.write_all(bytes))?;
            }
            Ok(name)
        });
        let binary = files.next().unwrap_or_else(|| Ok(PathBuf::new()))?;
        Ok(manifest::Kernel {
            binary,
            link: files.collect::<Result<_, _>>()?,
            entry: Some(self.choice.kernel.clone()),
            arch: self.subject.arch,
            ..manifest::Kernel::default()
        })
    }
}

/// Returns the names of a module's symbols, of which some are variables.
pub fn names(module: &Module) -> BTreeSet<&str> {
    module.symbols.iter().map(|symbol| symbol.name.as_str()).collect()
}

/// Returns the file name of a launch. Kernel names may be long, and have characters unfit for
/// files.
fn file_name(kernel: &str, count: u64) -> String {
    const LONGEST: usize = 80;
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let start: String = kernel.chars().take(LONGEST).map(plain).collect();
    format!("{start}.{}-{count}", std::process::id())
}

fn argument(bytes: &[u8]) -> manifest::Arg {
    let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match *bytes {
        [a, b, c, d, e, f, g, h] => {
            let value = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
            manifest::Arg::Number(Dtype::U64, format!("{value:#x}").into())
        }
        [a, b, c, d] => {
            manifest::Arg::Number(Dtype::U32, i64::from(u32::from_le_bytes([a, b, c, d])).into())
        }
        _ => manifest::Arg::Bytes(hex),
    }
}

/// Returns the ranges of pages with all allocations that the launch can reach, and the memory of
/// its images, sorted and disjoint.
fn ranges(machine: &impl Machine, subject: &Subject) -> Vec<(u64, u64)> {
    let mut found: BTreeMap<u64, u64> =
        subject.images.iter().flat_map(|images| images.memory.iter().copied()).collect();
    let mut look: Vec<Vec<u8>> = subject.args.clone();
    for _ in 0..STEPS {
        let mut starts = BTreeSet::new();
        for bytes in &look {
            for word in bytes.chunks_exact(8) {
                let address = u64::from_le_bytes(word.try_into().expect("eight bytes"));
                if let Some((start, bytes)) = machine.find(address)
                    && !found.contains_key(&start)
                {
                    starts.insert(start);
                    found.insert(start, bytes);
                }
            }
        }
        look = starts.iter().map(|start| machine.content(*start, found[start])).collect();
    }
    let mut ranges: Vec<(u64, u64)> = vec![];
    for (address, bytes) in found {
        let (start, end) = (address / PAGE * PAGE, (address + bytes.max(1)).next_multiple_of(PAGE));
        match ranges.last_mut() {
            Some((_, last)) if *last >= start => *last = end.max(*last),
            _ => ranges.push((start, end)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_numbers_where_they_can_be() {
        assert_eq!(argument(&[1, 0, 0, 0]), manifest::Arg::Number(Dtype::U32, 1.into()));
        assert_eq!(
            argument(&[0xff; 8]),
            manifest::Arg::Number(Dtype::U64, "0xffffffffffffffff".into())
        );
        assert_eq!(argument(&[1, 2, 3]), manifest::Arg::Bytes("010203".into()));
    }

    #[test]
    fn names_of_files_are_plain() {
        let name = file_name("void f<int>(int*)", 3);
        assert!(name.starts_with("void-f-int--int--.") && name.ends_with("-3"), "{name}");
    }
}
