//! Builds a kernel around one instruction that accesses an image.

use warploom_container::{
    Binding, Function, Isa, Module, Param, Section, SectionId, SectionKind, Symbol, SymbolId,
    SymbolKind,
};
use warploom_maxwell::{AssembleError, BUNDLE_BYTES, WORD_BYTES, assemble};

pub const LANES: usize = 32;
/// The constant-bank offsets of the kernel's parameters, in order.
const HANDLE: u32 = 0x140;
const INPUTS: [u32; 2] = [0x148, 0x150];
const OUTPUT: u32 = 0x158;
const PARAM_BYTES: u32 = 0x20;
/// The number of bytes of a lane's results: four registers. The sparse status of each lane follows
/// the results of all lanes.
pub const RESULT: usize = 16;

/// Returns a kernel around one instruction. Each lane loads R4 to R7 and R12 to R15 from its
/// inputs, executes the instruction, and stores R8 to R11 and a predicate.
///
/// The parameters are a handle (also in R16), two inputs and the output.
pub fn kernel(text: &str) -> Result<Module, AssembleError> {
    let pointer = |into: &str, param: u32, from: &str| {
        let (low, high) = (into.to_string(), format!("R{}", into[1..].parse::<u32>().unwrap() + 1));
        [
            format!("IADD {low}.CC, {from}, c[0x0][{param:#x}]"),
            format!("IADD.X {high}, RZ, c[0x0][{:#x}]", param + 4),
        ]
    };
    let mut texts =
        vec!["S2R R0, SR_TID.X".to_string(), "SHL R1, R0, 0x4".into(), "SHL R0, R0, 0x2".into()];
    texts.extend(pointer("R2", INPUTS[0], "R1"));
    texts.push("LDG.E.128 R4, [R2]".into());
    texts.extend(pointer("R2", INPUTS[1], "R1"));
    texts.push("LDG.E.128 R12, [R2]".into());
    texts.push(format!("MOV R16, c[0x0][{HANDLE:#x}]"));
    texts.extend((8..12).map(|register| format!("MOV32I R{register}, 0xdddddddd")));
    // The predicate of the sparse status, if the instruction has one.
    let status = text.split(' ').nth(1).filter(|operand| operand.starts_with('P')).unwrap_or("P1,");
    let status = status.trim_end_matches(',');
    texts.extend([format!("PSETP.AND.AND {status}, PT, !PT, PT, PT"), text.to_string()]);
    texts.extend(pointer("R2", OUTPUT, "R1"));
    texts.push("STG.E.128 [R2], R8".into());
    texts.extend(pointer("R2", OUTPUT, "R0"));
    texts.extend([
        "MOV R17, RZ".into(),
        format!("@{status} MOV32I R17, 0x1"),
        "STG.E [R2+0x200], R17".into(),
        "EXIT".into(),
    ]);

    let mut words: Vec<u64> = Vec::new();
    for text in texts {
        let bundle = BUNDLE_BYTES / WORD_BYTES;
        if (words.len() as u64).is_multiple_of(bundle) {
            words.push(0);
        }
        words.push(assemble(&text, words.len() as u64 * WORD_BYTES)?);
    }
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let size = code.len() as u64;
    let mut function = Function::new("case".into(), SymbolId(0), SectionId(0), 0, size, true);
    function.param_base = HANDLE;
    function.param_bytes = PARAM_BYTES;
    function.params = (0..4).map(|i| Param { offset: 8 * i, size: 8 }).collect();
    function.registers = 32;
    function.stack_bytes = Some(0);
    let symbol = Symbol {
        name: "case".into(),
        kind: SymbolKind::Function,
        section: Some(SectionId(0)),
        offset: 0,
        size,
        binding: Binding::Global,
        dynamic_shared: false,
    };
    let section =
        Section { name: ".text.case".into(), kind: SectionKind::Code, align: 32, size, data: code };
    let module = Module::new(Isa::Maxwell { sm: 52 }, vec![section]);
    Ok(Module { symbols: vec![symbol], functions: vec![function], ..module })
}
