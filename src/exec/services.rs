//! The driver's services for running device code: `printf`, `malloc`, `free`, `__assertfail`,
//! `cudaGraphSetConditional`.
//!
//! Source: CUDA C++ Programming Guide, "Formatted Output", "Dynamic Global Memory Allocation",
//! "Assertion", "Conditional Graph Nodes".

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use range_alloc::RangeAllocator;
use warploom_interp::{Actor, Elements, load_elements, store_elements};
use warploom_ir::{Access, Space, Type, Value, observe};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::launch::Engine;
use warploom_runtime::memory::Memory;
use warploom_runtime::observe::Event;
use warploom_runtime::warp::{ExitCode, SERVICE_BYTES, Service, WarpContext};

use super::{Error, lock, printf};

/// Alignment of the results of `malloc`. The heap gives memory in multiples of so many bytes.
pub const HEAP_ALIGN: u64 = 16;
/// The longest string that is read from the guest. Longer strings are cut.
pub const MAX_STRING: usize = 1 << 16;
/// Bytes of one argument of a service.
const WORD_BYTES: u64 = 8;
/// The result of `vprintf` if the format is a null pointer.
const NO_FORMAT: u64 = u32::MAX as u64;

/// The heap of device code. It lasts as long as its program.
pub struct Heap {
    start: u64,
    bytes: u64,
    used: Mutex<HeapUse>,
}

struct HeapUse {
    free: RangeAllocator<u64>,
    /// Lengths of the allocations, by address.
    given: BTreeMap<u64, u64>,
}

impl Heap {
    pub fn new(memory: &Memory, bytes: u64) -> Result<Heap, Error> {
        let bytes =
            bytes.checked_next_multiple_of(HEAP_ALIGN).unwrap_or(!(HEAP_ALIGN - 1)).max(HEAP_ALIGN);
        let start = memory.alloc(bytes, HEAP_ALIGN)?;
        Ok(Heap { start, bytes, used: Mutex::new(HeapUse::new(start, bytes)) })
    }

    /// Returns the guest address.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Frees all allocations.
    pub fn reset(&self, memory: &Memory) -> Result<(), Error> {
        let mut used = lock(&self.used);
        for (&address, &bytes) in &used.given {
            memory.fill(address, bytes, 0)?;
        }
        *used = HeapUse::new(self.start, self.bytes);
        Ok(())
    }

    /// Returns an address, or 0 if there is no room.
    fn allocate(&self, bytes: u64) -> u64 {
        let mut used = lock(&self.used);
        let bytes = match bytes.checked_next_multiple_of(HEAP_ALIGN) {
            Some(bytes) if (1..=self.bytes).contains(&bytes) => bytes,
            _ => return 0,
        };
        let Ok(range) = used.free.allocate_range(bytes) else { return 0 };
        used.given.insert(range.start, bytes);
        range.start
    }

    fn free(&self, address: u64) -> Result<(), FaultKind> {
        if address == 0 {
            return Ok(());
        }
        let mut used = lock(&self.used);
        let bytes = used.given.remove(&address).ok_or(FaultKind::InvalidFree)?;
        used.free.free_range(address..address + bytes);
        Ok(())
    }
}

impl HeapUse {
    fn new(start: u64, bytes: u64) -> HeapUse {
        HeapUse { free: RangeAllocator::new(start..start + bytes), given: BTreeMap::new() }
    }
}

/// The output of device code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The text, block by block in the order of their indices, whatever order they ran in.
    pub text: Vec<u8>,
    /// Calls whose text found no room in
    /// [`LaunchOptions::printf_bytes`](super::LaunchOptions::printf_bytes).
    pub dropped: u64,
}

/// An engine that performs the services that another engine asks for.
pub struct Serving<'a> {
    engine: &'a dyn Engine,
    heap: Arc<Heap>,
    /// The most bytes of printed text.
    limit: usize,
    /// The end of the launch's time. Serving a lane takes the time of thousands of instructions,
    /// which nobody counts.
    deadline: Option<Instant>,
    output: Mutex<Output>,
    /// How often the heap was asked to allocate or free memory.
    changes: AtomicU64,
}

/// Output by linear index of the block.
#[derive(Default)]
struct Output {
    blocks: BTreeMap<u64, BlockOutput>,
    bytes: usize,
    dropped: u64,
}

#[derive(Default)]
struct BlockOutput {
    text: Vec<u8>,
    assertion: Option<String>,
}

