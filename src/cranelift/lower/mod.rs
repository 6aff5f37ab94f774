//! From IR to CLIF. `region` sets up a function of several blocks; `block` walks the steps
//! of a plan, `segment` does those of lanes, `lane_by_lane` where few are active, `inactive` knows which of them need not be done; `chunk` is the loop over chunks and the forms of values in it, `bases` those of evenly spaced ones, `chains` the order in which long chains are made, `facts` and `scope` what is known of the block and where code is being written,
//! `masks` those of masks, `rows` what they have in the register file; `element`, `pure`, `convert`, `int`, `float`, `half`, `vector`
//! are operations without effect, `rounding` is for those that round other than to nearest; `memory` and `atomic` touch the guest, through `address` where lanes lie evenly, else
//! through `gather_scatter` or `staging`; `scalar` does so for the warp as a whole, `arrays` are byte regions, `indexed` lane registers by number. `control` and `waits`
//! end blocks. `register_loop`, `scalarized`, `sweep` and `full_warp` are other orders in
//! which lanes, chunks and warps may run what they do not see of each other; `bailout` is for where they may not after all.

mod address;
mod arms;
mod arrays;
mod atomic;
mod bailout;
mod bases;
mod block;
mod chains;
mod chunk;
mod control;
mod convert;
mod element;
mod facts;
mod float;
mod full_warp;
mod gather_scatter;
mod half;
mod inactive;
mod indexed;
mod int;
mod lane_by_lane;
mod masks;
mod memory;
mod pure;
mod region;
mod register_loop;
mod rounding;
mod rows;
mod scalar;
mod scalarized;
mod scope;
mod segment;
mod spaced;
mod special;
mod spill;
mod staging;
mod sweep;
mod tables;
mod vector;
mod waits;
mod warp;

pub use region::{Lowered, lower_region};
pub use tables::{NAMESPACE as TABLES, Table};
