//! Loads of one lane that find their addresses in rounds. Parts that are equal in all rounds,
//! mostly in all lanes, are looked up before the rounds, so that a round needs one compare.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block as ClifBlock, BlockArg, InstBuilder, Type as ClifType, Value as Clif, types,
};
use cranelift_frontend as frontend;
use rustc_hash::FxHashSet;
use warploom_analysis::bound;
use warploom_engine::abi;
use warploom_ir::{Access, BinaryOp, ConvertOp, Extend, Op, Type, Value};

use super::super::address::Rights;
use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::int;
use super::super::register_loop::RegisterLoop;
use super::ops::Lane;
use super::rounds::Rounds;
use super::slots::{Slot, Slots};
use crate::forms::clif_type;

/// The parts of an address.
#[derive(Clone)]
pub struct Address {
    /// The values that are equal in all rounds, each with the number of bits it is shifted up.
    pub common: Vec<(Value, i64)>,
    pub rest: Value,
    /// If the rest is a word, the number of an element: the number of bits it is shifted up.
    number: Option<i64>,
}

/// The place of a load in a run of the TLB. Rounds compare a distance with a limit. If elements are
/// numbered, the distance is in elements from an element in the run; otherwise, in bytes from the
/// run's beginning.
#[derive(Clone, Copy)]
pub struct LoadRun {
    run: usize,
    rest: Value,
    number: Option<i64>,
    /// Whether the parts that are equal in all rounds decide about the alignment.
    is_aligned: bool,
    /// The address that the rest is added to.
    common: Slot,
    start: Start,
    /// The limit of distances at which the whole access is in the run: 0 if all are misaligned.
    limit: frontend::Variable,
    /// The host address of distance 0.
    host: frontend::Variable,
    /// Whether a run was looked for before the rounds, at the origin of the numbers or at the
    /// common address. Otherwise the loads look for it.
    is_sought: bool,
}

/// The step from the rest of an address to the distance.
#[derive(Clone, Copy)]
enum Start {
    /// The number of elements before the access's offset is not negative, as in `x[number - 1]`.
    Skipped(i64),
    Bytes(frontend::Variable),
}

/// Where a round goes on if a load is in no run, or in another run than the expected one.
#[derive(Clone, Copy)]
pub struct Ways {
    /// Where the round begins again with the run that was found, if it was not sought before.
    /// Because of such an edge from cold code, Cranelift's register allocator takes all code behind
    /// it for a loop, as busy as the loop that the edge leads to.
    pub again: ClifBlock,
    /// Where careful code begins.
    pub fails: ClifBlock,
}

/// The form in which an element is loaded, as its users need it.
#[derive(Clone, Copy, PartialEq)]
enum View {
    Plain,
    Float,
    Wide,
}

