//! [`Image`]: code that a program hands over to be loaded. It is a cubin, PTX, a fat binary,
//! several fat binaries that are linked with each other, or the result of `cuLinkComplete`.

use std::sync::OnceLock;

use warploom_container::{Arch, Module};

use crate::boundary::{Kept, Ptr};
use crate::driver;
use crate::error::Error;

/// The magic of the wrapper before a fat binary in a program's data: magic, version, fat binary,
/// and a pointer. In version 2 the pointer leads to a list of the fat binaries of the files that
/// the program was linked from. A null pointer ends the list.
const WRAPPER: u32 = 0x4662_43b1;
const OF_FILES: u32 = 2;
/// The limit of files of a program.
const MAX_FILES: usize = 1 << 16;
const FAT_BINARY: u32 = 0xba55_ed50;
const ELF: u32 = u32::from_le_bytes(*b"\x7fELF");
/// The magic of the image that `cuLinkComplete` makes of several files: their number, then the
/// length, the name's length, the name and the content of each.
const LINKED: u32 = u32::from_le_bytes(*b"WLPX");

/// PTX functions that replace NVIDIA's library of device code, `libcudadevrt`.
pub const DEVICE_RUNTIME: &[u8] = include_bytes!("api/device_runtime.ptx");
/// A function that `libcudadevrt` defines.
const OF_DEVICE_RUNTIME: &str = "cudaCGGetIntrinsicHandle";

/// Code that a program loads.
pub struct Image {
    bytes: Bytes,
    /// The fat binaries of the files that the program was linked from. Their PTX is linked if the
    /// linked code is for another GPU.
    files: Vec<Bytes>,
    /// The files' PTX in the form of [`link`], once it was needed.
    linked: OnceLock<Vec<u8>>,
}

/// Bytes that the program keeps until it unloads the image, or a copy of bytes.
enum Bytes {
    Kept(Kept),
    Copied(Vec<u8>),
}

impl Bytes {
    /// Returns the bytes at a pointer.
    fn at(pointer: Ptr<u8>, bytes: u64, lasting: bool) -> Result<Bytes, Error> {
        let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes <= 4 << 30);
        let bytes = bytes.ok_or(Error::CUDA_ERROR_INVALID_IMAGE)?;
        if lasting {
            return Ok(Bytes::Kept(pointer.keep(bytes)?));
        }
        Ok(Bytes::Copied(pointer.with(bytes, <[u8]>::to_vec)?))
    }

    /// Returns the fat binary at a pointer.
    fn fat_binary(pointer: Ptr<u8>, lasting: bool) -> Result<Bytes, Error> {
        if word(pointer, 0)? != FAT_BINARY {
            return Err(Error::CUDA_ERROR_INVALID_IMAGE);
        }
        let header = u64::from(word(pointer, 4)? >> 16);
        Bytes::at(pointer, header.saturating_add(wide(pointer, 8)?), lasting)
    }

    fn get(&self) -> &[u8] {
        match self {
            Bytes::Kept(kept) => kept.bytes(),
            Bytes::Copied(bytes) => bytes,
        }
    }

    fn let_go(&mut self, needed: bool) {
        if let Bytes::Kept(kept) = self {
            *self = Bytes::Copied(if needed { kept.bytes().to_vec() } else { vec![] });
        }
    }
}

/// The reason why an image cannot be loaded, and the text for the log.
#[derive(Clone, Debug)]
pub struct Failure {
    pub error: Error,
    pub text: String,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, text: String::new() }
    }
}

impl From<warploom_container::Error> for Failure {
    fn from(error: warploom_container::Error) -> Failure {
        Failure { error: kind(&error), text: error.to_string() }
    }
}

fn kind(error: &warploom_container::Error) -> Error {
    match error {
        warploom_container::Error::NotForArch { .. }
        | warploom_container::Error::NotExecuted { .. }
        | warploom_container::Error::NoCandidate { .. } => Error::CUDA_ERROR_NO_BINARY_FOR_GPU,
        warploom_container::Error::Ptx(_) => Error::CUDA_ERROR_INVALID_PTX,
        warploom_container::Error::PtxLink(_) => Error::CUDA_ERROR_INVALID_PTX,
        warploom_container::Error::Linked { problem, .. } => match kind(problem) {
            Error::CUDA_ERROR_NO_BINARY_FOR_GPU => Error::CUDA_ERROR_NO_BINARY_FOR_GPU,
            _ => Error::CUDA_ERROR_INVALID_PTX,
        },
        warploom_container::Error::Member { source, .. } => kind(source),
        _ => Error::CUDA_ERROR_INVALID_IMAGE,
    }
}

fn word(at: Ptr<u8>, offset: u64) -> Result<u32, Error> {
    at.required()?.after(offset).cast::<u32>().get()
}

