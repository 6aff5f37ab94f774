//! Launches written as manifests that `warploom run` replays (`WARPLOOM_CAPTURE=DIR`), and what the process leaves for `warploom cuda`.
//!
//! A launch's buffers are the pages of the allocations that its parameters point into, and of those that these point into in turn, at
//! their own addresses: so pointers in structures and memory stay right. They are copied before and after the launch; every call waits for its
//! work while launches are captured, so that nothing else changes them meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use regex_lite::Regex;
use warploom::capture::manifest::{self, Manifest};
use warploom::capture::{Array, Dtype, write};
use warploom::container::Arch;
use warploom::exec::{Arg, LaunchOptions, LaunchOutcome};
use warploom::summary::{self, Summary};

use crate::allocations;
use crate::driver;
use crate::launch::Launch;
use crate::texture;

/// Manifests place buffers at multiples of this.
const PAGE: u64 = 64 << 10;
/// How far pointers in buffers are followed: parameters point to what is 0 steps away.
const STEPS: usize = 2;
const DEFAULT_MAX_BYTES: u64 = 256 << 20;

/// Which launches are written, and where.
pub struct Settings {
    folder: PathBuf,
    kernel: Option<Regex>,
    nth: Option<u64>,
    max_bytes: u64,
}

impl Settings {
    /// What the environment says; settings that are wrong are told of, and none of it is done.
    pub fn from_environment() -> Option<Settings> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let folder = PathBuf::from(variable("WARPLOOM_CAPTURE")?);
        let number = |name| {
            variable(name).map(|value| value.parse::<u64>().map_err(|_| format!("{name}={value}: expected a number")))
        };
        let read = || -> Result<Settings, String> {
            let kernel =
                variable("WARPLOOM_CAPTURE_KERNEL").map(|pattern| Regex::new(&pattern).map_err(|e| e.to_string()));
            Ok(Settings {
                kernel: kernel.transpose()?,
                nth: number("WARPLOOM_CAPTURE_NTH").transpose()?,
                max_bytes: number("WARPLOOM_CAPTURE_MAX_BYTES").transpose()?.unwrap_or(DEFAULT_MAX_BYTES),
                folder: folder.clone(),
            })
        };
        read().map_err(|message| eprintln!("warploom: nothing is captured: {message}")).ok()
    }
}

/// What this process has done so far.
static DONE: Mutex<Option<Summary>> = Mutex::new(None);

fn done() -> MutexGuard<'static, Option<Summary>> {
    DONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds to what this process has done.
pub fn note(add: impl FnOnce(&mut Summary)) {
    add(done().get_or_insert_default());
}

/// Notes one launch.
pub fn launched(name: &str, took: Duration, fault: Option<String>) {
    note(|summary| {
        if !summary.kernels.contains_key(name) {
            summary.kernels.insert(name.to_string(), Default::default());
        }
        let kernel = summary.kernels.get_mut(name).expect("it was just put in");
        kernel.launches += 1;
        kernel.ns += took.as_nanos() as u64;
        summary.faults.extend(fault);
    });
}

/// Leaves what the process has done for `warploom cuda`, if that asked for it.
pub fn leave_summary() {
    let (Some(folder), Some(mut summary)) = (std::env::var_os(summary::VARIABLE), done().take()) else { return };
    summary.device = format!("sm_{}", driver::get().profile.sm);
    let path = Path::new(&folder).join(format!("{}.json", std::process::id()));
    // Nobody is there any more to be told of an error.
    let _ = serde_json::to_vec(&summary).map(|text| std::fs::write(path, text));
}

/// Memory of a launch as it was before: pages by their address.
pub struct Before<'a> {
    launch: &'a Launch,
    name: String,
    settings: &'static Settings,
    pages: Vec<(u64, Vec<u8>)>,
    symbols: Vec<(String, u64, Vec<u8>)>,
    images: Option<texture::Content>,
}

