//! The state of a warp before and after, as text: `R1=5 R2={1,2,3} P0=1 CC.C=0 g[0x10]={7,8}
//! c[0][0x140]=g+lane*4`.
//!
//! A value is a sum of terms: a number (`-1`, `0xff`, `1.5f`, `nanf`, `2.5d`), `g` (the address of
//! the test's global memory), `lane` or `lane*N`. `{a,b,..}` gives lane i the element i modulo
//! their number; for memory, it gives consecutive 32-bit words. `R2.64` is a pair. A predicate of 0
//! or 1 is for all lanes.

use std::fmt;

/// The guest address of the test's global memory, which has [`GLOBAL_BYTES`] bytes.
pub const GLOBAL: u64 = 0x1_0000_0000;
pub const GLOBAL_BYTES: u64 = 1 << 16;
/// A page that 20-bit addresses reach.
pub const LOW: u64 = 0xf_0000;
pub const LANES: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    Reg(u32),
    Pred(u32),
    /// Bit of CC: Z, S, C, O, and the private second carry.
    Cc(u32),
    /// 32-bit words.
    Global(u64),
    Shared(u64),
    Const(u8, u64),
    /// Word of each lane.
    Local(u64),
}

/// A value for each lane, or one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub place: Place,
    pub lanes: [u32; LANES],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub items: Vec<Item>,
    /// The kind and lane of the fault that ends the run.
    pub fault: Option<(String, Option<u32>)>,
}

#[derive(Debug)]
pub struct BadState(String);

impl fmt::Display for BadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl State {
    /// Returns the places that the state names.
    pub fn places(&self) -> impl Iterator<Item = Place> {
        self.items.iter().map(|item| item.place)
    }

    pub fn parse(text: &str) -> Result<State, BadState> {
        let mut state = State::default();
        for assignment in text.split_whitespace() {
            let bad = |what: &str| BadState(format!("{what} in `{assignment}`"));
            let (name, value) = assignment.split_once('=').ok_or_else(|| bad("no `=`"))?;
            if name == "fault" {
                let (kind, lane) = value.split_once('@').unwrap_or((value, ""));
                state.fault = Some((kind.to_owned(), lane.parse().ok()));
                continue;
            }
            let values = list(value).ok_or_else(|| bad("a value that cannot be read"))?;
            state.assign(name, &values).ok_or_else(|| bad("unknown place"))?;
        }
        Ok(state)
    }

    fn assign(&mut self, name: &str, values: &[Box<dyn Fn(u64) -> u64>]) -> Option<()> {
        let at = |lane: usize| values[lane % values.len()](lane as u64);
        let mut lanes = |place, shift: u32| {
            self.items.push(Item {
                place,
                lanes: std::array::from_fn(|lane| (at(lane) >> shift) as u32),
            });
        };
        if let Some(pair) = name.strip_suffix(".64") {
            let first: u32 = pair.strip_prefix('R')?.parse().ok()?;
            lanes(Place::Reg(first), 0);
            lanes(Place::Reg(first + 1), 32);
        } else if let Some(reg) = name.strip_prefix('R') {
            lanes(Place::Reg(reg.parse().ok()?), 0);
        } else if let Some(flag) = name.strip_prefix("CC.") {
            lanes(
                Place::Cc(["Z", "S", "C", "O", "C2"].iter().position(|&bit| bit == flag)? as u32),
                0,
            );
        } else if let Some(pred) = name.strip_prefix('P') {
            lanes(Place::Pred(pred.parse().ok()?), 0);
        } else {
            let (space, rest) = name.split_once('[')?;
            let mut indices = rest.strip_suffix(']')?.split("][").map(number);
            let bank = if space == "c" { indices.next()?? } else { 0 };
            let offset = indices.next()??;
            if space == "l" {
                lanes(Place::Local(offset), 0);
                return Some(());
            }
            for (i, value) in values.iter().enumerate() {
                let offset = offset + 4 * i as u64;
                let place = match space {
                    "g" => Place::Global(offset),
                    "s" => Place::Shared(offset),
                    "c" => Place::Const(bank as u8, offset),
                    _ => return None,
                };
                self.items.push(Item { place, lanes: [value(0) as u32; LANES] });
            }
        }
        Some(())
    }
}

type Term = Box<dyn Fn(u64) -> u64>;

fn list(text: &str) -> Option<Vec<Term>> {
    match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?.split(',').map(sum).collect(),
        None => Some(vec![sum(text)?]),
    }
}

fn sum(text: &str) -> Option<Term> {
    let terms: Option<Vec<Term>> = text.split('+').map(term).collect();
    let terms = terms?;
    Some(Box::new(move |lane| terms.iter().fold(0, |sum, term| sum.wrapping_add(term(lane)))))
}

fn term(text: &str) -> Option<Term> {
    if let Some(factor) = text.strip_prefix("lane") {
        let factor = if factor.is_empty() { 1 } else { number(factor.strip_prefix('*')?)? };
        return Some(Box::new(move |lane| lane.wrapping_mul(factor)));
    }
    let constant = if text == "g" { GLOBAL } else { number(text)? };
    Some(Box::new(move |_| constant))
}

fn number(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(&hex.replace('_', ""), 16).ok();
    }
    if let Ok(int) = text.parse::<i64>() {
        return Some(int as u64);
    }
    match text.split_at(text.len().checked_sub(1)?) {
        (float, "f") => float.parse().ok().map(|float: f32| u64::from(float.to_bits())),
        (float, "d") => float.parse().ok().map(f64::to_bits),
        _ => None,
    }
}
