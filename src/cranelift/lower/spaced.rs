//! Lanes at known distances from one host address. They are vectors where they are consecutive.

use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use cranelift_frontend::FunctionBuilder;
use smallvec::SmallVec;
use warploom_ir::{Access, Extend, Type};

use super::address::{Distances, evenly};
use super::block::BlockLowerer;
use super::chunk::flags;
use super::vector;
use crate::CHUNK;
use crate::forms::{Lanes, clif_type, parts};

const LANES: i64 = CHUNK as i64;

/// Returns where the vectors of 16 bytes begin that an access's lanes form, if they form some.
pub(super) fn in_vectors(
    access: &Access,
    distances: &Distances,
) -> Option<impl Iterator<Item = i64>> {
    let bytes = i64::from(access.bytes());
    let lanes = usize::try_from(16 / bytes)
        .ok()
        .filter(|&lanes| 16 % bytes == 0 && lanes <= LANES as usize)?;
    let follow =
        |vector: &[i64]| vector.iter().zip(0..).all(|(&at, lane)| at == vector[0] + lane * bytes);
    let starts: SmallVec<[i64; 8]> = distances.iter().copied().step_by(lanes).collect();
    distances.chunks(lanes).all(follow).then(|| starts.into_iter())
}

/// Returns lanes of two or four words each as they lie in memory.
fn transposed(b: &mut FunctionBuilder, words: &[Lanes]) -> Vec<Clif> {
    let merged =
        |b: &mut FunctionBuilder, x: usize, y: usize| vector::interleave(b, &words[x], &words[y]);
    let first = merged(b, 0, 1);
    if words.len() == 2 {
        return first.into();
    }
    let last = merged(b, 2, 3);
    let lanes = first.into_iter().zip(last);
    lanes
        .flat_map(|(x, y)| {
            [[0, 1, 4, 5], [2, 3, 6, 7]].map(|pick| vector::shuffle_words(b, x, y, pick))
        })
        .collect()
}

