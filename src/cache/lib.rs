//! Compiled code kept on disk: a program that starts again needs no translation.
//!
//! There is one file for each region of a kernel and each effort. The file's name is a digest of
//! everything that the code depends on, so that an entry never has to be replaced. The checksum
//! covers the name. Files are written under another name and then renamed, so that processes may
//! share a folder. Anybody who can write a file there can make this process run its code. The
//! folder and its files must therefore belong to the user, and no other user may write them.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use warploom_engine::object::Object;
use warploom_engine::{CodeStore, Effort, JitError, Pieces, Program};

/// The environment variable with the folder, or `off`.
pub const FOLDER: &str = "WARPLOOM_CACHE";
/// The environment variable with the folder's limit, in MiB.
pub const SIZE: &str = "WARPLOOM_CACHE_SIZE";

const DEFAULT_MIB: u64 = 1024;
const MAGIC: &[u8; 16] = b"warploom code 1\n";
const DIGEST: usize = 32;
const EXTENSION: &str = "code";
/// The extension of a temporary file, which a killed process may leave.
const UNFINISHED: &str = "new";
/// The most bytes of an entry. A larger file is not ours.
const MAX_FILE: u64 = 1 << 28;
/// The least time between updates of an entry's time. Reading an entry makes it newer than other
/// entries.
const TOUCHED: Duration = Duration::from_secs(3600);

/// The key of a translation. It stands for the function, the launches, the host and the state of
/// the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key([u8; DIGEST]);

impl Key {
    /// Returns the key of a program; the text has everything that its code depends on.
    fn of_program(text: &str) -> Key {
        Key(digest([text.as_bytes()]))
    }

    /// Returns the key of a part of this program.
    fn of_region(self, region: usize, effort: Effort) -> Key {
        Key(digest([&self.0, format!("{region} {}", effort.name()).as_bytes()]))
    }

    fn file_name(self) -> String {
        let hex: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{hex}.{EXTENSION}")
    }
}

/// Returns the contents of the file of code.
fn to_bytes(object: &Object, key: Key) -> Vec<u8> {
    let payload = postcard::to_stdvec(object).expect("code has nothing that cannot be written");
    sealed(key, &payload)
}

/// Returns the code of a file, or `None` if the file is damaged or belongs to another key.
fn from_bytes(key: Key, file: &[u8]) -> Option<Object> {
    let (sum, payload) = file.strip_prefix(MAGIC)?.split_at_checked(DIGEST)?;
    if sum != digest([&key.0, payload]) {
        return None;
    }
    let (object, rest) = postcard::take_from_bytes(payload).ok()?;
    rest.is_empty().then_some(object)
}

/// Returns a file with any payload.
fn sealed(key: Key, payload: &[u8]) -> Vec<u8> {
    [&MAGIC[..], &digest([&key.0, payload]), payload].concat()
}

/// A reader of an entry's file, for tests and fuzzing. The entry is the quick code of a program's
/// first region.
pub struct Reader<'p> {
    program: &'p Program,
    key: Key,
}

impl<'p> Reader<'p> {
    /// # Errors
    /// There is no code generator for this host.
    pub fn new(program: &'p Program) -> Result<Reader<'p>, JitError> {
        Ok(Reader {
            program,
            key: Key::of_program(&program.identity()?).of_region(0, Effort::Quick),
        })
    }

    /// Returns the file that would be written.
    ///
    /// # Errors
    /// The region cannot be compiled.
    pub fn file(&self) -> Result<Vec<u8>, JitError> {
        Ok(to_bytes(&self.program.compile_region(0, Effort::Quick)?, self.key))
    }

    /// Returns a file with this payload and its checksum.
    pub fn sealed(&self, payload: &[u8]) -> Vec<u8> {
        sealed(self.key, payload)
    }

    /// Returns the payload of a file.
    pub fn payload(file: &[u8]) -> &[u8] {
        file.get(MAGIC.len() + DIGEST..).unwrap_or_default()
    }

    /// Returns whether a file would be taken. Its code is placed, and not run.
    pub fn takes(&self, file: &[u8]) -> bool {
        from_bytes(self.key, file).is_some_and(|object| self.program.takes(&object))
    }
}

/// Returns the digest of consecutive parts.
fn digest<const N: usize>(parts: [&[u8]; N]) -> [u8; DIGEST] {
    let mut digest = Sha256::new();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize().into()
}

/// A folder with compiled code.
pub struct Cache {
    folder: PathBuf,
    max_bytes: u64,
    /// The number of bytes in the folder, roughly: other processes add to them.
    bytes: OnceLock<AtomicU64>,
    complain: fn(&str),
}

/// The number of entries and bytes of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    pub entries: u64,
    pub bytes: u64,
}

