//! The work before the first and after the last round of a loop that counts its rounds: finding its
//! rounds and streams, and writing registers. Both parts handle a chunk of lanes at once.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, Value as Clif, types};
use warploom_ir::{Access, IntCc, Reg, Type};

use super::super::address::Rights;
use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::register_loop::RegisterLoop;
use super::super::{int, vector};
use super::counted::Counted;
use super::rounds::Rounds;
use super::variables::{Next, Stream, Variable};
use crate::forms::{Lanes, MaskForm};

/// Places in the context of the values known for each lane.
pub struct Rows {
    /// The number of rounds after the first one, words.
    pub more: i32,
    /// The host addresses of streams after the last round, `i64`.
    pub ends: Vec<i32>,
}

/// The values known for a warp.
pub struct Ahead {
    /// The most rounds of a lane after the first one, and the sum of these rounds over all lanes.
    pub most: Clif,
    pub total: Clif,
    /// A mask: active lanes in it will have left the loop.
    pub ended: Clif,
}

/// The access of a stream, and its run as it was found.
struct Checked {
    access: Access,
    step: i64,
    run: usize,
    first: Clif,
    bytes: Clif,
    addend: Clif,
}

impl BlockLowerer<'_, '_, '_> {
    /// Finds how many rounds lanes run, at most `allowed`, and whether streams stay in their runs
    /// for so long. Goes to `fails` if they do not.
    pub(super) fn look_ahead(
        &mut self,
        register_loop: &RegisterLoop,
        counted: &Counted,
        (rounds, rows): (&Rounds, &Rows),
        (active, allowed): (Clif, Clif),
        fails: ClifBlock,
    ) -> Ahead {
        let run = |stream| self.run_for(self.stream_access(stream).address);
        let runs: Vec<usize> = rounds.streams.iter().map(run).collect();
        let (miss, go) = (self.cold_block(), self.b.create_block());
        let mut checked = Vec::new();
        for (stream, &run) in rounds.streams.iter().zip(&runs) {
            let access = self.stream_access(stream);
            let [first, bytes, addend] = self.run(run, Rights::READ);
            checked.push(Checked { access, step: stream.step, run, first, bytes, addend });
        }
        let limit = self.b.ins().iadd_imm_s(allowed, -1);
        let limit = self.b.ins().ireduce(types::I32, limit);
        let limit = self.b.ins().splat(types::I32X4, limit);
        let mut aligns: Vec<u8> =
            checked.iter().map(|stream| stream.access.align).filter(|&align| align > 1).collect();
        aligns.sort();
        aligns.dedup();
        // The state: the most rounds, their sums, the lanes that end, signs of lanes that leave a
        // run, and low bits of addresses that must be aligned.
        let none = int::constant(self.b, Type::I32, 0, true);
        let no_lane = self.b.ins().iconst(types::I64, 0);
        let mut first = vec![none, none, no_lane, none];
        first.extend(aligns.iter().map(|_| none));
        let zero = self.b.ins().iconst(types::I64, 0);
        let found = self.each_chunk(zero, &first, |lowerer, state| {
            let words = lowerer.mask_of_lanes(register_loop, active);
            let wanted = lowerer.rounds_to_come(counted);
            let within = [0, 1].map(|part| lowerer.b.ins().umin(wanted[part], limit));
            let ends =
                [0, 1].map(|part| lowerer.b.ins().icmp(IntCC::Equal, within[part], wanted[part]));
            let bits = vector::mask_bits(lowerer.b, ends);
            let ended = lowerer.add_chunk_bits(state[2], bits);
            let more = [0, 1].map(|part| lowerer.b.ins().band(within[part], words[part]));
            lowerer.store_in_context(rows.more, 2, &more);
            let highest = lowerer.b.ins().umax(more[0], more[1]);
            let most = lowerer.b.ins().umax(state[0], highest);
            let sum = lowerer.b.ins().iadd(more[0], more[1]);
            let total = lowerer.b.ins().iadd(state[1], sum);
            let (mut outside, mut low) = (state[3], state[4..].to_vec());
            let more = vector::interleave(lowerer.b, &more, &[none; 2]);
            let mut moved: BTreeMap<i64, Vec<Clif>> = BTreeMap::new();
            for (stream, &row) in checked.iter().zip(&rows.ends) {
                let moved = moved.entry(stream.step).or_insert_with(|| {
                    more.iter().map(|&more| lowerer.times(more, stream.step)).collect()
                });
                let (signs, starts) = lowerer.check_stream(stream, row, moved);
                outside = lowerer.gather_active(outside, signs, words);
                if let Some(at) = aligns.iter().position(|&align| align == stream.access.align) {
                    low[at] = lowerer.gather_active(low[at], starts, words);
                }
            }
            [vec![most, total, ended, outside], low].concat()
        });
        let mut wrong = self.b.ins().vhigh_bits(types::I32, found[3]);
        for (&align, &low) in aligns.iter().zip(&found[4..]) {
            let low = self.fold(low, |b, x, y| b.ins().bor(x, y));
            let low = self.b.ins().band_imm_u(low, i64::from(align) - 1);
            let low = self.b.ins().ireduce(types::I32, low);
            wrong = self.b.ins().bor(wrong, low);
        }
        self.b.ins().brif(wrong, miss, &[], go, &[]);

        self.b.switch_to_block(miss);
        self.find_streams(&checked, rows, active, fails);

        self.b.switch_to_block(go);
        let most = self.fold(found[0], |b, x, y| b.ins().umax(x, y));
        let total = self.fold(found[1], |b, x, y| b.ins().iadd(x, y));
        Ahead { most, total, ended: found[2] }
    }

    /// Stores where a stream ends in each lane. Returns words whose sign is set in lanes that leave
    /// the run, and the low words of the distances from the run's beginning, where a page begins.
    fn check_stream(
        &mut self,
        stream: &Checked,
        row: i32,
        moved: &[Clif],
    ) -> ([Clif; 2], [Clif; 2]) {
        let starts = self.stream_starts(&stream.access);
        let behind = self.b.ins().iadd(stream.first, stream.addend);
        let behind = self.b.ins().iadd_imm_s(behind, stream.step);
        let room = self.b.ins().iadd_imm_s(stream.bytes, -i64::from(stream.access.bytes()));
        let [first, room, behind] =
            [stream.first, room, behind].map(|v| self.b.ins().splat(types::I64X2, v));
        let starts: Lanes = starts.iter().map(|&start| self.b.ins().isub(start, first)).collect();
        let ends: Lanes = starts
            .iter()
            .zip(moved)
            .map(|(&start, &moved)| self.b.ins().iadd(start, moved))
            .collect();
        let hosts: Lanes = ends.iter().map(|&end| self.b.ins().iadd(end, behind)).collect();
        self.store_in_context(row, 3, &hosts);
        // A stream moves by less than 2^44 bytes. So its end did not wrap if its start is not
        // before the run.
        let signs = starts.iter().zip(&ends).map(|(&start, &end)| {
            let left = self.b.ins().isub(room, if stream.step < 0 { start } else { end });
            let sign = self.b.ins().bor(start, end);
            self.b.ins().bor(sign, left)
        });
        let signs: Lanes = signs.collect();
        (vector::halves(self.b, &signs, true), vector::halves(self.b, &starts, false))
    }

    /// Adds all bits of the active lanes to the bits of earlier chunks.
    fn gather_active(&mut self, before: Clif, lanes: [Clif; 2], active: [Clif; 2]) -> Clif {
        lanes.into_iter().zip(active).fold(before, |all, (lanes, active)| {
            let lanes = self.b.ins().band(lanes, active);
            self.b.ins().bor(all, lanes)
        })
    }

    fn stream_access(&self, stream: &Stream) -> Access {
        *self.facts.block.insts[stream.inst].op.access().expect("a load")
    }

    /// Sets the chunk's mask of active lanes.
    fn mask_of_lanes(&mut self, register_loop: &RegisterLoop, active: Clif) -> [Clif; 2] {
        let bits = self.chunk_bits(active);
        self.chunk()
            .masks
            .insert(register_loop.active, MaskForm { bits: Some(bits), ..MaskForm::default() });
        self.mask_words(register_loop.active)
    }

    /// Returns the number of rounds of a chunk's lanes after the first one.
    fn rounds_to_come(&mut self, counted: &Counted) -> Lanes {
        let (counter, limit) = (self.lanes(counted.counter), self.lanes(counted.limit));
        let pairs = counter.iter().zip(&limit);
        pairs
            .map(|(&at, &limit)| {
                let end = match counted.cc {
                    IntCc::LtU => self.b.ins().umax(limit, at),
                    IntCc::LtS => self.b.ins().smax(limit, at),
                    IntCc::GtU => self.b.ins().umin(limit, at),
                    IntCc::GtS => self.b.ins().smin(limit, at),
                    _ => limit,
                };
                if counted.up { self.b.ins().isub(end, at) } else { self.b.ins().isub(at, end) }
            })
            .collect()
    }

    fn stream_starts(&mut self, access: &Access) -> Lanes {
        let lanes = self.lanes(access.address);
        if access.offset == 0 {
            return lanes;
        }
        let offset = int::constant(self.b, Type::I64, i64::from(access.offset) as u64, true);
        lanes.iter().map(|&lane| self.b.ins().iadd(lane, offset)).collect()
    }

    /// Has helpers look for the runs that the streams of one active lane are in. If they found
    /// other runs than before, the block is entered again. Otherwise other lanes have their streams
    /// elsewhere, and it goes to `fails`.
    fn find_streams(&mut self, checked: &[Checked], rows: &Rows, active: Clif, fails: ClifBlock) {
        let number = self.b.ins().ctz(active);
        let number = self.b.ins().band_imm_u(number, 63);
        let cell = self.cell_in_context(number, 2);
        let more = self.b.ins().uload32(flags(), cell, rows.more);
        let cell = self.cell_in_context(number, 3);
        let mut others = self.b.ins().iconst(types::I64, 0);
        for (stream, &row) in checked.iter().zip(&rows.ends) {
            let host = self.b.ins().load(types::I64, flags(), cell, row);
            let behind = self.b.ins().isub(host, stream.addend);
            let end = self.b.ins().iadd_imm_s(behind, -stream.step);
            let moved = self.times(more, stream.step);
            let start = self.b.ins().isub(end, moved);
            let (low, high) = if stream.step < 0 { (end, start) } else { (start, end) };
            let last = self.b.ins().iadd_imm_s(high, i64::from(stream.access.bytes()) - 1);
            let found = self.search([low, last], stream.run, fails);
            others = self.b.ins().bor(others, found);
        }
        self.reenter(others, fails);
    }

    /// Writes the registers that move on by a constant if something reads them: after the loop, or
    /// in it, in lanes that stay.
    pub(super) fn write_moving(
        &mut self,
        register_loop: &RegisterLoop,
        rounds: &Rounds,
        more: i32,
        (active, staying): (Clif, Clif),
    ) {
        let (liveness, block) = (self.facts.liveness, self.facts.id);
        let is_elsewhere =
            |&reg: &Reg| !liveness.leads_to_itself(block) || liveness.live_elsewhere(block, reg);
        let moving =
            || rounds.variables.iter().filter(|variable| matches!(variable.next, Next::Step(_)));
        let is_own = |variable: &&Variable| !variable.regs.iter().any(is_elsewhere);
        let read: Vec<&Variable> = moving().filter(|variable| !is_own(variable)).collect();
        if !read.is_empty() {
            self.move_variables(register_loop, &read, more, active);
        }
        let others: Vec<&Variable> = moving().filter(is_own).collect();
        if !others.is_empty() {
            let (stay, done) = (self.cold_block(), self.b.create_block());
            self.b.ins().brif(staying, stay, &[], done, &[]);
            self.b.switch_to_block(stay);
            self.move_variables(register_loop, &others, more, active);
            self.b.ins().jump(done, &[]);
            self.b.switch_to_block(done);
        }
    }

    fn move_variables(
        &mut self,
        register_loop: &RegisterLoop,
        variables: &[&Variable],
        more: i32,
        active: Clif,
    ) {
        let one = int::constant(self.b, Type::I32, 1, true);
        let none = int::constant(self.b, Type::I32, 0, true);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.each_chunk(zero, &[], |lowerer, _| {
            lowerer.mask_of_lanes(register_loop, active);
            let rounds = lowerer.load_in_context(more).map(|more| lowerer.b.ins().iadd(more, one));
            for variable in variables {
                let Next::Step(step) = variable.next else { unreachable!("it moves on") };
                match variable.regs[..] {
                    [reg] if variable.ty != Type::I64 => {
                        let old = lowerer.load_row(reg);
                        let new: Lanes =
                            (0..2).map(|i| lowerer.moved_lanes(old[i], rounds[i], step)).collect();
                        lowerer.merge_row(register_loop, reg, &new, &old);
                    }
                    [reg] => {
                        let (old, rounds) = (
                            lowerer.load_row(reg),
                            vector::interleave(lowerer.b, &rounds, &[none; 2]),
                        );
                        let new: Lanes =
                            (0..4).map(|i| lowerer.moved_lanes(old[i], rounds[i], step)).collect();
                        lowerer.merge_row(register_loop, reg, &new, &old);
                    }
                    [low, high] => {
                        let rounds = vector::interleave(lowerer.b, &rounds, &[none; 2]);
                        let words = [low, high].map(|reg| lowerer.load_row(reg));
                        let old = vector::interleave(lowerer.b, &words[0], &words[1]);
                        let new: Lanes =
                            (0..4).map(|i| lowerer.moved_lanes(old[i], rounds[i], step)).collect();
                        for ((reg, old), is_high) in
                            [low, high].into_iter().zip(words).zip([false, true])
                        {
                            let new = vector::halves(lowerer.b, &new, is_high);
                            lowerer.merge_row(register_loop, reg, &new, &old);
                        }
                    }
                    _ => unreachable!("one register or two"),
                }
            }
            Vec::new()
        });
    }

    fn moved_lanes(&mut self, old: Clif, rounds: Clif, step: i64) -> Clif {
        let moved = self.times(rounds, step);
        self.b.ins().iadd(old, moved)
    }

    fn merge_row(&mut self, register_loop: &RegisterLoop, reg: Reg, new: &[Clif], old: &[Clif]) {
        let ty = self.lane_type(reg);
        let merged = self.merge(register_loop.active, new, old, ty);
        self.store_cells(ty, self.facts.layout.offset(reg), &merged);
    }

    /// Multiplies a scalar or a vector by a constant.
    pub(super) fn times(&mut self, v: Clif, by: i64) -> Clif {
        let size = by.unsigned_abs();
        let product = if size.is_power_of_two() {
            int::shifted_up(self.b, v, size.trailing_zeros().into())
        } else {
            let ty = self.b.func.dfg.value_type(v);
            let size = match ty {
                types::I32X4 => int::constant(self.b, Type::I32, size & 0xffff_ffff, true),
                types::I64X2 => int::constant(self.b, Type::I64, size, true),
                _ => self.b.ins().iconst(ty, size as i64),
            };
            self.b.ins().imul(v, size)
        };
        if by < 0 { self.b.ins().ineg(product) } else { product }
    }

    /// Returns the address of the chunk's cells of a row in the context.
    fn chunk_in_context(&mut self, shift: i64) -> Clif {
        let first = self.first_lane();
        self.cell_in_context(first, shift)
    }

    fn store_in_context(&mut self, row: i32, shift: i64, lanes: &[Clif]) {
        let cells = self.chunk_in_context(shift);
        for (part, &v) in (0..).zip(lanes) {
            self.b.ins().store(flags(), v, cells, row + 16 * part);
        }
    }

    fn load_in_context(&mut self, row: i32) -> [Clif; 2] {
        let cells = self.chunk_in_context(2);
        [0, 16].map(|part| self.b.ins().load(types::I32X4, flags(), cells, row + part))
    }

    /// Folds the four words of a vector into one, `i64`.
    fn fold(
        &mut self,
        v: Clif,
        join: impl Fn(&mut cranelift_frontend::FunctionBuilder<'_>, Clif, Clif) -> Clif,
    ) -> Clif {
        let other = vector::shuffle_words(self.b, v, v, [2, 3, 0, 1]);
        let v = join(self.b, v, other);
        let other = vector::shuffle_words(self.b, v, v, [1, 0, 3, 2]);
        let v = join(self.b, v, other);
        let word = self.b.ins().extractlane(v, 0);
        self.b.ins().uextend(types::I64, word)
    }
}
