//! Attacks on the boundary of guest memory: addresses at the edges of pages and windows and far
//! off, image descriptors with any content, any code. Canaries and read-only pages must always stay
//! unchanged.

use arbitrary::{Result as Choice, Unstructured};
use warploom::{Arg, Effort, EngineKind, ImagePool, LaunchOptions, Program};
use warploom_ir::image::layout::{Blocks, Layout};
use warploom_ir::image::{Kind, sampler};
use warploom_ir::{CellKind, Function};
use warploom_maxwell::header::{self, Format, Header};
use warploom_maxwell::{Instruction, sampler as entry};
use warploom_runtime::memory::{Access, Memory, PAGE_BYTES, Placement, Unbound};

use super::case::effort;
use super::check::{Failure, Reproducer, Subject};
use super::compare::{BUFFER, Initial};
use super::guarded::Guarded;
use super::maxwell::{image_accesses, indirect_jump, maxwell_code};
use super::program::subset;

/// Consecutive guest pages: two writable pages, a read-only page, a page that is not resident, an
/// unmapped page, and a writable page.
const PAGES: u64 = BUFFER;
const READ_ONLY: u64 = PAGES + 2 * PAGE_BYTES;
const SPARSE: u64 = PAGES + 3 * PAGE_BYTES;
const LAST: u64 = PAGES + 5 * PAGE_BYTES;
/// The pool of headers and samplers, far from the other pages.
const POOL: u64 = 0x20_0000_0000;
const DESCRIPTORS: usize = 6;
const DESCRIPTOR_BYTES: u64 = 32;
/// The number of parameters that are 64-bit addresses. Handles of images follow them.
const ADDRESSES: usize = 4;
const FIRST_PARAM: u64 = 0x140;
const FIRST_HANDLE: u64 = FIRST_PARAM + 8 * ADDRESSES as u64;
const INSTRUCTIONS: u64 = 2_000;
const JUMP_REGISTER: u64 = 31;
/// The most shared and local memory, in units of 16 bytes.
const SHARED_UNITS: u64 = 64;
const LOCAL_UNITS: u64 = 16;

/// A Maxwell kernel with all its input.
#[derive(Clone, Debug)]
pub struct Attack {
    head: Vec<String>,
    body: Vec<String>,
    addresses: [u64; ADDRESSES],
    headers: [Header; DESCRIPTORS],
    samplers: [Header; DESCRIPTORS],
    block: [u32; 3],
    effort: Effort,
}

/// Returns an address near an edge, or any address.
fn address(u: &mut Unstructured<'_>) -> Choice<u64> {
    let windows = Memory::default().windows();
    let near = match u.int_in_range(0..=9)? {
        0 => 0,
        1 => u.arbitrary()?,
        // An address in a window, or at the end of the memory that the window shows.
        2 => windows.shared + u.int_in_range(0..=SHARED_UNITS)? * 16,
        3 => windows.local + u.int_in_range(0..=LOCAL_UNITS)? * 16,
        4 => POOL,
        // The 32-bit address of memory above 4 GiB.
        5 => PAGES & 0xffff_ffff,
        _ => PAGES + u.int_in_range(0..=6)? * PAGE_BYTES,
    };
    Ok(near.wrapping_add_signed(u.int_in_range(-160..=160)?))
}

/// Puts addresses at edges into some registers: whole addresses into pairs of scalar registers,
/// either half into vector registers.
pub(super) fn addresses(
    function: &Function,
    registers: &mut [Initial],
    u: &mut Unstructured<'_>,
) -> Choice<()> {
    for (reg, cells) in registers {
        if !u.ratio(1, 3)? {
            continue;
        }
        let address = address(u)?;
        match function.bank(reg.bank).kind {
            CellKind::Lane(_) => {
                let (high, stride) = (u.arbitrary()?, *u.choose(&[0, 1, 4, 16, 0x1000])?);
                for (cell, lane) in cells.iter_mut().zip(0..) {
                    let word =
                        if high { address >> 32 } else { address.wrapping_add(lane * stride) };
                    *cell = word & 0xffff_ffff;
                }
            }
            _ => cells.fill(address),
        }
    }
    Ok(())
}

