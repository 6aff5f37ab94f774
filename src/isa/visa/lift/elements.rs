//! Reads and writes elements of roots as values, wherever their bytes live.

use warploom_ir::{Region, Type, Value, Window};

use super::Cx;
use super::storage::{Cell, Cells, RootStorage, int_type};
use super::survey::{Access, What};
use super::variables::{MAX_BYTES, RootId};
use crate::types;

/// Elements of a root: one for each element of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    pub root: RootId,
    /// The first byte of the piece's first element.
    pub start: u32,
    /// The integer type of an element.
    pub ty: Type,
    pub pattern: Pattern,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All lanes have one element.
    Scalar,
    /// Elements at a distance of so many bytes.
    Linear(u32),
    /// A region, in elements.
    Region { vertical: u16, width: u16, horizontal: u16 },
}

/// Returns the pattern of a region's elements from number `element` on, and the first one's place.
///
/// The pattern has `count` elements. The place is in elements.
pub fn source_pattern(region: types::Region, element: u32, count: u8, size: u32) -> (u32, Pattern) {
    let [vertical, width, horizontal] = [
        region.vertical.unwrap_or(0),
        region.width.unwrap_or(1).max(1),
        region.horizontal.unwrap_or(0),
    ]
    .map(u32::from);
    let first = element / width * vertical + element % width * horizontal;
    let in_a_row = element % width + u32::from(count) <= width;
    let linear =
        |stride: u32| if stride == 0 { Pattern::Scalar } else { Pattern::Linear(stride * size) };
    let pattern = if count == 1 {
        Pattern::Scalar
    } else if in_a_row || vertical == width * horizontal {
        linear(horizontal)
    } else if width == 1 {
        linear(vertical)
    } else {
        Pattern::Region {
            vertical: vertical as u16,
            width: width as u16,
            horizontal: horizontal as u16,
        }
    };
    (first, pattern)
}

impl Pattern {
    /// Returns the number of bytes that `count` elements of `size` bytes span.
    fn span(self, count: u8, size: u32) -> u32 {
        let last = u32::from(count.max(1)) - 1;
        let distance = match self {
            Pattern::Scalar => 0,
            Pattern::Linear(stride) => last * stride,
            Pattern::Region { .. } => {
                (0..=last).map(|n| self.region(0, size).distance(n, size)).max().unwrap_or(0)
            }
        };
        distance + size
    }

    /// Returns the pattern as a region of the IR.
    pub fn region(self, offset: u32, size: u32) -> Region {
        let (vstride, width, hstride) = match self {
            Pattern::Scalar => (0, 1, 0),
            Pattern::Linear(stride) => ((stride / size) as u16, 1, 0),
            Pattern::Region { vertical, width, horizontal } => (vertical, width, horizontal),
        };
        Region { offset, vstride, width, hstride }
    }
}

