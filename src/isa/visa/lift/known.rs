//! The contents of a kernel's registers when it starts. Facts, `visa-semantics.md` 8.

use std::ops::Range;

use warploom_ir::{Special, Type, Value};

use super::variables::RootId;
use super::{Cx, Mode};

/// The constant banks that a launch fills.
pub mod bank {
    /// The payload, from `%r0` on. Offsets of `.input` are bytes of it.
    pub const PAYLOAD: u8 = 0;
    /// The address of scratch memory, behind the payload; then the bytes of scratch memory per
    /// thread.
    pub const DRIVER: u32 = 0xff00;
    /// The bytes of local memory for frames, a dword.
    pub const STACK: u32 = DRIVER + 16;
}

/// The values that the driver puts into the registers of a thread, in bytes from `%r0` on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    pub local_ids: Option<LocalIds>,
    /// The order in which lanes are numbered, the fastest axis first.
    pub order: [u8; 3],
    /// The place of a 64-bit base of private memory, and the bytes of private memory per thread.
    pub private: Option<(u32, u32)>,
    /// Bytes that are 0 in every launch.
    pub zeros: Vec<Range<u32>>,
}

/// Rows of local ids, which are words: a row for each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalIds {
    pub start: u32,
    /// The bytes of a row.
    pub row: u32,
    pub axes: u32,
}

/// Predefined variables whose values come from the hardware.
const TSC: u32 = 6;
const R0: u32 = 7;
const SR0: u32 = 13;
const CE0: u32 = 15;

/// Returns whether a predefined variable has values of the hardware, so that code never writes it.
pub fn is_hardware(root: RootId) -> bool {
    matches!(root.0, 1..=TSC | 12..=CE0 | 16 | 17 | 20)
}

/// `%r0`, the first register of the payload.
pub const R0_ROOT: RootId = RootId(R0);

impl Default for Payload {
    fn default() -> Payload {
        Payload { local_ids: None, order: [0, 1, 2], private: None, zeros: vec![] }
    }
}

impl Payload {
    /// Returns the axis of the local ids that lanes read from byte `at` of the payload on.
    ///
    /// Lane 0 reads at `at`, each next lane `stride` bytes further on. Returns None unless the
    /// lanes read an axis's row from its start.
    pub fn local_id(&self, at: i64, stride: u32) -> Option<u8> {
        let ids = self.local_ids?;
        let row = at.checked_sub(i64::from(ids.start)).filter(|row| *row >= 0)?;
        let (axis, rest) = (row / i64::from(ids.row), row % i64::from(ids.row));
        (stride == 2 && rest == 0 && axis < i64::from(ids.axes)).then_some(axis as u8)
    }

    /// Returns whether bytes of the payload include local ids.
    pub fn has_ids(&self, start: u32, end: u32) -> bool {
        self.local_ids.is_some_and(|ids| start < ids.start + ids.row * ids.axes && end > ids.start)
    }
}

