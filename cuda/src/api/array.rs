//! Arrays and mipmapped arrays.

use std::ffi::c_void;
use std::sync::Arc;

use super::require;
use crate::array::{ALIGN, ARRAYS, Array, Description, MIPMAPS};
use crate::boundary::{Ptr, api, plain};
use crate::context;
use crate::error::{Answer, Error};

plain! {
    /// `CUDA_ARRAY_DESCRIPTOR`.
    pub struct Flat {
        width: usize,
        height: usize,
        format: u32,
        channels: u32,
    }

    /// `CUDA_ARRAY3D_DESCRIPTOR`.
    pub struct Deep {
        size: [usize; 3],
        format: u32,
        channels: u32,
        flags: u32,
    }

    /// `CUDA_ARRAY_MEMORY_REQUIREMENTS`.
    pub struct Requirements {
        bytes: usize,
        align: usize,
        reserved: [u32; 4],
    }
}

const _: () = assert!(size_of::<Flat>() == size_of::<cudarc::driver::sys::CUDA_ARRAY_DESCRIPTOR>());
const _: () = assert!(
    size_of::<Requirements>()
        == size_of::<cudarc::driver::sys::CUDA_ARRAY_MEMORY_REQUIREMENTS_st>()
);
const _: () =
    assert!(size_of::<Deep>() == size_of::<cudarc::driver::sys::CUDA_ARRAY3D_DESCRIPTOR>());

impl Flat {
    pub(super) fn description(self) -> Description {
        let size = [self.width as u64, self.height as u64, 0];
        Description { size, format: self.format, channels: self.channels, flags: 0 }
    }
}

impl Deep {
    fn description(self) -> Description {
        let size = self.size.map(|n| n as u64);
        Description { size, format: self.format, channels: self.channels, flags: self.flags }
    }
}

fn requirements(out: Ptr<Requirements>, array: &Array, device: i32) -> Answer {
    super::device::check(device)?;
    out.set(Requirements {
        bytes: array.image.total_bytes() as usize,
        align: ALIGN as usize,
        reserved: [0; 4],
    })
}

fn create(out: Ptr<u64>, description: Description) -> Answer {
    out.required()?;
    let context = context::current()?;
    out.set(ARRAYS.insert(Arc::new(Array::new(context.handle, description, 1)?)))
}

api! {
    fn cuArrayCreate_v2(out: Ptr<u64>, description: Ptr<Flat>) {
        create(out, description.get()?.description())
    }

    fn cuArray3DCreate_v2(out: Ptr<u64>, description: Ptr<Deep>) {
        create(out, description.get()?.description())
    }

    fn cuArrayDestroy(array: u64) {
        ARRAYS.remove(array).map(|_| ())
    }

    fn cuArrayGetDescriptor_v2(out: Ptr<Flat>, array: u64) {
        let found = ARRAYS.get(array)?.description;
        let [width, height, _] = found.size.map(|n| n as usize);
        out.set(Flat { width, height, format: found.format, channels: found.channels })
    }

    fn cuArray3DGetDescriptor_v2(out: Ptr<Deep>, array: u64) {
        let found = ARRAYS.get(array)?.description;
        let size = found.size.map(|n| n as usize);
        out.set(Deep { size, format: found.format, channels: found.channels, flags: found.flags })
    }

    fn cuMipmappedArrayCreate(out: Ptr<u64>, description: Ptr<Deep>, levels: u32) {
        out.required()?;
        require(levels <= 17)?;
        let context = context::current()?;
        let array = Array::new(context.handle, description.get()?.description(), levels as u8)?;
        out.set(MIPMAPS.insert(Arc::new(array)))
    }

    fn cuMipmappedArrayDestroy(mipmap: u64) {
        MIPMAPS.remove(mipmap).map(|_| ())
    }

    fn cuMipmappedArrayGetLevel(out: Ptr<u64>, mipmap: u64, level: u32) {
        out.required()?;
        out.set(ARRAYS.insert(Arc::new(MIPMAPS.get(mipmap)?.at_level(level)?)))
    }

    fn cuArrayGetMemoryRequirements(out: Ptr<Requirements>, array: u64, device: i32) {
        requirements(out, &*ARRAYS.get(array)?, device)
    }

    fn cuMipmappedArrayGetMemoryRequirements(out: Ptr<Requirements>, mipmap: u64, device: i32) {
        requirements(out, &*MIPMAPS.get(mipmap)?, device)
    }

    /// No array is sparse.
    fn cuArrayGetSparseProperties(_out: Ptr<c_void>, array: u64) {
        ARRAYS.get(array)?;
        Err(Error::CUDA_ERROR_INVALID_VALUE)
    }

    fn cuMipmappedArrayGetSparseProperties(_out: Ptr<c_void>, mipmap: u64) {
        MIPMAPS.get(mipmap)?;
        Err(Error::CUDA_ERROR_INVALID_VALUE)
    }

    fn cuArrayGetPlane(out: Ptr<u64>, array: u64, plane: u32) {
        let _ = (out, ARRAYS.get(array)?, plane);
        // Each format has one plane.
        Err(Error::CUDA_ERROR_INVALID_VALUE)
    }
}