/// Returns an image's header, which may be wrong: up to two bits are flipped.
fn header(u: &mut Unstructured<'_>) -> Choice<Header> {
    const FORMATS: [&str; 8] = [
        "r8_uint",
        "r16_sint",
        "r32_uint",
        "rg32_float",
        "rgba32_uint",
        "rgba8_unorm",
        "rgb10a2_unorm",
        "r11g11b10_float",
    ];
    let format =
        Format::named(u.choose(&FORMATS)?).unwrap_or_else(|| unreachable!("they are formats"));
    let kind = *u.choose(&[Kind::Buffer, Kind::D1, Kind::D2, Kind::D3, Kind::Cube])?;
    let mut side =
        || Ok(if u.ratio(1, 4)? { u.int_in_range(1..=65_536)? } else { u.int_in_range(1..=64)? });
    let size = [side()?, side()?, side()?];
    let layout = match u.arbitrary()? {
        true => Layout::Pitch(u.int_in_range(0..=200)? * 32),
        false => {
            Layout::Blocks(Blocks { height: u.int_in_range(0..=5)?, depth: u.int_in_range(0..=5)? })
        }
    };
    let mut image = format.image(kind, size, layout);
    image.base = address(u)? & 0xffff_ffff_ffff;
    (image.array, image.layers) = (u.arbitrary()?, u.int_in_range(1..=9)?);
    (image.levels, image.last_level) = (u.int_in_range(1..=15)?, u.int_in_range(0..=14)?);
    image.normalized = u.arbitrary()?;
    let mut header = header::encode(&image).unwrap_or_default();
    for _ in 0..u.int_in_range(0..=2)? {
        header[u.choose_index(8)?] ^= 1 << u.int_in_range(0..=31)?;
    }
    Ok(header)
}

impl Attack {
    pub fn choose(u: &mut Unstructured<'_>) -> Choice<Attack> {
        let (shared, local) =
            (u.int_in_range(0..=SHARED_UNITS)? * 16, u.int_in_range(0..=LOCAL_UNITS)? * 16);
        let mut head: Vec<String> = [".target sm_50", ".kernel attack"].map(Into::into).into();
        head.extend(
            [8; ADDRESSES].iter().chain(&[4; DESCRIPTORS]).map(|bytes| format!(".param {bytes}")),
        );
        head.extend([
            format!(".shared {shared}"),
            format!(".local {local}"),
            "S2R R39, SR_TID.X".into(),
        ]);
        let mut addresses = [0; ADDRESSES];
        for (number, value) in (0..).zip(&mut addresses) {
            *value = address(u)?;
            // The pairs that random code uses as addresses, and two other pairs.
            let (pair, at, shift) =
                ([40, 42, 8, 12][number], FIRST_PARAM + 8 * number as u64, u.int_in_range(0..=16)?);
            head.extend([
                format!("SHL R{pair}, R39, {shift:#x}"),
                format!("IADD R{pair}.CC, R{pair}, c[0x0][{at:#x}]"),
                format!("IADD.X R{}, RZ, c[0x0][{:#x}]", pair + 1, at + 4),
            ]);
        }
        for register in 0..8 {
            head.push(match u.int_in_range(0..=2)? {
                0 => format!("MOV R{register}, R39"),
                1 => format!("MOV32I R{register}, {:#x}", u.int_in_range(0..=300)?),
                _ => format!("MOV32I R{register}, {:#x}", u.arbitrary::<u32>()?),
            });
        }
        let (mut headers, mut samplers) =
            ([Header::default(); DESCRIPTORS], [Header::default(); DESCRIPTORS]);
        for (to_header, to_sampler) in headers.iter_mut().zip(&mut samplers) {
            *to_header = header(u)?;
            let wrap = [(); 3].map(|()| sampler::Wrap::numbered(u.arbitrary().unwrap_or_default()));
            *to_sampler = entry::encode(&sampler::Sampler { wrap, ..sampler::Sampler::default() });
            to_sampler[u.choose_index(8)?] ^= u.arbitrary::<u32>()?;
        }
        let block = *u.choose(&[[32, 1, 1], [64, 1, 1], [7, 1, 1], [16, 6, 1]])?;
        let mut body = image_accesses(u, FIRST_HANDLE, DESCRIPTORS as u64)?;
        for word in maxwell_code(u)? {
            let word = word.first_chunk().map(|&word| u64::from_le_bytes(word));
            body.extend(word.and_then(Instruction::decode).map(|instruction| instruction.text(8)));
        }
        // Code that is found while it runs: registers and addresses are then those of a kernel that
        // has grown.
        if u.ratio(1, 3)? {
            let at = u.choose_index(body.len() + 1)?;
            body.insert(at, indirect_jump(JUMP_REGISTER, ".Lgrown").join("\n"));
        }
        let effort = effort(u)?;
        Ok(Attack { head, body, addresses, headers, samplers, block, effort })
    }

