//! Reads of bytes that nothing has written: of shared memory in the block, of local memory in the
//! lane.

use rustc_hash::FxHashMap;

use super::finding::{Action, MemoryKind};
use super::watch::{At, Raw, Reports, Warp};

#[derive(Debug, Default)]
pub struct Init {
    /// By block.
    shared: FxHashMap<u32, Shared>,
    /// By block and warp: for each byte, the lanes that have written it.
    local: FxHashMap<(u32, u32), Vec<u64>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// A bit for each byte.
    written: Vec<u64>,
    ended: u32,
}

impl Init {
    pub fn access(&mut self, warp: &Warp, at: &At<'_>, reports: &mut Reports) {
        if at.action != Action::Store {
            for lane in at.lanes().filter(|&lane| !self.is_written(warp, at, lane)) {
                reports.add(warp, at, lane, Raw::Unwritten);
            }
        }
        if at.action != Action::Load {
            at.lanes().for_each(|lane| self.write(warp, at, lane));
        }
    }

    fn is_written(&self, warp: &Warp, at: &At<'_>, lane: u32) -> bool {
        let (first, bytes) = (at.address(lane), at.bytes(lane));
        match at.memory {
            MemoryKind::Global => true,
            MemoryKind::Shared => {
                let shared = self.shared.get(&warp.number);
                shared.is_some_and(|shared| has_bits(&shared.written, first, bytes))
            }
            MemoryKind::Local => {
                let local = self.local.get(&(warp.number, warp.warp));
                let mut all = first as usize..(first + bytes) as usize;
                local.is_some_and(|local| {
                    all.all(|byte| local.get(byte).is_some_and(|lanes| lanes >> lane & 1 != 0))
                })
            }
        }
    }

    fn write(&mut self, warp: &Warp, at: &At<'_>, lane: u32) {
        let (first, bytes) = (at.address(lane), at.bytes(lane));
        match at.memory {
            MemoryKind::Global => {}
            MemoryKind::Shared => {
                set_bits(&mut self.shared.entry(warp.number).or_default().written, first, bytes);
            }
            MemoryKind::Local => {
                let local = self.local.entry((warp.number, warp.warp)).or_default();
                let all = first as usize..(first + bytes) as usize;
                if local.len() < all.end {
                    local.resize(all.end, 0);
                }
                local[all].iter_mut().for_each(|lanes| *lanes |= 1 << lane);
            }
        }
    }

    /// A warp has ended.
    pub fn end(&mut self, warp: &Warp) {
        self.local.remove(&(warp.number, warp.warp));
        let shared = self.shared.entry(warp.number).or_default();
        shared.ended += 1;
        if shared.ended >= warp.warps {
            self.shared.remove(&warp.number);
        }
    }
}

/// Returns the bits of a word that stand for a range of bytes, and the rest of the range.
fn next(first: u64, bytes: u64) -> (usize, u64, u64) {
    let at = first % 64;
    let count = bytes.min(64 - at);
    ((first / 64) as usize, u64::MAX >> (64 - count) << at, count)
}

fn has_bits(bits: &[u64], mut first: u64, mut bytes: u64) -> bool {
    while bytes > 0 {
        let (word, mask, count) = next(first, bytes);
        if bits.get(word).is_none_or(|bits| bits & mask != mask) {
            return false;
        }
        (first, bytes) = (first + count, bytes - count);
    }
    true
}

fn set_bits(bits: &mut Vec<u64>, mut first: u64, mut bytes: u64) {
    while bytes > 0 {
        let (word, mask, count) = next(first, bytes);
        if bits.len() <= word {
            bits.resize(word + 1, 0);
        }
        bits[word] |= mask;
        (first, bytes) = (first + count, bytes - count);
    }
}
