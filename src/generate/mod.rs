//! Random programs for differential tests: the fuzz targets and the property tests share these generators.
//!
//! Everything is drawn from an [`arbitrary::Unstructured`], so a fuzzer's bytes and a seeded stream serve alike.

mod function;

pub use function::{DUMP_BYTES, GLOBAL_BYTES, SHARED_BYTES, function};
