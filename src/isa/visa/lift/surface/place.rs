//! Places of texels: the coordinates that a surface of each dimension takes. Seed, "Notes".

use warploom_guest::divergence::Mask;
use warploom_guest::images::place::{Beyond, Slice, SurfaceAccess, Target, Unit};
use warploom_guest::images::{Lifter, Record};
use warploom_ir::image::{Kind, at, flag, form};
use warploom_ir::{IntCc, Value};

use super::super::Cx;
use crate::instruction::Raw;

/// The coordinates of a typed message. Unused coordinates are the null variable.
#[derive(Clone, Copy)]
pub struct Coordinates {
    /// The coordinates U, V, R.
    pub axes: [Option<Value>; 3],
    pub lod: Option<Value>,
}

impl Coordinates {
    /// Reads dwords of raw operands: U, V, R and the level of detail. U, V and R have constants
    /// added.
    pub fn read(cx: &mut Cx<'_>, raws: [Raw; 4], offsets: [i32; 3]) -> Coordinates {
        let value = |cx: &mut Cx<'_>, raw: Raw| {
            (raw != Raw::NULL).then(|| cx.raw(raw, 0, warploom_ir::Type::I32))
        };
        let [u, v, r, lod] = raws.map(|raw| value(cx, raw));
        let mut axes = [u, v, r];
        for (axis, offset) in axes.iter_mut().zip(offsets) {
            if offset != 0 {
                let offset = cx.word(offset as u32);
                *axis = Some(axis.map_or(offset, |axis| cx.b.add(axis, offset)));
            }
        }
        Coordinates { axes, lod }
    }

    /// Returns coordinates of each lane.
    fn splat(self, cx: &mut Cx<'_>) -> Coordinates {
        let mut splat = |value: Option<Value>| value.map(|value| cx.splat(value));
        Coordinates { axes: self.axes.map(&mut splat), lod: splat(self.lod) }
    }

    /// Returns the places of texels in a surface.
    ///
    /// A coordinate, layer or level outside the surface has no texel.
    pub fn place(self, cx: &mut Cx<'_>, record: Record) -> SurfaceAccess {
        super::check(cx, &record);
        let Coordinates { axes: [u, v, r], lod } = self.splat(cx);
        let zero = cx.word(0);
        // In lines with layers V is the layer.
        let (mut y, mut z) = (v, r);
        if let Some(v) = v {
            let zeros = cx.splat(zero);
            match record.field_is(cx, at::FLAGS, flag::FORM, form(Kind::D1, true)) {
                Mask::Never => {}
                lines => {
                    y = Some(cx.choose(lines, zeros, v));
                    z = Some(cx.choose(lines, v, r.unwrap_or(zeros)));
                }
            }
        }
        let x = u.unwrap_or_else(|| cx.splat(zero));
        let z = z.map(|number| Slice { number, signed: false });
        let target = Target {
            record,
            unit: Unit::Texels,
            beyond: Beyond::Nothing,
            x,
            y,
            z,
            signed: false,
            misfit: Mask::Never,
        };
        let mut place = SurfaceAccess::of(cx, target);
        if let Some(lod) = lod {
            let first = cx.b.icmp(IntCc::Eq, lod, zero);
            place.inside = cx.both(place.inside, Mask::Lanes(first));
        }
        place
    }
}
