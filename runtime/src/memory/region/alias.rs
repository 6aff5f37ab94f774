//! Pages that alias memory elsewhere in the arena, for drivers whose programs choose their
//! mappings.

use super::{Owner, page_aligned, whole_pages};
use crate::memory::{Access, MapError, Memory};
use crate::warp::PAGE_BITS;

impl Memory {
    /// Makes pages of a reserved range an alias of memory from [`Memory::alloc`], from `source` on.
    ///
    /// Both see each other's writes. `source` may itself be an alias. The allocation counts as in
    /// use, and keeps its content and its addresses, until neither its own range nor an alias has a
    /// page of it. An alias needs guest addresses that are host addresses.
    pub fn alias(
        &self,
        address: u64,
        bytes: u64,
        source: u64,
        access: Access,
    ) -> Result<(), MapError> {
        page_aligned(source)?;
        let bytes = whole_pages(page_aligned(bytes)?)?;
        let missing = MapError::NotReserved { address: source, bytes };
        let mut regions = self.lock();
        let region = regions.holding(source, bytes)?;
        let (&bound, binding) = region.bindings.range(..=source).next_back().ok_or(missing)?;
        if source + bytes > bound + binding.bytes {
            return Err(missing);
        }
        let part = binding.part(source - bound, bytes);
        let Owner::Arena { storage, offset } = &part.owner else { return Err(missing) };
        let host = storage.pointer(*offset);
        self.attach(&mut regions, address, bytes, host, part.owner, access)
    }

    /// Unbinds aliases of [`Memory::alias`] from pages of a range. Unbound pages stay as they are.
    ///
    /// Running launches may still write to the allocation. If the alias was its last binding, the
    /// allocation ends after these launches.
    pub fn unalias(&self, address: u64, bytes: u64) -> Result<(), MapError> {
        page_aligned(address)?;
        let bytes = whole_pages(page_aligned(bytes)?)?;
        let mut regions = self.lock();
        let is_running = !regions.launches.is_empty();
        let region = regions.holding(address, bytes)?;
        let is_alias = |(bound, owner): (u64, &Owner)| match owner {
            Owner::Arena { storage, offset } => !storage.is_at(bound, *offset),
            Owner::Caller | Owner::Buffer { .. } => false,
        };
        if !region
            .touched(address, address + bytes)
            .all(|(bound, binding)| is_alias((bound, &binding.owner)))
        {
            return Err(MapError::NotReserved { address, bytes });
        }
        self.table.set_range(address >> PAGE_BITS, bytes >> PAGE_BITS, region.unbound.page());
        let detached = region.detach(address, address + bytes);
        if is_running {
            regions.unaliased.extend(detached);
        }
        Ok(())
    }

    /// Changes the permissions of pages that [`Memory::alias`] has bound. Running launches may not
    /// notice.
    pub fn permit(&self, address: u64, bytes: u64, access: Access) -> Result<(), MapError> {
        self.set_access(address, bytes, access)
    }
}