impl View {
    fn clif(self, ty: Type) -> ClifType {
        match self {
            View::Plain => clif_type(ty, false),
            View::Float => types::F32,
            View::Wide => types::I64,
        }
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Splits an access's address into its parts. `changing` has the values that change from round
    /// to round.
    pub(super) fn address_of(&self, access: &Access, changing: &FxHashSet<Value>) -> Address {
        let changes = |v: Value| changing.contains(&v);
        let whole = |common, rest| Address { common, rest, number: None };
        let (common, rest) = match *self.facts.def_op(access.address) {
            Op::Binary { op: BinaryOp::Add, a, b } if changes(a) && !changes(b) => (b, a),
            Op::Binary { op: BinaryOp::Add, a, b } if changes(b) && !changes(a) => (a, b),
            _ => return whole(Vec::new(), access.address),
        };
        let mut common = vec![(common, 0)];
        let (number, shift) = match *self.facts.def_op(rest) {
            Op::Binary { op: BinaryOp::Shl, a, b } => match self.facts.constant(b) {
                Some(shift) if shift < 32 => (a, shift as i64),
                _ => return whole(common, rest),
            },
            _ => (rest, 0),
        };
        let aligned = 1u64 << shift >= u64::from(access.align);
        match *self.facts.def_op(number) {
            Op::Convert { op: ConvertOp::ZeroExtend, a: rest, .. }
                if aligned && self.facts.ty(rest) == Type::I32 =>
            {
                Address { common, rest, number: Some(shift) }
            }
            Op::Concat { lo: rest, hi }
                if aligned && !changes(hi) && self.facts.ty(rest) == Type::I32 =>
            {
                common.push((hi, 32 + shift));
                Address { common, rest, number: Some(shift) }
            }
            _ => whole(common, rest),
        }
    }

    /// Prepares a load before the rounds.
    pub(super) fn place_of_lane(
        &mut self,
        register_loop: &RegisterLoop,
        lane: &mut Lane,
        access: &Access,
        address: &Address,
        slots: &mut Slots,
    ) -> LoadRun {
        let mut common = self.b.ins().iconst(types::I64, i64::from(access.offset));
        for &(v, shift) in &address.common {
            self.unchanging(register_loop, lane, v);
            let part = self.lane_long(lane, v);
            let part = int::shifted_up(self.b, part, shift);
            common = self.b.ins().iadd(common, part);
        }
        let zeros = bound(|v| self.facts.ty(v), |v| self.facts.def_op(v), address.rest).zeros;
        let bytes_before = i64::from(access.offset).min(0).unsigned_abs();
        let place = LoadRun {
            run: self.run_for(access.address),
            rest: address.rest,
            number: address.number,
            is_aligned: address.number.is_some()
                || 1u64 << zeros.min(63) >= u64::from(access.align),
            common: slots.keep(self, common),
            start: match address.number {
                Some(shift) => Start::Skipped(bytes_before.div_ceil(1 << shift) as i64),
                None => Start::Bytes(self.b.declare_var(types::I64)),
            },
            limit: self.b.declare_var(types::I64),
            host: self.b.declare_var(types::I64),
            is_sought: false,
        };
        self.look_up(access, &place, common);
        place
    }

    /// Makes sure that the load's run contains the origin of its numbers, or the common address
    /// that all lanes add to. Goes to `fails` if there is no such run.
    pub(super) fn seek(
        &mut self,
        access: &Access,
        address: &Address,
        place: &mut LoadRun,
        fails: ClifBlock,
    ) {
        if address.common.is_empty() {
            return;
        }
        place.is_sought = true;
        let (miss, go) = (self.cold_block(), self.b.create_block());
        let origin = self.kept(place.common);
        let origin = match place.start {
            Start::Skipped(elements) => {
                int::plus(self.b, origin, elements << place.number.unwrap_or(0))
            }
            Start::Bytes(_) => origin,
        };
        let [first, bytes, _] = self.run(place.run, Rights::READ);
        let start = self.b.ins().isub(origin, first);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, start, bytes);
        self.b.ins().brif(inside, go, &[], miss, &[]);
        self.b.switch_to_block(miss);
        let last = self.b.ins().iadd_imm_s(origin, i64::from(access.bytes()) - 1);
        let found = self.search([origin, last], place.run, fails);
        self.reenter(found, fails);
        self.b.switch_to_block(go);
    }

    /// Has a helper look for a run. The result is not 0 if it found another run than before. Goes
    /// to `fails` if it found none.
    pub(super) fn search(&mut self, ends: [Clif; 2], run: usize, fails: ClifBlock) -> Clif {
        let before = self.run(run, Rights::READ);
        let [reached, _] = self.find_run(ends, (run, Rights::READ));
        let go = self.cold_block();
        self.b.ins().brif(reached, go, &[], fails, &[]);
        self.b.switch_to_block(go);
        let after = self.run(run, Rights::READ);
        let differ = |lowerer: &mut Self, (x, y): (Clif, Clif)| lowerer.b.ins().bxor(x, y);
        let differences: Vec<Clif> =
            before.into_iter().zip(after).map(|pair| differ(self, pair)).collect();
        differences.into_iter().reduce(|x, y| self.b.ins().bor(x, y)).expect("a run has fields")
    }

    /// Enters the block again if a new run was found, else goes to `fails`.
    pub(super) fn reenter(&mut self, found: Clif, fails: ClifBlock) {
        let again = self.cold_block();
        self.b.ins().brif(found, again, &[], fails, &[]);
        self.b.switch_to_block(again);
        self.resume_at(self.facts.id);
        self.return_code(abi::CONTINUE);
    }

