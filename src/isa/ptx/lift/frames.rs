//! Functions with frames in local memory: their calls and returns.
//!
//! A frame has the local variables and parameters of a function and of functions inlined into it.
//! Behind them it keeps registers while the function calls another function with a frame, or
//! itself.

use warploom_guest::divergence::Mask;
use warploom_ir::{IntCc, LaneFault, Type, Value};

use super::calls::{self, CallSite, Callee};
use super::context::{Cell, Counts, Cx, cell_type};
use super::driver;
use super::graph::{Call, End, Graph};
use super::liveness::Liveness;
use crate::module::{Module, Register};
use crate::types::{Kind, Ty};

/// Bytes of a frame that one register takes.
const KEPT: u64 = 8;

/// The frames of a kernel's functions.
pub struct Frames {
    /// By function: the register with the number of the place to return to.
    back: Vec<Cell>,
    /// By function: bytes of a whole frame.
    bytes: Vec<u64>,
    /// Bytes of local memory in front of the first frame.
    before: u64,
    liveness: Option<Liveness>,
    /// Present if functions take stack, which calls keep: the number under which the kernel's own
    /// stack is kept.
    stack: Option<u32>,
}

/// A register that is kept in a frame.
struct Kept {
    cell: Cell,
    ty: Ty,
}

impl Frames {
    pub fn new(module: &Module, graph: &Graph, counts: &mut Counts) -> Frames {
        let liveness = (!graph.outlines.is_empty()).then(|| Liveness::new(module, graph));
        let mut bytes: Vec<u64> =
            graph.outlines.iter().map(|outline| outline.frame_bytes).collect();
        let mut most = vec![0; bytes.len()];
        for node in &graph.nodes {
            if let (End::Enter { outline, site, .. }, Some(caller)) =
                (&node.end, graph.instances[node.instance].outline)
                && let Some(liveness) = &liveness
            {
                let resume = graph.outlines[*outline].sites[*site];
                // Plus the caller's own place to return to, and the stack.
                let kept = liveness.with_callers(graph, resume).len() + 2;
                most[caller] = most[caller].max(2 * KEPT * kept as u64);
            }
        }
        bytes
            .iter_mut()
            .zip(most)
            .for_each(|(bytes, most)| *bytes = (*bytes + most).next_multiple_of(16));
        let stack = graph.takes_stack().then(|| counts.keep_stack());
        let back =
            graph.outlines.iter().map(|_| super::cells::cell(Ty::B32, true, counts)).collect();
        Frames { back, bytes, before: graph.local_bytes.next_multiple_of(16), liveness, stack }
    }

    /// Returns the number of the place that each active lane returns to.
    pub fn back(&self, cx: &mut Cx<'_>, outline: usize) -> Value {
        cx.cell_value(self.back[outline], Ty::B32)
    }

    /// Returns the start of the callee's frame.
    fn callee(&self, cx: &mut Cx<'_>, caller: Option<usize>) -> CallSite {
        match caller {
            None => cx.fixed_place(self.before as u32),
            Some(caller) => (cx.frame(), self.bytes[caller] as i32),
        }
    }

    /// Returns where a frame keeps its stack: at its end.
    fn stack_place(&self, cx: &mut Cx<'_>, caller: usize) -> CallSite {
        (cx.frame(), (self.bytes[caller] - KEPT) as i32)
    }

    fn kept(
        &self,
        module: &Module,
        graph: &Graph,
        cells: &[Vec<Cell>],
        caller: usize,
        resume: usize,
    ) -> Vec<Kept> {
        let mut all = vec![Kept { cell: self.back[caller], ty: Ty::B32 }];
        let live = self
            .liveness
            .as_ref()
            .map(|liveness| liveness.with_callers(graph, resume))
            .unwrap_or_default();
        for (instance, register) in live {
            let Register(index) = register;
            let function = module.function(graph.instances[instance].function);
            let Some(body) = &function.body else { continue };
            let (cell, ty) = (cells[instance][index as usize], body.registers[index as usize].ty);
            if let (Cell::File(at), 128) = (cell, ty.bits()) {
                all.extend([at, at + 1].map(|at| Kept { cell: Cell::File(at), ty: Ty::B64 }));
            } else if cell != Cell::Block {
                all.push(Kept { cell, ty });
            }
        }
        all
    }

