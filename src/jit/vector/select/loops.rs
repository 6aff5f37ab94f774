//! Loops of one block (to be filled).

use super::region::Selector;

impl Selector<'_> {
    pub fn self_loop(&mut self) -> bool {
        false
    }
}
