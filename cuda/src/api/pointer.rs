//! Attributes of addresses.

use std::ffi::c_void;

use crate::allocations::{self, Allocation, Kind};
use crate::boundary::{Ptr, api};
use crate::error::{Answer, Error};
use crate::{context, driver};

/// Values of `CUpointer_attribute`.
mod attribute {
    pub const CONTEXT: u32 = 1;
    pub const MEMORY_TYPE: u32 = 2;
    pub const DEVICE_POINTER: u32 = 3;
    pub const HOST_POINTER: u32 = 4;
    pub const P2P_TOKENS: u32 = 5;
    pub const SYNC_MEMOPS: u32 = 6;
    pub const BUFFER_ID: u32 = 7;
    pub const IS_MANAGED: u32 = 8;
    pub const DEVICE_ORDINAL: u32 = 9;
    pub const IS_IPC_CAPABLE: u32 = 10;
    pub const RANGE_START: u32 = 11;
    pub const RANGE_SIZE: u32 = 12;
    pub const MAPPED: u32 = 13;
    pub const HANDLE_TYPES: u32 = 14;
    pub const IS_RDMA_CAPABLE: u32 = 15;
    pub const ACCESS_FLAGS: u32 = 16;
    pub const POOL: u32 = 17;
    pub const MAPPING_SIZE: u32 = 18;
    pub const MAPPING_BASE: u32 = 19;
    pub const MEMORY_BLOCK_ID: u32 = 20;
    pub const IS_HW_DECOMPRESS: u32 = 21;
}

/// The value of an attribute.
enum Value {
    Word(u32),
    Wide(u64),
    Bool(bool),
}

impl Value {
    fn put(self, to: Ptr<c_void>) -> Answer {
        match self {
            Value::Word(value) => to.cast::<u32>().set(value),
            Value::Wide(value) => to.cast::<u64>().set(value),
            // C's type is `bool` or `unsigned int`: one byte fits both.
            Value::Bool(value) => to.cast::<u8>().set(value.into()),
        }
    }
}

/// Returns the allocation that contains an address, or else the memory of a module around it.
fn find(address: u64) -> Option<Allocation> {
    allocations::find(address).or_else(|| {
        let (start, bytes) = driver::memory().range_of(address)?;
        let context = context::current_handle();
        Some(Allocation { address: start, bytes, kind: Kind::Device, context, id: start, flags: 0 })
    })
}

fn value(attribute: u32, address: u64) -> Result<Value, Error> {
    let found = find(address);
    if attribute == attribute::MAPPED {
        return Ok(Value::Bool(found.is_some()));
    }
    if !(attribute::CONTEXT..=attribute::IS_HW_DECOMPRESS).contains(&attribute) {
        return Err(super::INVALID);
    }
    let found = found.ok_or(super::INVALID)?;
    let pool = match found.kind {
        Kind::Pool(pool) => pool,
        _ => 0,
    };
    Ok(match attribute {
        attribute::CONTEXT => Value::Wide(found.context),
        attribute::MEMORY_TYPE => Value::Word(if found.is_host() { 1 } else { 2 }),
        attribute::DEVICE_POINTER => Value::Wide(address),
        attribute::HOST_POINTER if found.is_for_host() => Value::Wide(address),
        attribute::HOST_POINTER | attribute::P2P_TOKENS => return Err(super::INVALID),
        attribute::SYNC_MEMOPS => Value::Bool(false),
        attribute::BUFFER_ID | attribute::MEMORY_BLOCK_ID => Value::Wide(found.id),
        attribute::IS_MANAGED => Value::Bool(found.kind == Kind::Managed),
        attribute::DEVICE_ORDINAL => Value::Word(0),
        attribute::IS_IPC_CAPABLE | attribute::IS_RDMA_CAPABLE | attribute::IS_HW_DECOMPRESS => {
            Value::Bool(false)
        }
        attribute::RANGE_START | attribute::MAPPING_BASE => Value::Wide(found.address),
        attribute::RANGE_SIZE | attribute::MAPPING_SIZE => Value::Wide(found.bytes),
        attribute::HANDLE_TYPES => Value::Wide(0),
        // Readable and writable.
        attribute::ACCESS_FLAGS => Value::Word(3),
        attribute::POOL if pool != 0 => Value::Wide(pool),
        _ => Value::Wide(0),
    })
}

/// Returns the value that `cuPointerGetAttributes` reports where an attribute does not exist.
fn nothing(attribute: u32) -> Value {
    match attribute {
        attribute::MEMORY_TYPE | attribute::ACCESS_FLAGS => Value::Word(0),
        attribute::DEVICE_ORDINAL => Value::Word(-2_i32 as u32),
        attribute::SYNC_MEMOPS
        | attribute::IS_MANAGED
        | attribute::IS_IPC_CAPABLE
        | attribute::MAPPED
        | attribute::IS_RDMA_CAPABLE
        | attribute::IS_HW_DECOMPRESS => Value::Bool(false),
        _ => Value::Wide(0),
    }
}

api! {
    fn cuPointerGetAttribute(data: Ptr<c_void>, attribute: u32, address: u64) {
        data.required()?;
        value(attribute, address)?.put(data)
    }

    fn cuPointerGetAttributes(count: u32, attributes: Ptr<u32>, data: Ptr<Ptr<c_void>>, address: u64) {
        for i in 0..count as usize {
            let (attribute, to) = (attributes.get_at(i)?, data.get_at(i)?);
            if !(attribute::CONTEXT..=attribute::IS_HW_DECOMPRESS).contains(&attribute) {
                return Err(super::INVALID);
            }
            value(attribute, address).unwrap_or_else(|_| nothing(attribute)).put(to)?;
        }
        Ok(())
    }

    fn cuPointerSetAttribute(value: Ptr<c_void>, attribute: u32, address: u64) {
        value.required()?;
        super::require(attribute == attribute::SYNC_MEMOPS)?;
        find(address).map(|_| ()).ok_or(super::INVALID)
    }
}
