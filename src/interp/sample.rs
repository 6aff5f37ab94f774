//! Texture operations: each lane on its own, through [`warploom_ir::image::sample`].

use std::cell::Cell;

use warploom_ir::image::sample::{Operation, Query, View};
use warploom_ir::image::sampler::{self, Sampler};
use warploom_ir::image::{self, Image};
use warploom_ir::{Inst, Op};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::warp::{ExitCode, WarpContext};

use super::exec::{Executor, lanes_of};

/// Kind and address.
type MemoryFault = (FaultKind, u64);

/// The contents of an image's and a sampler's record.
#[derive(PartialEq, Eq)]
struct Records {
    image: [u8; image::RECORD_BYTES],
    sampler: [u8; sampler::RECORD_BYTES],
    /// Whether the sampler's comparison applies.
    compare: bool,
}

impl Records {
    fn read(
        context: &WarpContext,
        [image, sampler]: [u64; 2],
        compare: bool,
    ) -> Result<Records, MemoryFault> {
        let mut records = Records {
            image: [0; image::RECORD_BYTES],
            sampler: [0; sampler::RECORD_BYTES],
            compare,
        };
        for (address, bytes) in [(image, &mut records.image[..]), (sampler, &mut records.sampler)] {
            if context.memory().read(address, bytes).is_err() {
                // The second read finds the faulting byte.
                read(context, address, bytes)?;
            }
        }
        Ok(records)
    }
}

/// Records, and the view that they describe, or `None` if there is no image.
struct Known {
    records: Records,
    view: Option<View>,
}

impl Known {
    fn new(records: Records) -> Known {
        let view = Image::from_record(&records.image).map(|image| {
            let sampler = Sampler::from_record(&records.sampler);
            let compare = sampler.compare.filter(|_| records.compare);
            View::new(&image, &Sampler { compare, ..sampler })
        });
        Known { records, view }
    }

    /// Updates `known` to the records at these addresses.
    fn bring_up_to_date(
        known: &mut Option<Box<Known>>,
        context: &WarpContext,
        addresses: [u64; 2],
        compare: bool,
    ) -> Result<(), MemoryFault> {
        let records = Records::read(context, addresses, compare)?;
        if known.as_ref().is_none_or(|known| known.records != records) {
            *known = Some(Box::new(Known::new(records)));
        }
        Ok(())
    }
}

thread_local! {
    /// The last records: most often the next operation uses equal records.
    static LAST: Cell<Option<Box<Known>>> = const { Cell::new(None) };
}

/// Reads bytes, and returns whether any are of a sparse page that is not resident. A fault names
/// its address.
#[inline]
fn read(context: &WarpContext, address: u64, bytes: &mut [u8]) -> Result<bool, MemoryFault> {
    let mut sparse = false;
    let mut at = address;
    // Texels are whole words, except texels of one or two bytes.
    let piece = match bytes.len() {
        whole @ (1 | 2 | 4 | 8 | 16) if address.is_multiple_of(whole as u64) => whole,
        _ if address.is_multiple_of(4) => 4,
        _ => 1,
    };
    for piece in bytes.chunks_mut(piece) {
        let (bits, residency) =
            context.memory().load(at, piece.len() as u32).map_err(|kind| (kind, at))?;
        piece.copy_from_slice(&bits.to_le_bytes()[..piece.len()]);
        sparse |= residency.is_sparse();
        at = at.wrapping_add(piece.len() as u64);
    }
    Ok(sparse)
}

impl Executor<'_, '_> {
    pub(super) fn sample(&mut self, inst: &Inst) -> Result<(), ExitCode> {
        let Op::Sample { operation, compare, image, sampler, ref args, guard, nomask, .. } =
            inst.op
        else {
            return Ok(());
        };
        let mask = self.execution_mask(inst.window, guard, nomask);
        for &result in &inst.results {
            self.values.set_uniform(result, 0);
        }
        let mut sparse_lanes = 0;
        let mut known = LAST.take();
        let mut before = None;
        for lane in lanes_of(mask) {
            let addresses = [image, sampler].map(|value| self.values.row(value)[lane]);
            let context = &*self.context;
            let arg = |i: usize| self.values.row(args[i])[lane] as u32;
            let ready = match before.replace(addresses) == Some(addresses) {
                true => Ok(()),
                false => Known::bring_up_to_date(&mut known, context, addresses, compare),
            };
            let sampled = ready.and_then(|()| {
                let Some(view) = known.as_ref().and_then(|known| known.view.as_ref()) else {
                    return Ok(([0; 4], false));
                };
                let mut query = Query {
                    coords: [arg(0), arg(1), arg(2)],
                    layer: arg(3),
                    lod: arg(4),
                    reference: arg(5),
                    offset: [arg(6) as i32, arg(7) as i32, arg(8) as i32],
                };
                let mut operation = operation;
                if matches!(operation, Operation::SampleGradients | Operation::Level) {
                    let gradient =
                        |first: usize| [0, 1, 2].map(|axis| f32::from_bits(arg(first + axis)));
                    let level = view.level_of_gradients(gradient(9), gradient(12));
                    query.lod = (level + f32::from_bits(query.lod)).to_bits();
                    if operation == Operation::SampleGradients {
                        operation = Operation::Sample;
                    }
                }
                view.sample(operation, &query, |address, bytes: &mut [u8]| {
                    read(context, address, bytes)
                })
            });
            let (components, sparse) = match sampled {
                Ok(sampled) => sampled,
                Err((kind, address)) => {
                    return Err(self.context.set_fault(kind, lane as u32, inst.pc, address));
                }
            };
            for (&result, component) in inst.results.iter().zip(components) {
                self.values.row_mut(result)[lane] = component.into();
            }
            sparse_lanes |= u64::from(sparse) << lane;
        }
        LAST.set(known);
        if let [_, _, _, _, sparse] = inst.results[..] {
            self.values.set_uniform(sparse, sparse_lanes);
        }
        Ok(())
    }
}
