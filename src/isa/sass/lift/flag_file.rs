//! Flags within one block: reads and writes are values, and reach the register
//! file at the block's end.
//!
//! The IR writes mask registers unmasked, while GPUs keep the old bits where a lane is inactive
//! or the guard is false. The flag file merges old bits only where the merge is visible:
//! - for inactive lanes, if the flag is *kept*: live at some place where lanes wait for other
//!   lanes;
//! - for lanes whose guard is false, when an instruction with another guard reads the flag. An
//!   instruction with an equal guard, as in `@P0 IADD.CC; @P0 IADD.X`, gets the value as it was
//!   computed.
//!
//! All other bits of a value are arbitrary. So code that uses a flag for more than guarding must
//! mask it with the executing lanes.

use warploom_guest::divergence::Mask;
use warploom_ir::{BankId, BlockBuilder, Value};

use super::flags::{Flag, Flags};

/// The register banks that hold the flags.
#[derive(Clone, Copy, Debug)]
pub struct FlagBanks {
    pub predicates: BankId,
    /// The bits of CC, or the uniform predicates.
    pub others: BankId,
}

impl FlagBanks {
    pub fn reg(self, flag: Flag) -> warploom_ir::Reg {
        match flag.index().checked_sub(Flag::PREDICATES) {
            None => self.predicates.reg(flag.index() as u32),
            Some(number) => self.others.reg(number as u32),
        }
    }
}

/// A write that is not yet merged with the old bits.
#[derive(Clone, Copy)]
struct Pending {
    value: Mask,
    guard: Mask,
    /// The lanes that take the value.
    lanes: Mask,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    /// The value before the pending write, if it is known.
    base: Option<Mask>,
    pending: Option<Pending>,
    dirty: bool,
}

pub struct FlagFile {
    banks: FlagBanks,
    kept: Flags,
    slots: [Slot; Flag::COUNT],
}

impl FlagFile {
    pub fn new(banks: FlagBanks, kept: Flags) -> Self {
        FlagFile { banks, kept, slots: [Slot::default(); Flag::COUNT] }
    }

    /// Returns the flag in the lanes that execute under `guard`.
    pub fn read(&mut self, flag: Flag, guard: Mask, b: &mut BlockBuilder<'_>) -> Mask {
        match self.slots[flag.index()].pending {
            Some(pending) if pending.guard == guard || pending.guard == Mask::Always => {
                pending.value
            }
            _ => self.merged(flag, b),
        }
    }

    /// Whether the flag's bits of inactive lanes matter.
    pub fn keeps(&self, flag: Flag) -> bool {
        self.kept.contains(flag)
    }

    /// Writes the flag under `guard`, in `lanes`: the lanes of the guard, and only active lanes if
    /// the flag is kept.
    pub fn write(
        &mut self,
        flag: Flag,
        value: Mask,
        guard: Mask,
        lanes: Mask,
        b: &mut BlockBuilder<'_>,
    ) {
        if lanes == Mask::Always {
            self.slots[flag.index()] = Slot { base: Some(value), pending: None, dirty: true };
            return;
        }
        if self.slots[flag.index()].pending.is_some_and(|old| old.lanes != lanes) {
            self.merged(flag, b);
        }
        let slot = &mut self.slots[flag.index()];
        slot.pending = Some(Pending { value, guard, lanes });
        slot.dirty = true;
    }

    /// Returns the merged value that the register must have.
    fn merged(&mut self, flag: Flag, b: &mut BlockBuilder<'_>) -> Mask {
        let slot = &mut self.slots[flag.index()];
        let base = *slot.base.get_or_insert_with(|| Mask::Lanes(b.rf_read(self.banks.reg(flag))));
        let value = match slot.pending.take() {
            Some(pending) => pending.value.merge(pending.lanes, base, b),
            None => base,
        };
        slot.base = Some(value);
        value
    }

    /// Merges all pending writes.
    pub fn settle(&mut self, b: &mut BlockBuilder<'_>) {
        for flag in Flag::all() {
            if self.slots[flag.index()].pending.is_some() {
                self.merged(flag, b);
            }
        }
    }

    /// Writes the flags of `live`, and all kept flags, to the register file. Flags that are not
    /// kept are masked with the `active` lanes, so that no code reads registers of inactive lanes
    /// for them.
    pub fn flush(&mut self, live: Flags, active: Value, b: &mut BlockBuilder<'_>) {
        let wanted = live.union(self.kept);
        for flag in Flag::all().filter(|&flag| wanted.contains(flag)) {
            if self.slots[flag.index()].dirty {
                let mut value = self.merged(flag, b).value(b);
                if !self.keeps(flag) {
                    value = b.and(value, active);
                }
                b.rf_write(self.banks.reg(flag), value);
                self.slots[flag.index()].dirty = false;
            }
        }
    }
}
