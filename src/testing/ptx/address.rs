//! Addresses in memory that a random kernel may read and change.

use arbitrary::Result;
use warploom_ptx::table::Form;
use warploom_ptx::types::StateSpace;

use super::registers::{DATA, OWN, TABLE, one};
use super::statement::Writer;
use crate::case::{DATA_BYTES, OWN_BYTES};

/// Variables in shared, local and constant memory, and their bytes.
const SHARED: (&str, u32) = ("sh", 2048);
const LOCAL: (&str, u32) = ("lo", 256);
const CONST: (&str, u32) = ("co", 256);

/// An access.
#[derive(Clone, Copy)]
pub struct Access {
    /// The alignment, a power of two.
    pub alignment: u32,
    pub writes: bool,
    /// Whether it needs more memory than a thread has for itself.
    pub large: bool,
    /// Whether its kind is known: no atomic, no copy.
    pub plain: bool,
    /// Whether a generic address is one in shared memory.
    pub shared: bool,
}

impl Access {
    pub fn of(form: &Form) -> Access {
        let opcode = form.row.opcode;
        let name = opcode.split('.').next().unwrap_or_default();
        let elements = matches!(name, "ld" | "ldu" | "st" | "atom" | "red");
        let bytes = (form.vector() as u32 * form.ty(0).bytes()).next_power_of_two();
        let reads = matches!(
            name,
            "ld" | "ldu" | "ldmatrix" | "prefetch" | "prefetchu" | "createpolicy" | "cvta"
        ) || opcode.starts_with("wmma.load");
        let large = name == "wmma";
        let plain = matches!(opcode, "ld" | "st");
        let shared = matches!(opcode, "st.async" | "red.async");
        Access {
            alignment: if elements && !opcode.contains("async") { bytes } else { 32 },
            writes: !reads,
            large,
            plain,
            shared,
        }
    }
}

pub fn variables() -> [String; 2] {
    let words = (0..CONST.1 / 4).map(|n| format!("{:#x}", n.wrapping_mul(0x9e37_79b9) >> (n % 28)));
    let words = words.collect::<Vec<_>>().join(", ");
    [
        format!(".const .align 32 .b32 {}[{}] = {{{words}}};", CONST.0, CONST.1 / 4),
        format!(".shared .align 32 .b8 {}[{}];", SHARED.0, SHARED.1),
    ]
}

/// Returns lines for the local memory of a function and its first content.
pub fn local() -> Vec<String> {
    let (name, bytes) = LOCAL;
    let stores = (0..bytes)
        .step_by(8)
        .map(|at| format!("st.local.b64 [{name}+{at}], {};", u64::from(at) * 0x0101_0101_0101));
    std::iter::once(format!(".local .align 32 .b8 {name}[{bytes}];")).chain(stores).collect()
}

