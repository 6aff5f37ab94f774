//! Writes files whole or not at all: under another name first, then renamed.
//!
//! Devices and pipes, which nobody may replace, are written to directly.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::array::Array;
use super::manifest::Manifest;
use super::{Error, npy};

/// Writes a file, or the target of a link at `path`, by means of `fill`.
pub fn file(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Error> {
    let write = || -> std::io::Result<()> {
        let fill = |file: &mut std::fs::File| {
            let mut buffered = std::io::BufWriter::new(file);
            fill(&mut buffered)?;
            buffered.flush()
        };
        if is_special(path) {
            return fill(&mut std::fs::OpenOptions::new().write(true).open(path)?);
        }
        let path = &behind_links(path);
        let mut temporary = beside(path)?;
        fill(temporary.as_file_mut())?;
        make_readable(temporary.as_file())?;
        temporary.persist(path).map_err(|e| e.error)?;
        Ok(())
    };
    write().map_err(|e| Error::io(path, "written", e))
}

/// Checks whether [`file()`] could write a file, as far as can be told now.
///
/// Long operations check before they begin.
pub fn check(path: &Path) -> Result<(), Error> {
    let check = match path {
        _ if is_special(path) => Ok(()),
        _ if path.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        _ => beside(&behind_links(path)).map(drop),
    };
    check.map_err(|e| Error::io(path, "written", e))
}

/// Tells whether something exists here that is neither a file nor a folder.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

fn behind_links(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.into())
}

/// Creates a temporary file in the folder of `path`.
fn beside(path: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(
        path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")),
    )
}

/// Gives a file the permissions of an ordinary file: a temporary file is only its owner's.
#[cfg(unix)]
fn make_readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

/// Writes an array as `.npy`.
pub fn array(path: &Path, array: &Array) -> Result<(), Error> {
    file(path, |into| npy::write(array, into))
}

/// Writes a manifest.
pub fn manifest(path: &Path, manifest: &Manifest) -> Result<(), Error> {
    let text = manifest.to_text().map_err(|e| Error::Toml {
        path: path.to_path_buf(),
        message: format!("cannot be written: {e}"),
    })?;
    file(path, |into| into.write_all(text.as_bytes()))
}
