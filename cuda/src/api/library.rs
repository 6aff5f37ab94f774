//! Libraries and kernels: modules and functions that belong to no context.

use std::ffi::{c_char, c_void};

use super::link::Options;
use crate::boundary::{Ptr, api};
use crate::error::{Answer, Error};
use crate::image::{Failure, Image};
use crate::module::{self, FUNCTIONS, LIBRARIES};

/// A `CUlibraryOption`: the program keeps the image in place.
const BINARY_IS_PRESERVED: u32 = 1;

/// The options of a library: their kinds, and values that are pointers or numbers.
#[derive(Clone, Copy)]
pub struct LibraryOptions {
    pub count: u32,
    pub names: Ptr<u32>,
    pub values: Ptr<Ptr<c_void>>,
}

impl LibraryOptions {
    /// Returns whether the program keeps the image in place.
    pub fn keeps_image(self) -> Result<bool, Error> {
        let mut keeps = false;
        for i in 0..self.count as usize {
            let value = self.values.get_at(i)?.address();
            match self.names.get_at(i)? {
                BINARY_IS_PRESERVED => keeps = value as u32 != 0,
                0 => {}
                _ => return Err(super::INVALID),
            }
        }
        Ok(keeps)
    }
}

fn load(out: Ptr<u64>, image: Result<Image, Error>, jit: Options) -> Answer {
    out.required()?;
    jit.check()?;
    let loaded: Result<u64, Failure> = image.map_err(Into::into).and_then(module::load_library);
    out.set(jit.log(loaded)?)
}

api! {
    fn cuLibraryLoadData(
        out: Ptr<u64>, image: Ptr<u8>, jit: Ptr<u32>, jit_values: Ptr<Ptr<c_void>>, jit_count: u32,
        options: Ptr<u32>, values: Ptr<Ptr<c_void>>, count: u32,
    ) {
        image.required()?;
        let lasting = LibraryOptions { count, names: options, values }.keeps_image()?;
        load(out, Image::at(image, lasting), Options::read(jit_count, jit, jit_values)?)
    }

    fn cuLibraryLoadFromFile(
        out: Ptr<u64>, name: Ptr<c_char>, jit: Ptr<u32>, jit_values: Ptr<Ptr<c_void>>, jit_count: u32,
        options: Ptr<u32>, values: Ptr<Ptr<c_void>>, count: u32,
    ) {
        LibraryOptions { count, names: options, values }.keeps_image()?;
        let image = Image::from(super::module::file(name)?);
        load(out, Ok(image), Options::read(jit_count, jit, jit_values)?)
    }

    fn cuLibraryUnload(handle: u64) {
        module::unload_library(handle)
    }

    fn cuLibraryGetKernel(out: Ptr<u64>, handle: u64, name: Ptr<c_char>) {
        out.required()?;
        out.set(LIBRARIES.get(handle)?.function(&name.text()?)?)
    }

    fn cuLibraryGetKernelCount(count: Ptr<u32>, handle: u64) {
        count.set(LIBRARIES.get(handle)?.all_functions()?.len() as u32)
    }

    fn cuLibraryEnumerateKernels(kernels: Ptr<u64>, count: u32, handle: u64) {
        kernels.required()?;
        let all = LIBRARIES.get(handle)?.all_functions()?;
        for (i, kernel) in all.into_iter().take(count as usize).enumerate() {
            kernels.set_at(i, kernel);
        }
        Ok(())
    }

    fn cuLibraryGetModule(out: Ptr<u64>, handle: u64) {
        out.required()?;
        crate::context::current()?;
        let library = LIBRARIES.get(handle)?;
        library.program().map_err(|failure| failure.error)?;
        out.set(library.as_module())
    }

    fn cuLibraryGetGlobal(address: Ptr<u64>, bytes: Ptr<usize>, handle: u64, name: Ptr<c_char>) {
        crate::context::current()?;
        let (found, size) = LIBRARIES.get(handle)?.variable(&name.text()?)?;
        address.set_if(found);
        bytes.set_if(size as usize);
        Ok(())
    }

    /// Finds a managed variable as any variable of the module: host and device share memory.
    fn cuLibraryGetManaged(address: Ptr<u64>, bytes: Ptr<usize>, handle: u64, name: Ptr<c_char>) {
        let (found, size) = LIBRARIES.get(handle)?.variable(&name.text()?)?;
        address.set_if(found);
        bytes.set_if(size as usize);
        Ok(())
    }

    fn cuLibraryGetUnifiedFunction(function: Ptr<u64>, handle: u64, name: Ptr<c_char>) {
        let _ = (function, LIBRARIES.get(handle)?, name.text()?);
        Err(Error::CUDA_ERROR_NOT_FOUND)
    }

    fn cuKernelGetFunction(out: Ptr<u64>, kernel: u64) {
        out.required()?;
        crate::context::current()?;
        out.set(FUNCTIONS.get(kernel)?.handle)
    }

    fn cuKernelGetLibrary(out: Ptr<u64>, kernel: u64) {
        let library = FUNCTIONS.get(kernel)?.library.clone();
        out.set(LIBRARIES.handle_of(&library).ok_or(Error::CUDA_ERROR_INVALID_HANDLE)?)
    }
}
