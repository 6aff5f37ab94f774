//! An instruction is lifted in *pieces*: mostly one, of the lanes that it is for. What is for more lanes than a warp has is several, and so is what
//! is for few lanes whether they are active or not: those are mostly elements of scalars. What pieces write is written behind the last one.

use warploom_ir::Window;

use super::Cx;
use crate::types::Exec;

/// Elements of an instruction that are lifted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first one's number.
    pub element: u32,
    pub count: u8,
    /// The lane of the first one.
    pub lane: u8,
}

/// Elements of instructions without a mask that are lifted one by one.
const FEW: u8 = 4;

impl Piece {
    /// Whether it is one element, whose values are uniform.
    pub fn is_scalar(self) -> bool {
        self.count == 1
    }

    pub fn window(self) -> Window {
        Window { first: self.lane, count: self.count }
    }
}

/// The pieces of an instruction in a warp of so many lanes; none if lanes that there are not would have to be active.
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
    /// Does something as an instruction of other lanes, whether they are active or not, without a predicate.
    ///
    /// Of a message that moves a block of `count` consecutive elements, whatever the lanes are: element `i` of a raw operand
    /// is then that of the block, and `element` gives the number of the first one. Elements are uniform if there are few.
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