/// Returns the index of a block, with x fastest.
pub(super) fn linear([x, y, z]: [u32; 3], grid: [u32; 3]) -> u64 {
    u64::from(x) + u64::from(grid[0]) * (u64::from(y) + u64::from(grid[1]) * u64::from(z))
}

impl Engine for Serving<'_> {
    fn lanes(&self) -> u32 {
        self.engine.lanes()
    }

    fn register_file_bytes(&self) -> usize {
        self.engine.register_file_bytes()
    }

    fn run(&self, context: &mut WarpContext) -> ExitCode {
        loop {
            let code = self.engine.run(context);
            let service = match code {
                ExitCode::Service => Service::from_number(context.service),
                _ => return code,
            };
            let Some(service) = service else { return code };
            // The last warp of a block may be short.
            let lanes = context.service_lanes & context.launch_mask();
            for lane in (0..u64::BITS).filter(|lane| lanes >> lane & 1 != 0) {
                let served = match self.deadline {
                    Some(deadline) if Instant::now() >= deadline => {
                        Err((FaultKind::TimeExceeded, 0))
                    }
                    _ => self.serve(service, &mut Guest { context, lane }),
                };
                if let Err((kind, address)) = served {
                    let pc = self.engine.block_pc(context.resume);
                    return context.set_fault(kind, lane, pc, address);
                }
            }
        }
    }

    fn block_pc(&self, block: u32) -> u64 {
        self.engine.block_pc(block)
    }

    fn outside(&self) -> Option<u64> {
        self.engine.outside().map(|outside| outside.wrapping_add(self.changes.load(Relaxed)))
    }

    fn deadlocked(&self, context: &mut WarpContext<'_>) -> Vec<(u64, u64)> {
        self.engine.deadlocked(context)
    }
}

impl<'a> Serving<'a> {
    /// Returns an engine with its services. `limit` bounds the bytes of printed text, and
    /// `time_limit` the launch that begins now.
    pub fn new(
        engine: &'a dyn Engine,
        heap: Arc<Heap>,
        limit: usize,
        time_limit: Option<Duration>,
    ) -> Serving<'a> {
        let deadline = time_limit.and_then(|limit| Instant::now().checked_add(limit));
        Serving {
            engine,
            heap,
            limit,
            deadline,
            output: Mutex::default(),
            changes: AtomicU64::new(0),
        }
    }

    /// Returns the text of the blocks up to a faulting block, and the assertion that this block
    /// failed.
    pub fn end(self, fault: Option<u64>) -> (Printed, Option<String>) {
        let mut output = self.output.into_inner().unwrap_or_else(PoisonError::into_inner);
        let last = fault.unwrap_or(u64::MAX);
        let assertion = output.blocks.get_mut(&last).and_then(|block| block.assertion.take());
        let text =
            output.blocks.range(..=last).flat_map(|(_, block)| &block.text).copied().collect();
        (Printed { text, dropped: output.dropped }, assertion)
    }

    fn serve(&self, service: Service, guest: &mut Guest<'_, '_>) -> Result<(), Refused> {
        if matches!(service, Service::Allocate | Service::Free) {
            self.changes.fetch_add(1, Relaxed);
        }
        match service {
            Service::Print => {
                let (format, arguments) = (guest.argument(0)?, guest.argument(1)?);
                let result =
                    if format == 0 { NO_FORMAT } else { self.print(guest, format, arguments)? };
                guest.answer(result)
            }
            Service::Allocate => {
                let bytes = guest.argument(0)?;
                let address = self.heap.allocate(bytes);
                if address != 0 {
                    guest.tell(observe::ALLOCATED, &[&[address], &[bytes]]);
                }
                guest.answer(address)
            }
            Service::Free => {
                let address = guest.argument(0)?;
                self.heap.free(address).map_err(|kind| (kind, address))?;
                guest.tell(observe::FREED, &[&[address]]);
                Ok(())
            }
            Service::AssertFail => {
                let mut text = |n| {
                    let address = guest.argument(n)?;
                    let text = guest.text(address, MAX_STRING)?;
                    Ok(String::from_utf8_lossy(&text).into_owned())
                };
                let (condition, file, function) = (text(0)?, text(1)?, text(3)?);
                let line = guest.argument(2)? as u32;
                let message = format!("{file}:{line}: {function}: `{condition}`");
                let block = guest.block();
                lock(&self.output)
                    .blocks
                    .entry(block)
                    .or_default()
                    .assertion
                    .get_or_insert(message);
                Err((FaultKind::Assertion, 0))
            }
            Service::SetConditional => {
                let (handle, value) = (guest.argument(0)?, guest.argument(1)?);
                guest.store(Space::Global, Type::I32, handle, value)
            }
        }
    }

    /// Prints a text, and returns the number of arguments.
    fn print(
        &self,
        guest: &mut Guest<'_, '_>,
        format: u64,
        arguments: u64,
    ) -> Result<u64, Refused> {
        let format = guest.text(format, MAX_STRING)?;
        let block = guest.block();
        let room = self.limit - lock(&self.output).bytes;
        let (text, count) = printf::format(&format, &mut Packed { guest, at: arguments }, room)?;
        let mut output = lock(&self.output);
        match text.filter(|text| text.len() <= self.limit - output.bytes) {
            Some(text) => {
                output.bytes += text.len();
                output.blocks.entry(block).or_default().text.extend(text);
            }
            None => output.dropped += 1,
        }
        Ok(count.into())
    }
}

