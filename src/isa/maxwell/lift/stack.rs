//! The divergence stack in the register file.
//!
//! # Why it is the stack of the facts
//!
//! `maxwell-semantics.md` section 6 gives each warp a stack of (kind, mask, pc). There, BRK, CONT
//! and RET remove the leaving lanes from every entry above the nearest entry of their kind that
//! holds them; EXIT removes lanes from all entries. Here entries never change. Instead, a mask for
//! each kind of leave says which lanes are *away*: BRK sets their bits in `away_break`, CONT in
//! `away_continue`, RET in `away_return`, EXIT in `exited`. When an entry is popped, it
//! - first ends the absence of its lanes whose goal it is: a PBK entry clears its mask from
//!   `away_break`, a PCNT entry from `away_continue`, a CALL entry from `away_return`;
//! - then reactivates its lanes that are neither away nor exited, and is skipped if there are none.
//!
//! Both stacks give equal lanes at each entry. A lane that leaves is inactive until an entry
//! reactivates it. So no entry pushed meanwhile holds the lane, the lane leaves for no second
//! reason, and the entries that hold it are the entries of the moment it left, in unchanged order.
//! Among them, the entries above the first entry of its goal's kind find the lane away and leave it
//! out, as if it had been removed from them. That first entry clears the lane's bit and reactivates
//! it. The entries below see the lane present again, as they are unchanged in the facts too. SYNC
//! removes lanes from no entry, and needs no mask.
//!
//! # Layout
//!
//! `div_mask[i]` and `div_site[i]` for `i < sp`. A *site* is an instruction that pushes. The stack
//! holds the site's pc, which stays valid when the kernel is lifted again with more entries. Each
//! site has its own block, which the pop enters. That block statically knows where to go on and
//! which block pushed ([`Block::join`](warploom_ir::Block::join)), however many sites name one
//! target. Entries past the end of the banks are dropped, and read as site 0, which traps.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use warploom_ir::{
    BankId, BlockBuilder, BlockId, CellKind, FunctionBuilder, IntCc, Reg, Special, TrapKind, Type,
    Value,
};

use super::flow::{Leave, Wait};

/// An instruction that pushes.
#[derive(Clone, Copy, Debug)]
struct Site {
    pc: u64,
    /// The kind of entry. None: the other side of a divergent branch.
    wait: Option<Wait>,
    /// The block that is entered when the entry is popped.
    block: BlockId,
    /// The address where the lanes go on.
    resume: u64,
    /// The block at whose end the lanes were active last; none if there are several blocks, or no
    /// such block.
    pusher: Option<BlockId>,
}

/// The registers of the stack, and the code that pops entries.
pub struct Stack {
    depth: u32,
    masks: BankId,
    sites: BankId,
    pointer: Reg,
    exited: Option<Reg>,
    /// The masks of lanes that are away, for each kind except SYNC's, if the kernel has the kind's
    /// leave.
    away: [Option<Reg>; Wait::ALL.len()],
    /// The blocks that pop entries, in this order. Their place does not depend on the number of
    /// sites.
    pops: BlockId,
    take: BlockId,
    dispatch: BlockId,
    full: BlockId,
    done: BlockId,
    known: Vec<Site>,
    /// The number of the site at an address.
    numbers: FxHashMap<u64, usize>,
    /// The number of sites whose resumes were taken.
    taken: usize,
}

impl Stack {
    /// Declares the registers. `leaves` says which leaves the kernel has.
    pub fn new(
        function: &mut FunctionBuilder,
        depth: u32,
        pc: u64,
        leaves: impl Fn(Leave) -> bool,
    ) -> Stack {
        let mut mask =
            |name, leave| leaves(leave).then(|| function.bank(name, CellKind::Mask, 1).reg(0));
        let exited = mask("exited", Leave::Exit);
        let away = [
            None,
            mask("away_break", Leave::To(Wait::Break)),
            mask("away_continue", Leave::To(Wait::Continue)),
            mask("away_return", Leave::To(Wait::Return)),
        ];
        let [pops, take, dispatch, full, done] = [(); 5].map(|()| function.new_block(pc));
        Stack {
            depth,
            masks: function.bank("div_mask", CellKind::Mask, depth),
            sites: function.bank("div_site", CellKind::Uniform(Type::I64), depth),
            pointer: function.bank("sp", CellKind::Uniform(Type::I32), 1).reg(0),
            exited,
            away,
            pops,
            take,
            dispatch,
            full,
            done,
            known: Vec::new(),
            numbers: FxHashMap::default(),
            taken: 0,
        }
    }

    /// Returns the block to enter when the active mask is empty.
    pub fn pop(&self) -> BlockId {
        self.pops
    }

    /// Whether [`Stack::mark`] has an effect.
    pub fn marks(&self, leave: Leave) -> bool {
        match leave {
            Leave::Exit => self.exited.is_some(),
            Leave::To(wait) => self.away[wait as usize].is_some(),
        }
    }

