//! Lowers the IR to CLIF.
//!
//! - Structure: `region` sets up a function of several blocks, and `block` walks the steps of a
//!   plan. `segment` does lane-wise steps; `lane_by_lane` does them where few lanes are active, and
//!   `inactive` finds steps that need not be done. `control` and `waits` end blocks.
//! - State: `facts` holds the facts of a block, and `scope` the state of lowering. `chunk` is the
//!   loop over chunks and the forms of values in it; `bases` has the forms of evenly spaced values,
//!   `masks` of masks, and `rows` their cells in the register file. `chains` orders long chains,
//!   `arms` skips rare arms, and `spill` keeps values in memory.
//! - Operations without effect: `element`, `pure`, `convert`, `int`, `float`, `half`, `special` and
//!   `vector`; `rounding` has the operations that do not round to nearest.
//! - Accesses: `memory` and `atomic` touch the guest, through `address` where lanes are evenly
//!   spaced, else through `gather_scatter` or `staging`. `scalar` does so for the warp as a whole.
//!   `arrays` are byte regions, `indexed` is lane registers by number.
//! - Other orders of lanes, chunks and warps that do not see each other's effects: `register_loop`,
//!   `scalarized`, `sweep` and `full_warp`. `orders` notes the chosen orders. `bailout` is for blocks
//!   that may not use their order after all.

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
mod orders;
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

pub use orders::{Order, Ordered};
pub use region::{Lowered, lower_region};
pub use tables::{NAMESPACE as TABLES, Table};