impl BlockLowerer<'_, '_, '_> {
    /// Loads one element from host memory, as a scalar of the result's type.
    pub(super) fn load_element(&mut self, ty: Type, extend: Extend, at: Clif, offset: i32) -> Clif {
        match (ty, extend) {
            (Type::I8, Extend::Signed) => self.b.ins().sload8(types::I32, flags(), at, offset),
            (Type::I16, Extend::Signed) => self.b.ins().sload16(types::I32, flags(), at, offset),
            (Type::I8, _) => self.b.ins().uload8(types::I32, flags(), at, offset),
            (Type::I16 | Type::F16, _) => self.b.ins().uload16(types::I32, flags(), at, offset),
            _ => self.b.ins().load(clif_type(ty, false), flags(), at, offset),
        }
    }

    pub(super) fn store_element(&mut self, ty: Type, v: Clif, at: Clif, offset: i32) {
        match ty {
            Type::I8 => self.b.ins().istore8(flags(), v, at, offset),
            Type::I16 | Type::F16 => self.b.ins().istore16(flags(), v, at, offset),
            _ => self.b.ins().store(flags(), v, at, offset),
        };
    }

    /// Loads lanes at distances from the first lane. `host` is the first lane's host address, with
    /// a constant to add.
    pub(super) fn load_spaced(
        &mut self,
        access: &Access,
        extend: Extend,
        (host, at): (Clif, i32),
        distances: &Distances,
        result_ty: Type,
    ) -> Vec<Lanes> {
        let elements = 0..i32::from(access.count);
        let size = access.ty.bytes() as i32;
        let clif = clif_type(result_ty, true);
        if *distances == [0; LANES as usize] {
            return elements
                .map(|e| {
                    let v = self.load_element(access.ty, extend, host, at + e * size);
                    let v = self.b.ins().splat(clif, v);
                    Lanes::from_elem(v, parts(result_ty))
                })
                .collect();
        }
        if let Some(vectors) = in_vectors(access, distances) {
            let vectors: Vec<i32> = vectors.map(|distance| at + distance as i32).collect();
            match (size, access.count) {
                (4 | 8, 1) => {
                    return vec![
                        vectors
                            .into_iter()
                            .map(|at| self.b.ins().load(clif, flags(), host, at))
                            .collect(),
                    ];
                }
                (4, 2) => {
                    let quads: Lanes = vectors
                        .into_iter()
                        .map(|at| self.b.ins().load(clif, flags(), host, at))
                        .collect();
                    let even = vector::halves(self.b, &quads, false);
                    let odd = vector::halves(self.b, &quads, true);
                    return [even, odd]
                        .into_iter()
                        .map(|pair| {
                            pair.into_iter().map(|v| vector::cast(self.b, clif, v)).collect()
                        })
                        .collect();
                }
                (4, 4) => return self.load_transposed(host, &vectors, clif),
                _ => {}
            }
        }
        if size == 1 && access.count == 1 && *distances == evenly(1) {
            return vec![self.load_bytes(extend, (host, at))];
        }
        elements
            .map(|e| {
                let mut lanes = self.zero_lanes(result_ty);
                let per = LANES as usize / parts(result_ty);
                for (lane, distance) in distances.iter().enumerate() {
                    let at = at + *distance as i32 + e * size;
                    let v = self.load_element(access.ty, extend, host, at);
                    let part = &mut lanes[lane / per];
                    *part = self.b.ins().insertlane(*part, v, (lane % per) as u8);
                }
                lanes
            })
            .collect()
    }

    /// Loads eight consecutive bytes, each into a word.
    fn load_bytes(&mut self, extend: Extend, (host, at): (Clif, i32)) -> Lanes {
        let narrow = self.b.ins().load(types::I64, flags(), host, at);
        let vector = self.b.ins().scalar_to_vector(types::I64X2, narrow);
        let vector = vector::cast(self.b, types::I8X16, vector);
        if extend == Extend::Signed {
            let halves = self.b.ins().swiden_low(vector);
            return [self.b.ins().swiden_low(halves), self.b.ins().swiden_high(halves)]
                .into_iter()
                .collect();
        }
        let halves = self.b.ins().uwiden_low(vector);
        [self.b.ins().uwiden_low(halves), self.b.ins().uwiden_high(halves)].into_iter().collect()
    }

    /// Loads eight quadruples of words as four values. The quadruples lie at these constants from
    /// `host`.
    fn load_transposed(
        &mut self,
        host: Clif,
        at: &[i32],
        clif: cranelift_codegen::ir::Type,
    ) -> Vec<Lanes> {
        let mut values = vec![Lanes::new(); 4];
        for half in at.chunks(4) {
            let q: Vec<Clif> =
                half.iter().map(|&at| self.b.ins().load(types::I32X4, flags(), host, at)).collect();
            let mut pair =
                |x: usize, y: usize, pick| vector::shuffle_words(self.b, q[x], q[y], pick);
            let low01 = pair(0, 1, [0, 4, 1, 5]);
            let high01 = pair(0, 1, [2, 6, 3, 7]);
            let low23 = pair(2, 3, [0, 4, 1, 5]);
            let high23 = pair(2, 3, [2, 6, 3, 7]);
            for (value, (x, y, pick)) in values.iter_mut().zip([
                (low01, low23, [0, 1, 4, 5]),
                (low01, low23, [2, 3, 6, 7]),
                (high01, high23, [0, 1, 4, 5]),
                (high01, high23, [2, 3, 6, 7]),
            ]) {
                let v = vector::shuffle_words(self.b, x, y, pick);
                value.push(vector::cast(self.b, clif, v));
            }
        }
        values
    }

    /// Stores lanes at distances from the first lane. It is the inverse of [`Self::load_spaced`].
    pub(super) fn store_spaced(
        &mut self,
        access: &Access,
        values: &[Lanes],
        (host, at): (Clif, i32),
        distances: &Distances,
    ) {
        let size = access.ty.bytes() as i32;
        if let Some(vectors) =
            in_vectors(access, distances).filter(|_| access.count == 1 && size >= 4)
        {
            for (distance, &v) in vectors.zip(&values[0]) {
                self.b.ins().store(flags(), v, host, at + distance as i32);
            }
            return;
        }
        if size == 4
            && matches!(access.count, 2 | 4)
            && distances.windows(2).all(|pair| pair[1] - pair[0] == i64::from(access.bytes()))
        {
            for (vector, v) in transposed(self.b, values).into_iter().enumerate() {
                self.b.ins().store(flags(), v, host, at + distances[0] as i32 + 16 * vector as i32);
            }
            return;
        }
        // Lane by lane, the highest lane last.
        let first = if *distances == [0; LANES as usize] { LANES as usize - 1 } else { 0 };
        for (lane, distance) in distances.iter().enumerate().skip(first) {
            for (e, lanes) in values.iter().enumerate() {
                let per = LANES as usize / lanes.len();
                let v = self.b.ins().extractlane(lanes[lane / per], (lane % per) as u8);
                self.store_element(access.ty, v, host, at + *distance as i32 + e as i32 * size);
            }
        }
    }
}
