//! One instruction from the table, with operands of the types that it takes.

use arbitrary::{Result, Unstructured};
use warploom_visa::types::{Exec, Ty};

use super::forms::{FORMS, Forms};
use super::operand::Use;
use super::variables::{INDIRECT_BYTES, PREDICATES, TYPES};
use crate::program::Node;

pub struct Writer<'a, 'b> {
    pub u: &'a mut Unstructured<'b>,
    pub lanes: u32,
    /// Bytes of a register.
    pub register: u32,
    /// The number of operands of which one is any region of any variable; 0: no operand is.
    pub wildness: u32,
    /// Whether blocks leave each other's memory alone.
    pub independent: bool,
    pub labels: u32,
    pub nodes: u32,
    /// The end of the numbers of functions that can still be called. They start at
    /// `first_function`, behind the function that is being written.
    pub functions: u32,
    pub first_function: u32,
    pub in_function: Option<u32>,
    /// Labels further on that lanes may leave for.
    pub ends: Vec<String>,
}

/// Returns the types of a letter: see [`Forms`].
fn types(letter: char) -> &'static [Ty] {
    match letter {
        'i' => &TYPES[..6],
        'l' => &TYPES[..8],
        'w' => &[Ty::Ud, Ty::D],
        'u' => &[Ty::Ud],
        's' => &[Ty::Uw, Ty::W],
        'y' => &[Ty::Ub, Ty::B],
        'z' => &[Ty::Ub],
        'q' => &[Ty::Q],
        'k' => &[Ty::Uq],
        'f' => &[Ty::F],
        'h' => &[Ty::Hf],
        'e' => &[Ty::Df],
        'o' => &[Ty::Bf],
        _ => &TYPES,
    }
}

const RELATIONS: [&str; 6] = ["eq", "ne", "gt", "ge", "lt", "le"];

impl Writer<'_, '_> {
    /// Returns the lanes of an instruction. Their number is a multiple of `group`.
    pub fn exec(&mut self, group: u32) -> Result<Exec> {
        let lanes = self.lanes as u8;
        let exec = |size: u8, offset: u8, no_mask: bool| Exec { size, offset, no_mask };
        let one = match self.u.int_in_range(0..=15)? {
            0..=8 => exec(lanes, 0, false),
            9 => exec(lanes / 2, 0, false),
            10 => exec(lanes / 2, lanes / 2, false),
            11 => exec(lanes, 0, true),
            12 => exec(*self.u.choose(&[2, 4, 8, 16, 32])?, 0, true),
            _ => exec(1, 0, true),
        };
        Ok(if u32::from(one.size) < group { exec(lanes, 0, false) } else { one })
    }

    pub fn predicate(&mut self) -> Result<String> {
        Ok(format!("P{}", self.u.int_in_range(1..=PREDICATES)?))
    }

    /// Returns an optional predicate for the front of an instruction.
    pub fn guard(&mut self) -> Result<String> {
        if self.u.ratio(3, 4)? {
            return Ok(String::new());
        }
        let (invert, combine) =
            (self.u.choose(&["", "!"])?, self.u.choose(&["", "", "", ".any", ".all"])?);
        Ok(format!("({invert}{}{combine}) ", self.predicate()?))
    }

    /// Returns a statement with its setup.
    pub fn statement(&mut self) -> Result<Node> {
        match self.u.int_in_range(0..=15)? {
            0..=7 => self.computation(),
            8 => self.on_predicates(),
            9 => self.addresses(),
            10..=13 => self.message(),
            14 => self.image(),
            _ => self.special(),
        }
    }

    /// Returns an instruction of operands alone.
    fn computation(&mut self) -> Result<Node> {
        let form = self.u.int_in_range(0..=FORMS.len() - 1)?;
        self.of_form(&FORMS[form])
    }

    /// Returns an instruction of this opcode.
    pub fn of_form(&mut self, form: &Forms) -> Result<Node> {
        let text = *self.u.choose(form.types)?;
        let (destinations, sources) = text.split_once(':').unwrap_or((text, ""));
        let exec = self.exec(form.group.into())?;
        let mut to = vec![];
        for letter in destinations.chars() {
            to.push(match letter {
                'p' => self.predicate()?,
                _ => {
                    let ty = *self.u.choose(types(letter))?;
                    self.destination(ty, exec)?
                }
            });
        }
        let mut from = vec![];
        for letter in sources.chars() {
            let ty = *self.u.choose(types(letter))?;
            // In regions of several lanes, lanes follow each other.
            let how = Use {
                modifiers: form.modifiers && (ty.size() < 8 || ty == Ty::Df),
                regions_alone: form.group > 1,
            };
            let wildness = self.wildness;
            if form.group > 1 {
                self.wildness = 0;
            }
            from.push(self.source(ty, exec, how)?);
            self.wildness = wildness;
        }
        self.written(form, exec, text, &to, &from)
    }

    fn written(
        &mut self,
        form: &Forms,
        exec: Exec,
        types: &str,
        to: &[String],
        from: &[String],
    ) -> Result<Node> {
        let long = types.contains(['l', 'q', 'k']);
        let saturate = if form.saturates && !long && self.u.ratio(1, 6)? { ".sat" } else { "" };
        let (name, guard) = match form.name {
            "cmp" => (format!("cmp.{}", self.u.choose(&RELATIONS)?), String::new()),
            "min" | "max" | "invm" | "rsqtm" | "fcvt" | "srnd" => {
                (form.name.to_owned(), String::new())
            }
            "sel" => {
                let invert = self.u.choose(&["", "!"])?;
                ("sel".to_owned(), format!("({invert}{}) ", self.predicate()?))
            }
            "bfn" => (format!("bfn.x{:x}", self.u.arbitrary::<u8>()?), self.guard()?),
            name => (name.to_owned(), self.guard()?),
        };
        let operands = to.iter().chain(from).cloned().collect::<Vec<_>>().join(" ");
        Ok(Node::line(format!("{guard}{name}{saturate} {exec} {operands}")))
    }