    /// Sets the variables of a place from its run as the run is now.
    fn look_up(&mut self, access: &Access, place: &LoadRun, common: Clif) {
        let [first, bytes, addend] = self.run(place.run, Rights::READ);
        let beyond = i64::from(access.bytes()) - 1;
        let zero = self.b.ins().iconst(types::I64, 0);
        let enough = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, bytes, beyond);
        let room = int::plus(self.b, bytes, -beyond);
        let mut limit = self.b.ins().select(enough, room, zero);
        let mut host = first;
        match place.start {
            Start::Skipped(elements) => {
                let shift = place.number.expect("elements are numbered");
                host = int::plus(self.b, common, elements << shift);
                let start = self.b.ins().isub(host, first);
                let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, start, limit);
                let left = self.b.ins().isub(limit, start);
                let left = int::plus(self.b, left, (1 << shift) - 1);
                let left = self.b.ins().ushr_imm_u(left, shift);
                limit = self.b.ins().select(inside, left, zero);
            }
            Start::Bytes(start) => {
                let before = self.b.ins().isub(common, first);
                self.b.def_var(start, before);
            }
        }
        if place.is_aligned
            && let Some(aligned) = self.is_aligned(access.align, common)
        {
            limit = self.b.ins().select(aligned, limit, zero);
        }
        let host = self.b.ins().iadd(host, addend);
        self.b.def_var(place.limit, limit);
        self.b.def_var(place.host, host);
    }

    /// Loads the elements that a lane loads in a round.
    pub(super) fn load_of_lane(
        &mut self,
        rounds: &Rounds,
        lane: &mut Lane,
        index: usize,
        active: Value,
        ways: Ways,
    ) {
        let inst = &self.facts.block.insts[index];
        let Op::Load { access, extend, .. } = inst.op else { unreachable!("a load") };
        let views: Vec<View> =
            inst.results.iter().map(|&v| self.view(rounds, &access, v)).collect();
        let loaded = match lane.hosts.get(&index) {
            Some(&(host, offset)) => {
                self.load_elements(&access, extend, &views, (host, offset as i32))
            }
            None => self.load_checked(lane, index, active, (extend, &views), ways),
        };
        for ((&v, view), loaded) in inst.results.iter().zip(views).zip(loaded) {
            let values = match view {
                View::Plain => &mut lane.values,
                View::Float => &mut lane.floats,
                View::Wide => &mut lane.wide,
            };
            values.insert(v, loaded);
        }
    }

    /// Returns the form in which an element is best loaded.
    fn view(&self, rounds: &Rounds, access: &Access, v: Value) -> View {
        if access.ty != Type::I32 || self.facts.ty(v) != Type::I32 {
            return View::Plain;
        }
        let users = || self.facts.block.insts.iter().filter(|inst| inst.op.operands().contains(&v));
        let is_float =
            |op: &Op| matches!(op, Op::Convert { op: ConvertOp::Bitcast, to: Type::F32, .. });
        if users().any(|inst| is_float(&inst.op) && rounds.needs(inst.results[0])) {
            View::Float
        } else if rounds.addresses.values().any(|address| address.rest == v) {
            View::Wide
        } else {
            View::Plain
        }
    }

    fn load_elements(
        &mut self,
        access: &Access,
        extend: Extend,
        views: &[View],
        (host, offset): (Clif, i32),
    ) -> Vec<Clif> {
        let offsets = (0..).map(|element| offset + element * access.ty.bytes() as i32);
        let loads = views.iter().zip(offsets);
        loads
            .map(|(view, offset)| match view {
                View::Plain => self.load_element(access.ty, extend, host, offset),
                View::Float => self.b.ins().load(types::F32, flags(), host, offset),
                View::Wide => self.b.ins().uload32(flags(), host, offset),
            })
            .collect()
    }

    /// Loads from an address that a lane finds in the round.
    fn load_checked(
        &mut self,
        lane: &Lane,
        index: usize,
        active: Value,
        (extend, views): (Extend, &[View]),
        ways: Ways,
    ) -> Vec<Clif> {
        let inst = &self.facts.block.insts[index];
        let access = *inst.op.access().expect("a load");
        let after = access.guard.filter(|&guard| guard != active).map(|guard| {
            let bit = self.lane_bit(lane, guard);
            let (go, done) = (self.b.create_block(), self.b.create_block());
            let mut zeros: Vec<BlockArg> = Vec::new();
            for (&v, view) in inst.results.iter().zip(views) {
                let ty = view.clif(self.facts.ty(v));
                self.b.append_block_param(done, ty);
                zeros.push(self.zero(ty).into());
            }
            self.b.ins().brif(bit, go, &[], done, &zeros);
            self.b.switch_to_block(go);
            done
        });
        let host = self.host_of_lane(lane, &access, lane.places[&index], ways);
        let loaded = self.load_elements(&access, extend, views, (host, 0));
        let Some(done) = after else { return loaded };
        let args: Vec<BlockArg> = loaded.into_iter().map(BlockArg::Value).collect();
        self.b.ins().jump(done, &args);
        self.b.switch_to_block(done);
        self.b.block_params(done).to_vec()
    }

    /// Returns the host address of a lane's load in the run. If the address is not in the run, a
    /// helper looks for the right run.
    fn host_of_lane(&mut self, lane: &Lane, access: &Access, place: LoadRun, ways: Ways) -> Clif {
        let rest = self.lane_long(lane, place.rest);
        let distance = match place.start {
            Start::Skipped(elements) => int::plus(self.b, rest, -elements),
            Start::Bytes(start) => {
                let start = self.b.use_var(start);
                self.b.ins().iadd(rest, start)
            }
        };
        // Runs begin at page boundaries, so the distance is aligned as the address is.
        if !place.is_aligned
            && let Some(aligned) = self.is_aligned(access.align, distance)
        {
            self.require(aligned, ways.fails);
        }
        let [limit, host] = [place.limit, place.host].map(|variable| self.b.use_var(variable));
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, distance, limit);
        let hit = self.b.create_block();
        let miss = if place.is_sought { ways.fails } else { self.cold_block() };
        self.b.ins().brif(inside, hit, &[], miss, &[]);
        if !place.is_sought {
            self.b.switch_to_block(miss);
            self.look_elsewhere(access, &place, (rest, distance), ways);
        }
        self.b.switch_to_block(hit);
        let bytes = int::shifted_up(self.b, distance, place.number.unwrap_or(0));
        self.b.ins().iadd(host, bytes)
    }

    /// Has a helper look for the run of a lane's load, and begins the round again.
    fn look_elsewhere(
        &mut self,
        access: &Access,
        place: &LoadRun,
        (rest, distance): (Clif, Clif),
        ways: Ways,
    ) {
        let shift = place.number.unwrap_or(0);
        let common = self.kept(place.common);
        let bytes = int::shifted_up(self.b, rest, shift);
        let first = self.b.ins().iadd(common, bytes);
        if let Some(aligned) = self.is_aligned(access.align, first) {
            let go = self.cold_block();
            self.b.ins().brif(aligned, go, &[], ways.fails, &[]);
            self.b.switch_to_block(go);
        }
        let last = self.b.ins().iadd_imm_s(first, i64::from(access.bytes()) - 1);
        let [reached, _] = self.find_run([first, last], (place.run, Rights::READ));
        let found = self.cold_block();
        self.b.ins().brif(reached, found, &[], ways.fails, &[]);
        self.b.switch_to_block(found);
        self.look_up(access, place, common);
        // The origin of the numbers may be in no run, or in another run.
        let limit = self.b.use_var(place.limit);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, distance, limit);
        self.b.ins().brif(inside, ways.again, &[], ways.fails, &[]);
    }

    pub(super) fn zero(&mut self, ty: ClifType) -> Clif {
        match ty {
            types::F32 => self.b.ins().f32const(0.0),
            types::F64 => self.b.ins().f64const(0.0),
            ty => self.b.ins().iconst(ty, 0),
        }
    }
}