fn wide(at: Ptr<u8>, offset: u64) -> Result<u64, Error> {
    at.required()?.after(offset).cast::<u64>().get()
}

/// Returns the fat binaries in a null-terminated list of pointers.
fn files(list: Ptr<Ptr<u8>>, lasting: bool) -> Result<Vec<Bytes>, Error> {
    let mut files = vec![];
    while let Some(pointer) = Some(list.get_at(files.len())?).filter(|pointer| !pointer.is_null()) {
        if files.len() == MAX_FILES {
            return Err(Error::CUDA_ERROR_INVALID_IMAGE);
        }
        files.push(Bytes::fat_binary(pointer, lasting)?);
    }
    Ok(files)
}

impl From<Bytes> for Image {
    fn from(bytes: Bytes) -> Image {
        Image { bytes, files: vec![], linked: OnceLock::new() }
    }
}

impl From<Vec<u8>> for Image {
    fn from(bytes: Vec<u8>) -> Image {
        Bytes::Copied(bytes).into()
    }
}

impl Image {
    /// Returns the image at a pointer, whose length is not given. If `lasting`, the program keeps
    /// the image in place.
    pub fn at(pointer: Ptr<u8>, lasting: bool) -> Result<Image, Error> {
        let first = pointer.get()?;
        // Text may be shorter than a word.
        let is_text = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
        if is_text(first)
            && !(first == b'P' && word(pointer, 0)? == FAT_BINARY)
            && !(first == b'W' && is_linked(pointer)?)
        {
            let text = pointer.cast::<std::ffi::c_char>().text()?;
            return Ok(text.into_bytes().into());
        }
        Ok(match word(pointer, 0)? {
            WRAPPER => {
                let lists_files = word(pointer, 4)? == OF_FILES;
                let [code, list] = [8, 16].map(|at| pointer.after(at).cast::<Ptr<u8>>().get());
                let code = code?.required()?;
                if word(code, 0)? == WRAPPER {
                    return Err(Error::CUDA_ERROR_INVALID_IMAGE);
                }
                let mut image = Image::at(code, lasting)?;
                if let Some(list) = Some(list?).filter(|list| lists_files && !list.is_null()) {
                    image.files = files(list.cast(), lasting)?;
                }
                image
            }
            FAT_BINARY => Bytes::fat_binary(pointer, lasting)?.into(),
            ELF => Bytes::at(pointer, elf_bytes(pointer)?, lasting)?.into(),
            LINKED => Bytes::at(pointer, wide(pointer, 8)?, lasting)?.into(),
            _ => return Err(Error::CUDA_ERROR_INVALID_IMAGE),
        })
    }

    pub fn bytes(&self) -> &[u8] {
        self.linked.get().map_or_else(|| self.bytes.get(), Vec::as_slice)
    }

    /// Drops the bytes that the program keeps. Copies them first if they are still `needed`.
    pub fn let_go(&mut self, needed: bool) {
        self.bytes.let_go(needed);
        self.files.iter_mut().for_each(|file| file.let_go(needed));
    }

    /// Returns the files of the image for a manifest: one file, or several that are linked.
    pub fn files(&self) -> Vec<&[u8]> {
        match linked_files(self.bytes()) {
            Some(files) => files.into_iter().map(|(_, file)| file).collect(),
            None => vec![self.bytes()],
        }
    }

    /// Returns whether the image is a fat binary, whose members are read only when needed.
    pub fn is_container(&self) -> bool {
        self.bytes().starts_with(&FAT_BINARY.to_le_bytes())
    }

    /// Returns the module for the device.
    pub fn module(&self) -> Result<Module, Failure> {
        let mut modules = self.modules(Some(Arch::Sm(driver::get().profile.sm)))?;
        if modules.is_empty() {
            return Err(Error::CUDA_ERROR_NO_BINARY_FOR_GPU.into());
        }
        let module = modules.swap_remove(0);
        let ptx = module.ptx.as_ref().map(|ptx| &ptx.module);
        if ptx.is_some_and(|ptx| ptx.has_address_size && ptx.address_size == 32) {
            let (what, why) =
                ("`.address_size 32`".into(), "addresses of device memory have 64 bits".into());
            return Err(warploom_container::Error::Unsupported { what, why }.into());
        }
        Ok(module)
    }

    /// Returns the modules that the driver of a GPU would choose, or without a GPU the preferred
    /// ones.
    pub fn modules(&self, arch: Option<Arch>) -> Result<Vec<Module>, Failure> {
        let mut failure = match modules(self.bytes(), arch) {
            Err(failure) if failure.error == Error::CUDA_ERROR_NO_BINARY_FOR_GPU => failure,
            modules => return modules,
        };
        let texts = self.texts(arch)?;
        if texts.is_empty() {
            failure.text.push_str(REMEDY);
            return Err(failure);
        }
        modules(self.linked.get_or_init(|| link(&texts)), arch)
    }

