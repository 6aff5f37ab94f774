//! Loops of instructions of the table, each with the code that sets up its addresses. No
//! instruction faults.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use warploom::Effort;
use warploom_container::hsaco::FloatMode;
use warploom_gfx9::{Encoder, Encoding, Format, Row};
use warploom_replay::raw::{BinaryFormat, Builtin, Raw, Value};

use super::super::words::{instruction as word, rows};
use super::{
    LDS_BYTES, SCRATCH_BYTES, TEMPORARY, VGPRS, WAVE_LANES, WORD, WORKGROUP, Writer, end, register,
    registers,
};
use crate::case::{Case, buffers, manifest, zeros};
use crate::loops::{Guest, LIMIT, THREADS};
use crate::program::Node;

/// The register of the round, and the pair that keeps EXEC while an instruction changes it.
const ROUND: u8 = 70;
const EXEC: &str = "s[72:73]";

/// Parts of the names of instructions that change the flow of control or modes, wait, or need state
/// that is not set up.
const LEFT_OUT: [&str; 9] =
    ["setpc", "swappc", "getpc", "call", "rfe", "cbranch", "setreg", "set_gpr_idx", "interp"];

/// The rows without control flow and graphics.
static ROWS: LazyLock<Vec<&'static Row>> = LazyLock::new(|| {
    let is_left_out = |row: &Row| LEFT_OUT.iter().any(|part| row.mnemonic.contains(part));
    rows(|row| {
        !matches!(row.places[0].format, Format::Sopp | Format::Vintrp | Format::Exp)
            && !is_left_out(row)
    })
});

/// The guest GFX9. Its targets are modes of rounding and denormals.
pub const GUEST: Guest = Guest {
    name: "gfx9",
    targets: 2,
    rows: || ROWS.len(),
    instruction,
    looped,
    warps: |_| THREADS.div_ceil(WAVE_LANES),
    // A branch reaches 32,768 dwords. An instruction has up to three dwords.
    longest: 8_000,
};

fn writer<'a, 'b>(u: &'a mut Unstructured<'b>, only: Option<&'static Row>) -> Writer<'a, 'b> {
    let (independent, stage) = (false, None);
    Writer { u, independent, labels: 0, nodes: 0, functions: 0, first_function: 0, stage, only }
}

fn instruction(u: &mut Unstructured<'_>, _: usize, row: usize) -> Result<Option<Node>> {
    let row = ROWS[row];
    let mut writer = writer(u, Some(row));
    let format = row.places[0].format;
    let node = match format.encoding() {
        Encoding::Ds => writer.lds()?,
        Encoding::Mubuf | Encoding::Mtbuf => writer.buffer()?,
        Encoding::Mimg => writer.image()?,
        Encoding::Smem if row.mnemonic.contains("_load_dword") => writer.scalar_memory()?,
        Encoding::Smem => {
            let Some(found) = word(writer.u, &[row], false)? else { return Ok(None) };
            let mut encoder = Encoder::of(&found);
            // A small offset is a number in the instruction.
            let fields = [(14, 1, 0), (17, 1, 1), (32, 21, 16)];
            let fits =
                fields.into_iter().try_for_each(|(lo, bits, value)| encoder.set(lo, bits, value));
            let found = fits.and_then(|()| encoder.finish());
            return Ok(found.map(|(found, _)| Node::line(found.text(0))));
        }
        Encoding::Flat if format == Format::Scratch => writer.scratch()?,
        Encoding::Flat if format == Format::Flat && writer.u.arbitrary()? => writer.flat()?,
        Encoding::Flat => writer.global()?,
        _ => Node::line(writer.text(&[row])?),
    };
    let changes_exec =
        ["cmpx", "saveexec", "wrexec"].iter().any(|part| row.mnemonic.contains(part));
    let node = match row.mnemonic.contains("movrel") {
        true => Node::lines(["s_mov_b32 m0, 1".to_owned(), node.last_line().to_owned()]),
        false if changes_exec => Node::lines([
            format!("s_mov_b64 {EXEC}, exec"),
            node.last_line().to_owned(),
            format!("s_mov_b64 exec, {EXEC}"),
        ]),
        false => node,
    };
    Ok(Some(node).filter(|node| node.last_line() != "s_nop 0"))
}

fn looped(
    u: &mut Unstructured<'_>,
    target: usize,
    mut nodes: Vec<Node>,
    rounds: u32,
    again: bool,
) -> Result<Case> {
    let mut writer = writer(u, None);
    let mut head = vec![".target gfx900".to_owned()];
    head.extend(writer.start([THREADS, 1, 1], THREADS, true)?);
    if again {
        nodes.insert(0, Node::lines(writer.values(true)?));
    }
    let open = [format!("s_mov_b32 s{ROUND}, 0"), ".Lround:".into()];
    let close = [
        format!("s_add_u32 s{ROUND}, s{ROUND}, 1"),
        format!("s_cmp_lt_u32 s{ROUND}, s{WORD}"),
        format!("s_cselect_b32 s{TEMPORARY}, 1, 0"),
        "s_cbranch_scc1 .Lround".into(),
    ];
    let mut manifest = manifest([1, 1, 1], [THREADS, 1, 1], LIMIT);
    manifest.kernel.format = Some(BinaryFormat::Gfx9Raw);
    manifest.buffers = buffers(THREADS, 1);
    let bytes = THREADS.next_multiple_of(WAVE_LANES) * SCRATCH_BYTES;
    manifest.buffers.insert("scratch".into(), zeros(bytes.into()));
    let (mut sgpr, scratch_bytes) = registers(&mut writer, rounds)?;
    sgpr.push(register(WORKGROUP, Value::Builtin(Builtin::WorkgroupIdX)));
    let axes = [Builtin::ThreadIdX, Builtin::ThreadIdY, Builtin::ThreadIdZ];
    let vgpr = (0..).zip(axes).map(|(first, axis)| register(first, Value::Builtin(axis))).collect();
    let usual = FloatMode {
        denorm_32: 3,
        denorm_64_16: 3,
        dx10_clamp: true,
        ieee: true,
        ..FloatMode::default()
    };
    let mode = match target {
        0 => usual,
        _ => FloatMode { round_32: 1, round_64_16: 2, denorm_32: 0, denorm_64_16: 0, ..usual },
    };
    manifest.raw =
        Some(Raw { entry: 0, vgprs: VGPRS, lds_bytes: LDS_BYTES, scratch_bytes, mode, sgpr, vgpr });
    Ok(Case {
        manifest,
        head,
        body: vec![Node::around(open, nodes, close)],
        tail: end(),
        functions: vec![],
        independent: false,
        effort: Effort::Full,
        ze_info: None,
    })
}
