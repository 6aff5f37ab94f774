//! Reads of bytes that nothing has written: of shared memory in the block, of local memory in the
//! lane, of global memory by the host or any launch.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::bits::{self, words};
use super::finding::{Action, MemoryKind};
use super::watch::{At, Raw, Reports, Warp};
use super::written::Written;

/// A wider access may be that of a structure, of which padding is not written.
const WORD_BYTES: u64 = 4;

#[derive(Debug)]
pub struct Init {
    global: Arc<Written>,
    /// A bit for each byte, by block.
    shared: FxHashMap<u32, Vec<u64>>,
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

impl Init {
    pub fn new(global: Arc<Written>) -> Init {
        Init { global, shared: FxHashMap::default(), local: FxHashMap::default() }
    }

    pub fn access(&mut self, warp: &Warp, at: &At<'_>, reports: &mut Reports) {
        if at.action != Action::Store && !at.order.restores {
            let is_missing = |lane: &u32| {
                let (written, bytes) = (self.written(warp, at, *lane), at.bytes(*lane));
                written < bytes && (written == 0 || bytes <= WORD_BYTES)
            };
            for lane in at.lanes().filter(is_missing) {
                reports.add(warp, at, lane, Raw::Unwritten);
            }
        }
        if at.action != Action::Load {
            at.lanes().for_each(|lane| self.write(warp, at, lane));
        }
    }

    /// Returns how many bytes of a lane's access have been written.
    fn written(&self, warp: &Warp, at: &At<'_>, lane: u32) -> u64 {
        let (first, bytes) = (at.address(lane), at.bytes(lane));
        let local = self.local.get(&(warp.number, warp.warp));
        match at.memory {
            MemoryKind::Global if at.is_scratch => {
                let word = |number| local?.scratch.get(&number).copied();
                bits::count(word, first, bytes)
            }
            MemoryKind::Global => self.global.count(first, bytes),
            MemoryKind::Shared => {
                let shared = self.shared.get(&warp.number);
                bits::count(|number| shared?.get(number as usize).copied(), first, bytes)
            }
            MemoryKind::Local => {
                let lanes = local.and_then(|local| local.written.get(first as usize..));
                let is_written = |lanes: &&u64| **lanes >> lane & 1 != 0;
                let all = lanes.unwrap_or_default().iter().take(bytes as usize);
                all.filter(is_written).count() as u64
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
            MemoryKind::Global => self.global.write(first, bytes),
            MemoryKind::Shared => {
                let written = self.shared.entry(warp.number).or_default();
                let words = (first + bytes).div_ceil(64) as usize;
                if written.len() < words {
                    written.resize(words, 0);
                }
                bits::set(written, first, bytes);
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

    pub fn allocated(&mut self, address: u64, bytes: u64) {
        self.global.allocated(address, bytes);
    }

    pub fn freed(&mut self, address: u64) {
        self.global.freed(address);
    }

    pub fn end_warp(&mut self, warp: &Warp) {
        self.local.remove(&(warp.number, warp.warp));
    }

    pub fn end_block(&mut self, block: u32) {
        self.shared.remove(&block);
    }
}
