//! Where messages without a format access memory: flat addresses, shared local memory, scratch memory, surfaces.

use warploom_guest::divergence::Mask;
use warploom_guest::images::Record;
use warploom_ir::image::at;
use warploom_ir::{Access, IntCc, Space, Special, Type, Value, Window};

use super::super::{Cx, surface};

/// What addresses are relative to.
#[derive(Clone, Copy)]
pub enum Target {
    /// Guest addresses of 64 bits.
    Flat,
    /// Offsets of 32 bits in the group's local memory.
    Slm,
    /// Likewise in the thread's own memory.
    Scratch,
    /// Likewise in a surface.
    Surface(Record),
}

/// Where a message's lanes access memory.
#[derive(Clone, Copy)]
pub struct MessageTarget {
    pub target: Target,
    /// `i64` if the target is flat, else `i32`.
    pub address: Value,
    /// In bytes.
    pub offset: i32,
}

/// Compilers mark addresses in local memory with this bit. Facts, `visa.md` 4.
const SLM_MARK: u32 = 1 << 28;

/// The lanes whose `bytes` from the `i32` offset `at` on lie within the first `size`.
fn within(cx: &mut Cx<'_>, at: Value, bytes: u32, size: Value) -> Value {
    // How many places there are to begin at.
    let last = cx.word(bytes - 1);
    let places = cx.b.max_u(size, last);
    let places = cx.b.sub(places, last);
    cx.b.icmp(IntCc::LtU, at, places)
}

/// An access of those of its lanes that are in a mask.
pub fn narrowed(cx: &mut Cx<'_>, access: Access, lanes: Value) -> Access {
    let guard = match access.guard {
        Some(guard) => cx.b.and(guard, lanes),
        None => lanes,
    };
    Access { guard: Some(guard), ..access }
}

impl Target {
    /// Whether of what lies outside each element reads 0 and is not written, by itself.
    pub fn is_bounded(self) -> bool {
        matches!(self, Target::Scratch | Target::Surface(_))
    }

    /// Raises a fault where there is no surface.
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

    /// Whether accesses at a uniform address have no code of their own, so that one lane does them.
    fn is_for_lanes(self) -> bool {
        matches!(self, Target::Slm)
    }

    /// The place of addresses that are 64 or 32 bits wide.
    pub fn place(self, cx: &mut Cx<'_>, address: Value) -> MessageTarget {
        let ty = if matches!(self, Target::Flat) { Type::I64 } else { Type::I32 };
        MessageTarget { target: self, address: cx.resize(address, ty, false), offset: 0 }
    }
}

impl MessageTarget {
    /// At a distance that a message says.
    pub fn at_distance(self, cx: &mut Cx<'_>, bytes: i32) -> MessageTarget {
        let place = MessageTarget { offset: bytes, ..self };
        if self.target.is_bounded() {
            MessageTarget { address: place.at(cx), offset: 0, ..self }
        } else {
            place
        }
    }

    /// Further on.
    pub fn after(self, bytes: u32) -> MessageTarget {
        MessageTarget { offset: self.offset.wrapping_add(bytes as i32), ..self }
    }

    /// The offset with the constant added to it.
    fn at(self, cx: &mut Cx<'_>) -> Value {
        if self.offset == 0 {
            return self.address;
        }
        let offset = cx.word(self.offset as u32);
        cx.b.add(self.address, offset)
    }

    /// An access to elements of a range of memory, in the lanes in which all of it is there: what lies further on than an address does not begin
    /// again at 0.
    fn bounded(self, cx: &mut Cx<'_>, (ty, count): (Type, u8), base: Value, size: Value) -> Access {
        let bytes = ty.bytes() * u32::from(count);
        let inside = within(cx, self.address, self.offset as u32 + bytes, size);
        let at = cx.b.zero_extend(Type::I64, self.address);
        let address = cx.b.add(base, at);
        let access = cx.access(Space::Global, ty, count, address, self.offset);
        narrowed(cx, access, inside)
    }

    /// An access to `count` elements that are together in memory. Where they are not there loads give 0, and nothing is stored.
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

    /// Loads or stores: as the piece is, or by one lane for a piece of one element if that is what the target wants.
    pub fn perform(
        self,
        cx: &mut Cx<'_>,
        f: impl FnOnce(&mut Cx<'_>, MessageTarget) -> Vec<Value>,
    ) -> Vec<Value> {
        if self.target.is_for_lanes() { self.in_lanes(cx, f) } else { f(cx, self) }
    }

    /// The same, but a uniform address never is.
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

/// Does something for lanes. A piece of one element is done by one lane, as what accesses memory for the warp as a whole has no code;
/// the values that come of it are uniform.
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
