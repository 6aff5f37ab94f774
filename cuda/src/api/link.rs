//! The linker, and the options of linking and loading.

use std::ffi::{c_char, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use crate::boundary::{self, Ptr, api};
use crate::error::{Answer, Error};
use crate::handles::Table;
use crate::image::{self, Failure, Image};

static LINKS: Table<Link> = Table::new();

/// Values of `CUjit_option`.
mod option {
    pub const WALL_TIME: u32 = 2;
    pub const INFO_LOG: u32 = 3;
    pub const INFO_LOG_BYTES: u32 = 4;
    pub const ERROR_LOG: u32 = 5;
    pub const ERROR_LOG_BYTES: u32 = 6;
    /// The last known option.
    pub const LAST: u32 = 40;
}

/// The options of a compilation, and the logs for its result.
#[derive(Default)]
pub(super) struct Options {
    error: Log,
    info: Log,
    wall_time: Option<Ptr<Ptr<c_void>>>,
    unknown: bool,
}

/// A log buffer of the caller. The place of its size later holds the number of bytes used.
#[derive(Default, Clone, Copy)]
struct Log {
    buffer: Option<Ptr<c_char>>,
    bytes: usize,
    used: Option<Ptr<u64>>,
}

impl Log {
    fn put(&self, text: &str) {
        if let Some(buffer) = self.buffer {
            buffer.put_text(text, self.bytes);
        }
        if let Some(used) = self.used {
            let length = if text.is_empty() { 0 } else { (text.len() + 1).min(self.bytes) };
            used.set_if(length as u64);
        }
    }
}

impl Options {
    pub(super) fn read(
        count: u32,
        names: Ptr<u32>,
        values: Ptr<Ptr<c_void>>,
    ) -> Result<Options, Error> {
        let mut options = Options::default();
        for i in 0..count as usize {
            let (name, value) = (names.get_at(i)?, values.get_at(i)?);
            let place: Ptr<u64> = values.after(8 * i as u64).cast();
            match name {
                option::WALL_TIME => options.wall_time = Some(place.cast()),
                option::INFO_LOG => options.info.buffer = Some(value.cast()),
                option::ERROR_LOG => options.error.buffer = Some(value.cast()),
                option::INFO_LOG_BYTES => {
                    options.info = Log {
                        bytes: value.address() as u32 as usize,
                        used: Some(place),
                        ..options.info
                    };
                }
                option::ERROR_LOG_BYTES => {
                    options.error = Log {
                        bytes: value.address() as u32 as usize,
                        used: Some(place),
                        ..options.error
                    };
                }
                0..=option::LAST => {}
                _ => options.unknown = true,
            }
        }
        Ok(options)
    }

    pub(super) fn check(&self) -> Answer {
        if self.unknown { Err(super::INVALID) } else { Ok(()) }
    }

    /// Writes the logs for a result, and returns it.
    pub(super) fn log<T>(&self, result: Result<T, Failure>) -> Result<T, Error> {
        if let Some(place) = self.wall_time {
            place.cast::<f32>().set_if(0.0);
        }
        self.info.put("");
        match result {
            Ok(value) => {
                self.error.put("");
                Ok(value)
            }
            Err(failure) => {
                self.error.put(&failure.text);
                if self.error.buffer.is_none() && !failure.text.is_empty() {
                    crate::trace::failure(&failure.text);
                }
                Err(failure.error)
            }
        }
    }
}

/// A link in progress.
pub(super) struct Link {
    options: Options,
    inputs: Mutex<Inputs>,
}

#[derive(Default)]
struct Inputs {
    files: Vec<Input>,
    /// The linked image. Callers may use it as long as the link exists.
    image: Vec<u8>,
}

/// An input that is to be linked.
struct Input {
    name: String,
    content: Vec<u8>,
    is_text: bool,
    /// NVIDIA's library of device code, which PTX of warploom replaces among texts.
    is_device_runtime: bool,
}

/// Values of `CUjitInputType`.
mod input {
    pub const CUBIN: u32 = 0;
    pub const PTX: u32 = 1;
    pub const FATBINARY: u32 = 2;
    pub const OBJECT: u32 = 3;
    pub const LIBRARY: u32 = 4;
}

impl Link {
    fn add(&self, kind: u32, bytes: &[u8], name: String) -> Answer {
        let mut inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        let is_text = kind == input::PTX;
        let content = match kind {
            input::PTX => {
                let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default().to_vec();
                // Report errors within this text now.
                let checked = Image::from(text.clone()).module().map(|_| ());
                self.options.log(checked)?;
                text
            }
            input::CUBIN | input::FATBINARY | input::OBJECT | input::LIBRARY => bytes.to_vec(),
            // NVIDIA's intermediate code (NVVM).
            _ => return Err(Error::CUDA_ERROR_NOT_SUPPORTED),
        };
        let is_device_runtime = kind == input::LIBRARY && name.ends_with("libcudadevrt.a");
        inputs.files.push(Input { name, content, is_text, is_device_runtime });
        Ok(())
    }

    fn complete(&self, out: Ptr<u64>, bytes: Ptr<usize>) -> Answer {
        let mut inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        let has_text = inputs.files.iter().any(|file| file.is_text);
        let content = |file: &Input| {
            let is_replaced = file.is_device_runtime && has_text;
            if is_replaced { image::DEVICE_RUNTIME.into() } else { file.content.clone() }
        };
        let image = match &inputs.files[..] {
            [] => {
                return self.options.log(Err(Failure {
                    error: Error::CUDA_ERROR_INVALID_VALUE,
                    text: "nothing to link".into(),
                }));
            }
            // A text ends with a 0.
            [file] if file.is_text => [file.content.as_slice(), &[0]].concat(),
            [file] => file.content.clone(),
            files => {
                let named: Vec<(String, Vec<u8>)> =
                    files.iter().map(|file| (file.name.clone(), content(file))).collect();
                image::link(&named)
            }
        };
        self.options.log(Image::from(image.clone()).module().map(|_| ()))?;
        inputs.image = image;
        out.set(boundary::address_of(&inputs.image))?;
        bytes.set_if(inputs.image.len());
        Ok(())
    }
}

fn create(count: u32, names: Ptr<u32>, values: Ptr<Ptr<c_void>>, out: Ptr<u64>) -> Answer {
    out.required()?;
    crate::context::current()?;
    let options = Options::read(count, names, values)?;
    options.check()?;
    out.set(LINKS.insert(Arc::new(Link { options, inputs: Mutex::default() })))
}

fn add(link: u64, kind: u32, data: Ptr<u8>, bytes: usize, name: Ptr<c_char>) -> Answer {
    let link = LINKS.get(link)?;
    let name = if name.is_null() { "unnamed".into() } else { name.text()? };
    data.required()?.with(bytes, |bytes| link.add(kind, bytes, name))?
}

fn add_file(link: u64, kind: u32, path: Ptr<c_char>) -> Answer {
    let link = LINKS.get(link)?;
    link.add(kind, &super::module::file(path)?, path.text()?)
}

api! {
    fn cuLinkCreate(count: u32, names: Ptr<u32>, values: Ptr<Ptr<c_void>>, out: Ptr<u64>) {
        create(count, names, values, out)
    }

    fn cuLinkCreate_v2(count: u32, names: Ptr<u32>, values: Ptr<Ptr<c_void>>, out: Ptr<u64>) {
        create(count, names, values, out)
    }

    fn cuLinkAddData(link: u64, kind: u32, data: Ptr<u8>, bytes: usize, name: Ptr<c_char>, _count: u32, _names: Ptr<u32>, _values: Ptr<Ptr<c_void>>) {
        add(link, kind, data, bytes, name)
    }

    fn cuLinkAddData_v2(link: u64, kind: u32, data: Ptr<u8>, bytes: usize, name: Ptr<c_char>, _count: u32, _names: Ptr<u32>, _values: Ptr<Ptr<c_void>>) {
        add(link, kind, data, bytes, name)
    }

    fn cuLinkAddFile(link: u64, kind: u32, path: Ptr<c_char>, _count: u32, _names: Ptr<u32>, _values: Ptr<Ptr<c_void>>) {
        add_file(link, kind, path)
    }

    fn cuLinkAddFile_v2(link: u64, kind: u32, path: Ptr<c_char>, _count: u32, _names: Ptr<u32>, _values: Ptr<Ptr<c_void>>) {
        add_file(link, kind, path)
    }

    fn cuLinkComplete(link: u64, out: Ptr<u64>, bytes: Ptr<usize>) {
        LINKS.get(link)?.complete(out, bytes)
    }

    fn cuLinkDestroy(link: u64) {
        LINKS.remove(link).map(|_| ())
    }
}
