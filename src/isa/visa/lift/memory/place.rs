//! Memory that messages without a format access: flat addresses, shared local memory, scratch
//! memory, surfaces.

use warploom_guest::divergence::Mask;
use warploom_guest::images::Record;
use warploom_ir::image::at;
use warploom_ir::{Access, IntCc, Space, Special, Type, Value, Window};

use super::super::{Cx, surface};

/// The memory that addresses are relative to.
#[derive(Clone, Copy)]
pub enum Target {
    /// Guest addresses of 64 bits.
    Flat,
    /// Offsets of 32 bits in the group's local memory.
    Slm,
    /// Offsets of 32 bits in the thread's own memory.
    Scratch,
    /// Offsets of 32 bits in a surface.
    Surface(Record),
}

/// The places that a message's lanes access.
#[derive(Clone, Copy)]
pub struct MessageTarget {
    pub target: Target,
    /// An `i64` if the target is flat, else an `i32`.
    pub address: Value,
    /// The offset in bytes.
    pub offset: i32,
}

/// Compilers mark addresses in local memory with this bit. Facts, `visa.md` 4.
const SLM_MARK: u32 = 1 << 28;

/// Returns the lanes whose `bytes` from the `i32` offset `at` on lie within the first `size`.
fn within(cx: &mut Cx<'_>, at: Value, bytes: u32, size: Value) -> Value {
    // The number of offsets at which an access may begin.
    let last = cx.word(bytes - 1);
    let places = cx.b.max_u(size, last);
    let places = cx.b.sub(places, last);
    cx.b.icmp(IntCc::LtU, at, places)
}

/// Returns an access that is limited to the lanes of a mask.
pub fn narrowed(cx: &mut Cx<'_>, access: Access, lanes: Value) -> Access {
    let guard = match access.guard {
        Some(guard) => cx.b.and(guard, lanes),
        None => lanes,
    };
    Access { guard: Some(guard), ..access }
}

impl Target {
    /// Returns whether each element is bounded separately: outside elements read 0 and are not
    /// written.
    pub fn is_bounded(self) -> bool {
        matches!(self, Target::Scratch | Target::Surface(_))
    }

    /// Raises a fault in lanes without a surface.
    pub fn check(self, cx: &mut Cx<'_>) {
        if let Target::Surface(record) = self
            && surface::absent(cx, &record) != Mask::Never
        {
            one_lane(cx, |cx| {
                surface::check(cx, &record);
                vec![]
            });
        }
    }

    /// Returns whether the engine has no code for accesses at a uniform address, so that a lane
    /// does them.
    fn is_for_lanes(self) -> bool {
        matches!(self, Target::Slm)
    }

    /// Returns the place of addresses that are 64 or 32 bits wide.
    pub fn place(self, cx: &mut Cx<'_>, address: Value) -> MessageTarget {
        let ty = if matches!(self, Target::Flat) { Type::I64 } else { Type::I32 };
        MessageTarget { target: self, address: cx.resize(address, ty, false), offset: 0 }
    }
}

impl MessageTarget {
    /// Returns the place at the distance that a message states.
    pub fn at_distance(self, cx: &mut Cx<'_>, bytes: i32) -> MessageTarget {
        let place = MessageTarget { offset: bytes, ..self };
        if self.target.is_bounded() {
            MessageTarget { address: place.at(cx), offset: 0, ..self }
        } else {
            place
        }
    }

    /// Returns the place `bytes` further on.
    pub fn after(self, bytes: u32) -> MessageTarget {
        MessageTarget { offset: self.offset.wrapping_add(bytes as i32), ..self }
    }

    /// Returns the offset with the constant added to it.
    fn at(self, cx: &mut Cx<'_>) -> Value {
        if self.offset == 0 {
            return self.address;
        }
        let offset = cx.word(self.offset as u32);
        cx.b.add(self.address, offset)
    }

    /// Returns an access to elements of a range of memory, in lanes where the whole access is
    /// inside.
    ///
    /// Offsets do not wrap around to 0.
    fn bounded(self, cx: &mut Cx<'_>, (ty, count): (Type, u8), base: Value, size: Value) -> Access {
        let bytes = ty.bytes() * u32::from(count);
        let inside = within(cx, self.address, self.offset as u32 + bytes, size);
        let at = cx.b.zero_extend(Type::I64, self.address);
        let address = cx.b.add(base, at);
        let access = cx.access(Space::Global, ty, count, address, self.offset);
        narrowed(cx, access, inside)
    }

    /// Returns an access to `count` consecutive elements. Outside elements load 0 and are not
    /// stored.
    pub fn access(self, cx: &mut Cx<'_>, ty: Type, count: u8) -> Access {
        match self.target {
            Target::Flat => cx.access(Space::Global, ty, count, self.address, self.offset),
            Target::Slm => {
                let at = self.at(cx);
                let unmarked = cx.word(!SLM_MARK);
                let at = cx.b.and(at, unmarked);
                let size = cx.b.special(Special::SharedBytes);
                let inside = within(cx, at, ty.bytes() * u32::from(count), size);
                let access = cx.access(Space::Shared, ty, count, at, 0);
                narrowed(cx, access, inside)
            }
            Target::Scratch => {
                let (base, size) = cx.scratch();
                let size = cx.resize(size, Type::I32, false);
                self.bounded(cx, (ty, count), base, size)
            }
            Target::Surface(record) => {
                let (base, size) = (
                    record.load(cx, at::BASE, Type::I64),
                    record.load(cx, at::ROW_BYTES, Type::I32),
                );
                self.bounded(cx, (ty, count), base, size)
            }
        }
    }

    /// Calls `f` to load or store.
    ///
    /// A piece of one element is accessed by one lane, if the target requires lanes.
    pub fn perform(
        self,
        cx: &mut Cx<'_>,
        f: impl FnOnce(&mut Cx<'_>, MessageTarget) -> Vec<Value>,
    ) -> Vec<Value> {
        if self.target.is_for_lanes() { self.in_lanes(cx, f) } else { f(cx, self) }
    }

    /// Calls `f` with an address for each lane, even if the address is uniform.
    pub fn in_lanes(
        self,
        cx: &mut Cx<'_>,
        f: impl FnOnce(&mut Cx<'_>, MessageTarget) -> Vec<Value>,
    ) -> Vec<Value> {
        one_lane(cx, |cx| {
            let address = cx.splat(self.address);
            f(cx, MessageTarget { address, ..self })
        })
    }
}

/// Calls `f` to emit code for lanes.
///
/// One lane does the work of a piece of one element, because accesses of the warp as a whole have
/// no code. The results are then uniform.
pub fn one_lane(cx: &mut Cx<'_>, f: impl FnOnce(&mut Cx<'_>) -> Vec<Value>) -> Vec<Value> {
    let piece = cx.piece();
    if !piece.is_scalar() {
        return f(cx);
    }
    let condition = cx.condition();
    let lane = condition.unwrap_or_else(|| cx.constant(Type::Mask, 1 << piece.lane));
    let (window, guard) = (cx.b.window(), cx.b.guard());
    cx.b.set_window(Window::all(cx.lanes()));
    cx.b.set_guard(Some(lane));
    cx.b.set_nomask(true);
    let values = f(cx);
    let number = cx.word(piece.lane.into());
    let values = values.into_iter().map(|value| {
        if cx.b.ty(value).is_uniform() { value } else { cx.b.lane_read(value, number) }
    });
    let values = values.collect();
    cx.b.set_window(window);
    cx.b.set_guard(guard);
    cx.b.set_nomask(cx.exec().no_mask);
    values
}