    /// Returns an instruction on whole predicates.
    pub fn on_predicates(&mut self) -> Result<Node> {
        let lanes = self.lanes;
        let [a, b, c] = [self.predicate()?, self.predicate()?, self.predicate()?];
        let mask = self.u.choose(&["", "_NM"])?;
        Ok(Node::line(match self.u.int_in_range(0..=6)? {
            0 => {
                format!("{} (M1{mask}, {lanes}) {a} {b} {c}", self.u.choose(&["and", "or", "xor"])?)
            }
            1 => format!("not (M1{mask}, {lanes}) {a} {b}"),
            2 => format!("setp (M1_NM, {lanes}) {a} {:#x}:ud", self.u.arbitrary::<u32>()?),
            3 => {
                let exec = Exec { size: lanes as u8, offset: 0, no_mask: false };
                format!(
                    "setp {exec} {a} {}",
                    self.source(Ty::Uw, exec, Use { regions_alone: true, ..Use::default() })?
                )
            }
            4 => {
                let exec = Exec { size: 1, offset: 0, no_mask: true };
                format!("mov {exec} {} {a}", self.destination(Ty::Ud, exec)?)
            }
            5 => {
                let exec = Exec { size: lanes as u8, offset: 0, no_mask: false };
                let (to, from) = (self.destination(Ty::D, exec)?, [(); 3]);
                let mut sources = vec![];
                for () in from {
                    sources.push(self.source(Ty::D, exec, Use::default())?);
                }
                format!("({a}) add3.o {exec} {to} {}", sources.join(" "))
            }
            _ => format!("mov (M1, {lanes}) {a} {b}"),
        }))
    }

    /// Returns an instruction that sets address variables, mostly to elements that exist.
    pub fn addresses(&mut self) -> Result<Node> {
        let lanes = self.lanes;
        if self.u.arbitrary()? {
            let at = self.u.int_in_range(0..=INDIRECT_BYTES / 8)? * 4;
            return Ok(Node::line(format!(
                "addr_add (M1_NM, 1) A1(0)<1> &I0[{at}] {:#x}:uw",
                self.u.int_in_range(0..=15_u32)? * 4
            )));
        }
        let mask = self.u.choose(&["", "_NM"])?;
        let exec = Exec { size: lanes as u8, offset: 0, no_mask: *mask == "_NM" };
        let from = self.source(Ty::Uw, exec, Use::default())?;
        let base = self.u.choose(&["I0", "I0[32]", "XV1", "V7"])?;
        Ok(Node::lines([
            format!(
                "and (M1{mask}, {lanes}) OFFuw(0,0)<1> {from} {:#x}:uw",
                self.u.choose(&[0x7cu32, 0x3c, 0x1f, 0xfffc])?
            ),
            format!("addr_add (M1{mask}, {lanes}) A0(0)<{lanes}> &{base} OFFuw(0,0)<1;1,0>"),
        ]))
    }

    /// Returns an instruction on modes, on the hardware's state, or on products of matrices.
    pub fn special(&mut self) -> Result<Node> {
        let scalar = Exec { size: 1, offset: 0, no_mask: true };
        Ok(match self.u.int_in_range(0..=4)? {
            0 | 1 => {
                let bits: u32 = *self.u.choose(&[0x10, 0x20, 0x30, 0x80, 0x4b0])?;
                let toggle = format!("xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> {bits:#x}:ud");
                let mut body = vec![];
                for _ in 0..self.u.int_in_range(1..=3)? {
                    body.push(self.computation()?);
                }
                Node::around([toggle.clone()], body, [toggle])
            }
            2 => {
                let what = self.u.choose(&[
                    "%sr0(0,2)",
                    "%ce0(0,0)",
                    "%r0(0,1)",
                    "%cr0(0,0)",
                    "%r0(0,2)",
                ])?;
                Node::line(format!(
                    "mov (M1_NM, 1) {} {what}<0;1,0>",
                    self.destination(Ty::Ud, scalar)?
                ))
            }
            3 if self.lanes == 16 || self.register == 32 && self.lanes == 8 => {
                let lanes = self.lanes;
                let (kinds, ty) = *self.u.choose(&[
                    ("u8.s8", "d"),
                    ("s4.u8", "d"),
                    ("s8.s2", "d"),
                    ("bf.bf", "f"),
                    ("hf.hf", "f"),
                    ("hf.hf", "hf"),
                ])?;
                let rows = self.u.int_in_range(1..=8)?;
                let base = self.u.choose(&["%null.0".to_owned(), format!("M0{ty}.0")])?.clone();
                Node::line(format!(
                    "dpas.{kinds}.8.{rows} (M1, {lanes}) M0{ty}.0 {base} M0ud.0 I0ud(0,0)"
                ))
            }
            _ => Node::line(format!(
                "mov (M1_NM, 1) {} WORDud(0,0)<0;1,0>",
                self.destination(Ty::Ud, scalar)?
            )),
        })
    }
}