    fn text(&self) -> String {
        self.head.iter().chain(&self.body).flat_map(|line| [line, "\n"]).collect()
    }

    /// Runs the attack on an engine. Returns the outcome and the content of the writable pages.
    fn run_on(&self, engine: EngineKind) -> Result<Vec<u8>, Failure> {
        let program = Program::load(self.text().as_bytes(), None).map_err(Failure::invalid)?;
        let memory = program.memory();
        let ranges = [
            (PAGES, 2 * PAGE_BYTES, Access::READ_WRITE),
            (READ_ONLY, PAGE_BYTES, Access::READ),
            (LAST, PAGE_BYTES, Access::READ_WRITE),
            (POOL, PAGE_BYTES, Access::READ_WRITE),
        ];
        let guarded = Guarded::map(memory, &ranges).map_err(Failure::invalid)?;
        memory
            .reserve(Placement::At(SPARSE), PAGE_BYTES, Unbound::Sparse)
            .map_err(Failure::invalid)?;
        let descriptors = self.headers.iter().chain(&self.samplers).flatten();
        let descriptors: Vec<u8> = descriptors.flat_map(|word| word.to_le_bytes()).collect();
        memory.write(POOL, &descriptors).map_err(Failure::invalid)?;
        let args = self.addresses.iter().map(|&address| Arg::pointer(address));
        let handles = (0..DESCRIPTORS as u32).map(|number| Arg::from(number | number << 20));
        let args: Vec<Arg> = args.chain(handles).collect();
        let options = LaunchOptions {
            engine,
            effort: self.effort,
            instruction_limit: Some(INSTRUCTIONS),
            images: Some(ImagePool {
                headers: POOL,
                last_header: DESCRIPTORS as u32 - 1,
                samplers: POOL + DESCRIPTORS as u64 * DESCRIPTOR_BYTES,
                last_sampler: DESCRIPTORS as u32 - 1,
            }),
            ..LaunchOptions::new([2, 1, 1], self.block)
        };
        let kernel = program.only_kernel().map_err(Failure::invalid)?;
        let outcome = kernel.launch(&args, &options).map_err(Failure::invalid)?;
        guarded.check().map_err(|e| Failure::Difference(format!("{engine}: {e}")))?;
        let mut read_only = vec![0; PAGE_BYTES as usize];
        memory.read(READ_ONLY, &mut read_only).map_err(Failure::invalid)?;
        if read_only.iter().any(|&byte| byte != 0) {
            return Err(Failure::Difference(format!(
                "{engine}: a page that can only be read was written"
            )));
        }
        let mut left =
            format!("{:?}, {:?} instructions", outcome.fault, outcome.counts.instructions)
                .into_bytes();
        for (address, bytes) in [(PAGES, 2 * PAGE_BYTES), (LAST, PAGE_BYTES), (POOL, PAGE_BYTES)] {
            let mut content = vec![0; bytes as usize];
            memory.read(address, &mut content).map_err(Failure::invalid)?;
            left.extend(content);
        }
        Ok(left)
    }
}

impl Subject for Attack {
    type Outcome = ();

    fn run(&self) -> Result<(), Failure> {
        let (expected, found) = (self.run_on(EngineKind::Interp)?, self.run_on(EngineKind::Jit)?);
        if expected == found {
            return Ok(());
        }
        let at = expected.iter().zip(&found).take_while(|(a, b)| a == b).count();
        let words =
            |left: &[u8]| String::from_utf8_lossy(&left[..left.len().min(200)]).into_owned();
        let what = format!(
            "the engines differ from byte {at} on: {:?}, {:?}",
            words(&found),
            words(&expected)
        );
        Err(Failure::Difference(what))
    }

    fn reduced(&self, fails: &dyn Fn(&Attack) -> bool) -> Attack {
        let with = |kept: &[bool]| {
            let body = self.body.iter().zip(kept).filter(|(_, kept)| **kept);
            Attack { body: body.map(|(line, _)| line.clone()).collect(), ..self.clone() }
        };
        with(&subset(self.body.len(), &mut |kept| fails(&with(kept))))
    }

    /// Prints the attack, because a manifest cannot describe the map of pages.
    fn reproducer(&self) -> Option<Reproducer> {
        eprintln!(
            "{}\n{:#x?}",
            self.text(),
            (self.addresses, self.headers, self.samplers, self.block, self.effort)
        );
        None
    }
}