impl<'a> Before<'a> {
    /// Copies what the launch may use, if it is to be captured.
    pub fn of(launch: &'a Launch) -> Option<Before<'a>> {
        let settings = driver::get().capture.as_ref()?;
        let name = &launch.function.code().name;
        if settings.kernel.as_ref().is_some_and(|kernel| !kernel.is_match(name)) {
            return None;
        }
        let count = number_of(name);
        if settings.nth.is_some_and(|nth| nth != count) {
            return None;
        }
        let label = format!("{name}, launch {count}");
        let cannot = |why: String| note(|summary| summary.not_captured.push(format!("{label}: {why}")));
        if launch.function.library.has_images() {
            cannot("its module has references of textures or surfaces".into());
            return None;
        }
        let named = |arg: &Arg| arg.as_bytes().is_some_and(texture::is_named_in);
        let images = if launch.args.iter().any(named) { texture::content() } else { None };
        let ranges = ranges(launch, images.iter().flat_map(|images| &images.memory));
        let bytes: u64 = ranges.iter().map(|(start, end)| end - start).sum();
        if bytes > settings.max_bytes {
            cannot(format!("its buffers have {bytes} bytes, more than {}", settings.max_bytes));
            return None;
        }
        let symbols = variables(launch);
        let pages = ranges.iter().map(|&(start, end)| (start, content(start, end - start))).collect();
        Some(Before { launch, name: file_name(name, count), settings, pages, symbols, images })
    }

    /// Writes the launch with what it came to. Faults leave nothing to compare with.
    pub fn write(self, outcome: &LaunchOutcome, options: &LaunchOptions) {
        let name = self.name.clone();
        match self.files(outcome, options) {
            Ok(()) => note(|summary| summary.captured += 1),
            Err(error) => note(|summary| summary.not_captured.push(format!("{name}: {error}"))),
        }
    }

    fn files(self, outcome: &LaunchOutcome, options: &LaunchOptions) -> Result<(), warploom::capture::Error> {
        let folder = &self.settings.folder;
        let save = |name: &str, bytes: Vec<u8>| -> Result<PathBuf, warploom::capture::Error> {
            let file = format!("{}.{name}.npy", self.name);
            write::array(&folder.join(&file), &Array::flat(Dtype::U8, bytes))?;
            Ok(PathBuf::from(file))
        };
        let is_good = outcome.fault.is_none();
        let mut buffers = BTreeMap::new();
        for (n, (address, before)) in self.pages.iter().enumerate() {
            let name = format!("memory{n}");
            let after = content(*address, before.len() as u64);
            let file = save(&name, before.clone())?;
            let expect = if !is_good {
                None
            } else if after == *before {
                Some(file.clone())
            } else {
                Some(save(&format!("{name}.expected"), after)?)
            };
            let address = Some(format!("{address:#x}").into());
            buffers.insert(name, manifest::Buffer { file: Some(file), address, expect, ..Default::default() });
        }
        let mut symbols = BTreeMap::new();
        for (name, address, before) in &self.symbols {
            let after = content(*address, before.len() as u64);
            let file = save(name, before.clone())?;
            let expect =
                if is_good && after != *before { Some(save(&format!("{name}.expected"), after)?) } else { None };
            symbols.insert(name.clone(), manifest::Symbol { file: Some(file), expect, ..Default::default() });
        }
        let mut printf = manifest::Printf { bytes: Some(options.printf_bytes as u64), ..Default::default() };
        if is_good && !outcome.printed.text.is_empty() {
            let file = format!("{}.printed.txt", self.name);
            write::file(&folder.join(&file), |into| into.write_all(&outcome.printed.text))?;
            printf.expect = Some(file.into());
        }
        let save_raw = |name: &str, bytes: &[u8]| -> Result<PathBuf, warploom::capture::Error> {
            let file = format!("{}.{name}.bin", self.name);
            write::file(&folder.join(&file), |into| into.write_all(bytes))?;
            Ok(file.into())
        };
        let pool = |images: &texture::Content| -> Result<manifest::ImagePool, warploom::capture::Error> {
            let (headers, samplers) = (save_raw("headers", &images.headers)?, save_raw("samplers", &images.samplers)?);
            Ok(manifest::ImagePool { headers, samplers: Some(samplers) })
        };
        let image_pool = self.images.as_ref().map(pool).transpose()?;
        let manifest = Manifest {
            kernel: self.kernel(folder)?,
            launch: manifest::Launch {
                grid: self.launch.grid,
                block: self.launch.block,
                shared_bytes: self.launch.shared,
                stack_bytes: options.stack_bytes,
                heap_bytes: Some(options.heap_bytes),
                cooperative: self.launch.cooperative,
                instruction_limit: options.instruction_limit,
                time_limit: None,
            },
            args: self.launch.args.iter().map(|arg| argument(arg.as_bytes().unwrap_or_default())).collect(),
            buffers,
            image_pool,
            symbols,
            printf,
            ..Manifest::default()
        };
        write::manifest(&folder.join(format!("{}.toml", self.name)), &manifest)
    }

    /// The module's image, which all its launches share.
    fn kernel(&self, folder: &Path) -> Result<manifest::Kernel, warploom::capture::Error> {
        let image = self.launch.function.library.source();
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
            entry: Some(self.launch.function.code().name.clone()),
            arch: image.is_container().then(|| Arch::Sm(driver::get().profile.sm)),
            ..manifest::Kernel::default()
        })
    }
}

