//! The lanes that hold the elements of four products at once.

use super::{Order, Sum};

/// A lane's product (of four), its half of eight lanes, and its number in this half.
fn parts(lane: usize) -> [usize; 3] {
    [lane % 16 / 4, lane / 16, lane % 4]
}

/// The product, row and column of element `i` of A.
pub fn place_a(order: Order, lane: usize, i: usize) -> [usize; 3] {
    let [q, h, u] = parts(lane);
    match order {
        Order::Row => [q, u + 4 * h, i],
        Order::Col => [q, i + 4 * h, u],
    }
}

/// The product, row and column of element `i` of B.
pub fn place_b(order: Order, lane: usize, i: usize) -> [usize; 3] {
    let [q, h, u] = parts(lane);
    match order {
        Order::Row => [q, u, i + 4 * h],
        Order::Col => [q, i, u + 4 * h],
    }
}

/// The product, row and column of element `i` of C and D. Lanes hold other elements if the type is
/// `f16`.
pub fn place_c(sum: Sum, lane: usize, i: usize) -> [usize; 3] {
    let [q, h, u] = parts(lane);
    match sum {
        Sum::F16 => [q, u + 4 * h, i],
        _ => [q, (u & 1) + (i & 2) + 4 * h, (i & 4) + (u & 2) + (i & 1)],
    }
}