    /// Passes arguments, keeps registers, and makes the callee's frame the current frame.
    pub fn enter(&self, cx: &mut Cx<'_>, shape: Calling<'_>, call: &Call<'_>, site: usize) {
        let Calling { module, graph, cells, caller, outline } = shape;
        let to = self.callee(cx, caller);
        let frame = cx.b.iconst(Type::I32, to.1 as u64 & 0xffff_ffff);
        let frame = cx.b.add(to.0, frame);
        let size = cx.word(self.bytes[outline] as u32);
        let end = cx.b.add(frame, size);
        let limit = cx.driver(driver::LOCAL_END, Type::I32);
        let limit = match self.stack {
            Some(_) => {
                let used = cx.stack();
                cx.b.sub(limit, used)
            }
            None => limit,
        };
        let over = cx.b.icmp(IntCc::GtU, end, limit);
        cx.b.raise(LaneFault::StackOverflow, over);
        let resume = graph.outlines[outline].sites[site];
        if let Some(caller) = caller {
            let kept = self.kept(module, graph, cells, caller, resume);
            let first = graph.outlines[caller].frame_bytes;
            for (n, register) in (0..).zip(kept) {
                let place = (cx.frame(), (first + KEPT * n) as i32);
                keep(cx, place, &register);
            }
        }
        match (self.stack, caller) {
            (Some(number), None) => cx.keep_stack(number),
            (Some(_), Some(caller)) => {
                let (used, place) = (cx.stack(), self.stack_place(cx, caller));
                calls::store(cx, place, used);
            }
            (None, _) => {}
        }
        let callee = shape.callee(Some(to));
        calls::pass_arguments(cx, call, callee);
        let site = cx.word(site as u32);
        cx.set_cell(self.back[outline], Ty::B32, site);
        cx.b.rf_write(cx.banks().frame, frame);
    }

    /// Restores the caller's frame and registers, and takes the callee's return values.
    pub fn resume(&self, cx: &mut Cx<'_>, shape: Calling<'_>, call: &Call<'_>, resume: usize) {
        let Calling { module, graph, cells, caller, .. } = shape;
        let given = calls::given(cx, shape.callee(None));
        if let Some(caller) = caller {
            let (frame, size) = (cx.frame(), cx.word(self.bytes[caller] as u32));
            let size = cx.b.neg(size);
            let frame = cx.b.add(frame, size);
            cx.b.rf_write(cx.banks().frame, frame);
            let first = graph.outlines[caller].frame_bytes;
            for (n, register) in (0..).zip(self.kept(module, graph, cells, caller, resume)) {
                let place = (cx.frame(), (first + KEPT * n) as i32);
                restore(cx, place, &register);
            }
        }
        match (self.stack, caller) {
            (Some(number), None) => cx.restore_stack(number),
            (Some(_), Some(caller)) => {
                let place = self.stack_place(cx, caller);
                let used = calls::load(cx, place, Type::I32);
                cx.set_stack(used);
            }
            (None, _) => {}
        }
        let from = self.callee(cx, caller);
        calls::take_returns(cx, call, shape.callee(Some(from)), given);
    }
}

/// A call of a function with a frame.
#[derive(Clone, Copy)]
pub struct Calling<'a> {
    pub module: &'a Module,
    pub graph: &'a Graph,
    /// The cells of each instance's registers.
    pub cells: &'a [Vec<Cell>],
    /// The outlined function that contains the call, if any.
    pub caller: Option<usize>,
    pub outline: usize,
}

impl<'a> Calling<'a> {
    fn callee(&self, frame: Option<CallSite>) -> Callee<'a> {
        let number = self.graph.outlines[self.outline].instance;
        let instance = &self.graph.instances[number];
        let function = self.module.function(instance.function);
        Callee { function, places: &instance.places, cells: &self.cells[number], frame }
    }
}

fn keep(cx: &mut Cx<'_>, place: CallSite, register: &Kept) {
    if register.ty.kind() == Kind::Pred {
        let mask = cx.cell_pred(register.cell);
        let (one, zero) = (cx.word(1), cx.word(0));
        let value = cx.select(mask, one, zero);
        let value = if cx.b.ty(value).is_uniform() { cx.b.splat(value) } else { value };
        return calls::store(cx, place, value);
    }
    let value = cx.cell_value(register.cell, register.ty);
    calls::store(cx, place, value);
}

fn restore(cx: &mut Cx<'_>, place: CallSite, register: &Kept) {
    if register.ty.kind() == Kind::Pred {
        let value = calls::load(cx, place, Type::I32);
        let zero = cx.word(0);
        let set = cx.b.icmp(IntCc::Ne, value, zero);
        return cx.set_cell_pred(register.cell, Mask::Lanes(set));
    }
    let value = calls::load(cx, place, cell_type(register.ty));
    cx.set_cell(register.cell, register.ty, value);
}
