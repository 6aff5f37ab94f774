//! Arrays.

use crate::error::{Answer, Error};

use crate::handles::Table;
use std::sync::Arc;

pub static ARRAYS: Table<Array> = Table::new();

pub struct Array {}

pub fn get(handle: u64) -> Result<Arc<Array>, Error> {
    ARRAYS.get(handle)
}

impl Array {
    pub fn check(&self, _level: u32, _at: [u64; 3], _size: [u64; 3]) -> Answer {
        Err(Error::CUDA_ERROR_NOT_SUPPORTED)
    }

    pub fn read(&self, _level: u32, _at: [u64; 3], _into: &mut [u8]) -> Answer {
        Err(Error::CUDA_ERROR_NOT_SUPPORTED)
    }

    pub fn write(&self, _level: u32, _at: [u64; 3], _from: &[u8]) -> Answer {
        Err(Error::CUDA_ERROR_NOT_SUPPORTED)
    }
}