impl Contents {
    /// Adds a file, if it is an entry.
    fn with(self, file: &Found) -> Contents {
        let (entries, bytes) = if file.is_entry { (1, file.bytes) } else { (0, 0) };
        Contents { entries: self.entries + entries, bytes: self.bytes + bytes }
    }
}

/// A file of the cache.
struct Found {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
    is_entry: bool,
}

impl Cache {
    /// Returns the cache that the environment asks for. Returns `None` if the environment says
    /// `off`, if there is neither a named folder nor a folder for the user's caches, or if the
    /// folder cannot be used. `complain` is called with the reason, and with problems of files.
    pub fn of_environment(complain: fn(&str)) -> Option<Arc<Cache>> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = match variable(FOLDER) {
            Some(value) if value == "off" => return None,
            Some(folder) => folder.into(),
            None => {
                let home = || variable("HOME").map(|home| Path::new(&home).join(".cache"));
                let caches =
                    variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
                caches.or_else(home)?.join("warploom")
            }
        };
        let mib = variable(SIZE).and_then(|value| {
            let mib = value.to_str().and_then(|text| text.parse::<u64>().ok());
            if mib.is_none() {
                complain(&format!("{SIZE}={}: expected a number of MiB", value.display()));
            }
            mib
        });
        let mib = mib.unwrap_or(DEFAULT_MIB);
        let cache = Cache::open(&folder, mib.saturating_mul(1 << 20), complain);
        let problem = |error| complain(&format!("no code is kept: {}: {error}", folder.display()));
        cache.map_err(problem).ok().map(Arc::new)
    }

    /// Opens a folder for at most `max_bytes` bytes. Makes the folder if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be made or read, or belongs to someone else, or others may write to it.
    pub fn open(folder: &Path, max_bytes: u64, complain: fn(&str)) -> io::Result<Cache> {
        make_private(folder)?;
        let there = fs::metadata(folder)?;
        if !there.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        if let Some(problem) = foreign(&there) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
        }
        Ok(Cache { folder: folder.into(), max_bytes, bytes: OnceLock::new(), complain })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the most bytes that the cache may hold.
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// # Errors
    /// The folder cannot be read.
    pub fn contents(&self) -> io::Result<Contents> {
        Ok(self.files()?.iter().fold(Contents::default(), Contents::with))
    }

    /// Removes all entries, and files that killed processes left. Returns the removed contents.
    ///
    /// # Errors
    /// The folder cannot be read, or a file in it cannot be removed.
    pub fn clear(&self) -> io::Result<Contents> {
        let mut removed = Contents::default();
        for file in self.files()? {
            remove(&file.path)?;
            removed = removed.with(&file);
        }
        Ok(removed)
    }

    /// Returns the files whose names are ours.
    fn files(&self) -> io::Result<Vec<Found>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let is_entry = path.extension().is_some_and(|extension| extension == EXTENSION);
            if !is_entry && path.extension().is_none_or(|extension| extension != UNFINISHED) {
                continue;
            }
            // Another process may have removed the file.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if metadata.is_file() {
                files.push(Found {
                    path,
                    bytes: metadata.len(),
                    used: metadata.modified()?,
                    is_entry,
                });
            }
        }
        Ok(files)
    }

    /// Returns the code of a key, if it is there.
    fn load(&self, key: Key) -> Option<Object> {
        let file = match read(&self.path(key)) {
            Ok(file) => file,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    self.reject(key, &error.to_string());
                }
                return None;
            }
        };
        let object = from_bytes(key, &file);
        if object.is_none() {
            self.reject(key, "it is damaged");
        }
        object
    }

    /// Reports that an entry could not be used.
    fn reject(&self, key: Key, problem: &str) {
        (self.complain)(&format!("kept code is ignored: {}: {problem}", self.path(key).display()));
    }

    fn path(&self, key: Key) -> PathBuf {
        self.folder.join(key.file_name())
    }

    /// Keeps code. Code that cannot be written is not kept.
    fn store(&self, key: Key, object: &Object) {
        let bytes = to_bytes(object, key);
        if bytes.len() as u64 > self.max_bytes.min(MAX_FILE) {
            return;
        }
        let before = self
            .bytes
            .get_or_init(|| AtomicU64::new(self.contents().map_or(0, |there| there.bytes)));
        let stored = self.write(&self.path(key), &bytes).and_then(|()| {
            let all = before.fetch_add(bytes.len() as u64, Relaxed) + bytes.len() as u64;
            if all > self.max_bytes { self.trim() } else { Ok(()) }
        });
        if let Err(error) = stored {
            tracing::warn!("code is not kept: {}: {error}", self.folder.display());
        }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let suffix = format!(".{UNFINISHED}");
        let mut temporary = tempfile::Builder::new().suffix(&suffix).tempfile_in(&self.folder)?;
        temporary.write_all(bytes)?;
        temporary.persist(path).map(drop).map_err(|error| error.error)
    }

    /// Removes the least recently used entries, so that a quarter is free.
    fn trim(&self) -> io::Result<()> {
        let mut files = self.files()?;
        files.sort_by_key(|file| file.used);
        let mut left: u64 = files.iter().map(|file| file.bytes).sum();
        for file in files {
            if left <= self.max_bytes / 4 * 3 {
                break;
            }
            remove(&file.path)?;
            left -= file.bytes;
        }
        if let Some(bytes) = self.bytes.get() {
            bytes.store(left, Relaxed);
        }
        Ok(())
    }
}