impl Writer<'_, '_> {
    /// Returns an address and appends the lines that compute it, or returns none if there is no
    /// memory for it. `number` is the number of the address in its statement.
    pub fn address(
        &mut self,
        space: Option<StateSpace>,
        access: Access,
        number: usize,
        lines: &mut Vec<String>,
    ) -> Result<Option<String>> {
        let generic = space.is_none();
        let space = match space {
            Some(space) => space,
            None => match self.u.int_in_range(0..=7)? {
                0 | 1 => StateSpace::Shared,
                2 if access.plain => StateSpace::Local,
                3 if access.plain && !access.writes => StateSpace::Const,
                _ if access.large || access.shared => StateSpace::Shared,
                _ => StateSpace::Global,
            },
        };
        let (symbol, bytes) = match space {
            StateSpace::Global => return self.global(access, number, lines),
            StateSpace::Shared => SHARED,
            StateSpace::Local => LOCAL,
            StateSpace::Const if !access.writes => CONST,
            StateSpace::Param
                if !access.writes
                    && !self.in_function
                    && access.alignment <= if self.narrow { 4 } else { 8 } =>
            {
                return Ok(Some(if access.alignment <= 4 {
                    "[p_word]".into()
                } else {
                    "[p_own]".into()
                }));
            }
            _ => return Ok(None),
        };
        let bytes = if access.large { access.alignment } else { bytes };
        if !generic && self.u.ratio(1, 3)? {
            let at = self.u.int_in_range(0..=bytes / access.alignment - 1)? * access.alignment;
            return Ok(Some(format!("[{symbol}+{at}]")));
        }
        let (offset, base) = (format!("%a{}", 2 * number), format!("%a{}", 2 * number + 1));
        lines.push(format!(
            "and.b32 {offset}, {}, {:#x};",
            one(self.u, "r")?,
            self.mask(bytes, access.alignment)?
        ));
        let name = match space {
            StateSpace::Shared => "shared",
            StateSpace::Local => "local",
            _ => "const",
        };
        if self.narrow || !generic && self.u.arbitrary()? {
            lines.push(format!("mov.u32 {base}, {symbol};"));
            if generic {
                lines.push(format!("cvta.{name}.u32 {base}, {base};"));
            }
            lines.push(format!("add.u32 {offset}, {offset}, {base};"));
            return Ok(Some(format!("[{offset}]")));
        }
        let (wide, base) = (format!("%x{}", 2 * number), format!("%x{}", 2 * number + 1));
        lines.push(format!("cvt.u64.u32 {wide}, {offset};"));
        lines.push(format!("mov.u64 {base}, {symbol};"));
        if generic {
            lines.push(format!("cvta.{name}.u64 {base}, {base};"));
        }
        lines.push(format!("add.u64 {wide}, {wide}, {base};"));
        Ok(Some(format!("[{wide}]")))
    }

    fn global(
        &mut self,
        access: Access,
        number: usize,
        lines: &mut Vec<String>,
    ) -> Result<Option<String>> {
        let (pointer, bytes) = match self.u.int_in_range(0..=2)? {
            _ if access.large && access.writes && self.independent => return Ok(None),
            0 if !access.writes => (TABLE, DATA_BYTES),
            0 | 1 if !self.independent => (DATA, DATA_BYTES),
            _ if access.large => (if access.writes { DATA } else { TABLE }, DATA_BYTES),
            _ => (OWN, OWN_BYTES),
        };
        let bytes = if access.large { access.alignment } else { bytes };
        let wide = format!("%x{}", 2 * number);
        if self.u.ratio(1, 3)? {
            let at = self.u.int_in_range(0..=bytes / access.alignment - 1)? * access.alignment;
            return Ok(Some(format!("[{pointer}+{at}]")));
        }
        let mask = self.mask(bytes, access.alignment)?;
        if self.u.arbitrary()? {
            lines.push(format!("and.b64 {wide}, {}, {mask:#x};", one(self.u, "d")?));
        } else {
            let offset = format!("%a{}", 2 * number);
            lines.push(format!("and.b32 {offset}, {}, {mask:#x};", one(self.u, "r")?));
            lines.push(format!("cvt.u64.u32 {wide}, {offset};"));
        }
        lines.push(format!("add.u64 {wide}, {wide}, {pointer};"));
        Ok(Some(format!("[{wide}]")))
    }

    /// Returns the bits of a number that are an offset. Sometimes the offset is not aligned, which
    /// may be a fault.
    fn mask(&mut self, bytes: u32, alignment: u32) -> Result<u32> {
        let misaligned =
            !self.steady && alignment > 1 && bytes > alignment && self.u.ratio(1, 64)?;
        Ok(if misaligned {
            misaligned_mask(bytes, alignment)
        } else {
            (bytes - 1) & !(alignment - 1)
        })
    }
}

/// Returns the bits of a misaligned offset. The largest offset leaves room for an access, because
/// the memory behind may be another block's.
fn misaligned_mask(bytes: u32, alignment: u32) -> u32 {
    (bytes / 2 - 1) & !(alignment / 2 - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misaligned_accesses_stay_in_their_memory() {
        for alignment in [2, 4, 8, 16, 32] {
            let mask = misaligned_mask(OWN_BYTES, alignment);
            assert!(
                mask + alignment <= OWN_BYTES && mask & (alignment / 2) != 0,
                "{alignment}: {mask:#x}"
            );
        }
    }
}
