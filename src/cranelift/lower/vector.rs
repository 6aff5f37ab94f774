//! Moves lanes: shuffles, splitting of vectors, masks as bits and as lanes.

use cranelift_codegen::ir::{
    ConstantData, Endianness, Inst, InstBuilder, InstructionData, MemFlagsData, Opcode,
    Type as ClifType, Value as Clif, types,
};
use cranelift_frontend::FunctionBuilder;

use crate::tuning;

/// Picks lanes of 32 bits from `x` (0..4) and `y` (4..8). The result has the type of `x`.
pub fn shuffle_words(b: &mut FunctionBuilder, x: Clif, y: Clif, words: [u8; 4]) -> Clif {
    let ty = b.func.dfg.value_type(x);
    shuffled(b, x, y, words, ty)
}

/// Picks lanes of 32 bits as [`shuffle_words`] does, with a result of another type.
fn shuffled(b: &mut FunctionBuilder, x: Clif, y: Clif, words: [u8; 4], ty: ClifType) -> Clif {
    let bytes: Vec<u8> = words.iter().flat_map(|&w| (0..4).map(move |i| w * 4 + i)).collect();
    let mask = b.func.dfg.immediates.push(ConstantData::from(&bytes[..]));
    let (x, y) = (cast(b, types::I8X16, x), cast(b, types::I8X16, y));
    let result = b.ins().shuffle(x, y, mask);
    cast(b, ty, result)
}

/// Returns the first lane of a vector in all its lanes.
pub fn first_lane(b: &mut FunctionBuilder, x: Clif) -> Clif {
    let wide = b.func.dfg.value_type(x).lane_bits() == 64;
    shuffle_words(b, x, x, if wide { [0, 1, 0, 1] } else { [0; 4] })
}

/// Returns the bits of a value as another type of equal width.
pub fn cast(b: &mut FunctionBuilder, ty: ClifType, a: Clif) -> Clif {
    let dfg = &b.func.dfg;
    // If the value is itself a cast, cast its operand.
    let a = match dfg.value_def(a).inst().map(|inst| dfg.insts[inst]) {
        Some(InstructionData::LoadNoOffset { opcode: Opcode::Bitcast, arg, .. }) => arg,
        _ => a,
    };
    if dfg.value_type(a) == ty {
        return a;
    }
    b.ins().bitcast(ty, MemFlagsData::new().with_endianness(Endianness::Little), a)
}

/// Returns `x` in the lanes where `condition` is all ones, else `y`. The condition is an integer
/// vector whose lanes are all ones or all zeros.
pub fn blend(b: &mut FunctionBuilder, condition: Clif, x: Clif, y: Clif) -> Clif {
    let ty = b.func.dfg.value_type(x);
    let int = if ty.lane_bits() == 64 { types::I64X2 } else { types::I32X4 };
    let (condition, x, y) = (cast(b, int, condition), cast(b, int, x), cast(b, int, y));
    let result = b.ins().blendv(condition, x, y);
    cast(b, ty, result)
}

/// Returns a vector constant of 32-bit words.
pub fn words(b: &mut FunctionBuilder, words: [u32; 4]) -> Clif {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    constant(b, types::I32X4, &bytes)
}

/// Returns a vector constant of 64-bit words.
pub fn longs(b: &mut FunctionBuilder, longs: [u64; 2]) -> Clif {
    let bytes: Vec<u8> = longs.iter().flat_map(|w| w.to_le_bytes()).collect();
    constant(b, types::I64X2, &bytes)
}

fn constant(b: &mut FunctionBuilder, ty: ClifType, bytes: &[u8]) -> Clif {
    let constant = b.func.dfg.constants.insert(ConstantData::from(bytes));
    // One instruction makes zeros or ones without memory.
    let kept = bytes.iter().any(|byte| !matches!(byte, 0 | 0xff));
    let recent = b.current_block().filter(|_| kept).and_then(|block| {
        let same = |inst: &Inst| match b.func.dfg.insts[*inst] {
            InstructionData::UnaryConst { opcode: Opcode::Vconst, constant_handle } => {
                constant_handle == constant
            }
            _ => false,
        };
        let value = |inst| b.func.dfg.first_result(inst);
        let insts = b.func.layout.block_insts(block).rev().take(tuning::RECENT_CONSTANTS);
        insts.filter(same).map(value).find(|&v| b.func.dfg.value_type(v) == ty)
    });
    recent.unwrap_or_else(|| b.ins().vconst(ty, constant))
}

/// Returns the 32-bit halves of a chunk of 64-bit lanes: four vectors become two.
pub fn halves(b: &mut FunctionBuilder, longs: &[Clif], high: bool) -> [Clif; 2] {
    let pick = if high { [1, 3, 5, 7] } else { [0, 2, 4, 6] };
    [0, 2].map(|at| shuffled(b, longs[at], longs[at + 1], pick, types::I32X4))
}

/// Joins 32-bit halves to 64-bit lanes: two pairs of vectors become four.
pub fn interleave(b: &mut FunctionBuilder, lo: &[Clif], hi: &[Clif]) -> [Clif; 4] {
    let mut result = Vec::with_capacity(4);
    for (&l, &h) in lo.iter().zip(hi) {
        let [l, h] = [l, h].map(|word| cast(b, types::I8X16, word));
        result
            .extend([[0, 4, 1, 5], [2, 6, 3, 7]].map(|pick| shuffled(b, l, h, pick, types::I64X2)));
    }
    [result[0], result[1], result[2], result[3]]
}

/// Returns eight lanes of ones and zeros as the bits 0..8 of an `i64`.
pub fn mask_bits(b: &mut FunctionBuilder, words: [Clif; 2]) -> Clif {
    let low = b.ins().vhigh_bits(types::I64, words[0]);
    let high = b.ins().vhigh_bits(types::I64, words[1]);
    let high = b.ins().ishl_imm_u(high, 4);
    b.ins().bor(low, high)
}

/// Returns the bits 0..8 as eight lanes of ones and zeros.
pub fn mask_words(b: &mut FunctionBuilder, bits: Clif) -> [Clif; 2] {
    words_of_bits(b, bits, 1)
}

/// Returns eight lanes of ones and zeros as the bits 0..16 of an `i64`, two equal bits for each
/// lane. This takes half as long as [`mask_bits`].
pub fn mask_bit_pairs(b: &mut FunctionBuilder, words: [Clif; 2]) -> Clif {
    let halves = b.ins().snarrow(words[0], words[1]);
    let bytes = cast(b, types::I8X16, halves);
    b.ins().vhigh_bits(types::I64, bytes)
}

/// Returns the bits 0..16, two for each lane, as eight lanes of ones and zeros.
pub fn words_of_bit_pairs(b: &mut FunctionBuilder, bits: Clif) -> [Clif; 2] {
    words_of_bits(b, bits, 2)
}

fn words_of_bits(b: &mut FunctionBuilder, bits: Clif, bits_a_lane: u32) -> [Clif; 2] {
    let narrow = b.ins().ireduce(types::I32, bits);
    let all = b.ins().splat(types::I32X4, narrow);
    [[0, 1, 2, 3], [4, 5, 6, 7]].map(|lanes| {
        let lanes = words(b, lanes.map(|lane: u32| 1 << (bits_a_lane * lane)));
        let picked = b.ins().band(all, lanes);
        b.ins().icmp(cranelift_codegen::ir::condcodes::IntCC::Equal, picked, lanes)
    })
}