// SAFETY: a file has the digest of its key and content. The file and its folder belong to this
// user, and no other user can write them. The key is a digest of the text, the region and the
// effort.
unsafe impl CodeStore for Cache {
    fn of_program(self: Arc<Self>, text: &str) -> Box<dyn Pieces> {
        Box::new(OfProgram { key: Key::of_program(text), cache: self })
    }
}

/// The code of one program in a folder.
struct OfProgram {
    cache: Arc<Cache>,
    key: Key,
}

impl Pieces for OfProgram {
    fn load(&self, region: usize, effort: Effort) -> Option<Object> {
        self.cache.load(self.key.of_region(region, effort))
    }

    fn store(&self, region: usize, effort: Effort, object: &Object) {
        self.cache.store(self.key.of_region(region, effort), object);
    }

    fn reject(&self, region: usize, effort: Effort, problem: &str) {
        self.cache.reject(self.key.of_region(region, effort), problem);
    }
}

/// Removes a file, unless another process has removed it.
fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
        .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let problem = match metadata.len() {
        _ if !metadata.is_file() => Some("it is no file"),
        length if length > MAX_FILE => Some("it is too large"),
        _ => foreign(&metadata),
    };
    if let Some(problem) = problem {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    let now = SystemTime::now();
    let is_stale = metadata
        .modified()
        .is_ok_and(|used| now.duration_since(used).is_ok_and(|age| age > TOUCHED));
    if is_stale {
        // If this fails, the entry is among the first to be removed.
        let _ = file.set_modified(now);
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    file.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes a folder and its parents, which only this user may enter.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns the reason why another user could have written the file.
#[cfg(unix)]
fn foreign(metadata: &fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        Some("it belongs to another user")
    } else if metadata.mode() & 0o022 != 0 {
        Some("other users may write it")
    } else {
        None
    }
}

#[cfg(not(unix))]
fn foreign(_: &fs::Metadata) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {

    use warploom_engine::descriptions::Sites;
    use warploom_engine::object::Relocatable;

    use super::*;

    fn object() -> Object {
        let code = Relocatable { bytes: vec![0xc3; 100], alignment: 16, relocations: vec![] };
        Object { code, register_bytes: 64, sites: Sites::default() }
    }

    fn cache(folder: &Path, max_bytes: u64) -> Cache {
        Cache::open(folder, max_bytes, |problem| panic!("{problem}")).unwrap()
    }

    #[test]
    fn keys_tell_code_apart() {
        let key = Key::of_program("a");
        assert_eq!(key, Key::of_program("a"));
        assert_ne!(key, Key::of_program("b"));
        assert_ne!(key.of_region(0, Effort::Quick), key.of_region(1, Effort::Quick));
        assert_ne!(key.of_region(0, Effort::Quick), key.of_region(0, Effort::Full));
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let object = object();
        let any = Key::of_program("any");
        let key = |number| any.of_region(number, Effort::Quick);
        let bytes = to_bytes(&object, key(0)).len() as u64;
        let cache = cache(folder.path(), 4 * bytes);
        for number in 0..4 {
            cache.store(key(number), &object);
            let file = File::open(folder.path().join(key(number).file_name())).unwrap();
            file.set_modified(SystemTime::now() - TOUCHED * (10 - number as u32)).unwrap();
        }
        assert_eq!(cache.contents().unwrap(), Contents { entries: 4, bytes: 4 * bytes });
        // Reading makes the entry recently used.
        assert_eq!(cache.load(key(0)), Some(self::object()));
        cache.store(key(4), &object);
        assert_eq!(cache.contents().unwrap(), Contents { entries: 3, bytes: 3 * bytes });
        let left: Vec<bool> = (0..5).map(|number| cache.load(key(number)).is_some()).collect();
        assert_eq!(left, [true, false, false, true, true]);
        std::fs::write(folder.path().join("x.new"), "left by a process that was killed").unwrap();
        std::fs::write(folder.path().join("notes"), "not ours").unwrap();
        assert_eq!(cache.clear().unwrap(), Contents { entries: 3, bytes: 3 * bytes });
        let there: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(there, ["notes"]);
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path(), 10);
        cache.store(Key::of_program("any"), &object());
        assert_eq!(cache.contents().unwrap(), Contents::default());
    }
}
