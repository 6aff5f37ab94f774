//! Reads of bytes that nothing has written: of shared memory in the block, of local memory in the
//! lane.

use rustc_hash::FxHashMap;

use super::finding::{Action, MemoryKind};
use super::watch::{At, Raw, Reports, Warp};

#[derive(Debug, Default)]
pub struct Init {
    /// By block.
    shared: FxHashMap<u32, Shared>,
    /// By block and warp.
    local: FxHashMap<(u32, u32), Local>,
}

#[derive(Debug, Default)]
struct Local {
    /// For each byte, the lanes that have written it.
    written: Vec<u64>,
    /// Of memory that the driver has divided among threads: by address, 64 bytes each, a bit for
    /// each byte.
    scratch: FxHashMap<u64, u64>,
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
            MemoryKind::Global if at.is_scratch => {
                let local = self.local.get(&(warp.number, warp.warp));
                local.is_some_and(|local| {
                    words(first, bytes).all(|(word, mask)| {
                        local.scratch.get(&word).is_some_and(|bits| bits & mask == mask)
                    })
                })
            }
            MemoryKind::Global => true,
            MemoryKind::Shared => {
                let shared = self.shared.get(&warp.number);
                shared.is_some_and(|shared| has_bits(&shared.written, first, bytes))
            }
            MemoryKind::Local => {
                let local = self.local.get(&(warp.number, warp.warp));
                let mut all = first as usize..(first + bytes) as usize;
                local.is_some_and(|local| {
                    all.all(|byte| {
                        local.written.get(byte).is_some_and(|lanes| lanes >> lane & 1 != 0)
                    })
                })
            }
        }
    }

    fn write(&mut self, warp: &Warp, at: &At<'_>, lane: u32) {
        let (first, bytes) = (at.address(lane), at.bytes(lane));
        match at.memory {
            MemoryKind::Global if at.is_scratch => {
                let local = self.local.entry((warp.number, warp.warp)).or_default();
                for (word, mask) in words(first, bytes) {
                    *local.scratch.entry(word).or_default() |= mask;
                }
            }
            MemoryKind::Global => {}
            MemoryKind::Shared => {
                set_bits(&mut self.shared.entry(warp.number).or_default().written, first, bytes);
            }
            MemoryKind::Local => {
                let local = &mut self.local.entry((warp.number, warp.warp)).or_default().written;
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

/// Returns the words of 64 bits that stand for a range of bytes, each with a mask.
fn words(mut first: u64, mut bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    std::iter::from_fn(move || {
        let at = first % 64;
        let count = bytes.min(64 - at);
        let word = (count > 0).then(|| (first / 64, u64::MAX >> (64 - count) << at));
        (first, bytes) = (first.wrapping_add(count), bytes - count);
        word
    })
}

fn has_bits(bits: &[u64], first: u64, bytes: u64) -> bool {
    words(first, bytes)
        .all(|(word, mask)| bits.get(word as usize).is_some_and(|bits| bits & mask == mask))
}

fn set_bits(bits: &mut Vec<u64>, first: u64, bytes: u64) {
    for (word, mask) in words(first, bytes) {
        let word = word as usize;
        if bits.len() <= word {
            bits.resize(word + 1, 0);
        }
        bits[word] |= mask;
    }
}
