//! The steps of an exact division before and after Newton's iterations: [`warploom_ir::division`].

use warploom_ir::division::Division;
use warploom_ir::{BlockBuilder, Type, Value};

use super::context::Cx;
use super::floats::float_lifts;
use super::flow::{Flow, Lifted};
use crate::Instruction;

float_lifts! { F32:
    v_div_scale_f32 = scale;
    v_div_fmas_f32 = fmas;
    v_div_fixup_f32 = fixup;
}

float_lifts! { F64:
    v_div_scale_f64 = scale;
    v_div_fmas_f64 = fmas;
    v_div_fixup_f64 = fixup;
}

float_lifts! { F16:
    v_div_fixup_f16 = fixup;
    v_div_fixup_legacy_f16 = fixup;
}

impl<'a> Cx<'a> {
    fn division(&mut self, ty: Type) -> Division<'_, BlockBuilder<'a>> {
        Division { attrs: self.mode.attrs(ty), nan: super::NAN.canonical(ty), ty, b: &mut self.b }
    }

    fn operands(&mut self, i: &Instruction, ty: Type) -> [Value; 3] {
        [0, 1, 2].map(|k| self.float(ty, i, k))
    }
}

fn scale(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let operands = cx.operands(i, ty);
    let (value, back) = cx.division(ty).scale(operands);
    cx.set_float(i, value)?;
    cx.set_lane_mask(i.sdst(), back);
    Ok(Flow::Next)
}

fn fmas(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let operands = cx.operands(i, ty);
    let moved = cx.lane_mask(i.src(3).operand);
    let value = cx.division(ty).fmas(operands, moved);
    cx.set_float(i, value)
}

fn fixup(cx: &mut Cx<'_>, i: &Instruction, ty: Type) -> Lifted {
    let operands = cx.operands(i, ty);
    let fixed = cx.division(ty).fixup(operands);
    let value = cx.b.select(fixed.neither, fixed.nan, fixed.signed);
    let value = cx.flushed(value);
    cx.set_float(i, value)
}
