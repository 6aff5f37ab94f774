//! [`Case`]: one launch with its expected memory, run on both engines with one and with two threads.

use crate::reference::Shape;
use std::path::PathBuf;

/// Block sizes for kernels that take any.
pub const BLOCKS: [usize; 11] = [1, 7, 31, 32, 33, 64, 100, 255, 256, 1000, 1024];

/// A number as it lies in guest memory.
pub trait Scalar: Copy {
    fn put(self, bytes: &mut Vec<u8>);
}

macro_rules! scalars {
    ($($t:ty)*) => { $(impl Scalar for $t {
        fn put(self, bytes: &mut Vec<u8>) {
            bytes.extend(self.to_le_bytes());
        }
    })* };
}
scalars!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

pub fn bytes_of<T: Scalar>(values: &[T]) -> Vec<u8> {
    let mut bytes = vec![];
    values.iter().for_each(|v| v.put(&mut bytes));
    bytes
}
