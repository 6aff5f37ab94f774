//! Pages that stand for memory elsewhere in the arena, for drivers whose programs say what is where.

use super::{Owner, page_aligned, whole_pages};
use crate::memory::{Access, MapError, Memory};
use crate::warp::PAGE_BITS;

impl Memory {
    /// Makes pages of a reserved range stand for memory that [`Memory::alloc`] has given, from `source` on: both see each other's
    /// writes. That memory counts as in use until neither is there. Only where guest addresses are host addresses.
    pub fn alias(&self, address: u64, bytes: u64, source: u64, access: Access) -> Result<(), MapError> {
        let bytes = whole_pages(page_aligned(bytes)?)?;
        let missing = MapError::NotReserved { address: source, bytes };
        let mut regions = self.lock();
        let region = regions.holding(source, bytes)?;
        let (&bound, binding) = region.bindings.range(..=source).next_back().ok_or(missing)?;
        let owner @ Owner::Arena { .. } = binding.owner.clone() else { return Err(missing) };
        if source + bytes > bound + binding.bytes {
            return Err(missing);
        }
        let host = self.arena.as_ref().and_then(|arena| arena.pointer(source)).ok_or(missing)?;
        self.attach(&mut regions, address, bytes, host, owner, access)
    }

    /// Ends what [`Memory::alias`] began for pages of a range, and leaves those as they are that are not bound. Launches that are running
    /// may still write to what the pages stood for: the arena's memory is there for as long as it is.
    pub fn unalias(&self, address: u64, bytes: u64) -> Result<(), MapError> {
        page_aligned(address)?;
        let bytes = whole_pages(page_aligned(bytes)?)?;
        let mut regions = self.lock();
        let region = regions.holding(address, bytes)?;
        if region.touched(address, address + bytes).any(|(_, binding)| !matches!(binding.owner, Owner::Arena { .. })) {
            return Err(MapError::NotReserved { address, bytes });
        }
        region.detach(address, address + bytes);
        let unbound = region.unbound.page();
        self.table.set_range(address >> PAGE_BITS, bytes >> PAGE_BITS, unbound);
        Ok(())
    }

    /// Changes what is permitted on pages that [`Memory::alias`] has bound; launches that are running may not notice.
    pub fn permit(&self, address: u64, bytes: u64, access: Access) -> Result<(), MapError> {
        self.set_access(address, bytes, access)
    }
}
