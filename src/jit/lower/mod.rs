//! From IR to CLIF. `region` sets up a function of several blocks; `block` walks the steps
//! of a plan, `segment` does those of lanes, `idle` knows which of them need not be done; `chunk` is the loop over chunks and the forms of values in it,
//! `masks` those of masks, `rows` what they have in the register file; `pure`, `convert`, `int`, `float`, `half`, `vector`
//! are operations without effect, `rounding` is for those that round other than to nearest; `memory` and `atomic` touch the guest, through `address` where lanes lie evenly, else
//! through `apart` or `staging`; `scalar` does so for the warp as a whole, `arrays` are byte regions, `indexed` lane registers by number. `control` and `waits`
//! end blocks. `resident`, `alone`, `sweep` and `whole` are other orders in
//! which lanes, chunks and warps may run what they do not see of each other; `again` is for where they may not after all.

mod address;
mod again;
mod alone;
mod apart;
mod arrays;
mod atomic;
mod block;
mod chunk;
mod control;
mod convert;
mod float;
mod half;
mod idle;
mod indexed;
mod int;
mod masks;
mod memory;
mod pure;
mod region;
mod resident;
mod rest;
mod rounding;
mod rows;
mod scalar;
mod segment;
mod spaced;
mod staging;
mod sweep;
mod vector;
mod waits;
mod warp;
mod whole;

pub use pure::support;
pub use region::{Lowered, Owned, lower_region};
