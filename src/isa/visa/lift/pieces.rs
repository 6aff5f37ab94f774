//! Instructions are lifted in *pieces*.
//!
//! Most instructions are one piece with all their lanes. An instruction with more lanes than the
//! warp has several pieces. So does an instruction without a mask for few lanes, since its elements
//! are mostly scalars. All pieces are written after the last piece.

use warploom_ir::Window;

use super::Cx;
use crate::types::Exec;

/// Elements of an instruction that are lifted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The number of the first element.
    pub element: u32,
    pub count: u8,
    /// The lane of the first element.
    pub lane: u8,
}

/// The most elements of an instruction without a mask that are lifted one by one.
const FEW: u8 = 4;

impl Piece {
    /// Returns whether the piece has one element, whose values are uniform.
    pub fn is_scalar(self) -> bool {
        self.count == 1
    }

    pub fn window(self) -> Window {
        Window { first: self.lane, count: self.count }
    }
}

/// Returns the pieces of an instruction in a warp of `lanes` lanes.
///
/// Returns None if lanes that do not exist would have to be active.
pub fn pieces(exec: Exec, lanes: u8) -> Option<Vec<Piece>> {
    let fits = exec.offset + exec.size <= lanes;
    if exec.no_mask && exec.size <= FEW || lanes == 1 {
        if !exec.no_mask && !fits {
            return None;
        }
        let lane = if exec.no_mask { 0 } else { exec.offset };
        return Some((0..exec.size).map(|n| Piece { element: n.into(), count: 1, lane }).collect());
    }
    if fits {
        return Some(vec![Piece { element: 0, count: exec.size, lane: exec.offset }]);
    }
    if !exec.no_mask {
        return None;
    }
    if exec.size <= lanes {
        return Some(vec![Piece { element: 0, count: exec.size, lane: 0 }]);
    }
    let starts = (0..exec.size).step_by(lanes.into());
    Some(
        starts
            .map(|n| Piece { element: n.into(), count: lanes.min(exec.size - n), lane: 0 })
            .collect(),
    )
}

impl Cx<'_> {
    /// Calls `each` for the pieces of an instruction of `count` lanes, without mask and predicate.
    ///
    /// It serves messages that move a block of `count` consecutive elements, whatever the lanes
    /// are. Element `i` of a raw operand is then element `i` of the block, and `element` is the
    /// number of a piece's first element. If there are few elements, they are uniform.
    pub fn as_block(&mut self, count: u8, mut each: impl FnMut(&mut Self, Piece)) {
        let (exec, predicate, piece) = (self.exec, self.predicate.take(), self.piece);
        self.exec = Exec { size: count, offset: 0, no_mask: true };
        for piece in pieces(self.exec, self.lanes()).unwrap_or_default() {
            self.begin_piece(piece);
            each(self, piece);
        }
        (self.exec, self.predicate) = (exec, predicate);
        self.begin_piece(piece);
    }
}
