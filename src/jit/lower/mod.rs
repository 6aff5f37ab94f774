//! From IR to CLIF. `region` sets up a function of several blocks and `control` ends a block; `block` walks the steps
//! of a plan; `chunk` is the loop over chunks and the forms of values in it, `masks` those of masks, `rows` what they have in the register file; `pure`, `int`, `float`, `half`, `vector`
//! are operations without effect; `memory` and `atomic` touch the guest, through `address` where lanes lie evenly, else
//! through `apart` or `staging`; `scalar` does so for the warp as a whole. `resident` (with `leavers`), `alone`, `sweep` and `whole` are other orders in
//! which lanes, chunks and warps may run what they do not see of each other; `again` is for where they may not after all.

mod address;
mod again;
mod alone;
mod apart;
mod atomic;
mod block;
mod chunk;
mod control;
mod float;
mod half;
mod int;
mod leavers;
mod masks;
mod memory;
mod pure;
mod region;
mod resident;
mod rest;
mod rows;
mod scalar;
mod staging;
mod sweep;
mod vector;
mod warp;
mod whole;

pub use pure::support;
pub use region::{Lowered, Owned, lower_region};
