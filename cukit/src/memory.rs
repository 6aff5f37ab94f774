//! Numbers in memory, and their types.

use std::ffi::{CStr, c_void};

use half::{bf16, f16};

use crate::{Answer, Status, driver, require};

/// The type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Real {
    F16,
    Bf16,
    F32,
    F64,
}

impl Real {
    /// Returns the type for a `cudaDataType_t`.
    pub fn of(kind: u32) -> Answer<Real> {
        match kind {
            0 => Ok(Real::F32),
            1 => Ok(Real::F64),
            2 => Ok(Real::F16),
            14 => Ok(Real::Bf16),
            _ => Err(Status::NotSupported),
        }
    }

    pub fn bytes(self) -> usize {
        match self {
            Real::F16 | Real::Bf16 => 2,
            Real::F32 => 4,
            Real::F64 => 8,
        }
    }
}

/// A pointer of the caller's, which only C makes. It is null or valid, as the API states for the
/// argument.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pointer(*mut c_void);

impl Pointer {
    /// Returns the pointer moved by `bytes`. Dereferencing it requires that the caller's memory
    /// extends there.
    pub fn after(self, bytes: isize) -> Pointer {
        Pointer(self.0.wrapping_byte_offset(bytes))
    }
}

impl Pointer {
    /// Returns bytes in host memory, or `None` if the pointer is null.
    pub fn bytes(self, count: usize) -> Option<Vec<u8>> {
        // SAFETY: by the API's contract a pointer that is not null has so many bytes.
        let read = || unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), count) }.to_vec();
        (!self.0.is_null()).then(read)
    }

    /// Returns the text in host memory that a zero ends, or `None` if the pointer is null.
    pub fn text(self) -> Option<String> {
        // SAFETY: by the API's contract a pointer that is not null is to such a text.
        let read = || unsafe { CStr::from_ptr(self.0.cast()) }.to_string_lossy().into_owned();
        (!self.0.is_null()).then(read)
    }

    /// Returns the pointers of a list in host memory, or `None` if the pointer is null.
    pub fn pointers(self, count: usize) -> Option<Vec<Pointer>> {
        // SAFETY: by the API's contract the list has so many pointers.
        let at = |i| unsafe { self.0.cast::<Pointer>().add(i).read_unaligned() };
        (!self.0.is_null()).then(|| (0..count).map(at).collect())
    }

    /// Writes bytes to host memory. Null is an error.
    pub fn put(self, bytes: &[u8]) -> Answer {
        require(!self.0.is_null())?;
        // SAFETY: by the API's contract a pointer that is not null has room for the bytes.
        unsafe { self.0.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    /// Returns the integers of a list in host memory, of 8 bytes each if `wide`, else of 4. Returns
    /// `None` if the pointer is null.
    pub fn integers(self, count: usize, wide: bool) -> Option<Vec<i64>> {
        if self.0.is_null() {
            return None;
        }
        let at = |i: usize| {
            // SAFETY: by the API's contract the list has so many integers.
            unsafe {
                if wide {
                    self.0.cast::<i64>().add(i).read_unaligned()
                } else {
                    self.0.cast::<i32>().add(i).read_unaligned().into()
                }
            }
        };
        Some((0..count).map(at).collect())
    }
}

/// A pointer of the caller's to a result. Only C makes it.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes the result. Null is an error.
    pub fn set(self, value: T) -> Answer {
        require(!self.0.is_null())?;
        // SAFETY: by the API's contract a pointer that is not null is valid.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }
}

/// Numbers at a pointer of the caller's. The API states the number of numbers. Numbers in device
/// memory are valid in the stream's turn, numbers in host memory during the call.
#[derive(Clone, Copy)]
pub struct Place {
    /// The address in the host.
    address: usize,
    /// The address that the caller gave. Memory of the device that the program mapped lies elsewhere in
    /// the host.
    given: usize,
    on_device: bool,
    bytes: usize,
}

impl Place {
    /// Makes a place of `count` numbers.
    ///
    /// # Errors
    /// The size overflows. Or `count` is not 0, and the pointer is null, or should be device memory
    /// and is not.
    pub fn new(pointer: Pointer, on_device: bool, real: Real, count: usize) -> Answer<Place> {
        let bytes = count.checked_mul(real.bytes()).ok_or(Status::InvalidValue)?;
        let given = pointer.0.expose_provenance();
        let mut address = given;
        if count > 0 {
            require(given != 0)?;
            if on_device {
                driver::check_memory(given as u64, bytes)?;
                address = driver::host_address(given as u64, bytes)? as usize;
            }
        }
        Ok(Place { address, given, on_device, bytes })
    }

    pub fn is_on_device(self) -> bool {
        self.on_device
    }

    /// Makes a place in device memory for `count` numbers, aligned to their size.
    pub fn on_device(pointer: Pointer, real: Real, count: usize) -> Answer<Place> {
        let place = Place::new(pointer, true, real, count)?;
        require(place.is_aligned(real))?;
        Ok(place)
    }

    fn is_aligned(self, real: Real) -> bool {
        self.address.is_multiple_of(real.bytes())
    }

    /// Returns the `count` numbers at the `i`th pointer of a list in device memory, or `None` if
    /// the pointer is not to memory of the device, or not aligned.
    pub fn listed(self, i: usize, real: Real, count: usize) -> Option<Place> {
        // Addresses are as wide as doubles.
        let at = self.pointer::<u64>(i + 1).wrapping_add(i);
        // SAFETY: the list has at least `i + 1` pointers, and no other work of the stream writes it
        // now.
        let given = unsafe { at.read_unaligned() };
        let bytes = count.checked_mul(real.bytes())?;
        let address = match count {
            0 => given,
            _ => driver::host_address(given, bytes).ok()?,
        } as usize;
        let place = Place { address, given: given as usize, on_device: true, bytes };
        (count == 0 || place.is_aligned(real)).then_some(place)
    }

    /// Returns a pointer to `count` elements. Panics if the place has fewer bytes.
    pub fn pointer<T>(self, count: usize) -> *mut T {
        let is_inside = count.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= self.bytes);
        assert!(is_inside, "{count} elements of {} bytes in {}", size_of::<T>(), self.bytes);
        std::ptr::with_exposed_provenance_mut(self.address)
    }

    fn at<T>(self, i: usize) -> *mut T {
        self.pointer::<T>(i + 1).wrapping_add(i)
    }

    /// Returns the number at an index. Panics if there is none.
    pub fn get(self, real: Real, i: usize) -> f64 {
        // SAFETY: `at` has checked that the number is one of the caller's. The caller's memory is
        // valid now: the stream's turn has come, or the call is still under way.
        unsafe {
            match real {
                Real::F16 => self.at::<f16>(i).read_unaligned().to_f64(),
                Real::Bf16 => self.at::<bf16>(i).read_unaligned().to_f64(),
                Real::F32 => self.at::<f32>(i).read_unaligned().into(),
                Real::F64 => self.at::<f64>(i).read_unaligned(),
            }
        }
    }

    /// Tells the driver that a job replaces the numbers.
    pub fn will_be_written(self) {
        if self.on_device {
            driver::written(self.given as u64, self.bytes);
        }
    }

    /// Replaces the number at an index. Panics if there is none.
    pub fn set(self, real: Real, i: usize, value: f64) {
        // SAFETY: as in `get`.
        unsafe {
            match real {
                Real::F16 => self.at::<f16>(i).write_unaligned(f16::from_f64(value)),
                Real::Bf16 => self.at::<bf16>(i).write_unaligned(bf16::from_f64(value)),
                Real::F32 => self.at::<f32>(i).write_unaligned(value as f32),
                Real::F64 => self.at::<f64>(i).write_unaligned(value),
            }
        }
    }
}
