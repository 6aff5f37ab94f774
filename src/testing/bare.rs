//! Runs a bare function, without loads and stores of its registers around it. As of a kernel, only
//! memory, faults and counts are visible. Its buffers may overlap, lie at a page's end, and end
//! early.

use std::sync::Arc;

use arbitrary::{Result as Choice, Unstructured};
use warploom::Printed;
use warploom_ir::Function;
use warploom_runtime::launch::{ConstBank, Engine, LaunchConfig, launch};
use warploom_runtime::memory::{
    Access, HostBuffer, MapError, Memory, PAGE_BYTES, Placement, Unbound,
};

use super::compare::{Difference, Left, Way, on_all};
use super::function::word;

pub const BUFFERS: usize = 3;
pub const SHARED_BYTES: u32 = 4096;
/// The number of 32-bit words in constant bank 0, behind the address of each buffer (see
/// [`pointer_offset`]).
pub const WORDS: usize = 2;
/// The worker threads of a launch whose blocks do not depend on each other.
const WORKERS: usize = 3;
const FIRST_PAGES: u64 = 0x10_0000_0000;
/// The distance between the pages of consecutive buffers, which exceeds the reach of the lower 32
/// bits of an address.
const PAGES_APART: u64 = 1 << 32;

pub const fn pointer_offset(buffer: usize) -> u32 {
    8 * buffer as u32
}

pub const fn word_offset(word: usize) -> u32 {
    pointer_offset(BUFFERS) + 4 * word as u32
}

/// The kind of the second of a buffer's two pages. The first page may be read and written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Second {
    Resident,
    ReadOnly,
    Unmapped,
    Sparse,
}

#[derive(Clone, Copy, Debug)]
struct Buffer {
    /// The buffer to whose pages it points: itself or an earlier buffer.
    pages: usize,
    /// The offset of its start in these pages.
    start: u64,
    /// The offset of its own pages in host memory, a multiple of 16. Other buffers may share these
    /// pages.
    host: u64,
    second: Second,
}

/// The launch that runs a function.
#[derive(Clone, Debug)]
pub struct Launch {
    pub grid: [u32; 2],
    pub block: [u32; 3],
    instruction_limit: Option<u64>,
    buffers: [Buffer; BUFFERS],
    words: [u32; WORDS],
}

impl Launch {
    /// Chooses a launch, mostly of several warps.
    pub fn choose(u: &mut Unstructured<'_>) -> Choice<Launch> {
        const LINES: [u32; 8] = [32, 40, 64, 80, 96, 128, 200, 256];
        let line = *u.choose(&LINES)?;
        const ROWS: [[u32; 3]; 6] =
            [[64, 2, 1], [32, 3, 1], [8, 5, 2], [16, 8, 1], [16, 5, 1], [8, 16, 1]];
        let rows = u.ratio(1, 4)?;
        let block = if rows { *u.choose(&ROWS)? } else { [line, 1, 1] };
        let grid = [u.int_in_range(1..=4)?, if rows { u.int_in_range(1..=2)? } else { 1 }];
        let lanes = grid.iter().chain(&block).product::<u32>();
        let near = lanes.wrapping_add_signed(u.int_in_range(-40..=40)?);
        let count = if u.ratio(1, 8)? {
            word(u)?
        } else {
            *u.choose(&[lanes, lanes, lanes * 2, near, lanes / 2])?
        };
        // A word that is near 0 when it is multiplied by 4 or more: with it, indices may wrap and
        // stay in reach.
        let wraps =
            (u.int_in_range(1..=4)? as u32).wrapping_shl(30).wrapping_sub(u.int_in_range(0..=128)?);
        let any = word(u)?;
        let other = *u.choose(&[0, 1, 2, 20, 64, wraps, wraps, any])?;
        let (ends_early, overlaps) = (u.ratio(1, 3)?, u.ratio(1, 3)?);
        let mut buffers: Vec<Buffer> = Vec::new();
        for number in 0..BUFFERS {
            let mut buffer = Buffer::choose(u, number)?;
            if ends_early {
                buffer.second = *u.choose(&[Second::ReadOnly, Second::Unmapped, Second::Sparse])?;
            }
            if overlaps && number > 0 {
                buffer.overlap(u.choose(&buffers)?, lanes, u)?;
            }
            buffers.push(buffer);
        }
        if u.ratio(1, 12)? {
            let unaligned = u.choose_index(BUFFERS)?;
            buffers[unaligned].start += u.int_in_range(1..=8)?;
        }
        Ok(Launch {
            grid,
            block,
            instruction_limit: if u.ratio(1, 6)? { Some(u.int_in_range(0..=300)?) } else { None },
            buffers: buffers.try_into().expect("there are so many"),
            words: [count, other],
        })
    }