impl Cx<'_> {
    /// Notes an access in the survey.
    fn note(&mut self, of: Elements, write: bool) {
        let Some(survey) = self.survey else { return };
        let (size, piece) = (of.ty.bytes(), self.piece);
        let count = if of.pattern == Pattern::Scalar { 1 } else { piece.count };
        let what = match of.pattern {
            Pattern::Scalar => What::Scalar,
            Pattern::Linear(stride @ (1 | 2 | 4 | 8)) => {
                What::Lanes { stride, size, first: piece.lane, count }
            }
            _ => What::Bytes,
        };
        let plain =
            if write { self.predicate.is_none() } else { !self.exec.no_mask && !piece.is_scalar() };
        let access = Access {
            start: of.start,
            end: of.start.saturating_add(of.pattern.span(count, size)),
            what,
            write,
            node: self.node,
            plain,
            no_mask: self.exec.no_mask,
        };
        survey.borrow_mut().note(of.root, access);
    }

    /// Reads elements; the value is uniform if the pattern is scalar.
    pub(super) fn read(&mut self, of: Elements) -> Value {
        if of.start >= MAX_BYTES {
            return self.constant(of.ty, 0);
        }
        self.note(of, false);
        let shape = self.shape;
        let Some(component) = shape.storage.find(of.root, of.start) else {
            return self.constant(of.ty, 0);
        };
        match component.place {
            RootStorage::Bytes { reg, base } => {
                let region = of.pattern.region(base.wrapping_add(of.start), of.ty.bytes());
                match of.pattern {
                    Pattern::Scalar => self.b.region_read_uniform(reg, region, of.ty),
                    _ => self.b.region_read(reg, region, of.ty),
                }
            }
            RootStorage::Scalars(ref cells) => {
                self.read_cells(cells, of.start - cells.first, of.ty)
            }
            RootStorage::Lanes { zero, pitch, ref cells } => {
                let within = i64::from(of.start) - zero;
                if of.pattern != Pattern::Scalar {
                    let within = within - i64::from(self.piece.lane) * i64::from(pitch);
                    return self.read_cells(cells, within as u32, of.ty);
                }
                let lane = (within / i64::from(pitch)) as u32;
                let value = self.in_all_lanes(|cx| {
                    cx.read_cells(cells, (within % i64::from(pitch)) as u32, of.ty)
                });
                self.read_lane(value, lane)
            }
            RootStorage::Payload { at } => {
                let at = (i64::from(of.start) + at) as u32;
                match of.ty {
                    Type::I64 => self.payload_long(at),
                    ty => self.read_words(at, ty, Cx::payload),
                }
            }
            RootStorage::Hardware => {
                self.read_words(of.start, of.ty, |cx, at| cx.hardware(of.root, at))
            }
            RootStorage::LocalIds { axis, zero } => {
                let wide = self.local_id(axis);
                if of.pattern == Pattern::Scalar {
                    let lane = ((i64::from(of.start) - zero) / 2) as u32;
                    let one = self.in_all_lanes(|cx| cx.local_id(axis));
                    let one = self.read_lane(one, lane);
                    return self.b.trunc(of.ty, one);
                }
                let cut = self.b.trunc(of.ty, wide);
                self.cut.insert(cut, wide);
                cut
            }
        }
    }

    pub(super) fn in_all_lanes<T>(&mut self, with: impl FnOnce(&mut Self) -> T) -> T {
        let window = self.b.window();
        let lanes = self.lanes();
        self.b.set_window(Window::all(lanes));
        let made = with(self);
        self.b.set_window(window);
        made
    }

    fn read_lane(&mut self, value: Value, lane: u32) -> Value {
        if self.b.ty(value).is_uniform() {
            return value;
        }
        let lane = self.word(lane);
        self.b.lane_read(value, lane)
    }

    /// Reads an integer at byte `at` of a storage that gives dwords.
    pub(super) fn read_words(
        &mut self,
        at: u32,
        ty: Type,
        word: impl Fn(&mut Self, u32) -> Value,
    ) -> Value {
        let (aligned, within) = (at & !3, at % 4);
        let low = word(self, aligned);
        if ty.bytes() + within > 4 {
            let high = word(self, aligned + 4);
            let both = self.b.concat(low, high);
            if within == 0 {
                return both;
            }
            let count = self.constant(Type::I64, u64::from(within) * 8);
            let value = self.b.shr_u(both, count);
            return self.resize(value, ty, false);
        }
        self.cut_part(low, within, ty)
    }

    /// Returns an integer that is part of a wider integer, from a byte on.
    fn cut_part(&mut self, value: Value, within: u32, ty: Type) -> Value {
        let whole = self.b.ty(value).ty;
        if whole == Type::I64 && ty == Type::I32 && within == 4 {
            return self.b.high_half(value);
        }
        let value = if within == 0 {
            value
        } else {
            let count = self.constant(whole, u64::from(within) * 8);
            self.b.shr_u(value, count)
        };
        self.resize(value, ty, false)
    }

    pub(super) fn cell(&mut self, cell: Cell, ty: Type) -> Value {
        match cell {
            Cell::File(reg) => self.b.rf_read(reg),
            Cell::Block(number) => match self.cells.get(&number) {
                Some(&value) => value,
                None => self.constant(ty, 0),
            },
        }
    }

    /// Reads an element at a byte of cells.
    pub(super) fn read_cells(&mut self, cells: &Cells, at: u32, ty: Type) -> Value {
        let (number, within) = ((at / cells.size) as usize, at % cells.size);
        let cell_ty = int_type(cells.size);
        let Some(&cell) = cells.regs.get(number) else { return self.constant(ty, 0) };
        let low = self.cell(cell, cell_ty);
        if within + ty.bytes() <= cells.size {
            return self.cut_part(low, within, ty);
        }
        let high = match cells.regs.get(number + 1) {
            Some(&high) => self.cell(high, cell_ty),
            None => self.constant(cell_ty, 0),
        };
        self.b.concat(low, high)
    }

    /// Writes elements in the lanes of the piece, under its conditions. Only the size of `value`'s
    /// type counts.
    pub(super) fn write(&mut self, of: Elements, value: Value) {
        if of.start >= MAX_BYTES {
            return;
        }
        self.note(of, true);
        let value = self.bits_as(value, of.ty);
        let shape = self.shape;
        let Some(component) = shape.storage.find(of.root, of.start) else { return };
        match component.place {
            RootStorage::Bytes { reg, base } => {
                let region = of.pattern.region(base.wrapping_add(of.start), of.ty.bytes());
                self.in_window(|cx| cx.b.region_write(reg, region, value));
            }
            RootStorage::Scalars(ref cells) => {
                self.write_cells(cells, of.start - cells.first, value, Cx::write_scalar)
            }
            RootStorage::Lanes { zero, pitch, ref cells } => {
                let within = i64::from(of.start) - zero;
                if of.pattern != Pattern::Scalar {
                    let within = within - i64::from(self.piece.lane) * i64::from(pitch);
                    return self.write_cells(cells, within as u32, value, Cx::write_lanes);
                }
                let lane = (within / i64::from(pitch)) as u8;
                let at = (within % i64::from(pitch)) as u32;
                let enabled = self.condition().is_some().then(|| self.enabled());
                let (window, nomask, guard) = (self.b.window(), self.exec.no_mask, self.b.guard());
                self.b.set_window(Window { first: lane, count: 1 });
                self.b.set_nomask(true);
                self.b.set_guard(enabled);
                self.write_cells(cells, at, value, Cx::write_lanes);
                self.b.set_window(window);
                self.b.set_nomask(nomask);
                self.b.set_guard(guard);
            }
            // Nothing writes to these places; otherwise their storage would be another kind.
            RootStorage::Payload { .. } | RootStorage::Hardware | RootStorage::LocalIds { .. } => {}
        }
    }

    /// Runs `with` in the window of the piece. A piece of one element also has its guard.
    fn in_window(&mut self, with: impl FnOnce(&mut Self)) {
        if !self.piece.is_scalar() {
            return with(self);
        }
        let (window, guard) = (self.b.window(), self.b.guard());
        let holds = self.holds();
        self.b.set_guard(holds);
        self.b.set_window(self.piece.window());
        with(self);
        self.b.set_window(window);
        self.b.set_guard(guard);
    }

    /// Writes an element at a byte of cells.
    fn write_cells(
        &mut self,
        cells: &Cells,
        at: u32,
        value: Value,
        put: fn(&mut Self, Cell, Value),
    ) {
        let (number, within) = ((at / cells.size) as usize, at % cells.size);
        let (ty, cell_ty) = (self.b.ty(value).ty, int_type(cells.size));
        let Some(&cell) = cells.regs.get(number) else { return };
        if within == 0 && ty == cell_ty {
            return put(self, cell, value);
        }
        if ty.bytes() > cells.size {
            let (low, high) = (self.b.trunc(cell_ty, value), self.b.high_half(value));
            put(self, cell, low);
            if let Some(&next) = cells.regs.get(number + 1) {
                put(self, next, high);
            }
            return;
        }
        let old = self.cell(cell, cell_ty);
        let wide = self.b.zero_extend(cell_ty, value);
        let count = self.constant(cell_ty, u64::from(within) * 8);
        let placed = if within == 0 { wide } else { self.b.shl(wide, count) };
        let keep = self.constant(cell_ty, !(ty.bit_mask() << (within * 8)));
        let kept = self.b.and(old, keep);
        let new = self.b.or(kept, placed);
        put(self, cell, new);
    }

    fn write_scalar(&mut self, cell: Cell, value: Value) {
        let ty = self.b.ty(value).ty;
        let condition = if self.is_seen_by_running(cell) { None } else { self.condition() };
        let value = match condition {
            None => value,
            Some(condition) => {
                let old = self.cell(cell, ty);
                self.b.uniform_select(condition, value, old)
            }
        };
        match cell {
            Cell::File(reg) => self.b.rf_write(reg, value),
            Cell::Block(number) => drop(self.cells.insert(number, value)),
        }
    }

    /// Returns whether a write to a cell of this block alone needs no test for lanes that are left.
    ///
    /// If no lane is left, no lane sees the cell.
    fn is_seen_by_running(&self, cell: Cell) -> bool {
        matches!(cell, Cell::Block(_)) && self.exec.no_mask && self.predicate.is_none()
    }

    fn write_lanes(&mut self, cell: Cell, value: Value) {
        let value = self.b.splat(value);
        match cell {
            Cell::File(reg) => self.b.rf_write(reg, value),
            Cell::Block(number) if self.is_seen_by_running(cell) => {
                self.cells.insert(number, value);
            }
            Cell::Block(number) => self.write_local(number, value),
        }
    }

    /// Writes a cell that only this block uses.
    ///
    /// Its first write covers the whole cell. No lane reads the value it leaves in inactive lanes.
    fn write_local(&mut self, number: u32, value: Value) {
        let Some(&old) = self.cells.get(&number) else {
            self.cells.insert(number, value);
            return;
        };
        let guard = self.b.guard();
        let lanes = match (self.exec.no_mask, guard) {
            (true, None) => None,
            (true, Some(guard)) => Some(guard),
            (false, None) => Some(self.active()),
            (false, Some(guard)) => {
                let active = self.active();
                Some(self.b.and(active, guard))
            }
        };
        let merged = match lanes {
            None => value,
            Some(lanes) => self.b.select(lanes, value, old),
        };
        self.cells.insert(number, merged);
    }
}
