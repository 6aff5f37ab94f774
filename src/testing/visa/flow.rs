//! Control flow of random kernels: lanes that part and meet, loops that lanes leave one by one,
//! jumps of whole warps, subroutines, barriers.

use arbitrary::Result;

use super::kernel::Scope;
use super::statement::Writer;
use super::variables::{CONDITION, UNIFORM};
use crate::program::{Node, Part};

impl Writer<'_, '_> {
    /// Returns a body that lanes may leave for its end.
    pub(super) fn closed(&mut self, scope: Scope, end: &str) -> Result<Vec<Node>> {
        self.ends.push(end.to_owned());
        let body = self.body(scope);
        self.ends.pop();
        body
    }

    /// Returns a line that sets a predicate by a random comparison.
    pub(super) fn compare(&mut self, to: &str) -> Result<String> {
        let lanes = self.lanes;
        let [a, b] = [self.u.int_in_range(0..=7)?, self.u.int_in_range(0..=7_u32)?];
        Ok(match self.u.int_in_range(0..=4)? {
            0 => format!(
                "cmp.lt (M1, {lanes}) {to} NUMBERud(0,0)<1;1,0> {:#x}:ud",
                self.u.int_in_range(0..=64)?
            ),
            1 => format!("cmp.ge (M1, {lanes}) {to} V{a}d(0,0)<1;1,0> V{b}d(0,0)<1;1,0>"),
            2 => format!("cmp.lt (M1, {lanes}) {to} V{}f(0,0)<1;1,0> 0x3f800000:f", a % 4),
            3 => format!("or (M1, {lanes}) {to} P{} P{}", a % 4 + 1, b % 4 + 1),
            _ => {
                format!("cmp.ne (M1, {lanes}) {to} V{a}uw(0,0)<2;1,0> S{}uw(0,0)<0;1,0>", b.min(5))
            }
        })
    }

    pub(super) fn branches(&self, predicate: &str, to: &str) -> String {
        format!("({predicate}) goto (M1, {}) {to}", self.lanes)
    }

    /// Returns an `if`.
    pub(super) fn branch(&mut self, scope: Scope) -> Result<Node> {
        let end = self.label();
        let open = [self.compare(CONDITION)?, self.branches(CONDITION, &end)];
        let body = self.closed(scope.inner(), &end)?;
        Ok(Node::around(open, body, [format!("{end}:")]))
    }

    /// Returns an `if` with `else`.
    pub(super) fn choice(&mut self, scope: Scope) -> Result<Node> {
        let (other, end) = (self.label(), self.label());
        let open = vec![self.compare(CONDITION)?, self.branches(&format!("!{CONDITION}"), &other)];
        let (first, second) =
            (self.closed(scope.inner(), &end)?, self.closed(scope.inner(), &end)?);
        let middle = vec![format!("goto (M1, 1) {end}"), format!("{other}:")];
        let close = vec![format!("{end}:")];
        let parts = [
            Part::Lines(open),
            Part::Body(first),
            Part::Lines(middle),
            Part::Body(second),
            Part::Lines(close),
        ];
        Ok(Node(parts.into()))
    }

    /// Returns a jump of the warp as a whole.
    pub(super) fn uniform_branch(&mut self, scope: Scope) -> Result<Node> {
        let end = self.label();
        let word = if self.in_function.is_some() { "TABLEud" } else { "WORDud" };
        let opcode = if self.u.arbitrary()? { "jmp" } else { "goto" };
        let open = [
            format!(
                "cmp.lt (M1_NM, 1) {UNIFORM} {word}(0,0)<0;1,0> {:#x}:ud",
                self.u.arbitrary::<u32>()?
            ),
            format!("({UNIFORM}) {opcode} (M1, 1) {end}"),
        ];
        let body = self.body(Scope { depth: scope.depth + 1, ..scope })?;
        Ok(Node::around(open, body, [format!("{end}:")]))
    }

