//! Launches on a memory: released pages outlast them.

use std::sync::{MutexGuard, PoisonError};

use super::Regions;
use crate::memory::Memory;

/// Marks a launch on a memory. Until the last guard is dropped, released ranges stay mapped.
pub(crate) struct LaunchGuard<'a> {
    memory: &'a Memory,
    number: u64,
}

impl Drop for LaunchGuard<'_> {
    fn drop(&mut self) {
        let mut regions = self.memory.lock();
        regions.launches.remove(&self.number);
        if regions.launches.is_empty() {
            regions.unaliased.clear();
            for address in std::mem::take(&mut regions.released) {
                self.memory.retire(&mut regions, address);
            }
        }
        drop(regions);
        self.memory.launch_ended.notify_all();
    }
}

impl Memory {
    /// Begins a launch, which ends when the guard is dropped.
    pub(crate) fn begin_launch(&self) -> LaunchGuard<'_> {
        let mut regions = self.lock();
        let number = regions.next_launch;
        regions.next_launch += 1;
        regions.launches.insert(number);
        LaunchGuard { memory: self, number }
    }

    /// Waits until all launches that began before `regions` was locked are over. Launches that
    /// begin during the wait do not prolong it.
    pub(in crate::memory) fn wait_for_launches(&self, mut regions: MutexGuard<'_, Regions>) {
        let next = regions.next_launch;
        while regions.launches.first().is_some_and(|&number| number < next) {
            regions = self.launch_ended.wait(regions).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
