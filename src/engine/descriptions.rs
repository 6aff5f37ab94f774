//! Instructions that code leaves to helpers, by number. A helper finds its instruction in the
//! [`Descriptions`] of the region.
//!
//! Lowering records [`Sites`], which are numbers only. Sites are kept with code on disk, and
//! descriptions are made from them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warploom_interp::{Interpreter, Slot};
use warploom_ir::{Access, AtomicOp, Block, BlockId, Extend, Inst, NanPolicy, Op, Type};
use warploom_runtime::warp::WarpContext;

use crate::abi;
use crate::product::ProductDesc;

/// The places of instructions that helpers execute, in the order of their numbers.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sites {
    accesses: Vec<AccessSite>,
    interpreted: Vec<SlotSite>,
    products: Vec<SlotSite>,
}

/// An instruction, by its block and its position in the block.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    pub block: u32,
    pub index: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessSite {
    pub site: Site,
    /// See [`AccessDesc::keeps_least`].
    pub keeps_least: bool,
    /// See [`AccessDesc::run`].
    pub run: Option<u32>,
}

/// An instruction whose operands and results lie in the register file, at these offsets.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotSite {
    pub site: Site,
    pub operands: Vec<u32>,
    pub results: Vec<u32>,
}

/// The number of an access within a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessId(pub u32);

/// Appends an item, and returns its number.
fn push<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    list.len() as u32 - 1
}

impl Sites {
    pub fn access(&mut self, site: AccessSite) -> AccessId {
        AccessId(push(&mut self.accesses, site))
    }

    pub fn interpreted(&mut self, site: SlotSite) -> u32 {
        push(&mut self.interpreted, site)
    }

    pub fn product(&mut self, site: SlotSite) -> u32 {
        push(&mut self.products, site)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AccessKind {
    Load { extend: Extend },
    Store,
    Atomic { op: AtomicOp },
}

/// A memory instruction.
#[derive(Debug)]
pub struct AccessDesc {
    pub access: Access,
    /// The type of the staged addresses. The access's offset is not yet added to them.
    pub address: Type,
    pub kind: AccessKind,
    pub pc: u64,
    /// The position in its block.
    pub order: u32,
    /// If set, a faulting lane is recorded only if it is the least so far, and the other lanes go
    /// on: in a segment of loads, the order of chunks goes before the order of operations.
    pub keeps_least: bool,
    /// The number of the TLB's run that inline code looked into.
    pub run: Option<usize>,
    pub nan: NanPolicy,
}

/// An instruction for the interpreter.
pub struct InterpretDesc {
    pub block: BlockId,
    pub index: usize,
    pub live_in: Vec<Slot>,
    pub live_out: Vec<Slot>,
}

/// Everything that the code of one region leaves to helpers.
pub struct Descriptions {
    pub interpreter: Arc<Interpreter>,
    pub accesses: Vec<AccessDesc>,
    pub interpreted: Vec<InterpretDesc>,
    pub products: Vec<ProductDesc>,
}

impl Descriptions {
    /// Makes descriptions of sites, or returns `None` if the function lacks an instruction of
    /// `sites`.
    pub fn new(interpreter: &Arc<Interpreter>, sites: &Sites) -> Option<Box<Descriptions>> {
        let find = |site: Site| {
            let block = interpreter.function().blocks.get(site.block as usize)?;
            Some((block, block.insts.get(site.index as usize)?))
        };
        let nan = interpreter.function().nan;
        let access = |of: &AccessSite| {
            let (block, inst) = find(of.site)?;
            AccessDesc::new(block, inst, of, nan)
        };
        let interpreted = |of: &SlotSite| {
            let (_, inst) = find(of.site)?;
            let slots = |values: &[_], offsets: &[u32]| {
                let slots =
                    values.iter().zip(offsets).map(|(&value, &offset)| Slot { value, offset });
                (values.len() == offsets.len()).then(|| slots.collect())
            };
            let (live_in, live_out) =
                (slots(&inst.op.operands(), &of.operands)?, slots(&inst.results, &of.results)?);
            Some(InterpretDesc {
                block: BlockId(of.site.block),
                index: of.site.index as usize,
                live_in,
                live_out,
            })
        };
        let product = |of: &SlotSite| {
            let (block, inst) = find(of.site)?;
            let Op::Product { product, .. } = inst.op else { return None };
            let shapes = inst.op.operands().into_iter().map(|v| block.ty(v).shape);
            let args = of.operands.iter().copied().zip(shapes).collect();
            Some(ProductDesc {
                product,
                nan,
                lanes: interpreter.function().lanes,
                args,
                results: of.results.clone(),
            })
        };
        Some(Box::new(Descriptions {
            interpreter: interpreter.clone(),
            accesses: sites.accesses.iter().map(access).collect::<Option<_>>()?,
            interpreted: sites.interpreted.iter().map(interpreted).collect::<Option<_>>()?,
            products: sites.products.iter().map(product).collect::<Option<_>>()?,
        }))
    }

    /// Makes these descriptions the current ones, for the code that the context enters next.
    pub fn install(&self, context: &mut WarpContext) {
        context.engine[abi::DESCRIPTIONS] = (&raw const *self).expose_provenance() as u64;
    }

    /// Returns the descriptions of the running code.
    ///
    /// # Safety
    /// The descriptions of the code that runs with this context are installed, and the code lives
    /// for `'a`.
    pub unsafe fn of<'a>(context: &WarpContext) -> &'a Descriptions {
        let descriptions: *const Descriptions =
            std::ptr::with_exposed_provenance(context.engine[abi::DESCRIPTIONS] as usize);
        // SAFETY: the caller's promise: `install` put a reference's address there, and the code
        // owns the descriptions.
        unsafe { &*descriptions }
    }
}

impl AccessDesc {
    fn new(block: &Block, inst: &Inst, of: &AccessSite, nan: NanPolicy) -> Option<AccessDesc> {
        let access = *inst.op.access()?;
        let kind = match inst.op {
            Op::Load { extend, .. } => AccessKind::Load { extend },
            Op::Store { .. } => AccessKind::Store,
            Op::Atomic { op, .. } => AccessKind::Atomic { op },
            _ => return None,
        };
        Some(AccessDesc {
            access,
            address: block.ty(access.address).ty,
            kind,
            pc: inst.pc,
            order: of.site.index,
            keeps_least: of.keeps_least,
            run: of.run.map(|run| run as usize),
            nan,
        })
    }
}