    /// Returns a loop that lanes leave one after the other, some in its middle.
    pub(super) fn repeat(&mut self, scope: Scope) -> Result<Node> {
        let (lanes, again, end) = (self.lanes, self.label(), self.label());
        let counter = format!("K{}d(0,0)", scope.depth);
        let from = self.u.int_in_range(0..=7)?;
        let open = vec![
            format!("and (M1, {lanes}) {counter}<1> V{from}d(0,0)<1;1,0> 0x3:d"),
            format!("{again}:"),
        ];
        let mut parts = vec![Part::Lines(open), Part::Body(self.closed(scope.inner(), &end)?)];
        if self.u.arbitrary()? {
            parts.push(Part::Lines(vec![self.compare(CONDITION)?, self.branches(CONDITION, &end)]));
            parts.push(Part::Body(self.closed(scope.inner(), &end)?));
        }
        parts.push(Part::Lines(vec![
            format!("add (M1, {lanes}) {counter}<1> {counter}<1;1,0> 0xffffffff:d"),
            format!("cmp.ge (M1, {lanes}) {CONDITION} {counter}<1;1,0> 0x0:d"),
            self.branches(CONDITION, &again),
            format!("{end}:"),
        ]));
        Ok(Node(parts))
    }

    /// Returns a jump of the warp to one of a few places.
    pub(super) fn table(&mut self, scope: Scope) -> Result<Node> {
        let end = self.label();
        let cases = [(); 3].map(|()| self.label());
        let single = self.u.int_in_range(0..=5)?;
        let open = vec![
            format!("and (M1_NM, 1) CHOSENud(0,0)<1> S{single}ud(0,0)<0;1,0> 0x1:ud"),
            format!("switchjmp (M1, 1) CHOSENud(0,0)<0;1,0> ({})", cases.join(", ")),
        ];
        let mut parts = vec![Part::Lines(open)];
        for case in &cases {
            parts.push(Part::Lines(vec![format!("{case}:")]));
            parts.push(Part::Body(self.closed(scope.inner(), &end)?));
            // Some cases fall through.
            if self.u.ratio(3, 4)? {
                parts.push(Part::Lines(vec![format!("goto (M1, 1) {end}")]));
            }
        }
        parts.push(Part::Lines(vec![format!("{end}:")]));
        Ok(Node(parts))
    }

    /// Returns a subroutine with its calls.
    pub(super) fn subroutine(&mut self, scope: Scope) -> Result<Node> {
        let (lanes, start, over) = (self.lanes, self.label(), self.label());
        let mut open = vec![format!("call (M1, {lanes}) {start}")];
        if self.u.arbitrary()? {
            open.extend([
                self.compare(CONDITION)?,
                format!("({CONDITION}) call (M1, {lanes}) {start}"),
            ]);
        }
        open.extend([format!("jmp (M1, 1) {over}"), format!("{start}:")]);
        let outer = std::mem::take(&mut self.ends);
        let first = self.body(scope.inner())?;
        let mut parts = vec![Part::Lines(open), Part::Body(first)];
        if self.u.arbitrary()? {
            parts.push(Part::Lines(vec![
                self.compare(CONDITION)?,
                format!("({CONDITION}) ret (M1, {lanes})"),
            ]));
            parts.push(Part::Body(self.body(scope.inner())?));
        }
        self.ends = outer;
        parts.push(Part::Lines(vec![format!("ret (M1, {lanes})"), format!("{over}:")]));
        Ok(Node(parts))
    }

    /// Sends some lanes to the end of a body, maybe of a body further out.
    pub(super) fn leave(&mut self) -> Result<Node> {
        let which = self.u.int_in_range(0..=self.ends.len() - 1)?;
        let end = self.ends[which].clone();
        Ok(Node::lines([self.compare(CONDITION)?, self.branches(CONDITION, &end)]))
    }

    /// Returns a barrier that all threads of a block reach.
    pub(super) fn barrier(&mut self) -> Result<Node> {
        Ok(match self.u.int_in_range(0..=2)? {
            0 => Node::lines(["sbarrier.signal", "sbarrier.wait"]),
            _ => Node::line("barrier"),
        })
    }

    /// Ends some threads before other threads.
    pub(super) fn early_end(&mut self) -> Result<Node> {
        Ok(Node::lines([
            self.compare(CONDITION)?,
            format!("({CONDITION}) ret (M1, {})", self.lanes),
        ]))
    }
}
