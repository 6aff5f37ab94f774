//! Prints x86-64 code as text. Constants and jump tables lie behind and between the instructions,
//! and nothing marks them. So bytes that no path through the code reaches are data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind};

/// The bytes of an entry of a jump table: the distance from the table's start to a target.
const ENTRY: u64 = 4;

/// Writes a line for each instruction and each number.
pub fn write(code: &[u8], out: &mut String) {
    let reached = Reached::of(code);
    let mut formatter = IntelFormatter::new();
    let mut text = String::new();
    let mut at = 0;
    while at < code.len() as u64 {
        text.clear();
        let length = if let Some(instruction) = reached.instructions.get(&at) {
            formatter.format(instruction, &mut text);
            instruction.len() as u64
        } else if let Some(target) = reached.entries.get(&at) {
            let _ = write!(text, ".long {target:#x} - table");
            ENTRY
        } else if let (None, Some(&bytes)) =
            (reached.first_in(at + 1, at + 8), code[at as usize..].first_chunk())
        {
            let _ = write!(text, ".quad {:#018x}", u64::from_le_bytes(bytes));
            8
        } else {
            let _ = write!(text, ".byte {:#04x}", code[at as usize]);
            1
        };
        let _ = writeln!(out, "{at:6x}  {text}");
        at += length;
    }
}

/// The instructions that can be executed from address 0 on, and the data that they name.
#[derive(Default)]
struct Reached {
    instructions: BTreeMap<u64, Instruction>,
    /// The entries of jump tables, and their targets.
    entries: BTreeMap<u64, u64>,
    /// The addresses of constants and jump tables.
    named: BTreeSet<u64>,
}

impl Reached {
    fn of(code: &[u8]) -> Reached {
        let mut reached = Reached::default();
        let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
        let mut pending = vec![0];
        // The start of each table, and its next entry.
        let mut tables: Vec<(u64, u64)> = Vec::new();
        loop {
            while let Some(at) = pending.pop() {
                if at >= code.len() as u64 || reached.instructions.contains_key(&at) {
                    continue;
                }
                decoder.set_position(at as usize).expect("inside of the code");
                decoder.set_ip(at);
                let instruction = decoder.decode();
                reached.instructions.insert(at, instruction);
                if instruction.is_ip_rel_memory_operand() {
                    reached.named.insert(instruction.ip_rel_memory_address());
                }
                let branch = instruction.op0_kind() == OpKind::NearBranch64;
                pending.extend(
                    (branch && instruction.mnemonic() != Mnemonic::Call)
                        .then(|| instruction.near_branch_target()),
                );
                match instruction.mnemonic() {
                    Mnemonic::Jmp if !branch => {
                        tables.push((instruction.next_ip(), instruction.next_ip()))
                    }
                    Mnemonic::Jmp | Mnemonic::Ret | Mnemonic::Ud2 | Mnemonic::INVALID => {}
                    _ => pending.push(instruction.next_ip()),
                }
            }
            // Nothing says how long a table is: it lasts until something else begins. So all known
            // paths are followed first.
            for (table, next) in &mut tables {
                pending.extend(reached.entry(code, *table, next));
            }
            if pending.is_empty() {
                return reached;
            }
        }
    }

    /// Returns the target of a table's next entry, if the table has one.
    fn entry(&mut self, code: &[u8], table: u64, next: &mut u64) -> Option<u64> {
        let at = *next;
        let is_other = at != table && self.named.contains(&at)
            || self.first_in(at, at + ENTRY).is_some_and(|other| other != at);
        if is_other || self.instructions.contains_key(&at) {
            return None;
        }
        let distance = i32::from_le_bytes(*code.get(at as usize..)?.first_chunk()?);
        let target = table
            .checked_add_signed(distance.into())
            .filter(|&target| target < code.len() as u64)?;
        *next += ENTRY;
        self.entries.insert(at, target);
        Some(target)
    }

    /// Returns the first instruction, entry, constant or table in a range of addresses.
    fn first_in(&self, from: u64, to: u64) -> Option<u64> {
        let instruction = self.instructions.range(from..to).next().map(|(&at, _)| at);
        let entry = self.entries.range(from..to).next().map(|(&at, _)| at);
        [instruction, entry, self.named.range(from..to).next().copied()].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn constants_and_jump_tables_are_numbers() {
        let code = [
            &[0x48, 0x8d, 0x05, 9, 0, 0, 0][..], // lea rax,[10h]
            &[0x48, 0x63, 0x0c, 0x90],           // movsxd rcx,[rax+rdx*4]
            &[0x48, 0x01, 0xc8],                 // add rax,rcx
            &[0xff, 0xe0],                       // jmp rax
            &[8, 0, 0, 0, 16, 0, 0, 0],
            &[0x48, 0x8b, 0x05, 9, 0, 0, 0], // mov rax,[28h]
            &[0xc3],
            &[0x31, 0xc0], // xor eax,eax
            &[0xc3],
            &[0; 5],
            &[0xc3, 0, 0, 0, 0, 0, 0, 1],
        ]
        .concat();
        let mut text = String::new();
        super::write(&code, &mut text);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(
            lines[3..6],
            ["e  jmp rax", "10  .long 0x18 - table", "14  .long 0x20 - table"],
            "{text}"
        );
        assert_eq!(
            lines[7..11],
            ["1f  ret", "20  xor eax,eax", "22  ret", "23  .byte 0x00"],
            "{text}"
        );
        assert_eq!(lines[15..], ["28  .quad 0x01000000000000c3"], "{text}");
    }
}