    /// Whether each buffer has memory of its own.
    fn is_disjoint(&self) -> bool {
        (0..BUFFERS).all(|number| {
            self.buffers[number].pages == number && self.buffers[number].host == own_host(number)
        })
    }

    fn map(&self, host: &Arc<HostBuffer>) -> Result<Memory, MapError> {
        let memory = Memory::default();
        for (number, buffer) in self.buffers.iter().enumerate() {
            let base = pages_of(number);
            let unbound =
                if buffer.second == Second::Sparse { Unbound::Sparse } else { Unbound::Faults };
            memory.reserve(Placement::At(base), 2 * PAGE_BYTES, unbound)?;
            memory.bind_host(
                base,
                PAGE_BYTES,
                Arc::clone(host),
                buffer.host,
                Access::READ_WRITE,
            )?;
            let access = match buffer.second {
                Second::Resident => Access::READ_WRITE,
                Second::ReadOnly => Access::READ,
                Second::Unmapped | Second::Sparse => continue,
            };
            memory.bind_host(
                base + PAGE_BYTES,
                PAGE_BYTES,
                Arc::clone(host),
                buffer.host + PAGE_BYTES,
                access,
            )?;
        }
        Ok(memory)
    }

    fn run(&self, engine: &dyn Engine, workers: usize) -> Result<Left, String> {
        let mut content: Vec<u8> = (0..HOST_BYTES).map(|i| (i * 37 + i / 251) as u8).collect();
        let host = Arc::new(HostBuffer::from_bytes(&content).map_err(|e| e.to_string())?);
        let memory = self.map(&host).map_err(|e| e.to_string())?;
        let pointers = self
            .buffers
            .iter()
            .flat_map(|buffer| (pages_of(buffer.pages) + buffer.start).to_le_bytes());
        let parameters: Vec<u8> =
            pointers.chain(self.words.iter().flat_map(|word| word.to_le_bytes())).collect();

        let mut config = LaunchConfig::new([self.grid[0], self.grid[1], 1], self.block);
        config.shared_bytes = SHARED_BYTES;
        config.threads = workers;
        config.instruction_limit = self.instruction_limit;
        config.constants[0] = Some(ConstBank::new(&parameters).map_err(|e| e.to_string())?);
        let outcome = launch(&memory, engine, &config, None).map_err(|e| e.to_string())?;
        host.read(0, &mut content).map_err(|e| e.to_string())?;
        Ok(Left {
            instructions: outcome.counts.instructions,
            lane_instructions: outcome.counts.lane_instructions,
            fault: outcome.fault,
            buffer: content,
            registers: Vec::new(),
            printed: Printed::default(),
        })
    }
}

const HOST_BYTES: u64 = 2 * PAGE_BYTES * (BUFFERS as u64 + 1);

/// Returns where a buffer's pages lie in host memory if the buffer shares no pages.
fn own_host(number: usize) -> u64 {
    2 * PAGE_BYTES * number as u64
}

fn pages_of(number: usize) -> u64 {
    FIRST_PAGES + PAGES_APART * number as u64
}

impl Buffer {
    fn choose(u: &mut Unstructured<'_>, number: usize) -> Choice<Buffer> {
        // Mostly, some lanes are on the second page.
        let start =
            if u.ratio(1, 3)? { 1 << 12 } else { PAGE_BYTES - 4 * u.int_in_range(0..=256)? };
        Ok(Buffer { pages: number, start, host: own_host(number), second: Second::Resident })
    }

    /// Shares memory with another buffer: from a place near its start, or near its end if each lane
    /// has an element.
    fn overlap(&mut self, other: &Buffer, lanes: u32, u: &mut Unstructured<'_>) -> Choice<()> {
        let end = u64::from(lanes) * *u.choose(&[4, 8, 16])? - 4 * u.int_in_range(0..=3)?;
        let distance = *u.choose(&[0, 4, 16, 32, 128, 256, end, end])?;
        self.start = other.start + distance;
        if u.arbitrary()? {
            (self.pages, self.host) = (other.pages, other.host);
        } else {
            let moved = u.int_in_range(0..=distance / 16)? * 16;
            (self.start, self.host) = (self.start - moved, other.host + moved);
        }
        Ok(())
    }
}

/// Compares engines on a bare function, like [`compare`](super::compare()). If `independent`, no
/// block accesses memory that another block writes through the same buffer.
pub fn compare(
    function: &Function,
    launch: &Launch,
    independent: bool,
    ways: &[Way],
) -> Result<(), Box<Difference>> {
    let workers = if independent && launch.is_disjoint() { WORKERS } else { 1 };
    let run = |engine: &dyn Engine, workers| launch.run(engine, workers);
    let [x, y] = launch.grid;
    on_all(&Arc::new(function.clone()), [[x, y, 1], launch.block], workers, ways, &run).map_err(
        |mut difference| {
            difference.what = format!("{}, in {launch:x?}", difference.what);
            difference
        },
    )
}