    /// Marks lanes as gone for this reason. The caller removes them from the active mask.
    pub fn mark(&self, b: &mut BlockBuilder<'_>, leave: Leave, lanes: Value) {
        let gone = match leave {
            Leave::Exit => self.exited,
            Leave::To(wait) => self.away[wait as usize],
        };
        if let Some(gone) = gone {
            let before = b.rf_read(gone);
            let after = b.or(before, lanes);
            b.rf_write(gone, after);
        }
    }

    /// Returns a condition that is not 0 if there is room for one more entry. Calls test it, as
    /// recursion has no bound.
    pub fn has_room(&self, b: &mut BlockBuilder<'_>) -> Value {
        let (pointer, depth) = (b.rf_read(self.pointer), b.iconst(Type::I32, self.depth.into()));
        b.icmp(IntCc::LtU, pointer, depth)
    }

    /// Pushes `lanes`, which go on at `resume`. `pusher` is the block at whose end all of them were
    /// active last, if there is one.
    pub fn push(
        &mut self,
        b: &mut BlockBuilder<'_>,
        wait: Option<Wait>,
        lanes: Value,
        pc: u64,
        resume: u64,
        pusher: Option<BlockId>,
    ) {
        match self.numbers.entry(pc) {
            Entry::Occupied(number) => {
                let site = &mut self.known[*number.get()];
                if site.pusher != pusher {
                    site.pusher = None;
                }
            }
            Entry::Vacant(number) => {
                number.insert(self.known.len());
                let block = b.function().new_block(resume);
                self.known.push(Site { pc, wait, block, resume, pusher });
            }
        }
        let pointer = b.rf_read(self.pointer);
        let site = b.iconst(Type::I64, pc);
        b.rf_scatter(self.masks, 0, self.depth, pointer, lanes);
        b.rf_scatter(self.sites, 0, self.depth, pointer, site);
        let one = b.iconst(Type::I32, 1);
        let above = b.add(pointer, one);
        b.rf_write(self.pointer, above);
    }

    /// Returns the resume addresses of entries that were pushed since the last call. These
    /// addresses must have blocks before [`Stack::finish`].
    pub fn take_resumes(&mut self) -> Vec<u64> {
        let taken = std::mem::replace(&mut self.taken, self.known.len());
        self.known[taken..].iter().map(|site| site.resume).collect()
    }

    /// Emits the code that pops entries. `block_at` gives the block of a resume address.
    pub fn finish(self, function: &mut FunctionBuilder, block_at: impl Fn(u64) -> BlockId) {
        function.at(self.done).exit();

        let mut b = function.at(self.pops);
        let pointer = b.rf_read(self.pointer);
        b.branch(pointer, self.take, self.done);

        let mut b = function.at(self.take);
        let (pointer, one) = (b.rf_read(self.pointer), b.iconst(Type::I32, 1));
        let top = b.sub(pointer, one);
        b.rf_write(self.pointer, top);
        let mut lanes = b.rf_gather(self.masks, 0, self.depth, top);
        if let Some(exited) = self.exited {
            let exited = b.rf_read(exited);
            lanes = without(&mut b, lanes, exited);
        }
        b.write_active(lanes);
        // A dropped entry reads as no lanes, but must not be skipped.
        let depth = b.iconst(Type::I32, self.depth.into());
        let lost = b.icmp(IntCc::GeU, top, depth);
        let go = b.or(lanes, lost);
        b.branch(go, self.dispatch, self.pops);

        let mut b = function.at(self.dispatch);
        let top = b.rf_read(self.pointer);
        let site = b.rf_gather(self.sites, 0, self.depth, top);
        b.switch(site, self.known.iter().map(|site| (site.pc, site.block)).collect(), self.full);

        let mut b = function.at(self.full);
        let lanes = b.special(Special::LaunchMask);
        b.write_active(lanes);
        b.trap(TrapKind::StackOverflow);

        for site in &self.known {
            function.set_join(site.block, site.pusher);
            let mut b = function.at(site.block);
            let resume = block_at(site.resume);
            if self.away.iter().all(Option::is_none) {
                b.jump(resume);
            } else {
                let lanes = b.read_active();
                let back = self.come_back(&mut b, site.wait, lanes);
                b.write_active(back);
                b.branch(back, resume, self.pops);
            }
        }
    }

    /// Ends the absence whose goal an entry is, and returns the entry's lanes that are not away.
    fn come_back(&self, b: &mut BlockBuilder<'_>, wait: Option<Wait>, lanes: Value) -> Value {
        let mut back = lanes;
        for kind in Wait::ALL {
            let Some(reg) = self.away[kind as usize] else { continue };
            let away = b.rf_read(reg);
            if wait == Some(kind) {
                let away = without(b, away, lanes);
                b.rf_write(reg, away);
            } else {
                back = without(b, back, away);
            }
        }
        back
    }
}

/// Returns `lanes & !gone`.
pub fn without(b: &mut BlockBuilder<'_>, lanes: Value, gone: Value) -> Value {
    let staying = b.not(gone);
    b.and(lanes, staying)
}