/// The reason why a lane is not served: the fault and its address.
type Refused = (FaultKind, u64);

/// A lane as its services see it.
struct Guest<'a, 'launch> {
    context: &'a mut WarpContext<'launch>,
    lane: u32,
}

impl Guest<'_, '_> {
    /// Tells the launch's observer of an event of this lane.
    fn tell(&self, site: u32, args: &[&[u64]]) {
        self.context.observe(&Event { site, lanes: 1 << self.lane, args });
    }

    fn block(&self) -> u64 {
        linear(self.context.ctaid(), self.context.nctaid())
    }

    fn argument(&mut self, n: u64) -> Result<u64, Refused> {
        let address = self.argument_at(n);
        self.load(Space::Local, Type::I64, address)
    }

    /// Returns the address of an argument, in the lane's local memory.
    fn argument_at(&self, n: u64) -> u64 {
        self.context.local_bytes().saturating_sub(SERVICE_BYTES.into()) + n * WORD_BYTES
    }

    fn answer(&mut self, result: u64) -> Result<(), Refused> {
        self.store(Space::Local, Type::I64, self.argument_at(0), result)
    }

    fn store(&mut self, space: Space, ty: Type, address: u64, value: u64) -> Result<(), Refused> {
        let mut elements = Elements::default();
        elements[0] = value;
        store_elements(
            self.context,
            &access(space, ty),
            Actor::Lane(self.lane),
            address,
            &elements,
        )
        .map_err(|kind| (kind, address))?;
        Ok(())
    }

    fn load(&mut self, space: Space, ty: Type, address: u64) -> Result<u64, Refused> {
        let mut elements = Elements::default();
        load_elements(
            self.context,
            &access(space, ty),
            Actor::Lane(self.lane),
            address,
            &mut elements,
        )
        .map_err(|kind| (kind, address))?;
        Ok(elements[0])
    }

    /// Reads a string that ends with a 0 or has `most` characters.
    fn text(&mut self, address: u64, most: usize) -> Result<Vec<u8>, Refused> {
        let mut text = Vec::new();
        while text.len() < most.min(MAX_STRING) {
            match self.load(Space::Generic, Type::I8, address.wrapping_add(text.len() as u64))? {
                0 => break,
                character => text.push(character as u8),
            }
        }
        Ok(text)
    }
}

/// Returns an unaligned access to one element of type `ty`.
fn access(space: Space, ty: Type) -> Access {
    Access {
        space,
        ty,
        count: 1,
        align: 1,
        address: Value(0),
        offset: 0,
        guard: None,
        nomask: false,
    }
}

/// Arguments of `printf`, one behind the other, each aligned to its size.
struct Packed<'a, 'g, 'launch> {
    guest: &'a mut Guest<'g, 'launch>,
    at: u64,
}

impl printf::Arguments<Refused> for Packed<'_, '_, '_> {
    const VECTORS: bool = false;

    fn vector(&mut self, _: u64) -> Result<(), Refused> {
        Ok(())
    }

    fn next(&mut self, bytes: u64) -> Result<u64, Refused> {
        let ty = if bytes == WORD_BYTES { Type::I64 } else { Type::I32 };
        let address = self.at.wrapping_add(bytes - 1) & !(bytes - 1);
        self.at = address.wrapping_add(bytes);
        self.guest.load(Space::Generic, ty, address)
    }

    fn string(&mut self, most: usize) -> Result<Option<Vec<u8>>, Refused> {
        let address = self.next(WORD_BYTES)?;
        (address != 0).then(|| self.guest.text(address, most)).transpose()
    }
}
