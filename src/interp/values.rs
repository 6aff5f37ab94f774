//! Storage of the values of a block, reused from block to block and from call to call.

use std::cell::Cell;

use warploom_ir::{Value, Window};

/// One row per value, with a `u64` for each lane. A uniform value has its bits in every element.
/// For a varying value, only the elements of its window have a meaning.
#[derive(Debug, Default)]
pub struct Values {
    lanes: usize,
    rows: Vec<u64>,
}

impl Values {
    /// Makes room for `values` values, with arbitrary content.
    pub fn reset(&mut self, lanes: u8, values: usize) {
        self.lanes = lanes.into();
        let needed = self.lanes * values;
        if self.rows.len() < needed {
            self.rows.resize(needed, 0);
        }
    }

    fn start(&self, value: Value) -> usize {
        value.0 as usize * self.lanes
    }

    /// Returns all lanes.
    pub fn row(&self, value: Value) -> &[u64] {
        &self.rows[self.start(value)..][..self.lanes]
    }

    pub fn row_mut(&mut self, value: Value) -> &mut [u64] {
        let start = self.start(value);
        &mut self.rows[start..][..self.lanes]
    }

    /// Returns the value of a uniform.
    pub fn uniform(&self, value: Value) -> u64 {
        self.rows[self.start(value)]
    }

    pub fn set_uniform(&mut self, value: Value, bits: u64) {
        self.row_mut(value).fill(bits);
    }

    /// Returns the values before `result` for reading, and the window of its row. Operands always
    /// come before results.
    pub fn split(&mut self, result: Value, window: Window) -> (Operands<'_>, &mut [u64]) {
        let start = self.start(result);
        let (before, from) = self.rows.split_at_mut(start);
        (Operands { lanes: self.lanes, rows: before }, &mut from[window.lanes()])
    }
}

/// Rows of the operands of an operation.
#[derive(Clone, Copy)]
pub struct Operands<'a> {
    lanes: usize,
    rows: &'a [u64],
}

impl<'a> Operands<'a> {
    pub fn window(self, value: Value, window: Window) -> &'a [u64] {
        &self.rows[value.0 as usize * self.lanes..][window.lanes()]
    }
}

thread_local! {
    static VALUES: Cell<Values> = Cell::default();
}

/// Lends this thread's storage to `f`.
pub fn with_values<R>(f: impl FnOnce(&mut Values) -> R) -> R {
    let mut values = VALUES.take();
    let result = f(&mut values);
    VALUES.set(values);
    result
}
