//! Reads whole files.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read};
use std::path::Path;

use super::Error;

/// The most bytes read from anything but a regular file: a pipe or a device may never end.
const MOST_UNBOUNDED: u64 = 1 << 30;

/// Reads all bytes of a file.
pub fn file(path: &Path) -> Result<Vec<u8>, Error> {
    let read = || -> std::io::Result<Vec<u8>> {
        let (mut file, mut bytes) = (File::open(path)?, Vec::new());
        if file.metadata()?.is_file() {
            file.read_to_end(&mut bytes)?;
            return Ok(bytes);
        }
        file.take(MOST_UNBOUNDED + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_UNBOUNDED {
            let problem =
                format!("it is no regular file, and does not end after {MOST_UNBOUNDED} bytes");
            return Err(IoError::new(ErrorKind::FileTooLarge, problem));
        }
        Ok(bytes)
    };
    read().map_err(|e| Error::io(path, "read", e))
}
