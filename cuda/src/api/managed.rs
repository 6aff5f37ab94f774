//! Managed memory: its advice and its last prefetch.

use std::ffi::c_void;

use super::memory::{is_location, managed};
use super::require;
use crate::advice::{self, Advice, DEVICE, HOST, Location};
use crate::boundary::{Ptr, api};
use crate::error::{Answer, Error};

/// Values of `CUmem_advise`.
mod kind {
    pub const SET_READ_MOSTLY: u32 = 1;
    pub const UNSET_READ_MOSTLY: u32 = 2;
    pub const SET_PREFERRED: u32 = 3;
    pub const UNSET_PREFERRED: u32 = 4;
    pub const SET_ACCESSED_BY: u32 = 5;
    pub const UNSET_ACCESSED_BY: u32 = 6;
}

/// Values of `CUmem_range_attribute`.
mod attribute {
    pub const READ_MOSTLY: u32 = 1;
    pub const PREFERRED: u32 = 2;
    pub const ACCESSED_BY: u32 = 3;
    pub const PREFETCHED: u32 = 4;
    pub const PREFERRED_KIND: u32 = 5;
    pub const PREFERRED_ID: u32 = 6;
    pub const PREFETCHED_KIND: u32 = 7;
    pub const PREFETCHED_ID: u32 = 8;
}

/// Device numbers that stand for the host and for no location.
const CPU: i32 = -1;
const NONE: i32 = -2;

fn of_device(device: i32) -> Result<Location, Error> {
    match device {
        CPU => Ok(Location { kind: HOST, id: 0 }),
        0 => Ok(Location { kind: DEVICE, id: 0 }),
        _ => Err(Error::CUDA_ERROR_INVALID_DEVICE),
    }
}

/// Decodes a `CUmemLocation` that was passed in a register.
pub(super) fn location(location: u64) -> Result<Location, Error> {
    require(is_location(location))?;
    Ok(Location { kind: location as u32, id: (location >> 32) as i32 })
}

fn as_device(location: Option<Location>) -> i32 {
    match location {
        None => NONE,
        Some(Location { kind: DEVICE, id }) => id,
        Some(_) => CPU,
    }
}

fn advise(address: u64, bytes: usize, advice: u32, location: Result<Location, Error>) -> Answer {
    require((kind::SET_READ_MOSTLY..=kind::UNSET_ACCESSED_BY).contains(&advice) && bytes > 0)?;
    managed(address, bytes as u64)?;
    // Advice that needs no location accepts any.
    let needed =
        matches!(advice, kind::SET_PREFERRED | kind::SET_ACCESSED_BY | kind::UNSET_ACCESSED_BY);
    let location =
        if needed { location? } else { location.unwrap_or(Location { kind: DEVICE, id: 0 }) };
    advice::change(address, bytes as u64, |all| match advice {
        kind::SET_READ_MOSTLY => all.read_mostly = true,
        kind::UNSET_READ_MOSTLY => all.read_mostly = false,
        kind::SET_PREFERRED => all.preferred = Some(location),
        kind::UNSET_PREFERRED => all.preferred = None,
        kind::SET_ACCESSED_BY => {
            all.accessed_by.insert(location);
        }
        _ => {
            all.accessed_by.remove(&location);
        }
    });
    Ok(())
}

pub(super) fn prefetch(address: u64, bytes: usize, location: Location) -> Answer {
    require(bytes > 0)?;
    managed(address, bytes as u64)?;
    advice::change(address, bytes as u64, |all| all.prefetched = Some(location));
    Ok(())
}

/// Returns the value that all advice of a range shares, if there is one.
fn common<T: PartialEq>(all: &[Advice], of: impl Fn(&Advice) -> T) -> Option<T> {
    let first = of(all.first()?);
    all.iter().all(|advice| of(advice) == first).then_some(first)
}

fn attribute(data: Ptr<c_void>, size: usize, which: u32, address: u64, bytes: usize) -> Answer {
    data.required()?;
    require(bytes > 0)?;
    managed(address, bytes as u64)?;
    let all = advice::of(address, bytes as u64);
    let numbers: Ptr<i32> = data.cast();
    if which == attribute::ACCESSED_BY {
        require(size > 0 && size.is_multiple_of(4))?;
        let by_all = all[0]
            .accessed_by
            .iter()
            .filter(|location| all.iter().all(|a| a.accessed_by.contains(location)));
        let mut devices = by_all.map(|&location| as_device(Some(location)));
        (0..size / 4).for_each(|i| numbers.set_at(i, devices.next().unwrap_or(NONE)));
        return Ok(());
    }
    let preferred = || common(&all, |advice| advice.preferred).flatten();
    let prefetched = || common(&all, |advice| advice.prefetched).flatten();
    let kind = |location: Option<Location>| location.map_or(0, |location| location.kind as i32);
    let id = |location: Option<Location>| location.map_or(0, |location| location.id);
    require(size == 4)?;
    numbers.set(match which {
        attribute::READ_MOSTLY => all.iter().all(|advice| advice.read_mostly).into(),
        attribute::PREFERRED => as_device(preferred()),
        attribute::PREFETCHED => as_device(prefetched()),
        attribute::PREFERRED_KIND => kind(preferred()),
        attribute::PREFERRED_ID => id(preferred()),
        attribute::PREFETCHED_KIND => kind(prefetched()),
        attribute::PREFETCHED_ID => id(prefetched()),
        _ => return Err(super::INVALID),
    })
}

api! {
    /// Only notes the location, since host and device share memory.
    fn cuMemPrefetchAsync(address: u64, bytes: usize, device: i32, stream: u64) / cuMemPrefetchAsync_ptsz {
        let location = of_device(device)?;
        crate::stream::get(stream)?;
        prefetch(address, bytes, location)
    }

    fn cuMemPrefetchAsync_v2(address: u64, bytes: usize, location: u64, flags: u32, stream: u64) / cuMemPrefetchAsync_v2_ptsz {
        require(flags == 0)?;
        let location = self::location(location)?;
        crate::stream::get(stream)?;
        prefetch(address, bytes, location)
    }

    fn cuMemAdvise(address: u64, bytes: usize, advice: u32, device: i32) {
        advise(address, bytes, advice, of_device(device))
    }

    fn cuMemAdvise_v2(address: u64, bytes: usize, advice: u32, location: u64) {
        advise(address, bytes, advice, self::location(location))
    }

    fn cuMemRangeGetAttribute(data: Ptr<c_void>, size: usize, which: u32, address: u64, bytes: usize) {
        attribute(data, size, which, address, bytes)
    }

    fn cuMemRangeGetAttributes(
        data: Ptr<Ptr<c_void>>, sizes: Ptr<usize>, which: Ptr<u32>, count: usize, address: u64, bytes: usize,
    ) {
        require(count > 0)?;
        (0..count).try_for_each(|i| attribute(data.get_at(i)?, sizes.get_at(i)?, which.get_at(i)?, address, bytes))
    }
}
