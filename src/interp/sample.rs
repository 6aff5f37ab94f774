//! Texture operations: every lane by itself, through [`crate::ir::image::sample`].

use warploom_runtime::fault::FaultKind;
use warploom_runtime::warp::{ExitCode, WarpContext};

use super::exec::{Executor, lanes_of};
use crate::ir::image::sample::{Operation, Query, level_of_gradients, sample};
use crate::ir::image::sampler::{self, Sampler};
use crate::ir::image::{self, Image};
use crate::ir::{Inst, Op};

/// The descriptors that a lane used: most often the next one has the same.
struct Descriptors {
    addresses: [u64; 2],
    image: Option<Image>,
    sampler: Sampler,
}

impl Descriptors {
    fn read(context: &WarpContext, addresses: [u64; 2]) -> Result<Descriptors, (FaultKind, u64)> {
        let mut record = [0; image::RECORD_BYTES];
        read(context, addresses[0], &mut record)?;
        let image = Image::from_record(&record);
        let mut record = [0; sampler::RECORD_BYTES];
        read(context, addresses[1], &mut record)?;
        Ok(Descriptors { addresses, image, sampler: Sampler::from_record(&record) })
    }
}

/// Reads bytes; whether any are of a sparse page that is not resident. A fault names its address.
fn read(context: &WarpContext, address: u64, bytes: &mut [u8]) -> Result<bool, (FaultKind, u64)> {
    let mut sparse = false;
    let mut at = address;
    // Texels and records are whole words but for texels of one and two bytes.
    for piece in bytes.chunks_mut(if address.is_multiple_of(4) { 4 } else { 1 }) {
        let (bits, residency) = context.memory().load(at, piece.len() as u32).map_err(|kind| (kind, at))?;
        piece.copy_from_slice(&bits.to_le_bytes()[..piece.len()]);
        sparse |= residency.is_sparse();
        at = at.wrapping_add(piece.len() as u64);
    }
    Ok(sparse)
}

impl Executor<'_> {
    pub(super) fn sample(&mut self, inst: &Inst) -> Result<(), ExitCode> {
        let Op::Sample { operation, compare, image, sampler, ref args, guard, nomask, .. } = inst.op else {
            return Ok(());
        };
        let mask = self.execution_mask(inst.window, guard, nomask);
        for &result in &inst.results {
            self.values.set_uniform(result, 0);
        }
        let mut sparse_lanes = 0;
        let mut known: Option<Descriptors> = None;
        for lane in lanes_of(mask) {
            let addresses = [image, sampler].map(|value| self.values.row(value)[lane]);
            let arg = |i: usize| self.values.row(args[i])[lane] as u32;
            let query = Query {
                coords: [arg(0), arg(1), arg(2)],
                layer: arg(3),
                lod: arg(4),
                reference: arg(5),
                offset: [arg(6) as i32, arg(7) as i32, arg(8) as i32],
            };
            let context = &*self.context;
            let known = match known.take().filter(|known| known.addresses == addresses) {
                Some(same) => Ok(known.insert(same)),
                None => Descriptors::read(context, addresses).map(|new| known.insert(new)),
            };
            let sampled = known.and_then(|Descriptors { image, sampler, .. }| {
                let Some(image) = image else { return Ok(([0; 4], false)) };
                let compare = sampler.compare.filter(|_| compare);
                let (mut operation, mut query) = (operation, query);
                if matches!(operation, Operation::SampleGradients | Operation::Level) {
                    let gradient = |first: usize| [0, 1, 2].map(|axis| f32::from_bits(arg(first + axis)));
                    let level = level_of_gradients(image, sampler, gradient(9), gradient(12));
                    query.lod = (level + f32::from_bits(query.lod)).to_bits();
                    if operation == Operation::SampleGradients {
                        operation = Operation::Sample;
                    }
                }
                sample(operation, image, &Sampler { compare, ..*sampler }, &query, &mut |address, bytes| {
                    read(context, address, bytes)
                })
            });
            let (components, sparse) = match sampled {
                Ok(sampled) => sampled,
                Err((kind, address)) => return Err(self.context.set_fault(kind, lane as u32, inst.pc, address)),
            };
            for (&result, component) in inst.results.iter().zip(components) {
                self.values.row_mut(result)[lane] = component.into();
            }
            sparse_lanes |= u64::from(sparse) << lane;
        }
        if let [_, _, _, _, sparse] = inst.results[..] {
            self.values.set_uniform(sparse, sparse_lanes);
        }
        Ok(())
    }
}
