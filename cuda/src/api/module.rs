//! Modules.

use std::ffi::{c_char, c_void};

use super::link::Options;
use crate::boundary::{Ptr, api};
use crate::context;
use crate::error::{Answer, Error};
use crate::image::Image;
use crate::module::{self, FUNCTIONS, MODULES};

/// Reads an image file.
pub(crate) fn file(name: Ptr<c_char>) -> Result<Vec<u8>, Error> {
    std::fs::read(name.text()?).map_err(|_| Error::CUDA_ERROR_FILE_NOT_FOUND)
}

fn load(out: Ptr<u64>, image: Result<Image, Error>, options: &Options) -> Answer {
    out.required()?;
    let context = context::current()?;
    options.check()?;
    let loaded =
        image.map_err(Into::into).and_then(|image| module::load_module(image, context.handle));
    out.set(options.log(loaded)?)
}

api! {
    fn cuModuleLoad(out: Ptr<u64>, name: Ptr<c_char>) {
        context::current()?;
        load(out, Ok(file(name)?.into()), &Options::default())
    }

    fn cuModuleLoadData(out: Ptr<u64>, image: Ptr<u8>) {
        image.required()?;
        load(out, Image::at(image, false), &Options::default())
    }

    fn cuModuleLoadDataEx(out: Ptr<u64>, image: Ptr<u8>, count: u32, options: Ptr<u32>, values: Ptr<Ptr<c_void>>) {
        image.required()?;
        load(out, Image::at(image, false), &Options::read(count, options, values)?)
    }

    fn cuModuleLoadFatBinary(out: Ptr<u64>, image: Ptr<u8>) {
        image.required()?;
        load(out, Image::at(image, false), &Options::default())
    }

    fn cuModuleUnload(handle: u64) {
        context::current()?;
        module::unload_module(handle)
    }

    /// Writes when functions are loaded: 1 for at once, 2 for at first use.
    fn cuModuleGetLoadingMode(mode: Ptr<u32>) {
        mode.set(if crate::driver::get().eager { 1 } else { 2 })
    }

    fn cuModuleGetFunction(out: Ptr<u64>, handle: u64, name: Ptr<c_char>) {
        out.required()?;
        context::current()?;
        out.set(MODULES.get(handle)?.function(&name.text()?)?)
    }

    fn cuModuleGetFunctionCount(count: Ptr<u32>, handle: u64) {
        count.set(MODULES.get(handle)?.all_functions()?.len() as u32)
    }

    fn cuModuleEnumerateFunctions(functions: Ptr<u64>, count: u32, handle: u64) {
        functions.required()?;
        let all = MODULES.get(handle)?.all_functions()?;
        for (i, function) in all.into_iter().take(count as usize).enumerate() {
            functions.set_at(i, function);
        }
        Ok(())
    }

    fn cuModuleGetGlobal_v2(address: Ptr<u64>, bytes: Ptr<usize>, handle: u64, name: Ptr<c_char>) {
        context::current()?;
        let (found, size) = MODULES.get(handle)?.variable(&name.text()?)?;
        address.set_if(found);
        bytes.set_if(size as usize);
        Ok(())
    }

    fn cuFuncGetModule(out: Ptr<u64>, function: u64) {
        out.set(FUNCTIONS.get(function)?.library.as_module())
    }
}