impl Cx<'_> {
    /// Returns the local ids of an axis, `i32` values of 16 bits.
    pub(super) fn local_id(&mut self, axis: u8) -> Value {
        let order = self.kernel.payload.order;
        if order == [0, 1, 2] {
            return self.b.special(Special::Tid(axis));
        }
        // Lanes are numbered consecutively, warp by warp.
        let (lane, warp) = (self.b.lane_id(), self.b.special(Special::WarpId));
        let lanes = self.word(self.lanes().into());
        let first = self.b.mul(warp, lanes);
        let mut number = self.b.add(first, lane);
        for (n, of) in order.into_iter().enumerate() {
            let size = self.b.special(Special::Ntid(of));
            if of == axis {
                return if n == 2 { number } else { self.b.rem_u(number, size) };
            }
            number = self.b.div_u(number, size);
        }
        number
    }

    /// Returns the address of this thread's scratch memory and its size in bytes, both `i64`.
    ///
    /// The surface `%scratch` and surfaces of the model `ss` are in this memory.
    pub fn scratch(&mut self) -> (Value, Value) {
        let base = self.b.load_const(bank::PAYLOAD, bank::DRIVER, Type::I64);
        let bytes = self.b.load_const(bank::PAYLOAD, bank::DRIVER + 8, Type::I64);
        let slot = self.b.special(Special::WarpSlot);
        let slot = self.b.zero_extend(Type::I64, slot);
        let offset = self.b.mul(slot, bytes);
        (self.b.add(base, offset), bytes)
    }

    /// Returns a dword of `%r0`.
    fn r0(&mut self, word: u32) -> Value {
        let special = match word {
            1 => Special::Ctaid(0),
            2 => Special::WarpId,
            6 => Special::Ctaid(1),
            7 => Special::Ctaid(2),
            _ => return self.constant(Type::I32, 0),
        };
        self.b.special(special)
    }

    /// Returns a dword of the payload that is uniform and not a local id.
    pub(super) fn payload(&mut self, at: u32) -> Value {
        if at < self.grf() {
            return self.r0(at / 4);
        }
        if self.kernel.payload.zeros.iter().any(|zeros| zeros.start <= at && at + 4 <= zeros.end) {
            return self.constant(Type::I32, 0);
        }
        let private = self.kernel.payload.private;
        if let Some((base, bytes)) = private
            && (base..base + 8).contains(&at)
        {
            let base = self.b.load_const(bank::PAYLOAD, base, Type::I64);
            let slot = self.b.special(Special::WarpSlot);
            let slot = self.b.zero_extend(Type::I64, slot);
            let bytes = self.constant(Type::I64, bytes.into());
            let offset = self.b.mul(slot, bytes);
            let own = self.b.add(base, offset);
            return if at % 8 == private.map_or(0, |(base, _)| base) % 8 {
                self.b.trunc(Type::I32, own)
            } else {
                self.b.high_half(own)
            };
        }
        let value = self.b.load_const(bank::PAYLOAD, at & !3, Type::I32);
        self.from_payload.insert(value, at & !3);
        value
    }

    /// Returns eight bytes of the payload, as one load if they may be a pointer of the driver.
    pub(super) fn payload_long(&mut self, at: u32) -> Value {
        let private = self.kernel.payload.private;
        let in_words = at < self.grf() || !at.is_multiple_of(8);
        if in_words || private.is_some_and(|(base, _)| at < base + 8 && at + 8 > base) {
            return self.read_words(at, Type::I64, Cx::payload);
        }
        self.b.load_const(bank::PAYLOAD, at, Type::I64)
    }

    /// Returns a dword of a predefined variable of the hardware; `at` is in bytes.
    pub(super) fn hardware(&mut self, root: RootId, at: u32) -> Value {
        let Mode(mode) = self.mode;
        match (root.0, at / 4) {
            (3, 0) => self.b.special(Special::Ctaid(0)),
            (4, 0) => self.b.special(Special::Ctaid(1)),
            (5, 0) => self.b.special(Special::Ctaid(2)),
            (TSC, word @ 0..=1) => {
                let clock = self.b.special(Special::Clock);
                if word == 0 { self.b.trunc(Type::I32, clock) } else { self.b.high_half(clock) }
            }
            (R0, word) => self.r0(word),
            (SR0, 2) => {
                let lanes = self.b.special(Special::LaunchMask);
                self.mask_word(lanes)
            }
            (14, 0) => self.constant(Type::I32, mode.into()),
            (CE0, 0) => {
                let active = self.active();
                self.mask_word(active)
            }
            _ => self.constant(Type::I32, 0),
        }
    }

    /// Returns the bits of a mask, an `i32`.
    pub(super) fn mask_word(&mut self, mask: Value) -> Value {
        let bits = self.b.from_mask(mask);
        self.b.trunc(Type::I32, bits)
    }
}