/// How often a kernel of this name was launched, this time included.
fn number_of(name: &str) -> u64 {
    static COUNTS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = counts.entry(name.to_string()).or_default();
    *count += 1;
    *count
}

/// Names of kernels may be long, and have characters that are not for files.
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
        [a, b, c, d] => manifest::Arg::Number(Dtype::U32, i64::from(u32::from_le_bytes([a, b, c, d])).into()),
        _ => manifest::Arg::Bytes(hex),
    }
}

/// Memory as it is; what is not there is 0.
fn content(address: u64, bytes: u64) -> Vec<u8> {
    let mut content = vec![0; bytes as usize];
    if driver::memory().read(address, &mut content).is_ok() {
        return content;
    }
    for (n, part) in content.chunks_mut(4096).enumerate() {
        let _ = driver::memory().read(address + 4096 * n as u64, part);
    }
    content
}

/// Ranges of whole pages with all allocations that the launch can reach, and the memory of its images, in order and apart.
fn ranges<'a>(launch: &Launch, images: impl Iterator<Item = &'a (u64, u64)>) -> Vec<(u64, u64)> {
    let mut found: BTreeMap<u64, u64> = images.copied().collect();
    let mut look: Vec<Vec<u8>> = launch.args.iter().filter_map(|arg| arg.as_bytes().map(<[u8]>::to_vec)).collect();
    for _ in 0..STEPS {
        let mut starts = BTreeSet::new();
        for bytes in &look {
            for word in bytes.chunks_exact(8) {
                let address = u64::from_le_bytes(word.try_into().expect("eight bytes"));
                if let Some(allocation) = allocations::find(address)
                    && !found.contains_key(&allocation.address)
                {
                    starts.insert(allocation.address);
                    found.insert(allocation.address, allocation.bytes);
                }
            }
        }
        look = starts.iter().map(|start| content(*start, found[start])).collect();
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

/// The module's variables with their content.
fn variables(launch: &Launch) -> Vec<(String, u64, Vec<u8>)> {
    let program = &launch.function.program;
    let named = program.module().symbols.iter().map(|symbol| &symbol.name).collect::<BTreeSet<_>>();
    let variable = |name: &String| {
        let variable = program.variable(name).ok().filter(|variable| variable.size > 0)?;
        Some((name.clone(), variable.address, content(variable.address, variable.size)))
    };
    named.into_iter().filter_map(variable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_numbers_where_they_can_be() {
        assert_eq!(argument(&[1, 0, 0, 0]), manifest::Arg::Number(Dtype::U32, 1.into()));
        assert_eq!(argument(&[0xff; 8]), manifest::Arg::Number(Dtype::U64, "0xffffffffffffffff".into()));
        assert_eq!(argument(&[1, 2, 3]), manifest::Arg::Bytes("010203".into()));
    }

    #[test]
    fn names_of_files_are_plain() {
        let name = file_name("void f<int>(int*)", 3);
        assert!(name.starts_with("void-f-int--int--.") && name.ends_with("-3"), "{name}");
    }
}
