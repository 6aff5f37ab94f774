//! Guest memory with canaries: a page that no guest address leads to lies between the host memory
//! of any two guest ranges.

use std::sync::Arc;

use warploom_runtime::memory::{Access, HostBuffer, Memory, PAGE_BYTES, Placement, Unbound};

/// The content of memory that the guest has no right to access.
const CANARY: u8 = 0xc5;

/// The host memory of a few guest ranges.
pub struct Guarded {
    host: Arc<HostBuffer>,
    /// The starts of the pages of canaries.
    canaries: Vec<u64>,
}

impl Guarded {
    /// Maps ranges of zeros: their addresses, bytes, and how the guest may use them.
    pub fn map(memory: &Memory, ranges: &[(u64, u64, Access)]) -> Result<Guarded, String> {
        let bytes_of = |bytes: u64| bytes.max(1).next_multiple_of(PAGE_BYTES);
        let end: u64 = ranges.iter().map(|&(_, bytes, _)| bytes_of(bytes) + PAGE_BYTES).sum();
        let mut content = vec![CANARY; (PAGE_BYTES + end) as usize];
        let (mut at, mut canaries) = (PAGE_BYTES, vec![0]);
        let mut placed = Vec::new();
        for &(address, bytes, access) in ranges {
            let bytes = bytes_of(bytes);
            content[at as usize..][..bytes as usize].fill(0);
            placed.push((address, bytes, access, at));
            canaries.push(at + bytes);
            at += bytes + PAGE_BYTES;
        }
        let host = Arc::new(HostBuffer::from_bytes(&content).map_err(|e| e.to_string())?);
        for (address, bytes, access, at) in placed {
            memory
                .reserve(Placement::At(address), bytes, Unbound::Faults)
                .map_err(|e| e.to_string())?;
            memory
                .bind_host(address, bytes, Arc::clone(&host), at, access)
                .map_err(|e| e.to_string())?;
        }
        Ok(Guarded { host, canaries })
    }

    /// Checks that all canaries are unchanged.
    pub fn check(&self) -> Result<(), String> {
        let mut page = vec![0; PAGE_BYTES as usize];
        for &at in &self.canaries {
            self.host.read(at, &mut page).map_err(|e| e.to_string())?;
            if let Some(offset) = page.iter().position(|&byte| byte != CANARY) {
                return Err(format!(
                    "host memory outside of guest pages was written, {offset:#x} bytes into a page"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_past_the_page_is_found() {
        let memory = Memory::default();
        let guarded = Guarded::map(&memory, &[(0x10_0000_0000, 100, Access::READ_WRITE)]).unwrap();
        memory.write(0x10_0000_0000, &vec![1; PAGE_BYTES as usize]).unwrap();
        assert_eq!(guarded.check(), Ok(()));
        guarded.host.write(2 * PAGE_BYTES + 5, &[0]).unwrap();
        assert!(guarded.check().unwrap_err().contains("0x5 bytes into a page"));
    }
}
