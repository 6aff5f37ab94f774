//! Messages about texels of an image of dwords that threads change, and of a picture.

use arbitrary::Result;
use warploom_replay::manifest::{Layout, Surface};

use super::statement::Writer;
use crate::maxwell;
use crate::program::Node;

/// Names of the launch's surfaces: texels of dwords, and of four bytes.
pub const SURFACES: [&str; 2] = ["pitch", "picture"];

/// Returns a surface of the launch. Both surfaces are rows.
pub fn surface(name: &str) -> Surface {
    Surface { layout: Layout::Pitch, ..maxwell::surface(name) }
}

/// Operations on texels, with the numbers of their sources.
const ATOMICS: [(&str, u32); 12] = [
    ("add", 1),
    ("sub", 1),
    ("inc", 0),
    ("dec", 0),
    ("min", 1),
    ("max", 1),
    ("xchg", 1),
    ("cmpxchg", 2),
    ("xor", 1),
    ("minsint", 1),
    ("maxsint", 1),
    ("predec", 0),
];
const CHANNELS: [&str; 4] = ["R", "RG", "RGBA", "GA"];

impl Writer<'_, '_> {
    /// Returns a message about texels. Near the edges, some texels do not exist.
    pub fn image(&mut self) -> Result<Node> {
        let (lanes, writes) = (self.lanes, !self.independent);
        let (lanes_half, guard) = (lanes / 2, self.guard()?);
        let (exec, first) = match self.u.int_in_range(0..=3)? {
            0 => (format!("(M1, {lanes_half})"), 0),
            1 => (format!("(M{}, {lanes_half})", lanes_half / 4 + 1), lanes_half * 4),
            _ => (format!("(M1, {lanes})"), 0),
        };
        let mut lines = vec![];
        for (name, mask) in [("X0", 0x3f_u32), ("Y0", 0x1f)] {
            let from = self.u.int_in_range(0..=7)?;
            let mask = if self.u.ratio(1, 8)? { u32::MAX } else { mask };
            lines.push(format!(
                "and (M1, {lanes}) {name}ud(0,0)<1> V{from}ud(0,0)<1;1,0> {mask:#x}:ud"
            ));
        }
        let place = format!("X0.{first} Y0.{first} %null.0 %null.0");
        let v = |n: u32| format!("V{n}.{first}");
        let [a, b, to] = [(); 3].map(|()| self.u.int_in_range(0..=7_u32));
        let (a, b, to) = (v(a?), v(b?), v(to?));
        let level = format!("V{}f.{first}", self.u.int_in_range(0..=7)?);
        let channels = *self.u.choose(&CHANNELS)?;
        let which = *self.u.choose(&["IMAGE", "PICTURE"])?;
        let mut name = |of: &str| lines.push(format!("movs (M1_NM, 1) %bss(0) {of}ud(0,0)<0;1,0>"));
        let line = match self.u.int_in_range(0..=7)? {
            0 | 1 if writes => {
                name("IMAGE");
                let &(op, sources) = self.u.choose(&ATOMICS)?;
                let operand =
                    |there: bool, one: &str| if there { one.to_owned() } else { "%null.0".into() };
                let (a, b) = (operand(sources > 0, &a), operand(sources > 1, &b));
                let to = operand(self.u.ratio(3, 4)?, &to);
                format!("typed_atomic.{op} {exec} %bss {place} {a} {b} {to}")
            }
            2 if writes => {
                name(which);
                format!("scatter4_typed.RGBA {exec} %bss {place} M0.0")
            }
            3 => {
                name(which);
                format!("gather4_typed.{channels} {exec} %bss {place} M0.0")
            }
            4 => {
                name(which);
                return Ok(Node::lines(lines.into_iter().chain([format!(
                    "resinfo.{channels} (M1_NM, {}) %bss Y0.0 M0f.0",
                    lanes.min(16)
                )])));
            }
            5 => {
                name(which);
                format!("load_lz.{channels} {exec} 0x0:uw %bss M0f.0 X0f.{first} Y0f.{first}")
            }
            kind => {
                name("PICTURE");
                lines.push("movs (M1_NM, 1) S31(0) SAMPLERud(0,0)<0;1,0>".into());
                for axis in ["X0", "Y0"] {
                    lines.push(format!("mov (M1, {lanes}) {axis}f(0,0)<1> {axis}ud(0,0)<1;1,0>"));
                    lines.push(format!(
                        "mul (M1, {lanes}) {axis}f(0,0)<1> {axis}f(0,0)<1;1,0> 0x3d4ccccd:f"
                    ));
                }
                let offsets = self.u.choose(&["0x0", "0x0", "0x1f0"])?;
                match kind {
                    6 => format!(
                        "sample_lz.{channels} {exec} {offsets}:uw S31 %bss M0f.0 X0f.{first} Y0f.{first}"
                    ),
                    _ => format!(
                        "sample_l.{channels} {exec} {offsets}:uw S31 %bss M0f.0 {level} X0f.{first} Y0f.{first}"
                    ),
                }
            }
        };
        let guard = if line.starts_with("sample") || line.starts_with("load") {
            String::new()
        } else {
            guard
        };
        lines.push(format!("{guard}{line}"));
        Ok(Node::lines(lines))
    }
}