    /// Returns the PTX of the files, with names, and the library that it may call.
    fn texts(&self, arch: Option<Arch>) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let mut texts = vec![];
        for (file, number) in self.files.iter().zip(1..) {
            let found = warploom_container::texts_for(file.get(), arch)?
                .into_iter()
                .filter(|text| !is_device_runtime(text));
            texts.extend(found.map(|text| (format!("file {number} of the program"), text)));
        }
        if !texts.is_empty() {
            texts.push(("libcudadevrt.a".into(), DEVICE_RUNTIME.into()));
        }
        Ok(texts)
    }
}

/// Advice to users whose program has code for other GPUs only.
const REMEDY: &str = ". Choose a GPU that the file has code for (`warploom cuda --device sm_80`, \
     or WARPLOOM_DEVICE); or have the compiler leave PTX for this GPU or an older one: \
     `nvcc -gencode arch=compute_80,code=compute_80`";

/// Returns the modules of an image or of linked files.
fn modules(bytes: &[u8], arch: Option<Arch>) -> Result<Vec<Module>, Failure> {
    let Some(files) = linked_files(bytes) else {
        return Ok(warploom_container::modules_for(bytes, arch)?);
    };
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, file)| (name.as_str(), *file)).collect();
    Ok(vec![warploom_container::linked(&files, arch)?])
}

/// Returns whether a text is NVIDIA's library of device code for the runtime.
fn is_device_runtime(text: &[u8]) -> bool {
    // Callers only declare the function.
    let named = |function: &str| function == OF_DEVICE_RUNTIME;
    text.windows(OF_DEVICE_RUNTIME.len()).any(|part| part == OF_DEVICE_RUNTIME.as_bytes())
        && warploom_container::ptx::parse_linked(&[("", text)])
            .is_ok_and(|module| module.functions.iter().any(|one| named(&one.name)))
}

fn is_linked(pointer: Ptr<u8>) -> Result<bool, Error> {
    Ok(pointer.get_at(1)? == b'L' && pointer.get_at(2)? == b'P' && pointer.get_at(3)? == b'X')
}

/// Returns the length of an ELF file, from its tables and sections.
fn elf_bytes(pointer: Ptr<u8>) -> Result<u64, Error> {
    let half = |offset: u64| Ok::<u64, Error>(u64::from(word(pointer, offset)? & 0xffff));
    if word(pointer, 4)? & 0xffff != 0x0102 {
        return Err(Error::CUDA_ERROR_INVALID_IMAGE);
    }
    let (programs, sections) = (wide(pointer, 32)?, wide(pointer, 40)?);
    let (program_bytes, program_count) = (half(54)?, half(56)?);
    let (section_bytes, section_count) = (half(58)?, half(60)?);
    let end = |start: u64, count: u64, size: u64| start.saturating_add(count * size);
    let mut bytes = end(programs, program_count, program_bytes)
        .max(end(sections, section_count, section_bytes))
        .max(64);
    if bytes > 4 << 30 {
        return Err(Error::CUDA_ERROR_INVALID_IMAGE);
    }
    for section in 0..section_count {
        let at = sections + section * section_bytes;
        let (kind, offset, size) =
            (word(pointer, at + 4)?, wide(pointer, at + 24)?, wide(pointer, at + 32)?);
        const NOBITS: u32 = 8;
        if kind != NOBITS {
            bytes = bytes.max(offset.saturating_add(size));
        }
    }
    Ok(bytes)
}

/// Returns one image made of several files with names.
pub fn link(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut image = LINKED.to_le_bytes().to_vec();
    image.extend((files.len() as u32).to_le_bytes());
    image.extend([0; 8]);
    for (name, file) in files {
        image.extend((name.len() as u64).to_le_bytes());
        image.extend((file.len() as u64).to_le_bytes());
        image.extend(name.as_bytes());
        image.extend(file);
    }
    let bytes = image.len() as u64;
    image[8..16].copy_from_slice(&bytes.to_le_bytes());
    image
}

/// Returns the files of an image that [`link`] has made.
fn linked_files(image: &[u8]) -> Option<Vec<(String, &[u8])>> {
    let mut rest = image.strip_prefix(&LINKED.to_le_bytes())?.get(12..)?;
    let mut files = vec![];
    while !rest.is_empty() {
        let length = |at: usize| Some(u64::from_le_bytes(*rest.get(at..)?.first_chunk()?) as usize);
        let (name, bytes) = (length(0)?, length(8)?);
        let content = rest.get(16..)?;
        files.push((
            String::from_utf8_lossy(content.get(..name)?).into_owned(),
            content.get(name..name.checked_add(bytes)?)?,
        ));
        rest = content.get(name + bytes..)?;
    }
    Some(files)
}
