//! Control flow of random Maxwell programs: the lifted warp against a machine that runs each lane
//! by itself.
//!
//! The programs nest branches, loops with BRK and CONT, calls, early returns and exits. Only some
//! lanes take each of them. Predicates and carries stay alive across joins. A lane's own machine
//! needs no mask: it has a stack of (kind, target), and a leave drops the entries above its goal.

use crate::random::Random;
use crate::support::probe::{Probe, assemble};
use crate::support::state::{GLOBAL, Item, LANES, Place, State};

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }
}

/// `@P` or `@!P`; 7 is PT.
type Guard = (u8, bool);
const ALWAYS: Guard = (7, false);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Sync,
    Break,
    Continue,
    Return,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    /// d = a + immediate
    Add(u8, u8, u32),
    /// d = a xor immediate
    Xor(u8, u8, u32),
    /// d = a and immediate
    And(u8, u8, u32),
    /// d = a + b with the carry out to CC; d = a + b + carry, which leaves CC unchanged.
    AddCarry(u8, u8, u8),
    AddExtended(u8, u8, u8),
    /// P = register != immediate; P = register < immediate.
    NotEqual(u8, u8, u32),
    Less(u8, u8, u32),
    Push(Kind, usize),
    Leave(Kind),
    Branch(usize),
    Call(usize),
    Exit,
    Stop,
    /// Load data register n from the lane's memory; store it there.
    Load(u8),
    Store(u8),
}

/// A program with labels for targets.
#[derive(Default)]
struct Program {
    ops: Vec<(Guard, Op)>,
    labels: Vec<usize>,
}

impl Program {
    fn label(&mut self) -> usize {
        self.labels.push(usize::MAX);
        self.labels.len() - 1
    }

    fn place(&mut self, label: usize) {
        self.labels[label] = self.ops.len();
    }

    fn add(&mut self, guard: Guard, op: Op) {
        self.ops.push((guard, op));
    }

    fn words(&self) -> Vec<u64> {
        // Three instructions and a control word in front make a bundle.
        let address = |index: usize| (index / 3 * 4 + index % 3 + 1) as u64 * 8;
        let encode = |(at, &((index, not), op)): (usize, &(Guard, Op))| {
            let guard = u64::from(index) << 16 | u64::from(not) << 19;
            let to = |label: usize| {
                (address(self.labels[label]).wrapping_sub(address(at) + 8) & 0xff_ffff) << 20
            };
            let [regs2, regs3] = [2, 3].map(|n| {
                move |d: u8, a: u8, b: u8| {
                    u64::from(d) | u64::from(a) << 8 | if n == 3 { u64::from(b) << 20 } else { 0 }
                }
            });
            let imm32 = |imm: u32| u64::from(imm) << 20;
            let set = |p: u8, a: u8, imm: u32| {
                u64::from(p) << 3 | 7 | u64::from(a) << 8 | u64::from(imm) << 20
            };
            match op {
                Op::Add(d, a, imm) => 0x1c00_0000_0000_0000 | guard | imm32(imm) | regs2(d, a, 0),
                Op::Xor(d, a, imm) => 0x0440_0000_0000_0000 | guard | imm32(imm) | regs2(d, a, 0),
                Op::And(d, a, imm) => 0x0400_0000_0000_0000 | guard | imm32(imm) | regs2(d, a, 0),
                Op::AddCarry(d, a, b) => 0x5c10_8000_0000_0000 | guard | regs3(d, a, b),
                Op::AddExtended(d, a, b) => 0x5c10_0800_0000_0000 | guard | regs3(d, a, b),
                Op::NotEqual(p, a, imm) => 0x366b_0380_0000_0000 | guard | set(p, a, imm),
                Op::Less(p, a, imm) => 0x3663_0380_0000_0000 | guard | set(p, a, imm),
                Op::Push(Kind::Sync, label) => 0xe290_0000_0000_0000 | to(label),
                Op::Push(Kind::Break, label) => 0xe2a0_0000_0000_0000 | to(label),
                Op::Push(Kind::Continue, label) => 0xe2b0_0000_0000_0000 | to(label),
                Op::Push(Kind::Return, label) => 0xe270_0000_0000_0040 | to(label),
                Op::Leave(Kind::Sync) => 0xf0f8_0000_0000_000f | guard,
                Op::Leave(Kind::Break) => 0xe340_0000_0000_000f | guard,
                Op::Leave(Kind::Continue) => 0xe350_0000_0000_000f | guard,
                Op::Leave(Kind::Return) => 0xe320_0000_0000_000f | guard,
                Op::Branch(label) => 0xe240_0000_0000_000f | guard | to(label),
                Op::Call(label) => 0xe260_0000_0000_0040 | to(label),
                Op::Exit => 0xe300_0000_0000_000f | guard,
                Op::Stop => 0xe250_0000_0007_ff0f,
                Op::Load(n) => {
                    0xeed4_2000_0007_0000
                        | imm32(u32::from(n) * 4)
                        | regs2(DATA_FIRST + n, ADDRESS, 0)
                }
                Op::Store(n) => {
                    0xeedc_2000_0007_0000
                        | imm32(STORED + u32::from(n) * 4)
                        | regs2(DATA_FIRST + n, ADDRESS, 0)
                }
            }
        };
        self.ops.iter().enumerate().map(encode).collect()
    }
}

/// Registers 32 to 39 are data, 8 is scratch, 9 limits recursion, 10 and up count loops, 40 and 41
/// are an address. P0 to P5 are data, P6 scratch.
const DATA_FIRST: u8 = 32;
const DATA: u8 = 8;
const ADDRESS: u8 = 40;
const REGISTERS: usize = 42;
/// The bytes of a lane's memory: data before and after.
const LANE_BYTES: u64 = 64;
const STORED: u32 = 32;
const SCRATCH: u8 = 8;
const RECURSION: u8 = 9;
const COUNTERS: u8 = 10;
const FLAG: u8 = 6;

struct Generator {
    random: Random,
    program: Program,
    functions: Vec<usize>,
    budget: u32,
}

/// The operations that are allowed at a place.
#[derive(Clone, Copy)]
struct Scope {
    /// The number of loops around the place in its function, and the first free counter.
    loops: u8,
    counter: u8,
    /// The place is in the body of a loop with a PCNT.
    can_continue: bool,
    function: bool,
    depth: u32,
}

impl Generator {
    fn data(&mut self) -> u8 {
        DATA_FIRST + self.random.below(DATA.into()) as u8
    }

    /// Returns a condition that differs between lanes, mostly on data kept in P0 to P5.
    fn condition(&mut self) -> Guard {
        let not = self.random.below(2) == 0;
        match self.random.below(3) {
            0 => {
                let (reg, bit) = (self.data(), 1 << self.random.below(10));
                self.program.add(ALWAYS, Op::And(SCRATCH, reg, bit));
                self.program.add(ALWAYS, Op::NotEqual(FLAG, SCRATCH, 0));
                (FLAG, not)
            }
            _ => (self.random.below(6) as u8, not),
        }
    }

    fn guard(&mut self) -> Guard {
        if self.random.below(3) == 0 {
            (self.random.below(6) as u8, self.random.below(2) == 0)
        } else {
            ALWAYS
        }
    }

    fn simple(&mut self) {
        let (guard, d, a, b) = (self.guard(), self.data(), self.data(), self.data());
        let imm = self.random.below(1 << 12) as u32;
        let p = self.random.below(6) as u8;
        let op = match self.random.below(8) {
            0 | 1 => Op::Add(d, a, imm | 0x8000_0000),
            2 => Op::Xor(d, a, imm),
            3 => Op::AddCarry(d, a, b),
            4 => Op::AddExtended(d, a, b),
            5 => Op::Less(p, a, imm),
            _ => {
                self.program.add(ALWAYS, Op::And(SCRATCH, a, 1 << (imm % 12)));
                Op::NotEqual(p, SCRATCH, 0)
            }
        };
        self.program.add(guard, op);
    }

    fn block(&mut self, scope: Scope) {
        for _ in 0..1 + self.random.below(4) {
            if self.budget == 0 || scope.depth > 5 {
                return self.simple();
            }
            self.budget -= 1;
            let inner = Scope { depth: scope.depth + 1, ..scope };
            match self.random.below(16) {
                0 | 1 => self.branch(inner, true),
                2 => self.branch(inner, false),
                3 | 4 => self.looping(inner),
                14 | 15 => self.region(inner),
                5 if !self.functions.is_empty() => {
                    let function = self.random.below(self.functions.len() as u64) as usize;
                    // A callee may not continue or break a loop of its caller, and these callees do
                    // not.
                    self.program.add(ALWAYS, Op::Call(self.functions[function]));
                }
                6 if scope.loops > 0 => self.leave(Kind::Break),
                7 if scope.can_continue => self.leave(Kind::Continue),
                8 if scope.function => self.leave(Kind::Return),
                9 if self.random.below(6) == 0 => {
                    let guard = self.condition();
                    self.program.add(guard, Op::Exit);
                }
                _ => self.simple(),
            }
        }
    }

    /// Emits a leave of some lanes: a guarded leave, or a branch over a leave.
    fn leave(&mut self, kind: Kind) {
        let (index, not) = self.condition();
        match self.random.below(3) {
            0 => self.program.add((index, not), Op::Leave(kind)),
            _ => {
                let stay = self.program.label();
                self.program.add((index, !not), Op::Branch(stay));
                self.program.add(ALWAYS, Op::Leave(kind));
                self.program.place(stay);
            }
        }
    }

    fn branch(&mut self, scope: Scope, both: bool) {
        let [other, join] = [(); 2].map(|()| self.program.label());
        self.program.add(ALWAYS, Op::Push(Kind::Sync, join));
        let guard = self.condition();
        if both {
            self.program.add(guard, Op::Branch(other));
            self.block(scope);
            self.program.add(ALWAYS, Op::Leave(Kind::Sync));
            self.program.place(other);
        } else {
            self.program.add(guard, Op::Leave(Kind::Sync));
            self.program.place(other);
        }
        self.block(scope);
        self.program.add(ALWAYS, Op::Leave(Kind::Sync));
        self.program.place(join);
    }

    /// Emits a region that BRK leaves without a loop, as compilers emit subroutines. The block that
    /// pushes the region's end also makes the region's first push.
    fn region(&mut self, scope: Scope) {
        let end = self.program.label();
        self.program.add(ALWAYS, Op::Push(Kind::Break, end));
        self.branch(Scope { loops: scope.loops + 1, ..scope }, true);
        self.block(Scope { loops: scope.loops + 1, ..scope });
        self.program.add(ALWAYS, Op::Leave(Kind::Break));
        self.program.place(end);
    }

    /// Emits a loop of up to four rounds; the number of rounds differs between lanes.
    fn looping(&mut self, scope: Scope) {
        let [top, next, end] = [(); 3].map(|()| self.program.label());
        let (counter, reg) = (scope.counter, self.data());
        let can_continue = self.random.below(2) == 0;
        self.program.add(ALWAYS, Op::And(counter, reg, 3));
        self.program.add(ALWAYS, Op::Push(Kind::Break, end));
        self.program.place(top);
        if can_continue {
            self.program.add(ALWAYS, Op::Push(Kind::Continue, next));
        }
        self.block(Scope { loops: scope.loops + 1, counter: counter + 1, can_continue, ..scope });
        if can_continue {
            self.program.add(ALWAYS, Op::Leave(Kind::Continue));
        }
        self.program.place(next);
        self.program.add(ALWAYS, Op::Add(counter, counter, u32::MAX));
        self.program.add(ALWAYS, Op::Less(FLAG, counter, 0));
        if self.random.below(2) == 0 {
            self.program.add((FLAG, true), Op::Branch(top));
            self.program.add(ALWAYS, Op::Leave(Kind::Break));
        } else {
            self.program.add((FLAG, false), Op::Leave(Kind::Break));
            self.program.add(ALWAYS, Op::Branch(top));
        }
        self.program.place(end);
    }

    /// Generates a program.
    ///
    /// A closed program ends with stores of its data, so that all other state may be dead; more
    /// state is dead if it calls nothing. An open program ends with all state visible to the test.
    fn program(seed: u64, closed: bool) -> Program {
        let program = Program::default();
        let mut this =
            Generator { random: Random(seed), program, functions: Vec::new(), budget: 40 };
        let functions = if closed && seed.is_multiple_of(4) { 0 } else { 3 };
        this.functions = (0..functions).map(|_| this.program.label()).collect();
        if closed {
            (0..DATA).for_each(|n| this.program.add(ALWAYS, Op::Load(n)));
        }
        let scope =
            Scope { loops: 0, counter: COUNTERS, can_continue: false, function: false, depth: 0 };
        for _ in 0..3 {
            this.block(scope);
        }
        if closed {
            (0..DATA).for_each(|n| this.program.add(ALWAYS, Op::Store(n)));
            this.program.add(ALWAYS, Op::Exit);
        } else {
            this.program.add(ALWAYS, Op::Stop);
        }
        for function in this.functions.clone() {
            this.program.place(function);
            // A call at too great a depth returns at once. The callee uses other loop counters than
            // the caller.
            this.program.add(ALWAYS, Op::Add(RECURSION, RECURSION, 1));
            this.program.add(ALWAYS, Op::Less(FLAG, RECURSION, 5));
            this.program.add((FLAG, true), Op::Leave(Kind::Return));
            this.budget = this.budget.max(6);
            this.block(Scope {
                loops: 0,
                counter: COUNTERS + 8,
                function: true,
                depth: 2,
                can_continue: false,
            });
            this.program.add(ALWAYS, Op::Leave(Kind::Return));
        }
        this.program
    }
}

#[derive(Clone)]
struct Lane {
    regs: [u32; REGISTERS],
    memory: [u32; 16],
    preds: [bool; 7],
    /// Z, S, C, O.
    cc: [bool; 4],
    exited: bool,
}

const STEPS: usize = 100_000;

impl Lane {
    fn new() -> Lane {
        Lane {
            regs: [0; REGISTERS],
            memory: [0; 16],
            preds: [false; 7],
            cc: [false; 4],
            exited: false,
        }
    }
}

/// Runs one lane. Returns false if the lane takes too many steps.
fn run_lane(program: &Program, lane: &mut Lane) -> bool {
    let (mut at, mut stack) = (0, Vec::<(Kind, usize)>::new());
    for _ in 0..STEPS {
        let ((index, not), op) = program.ops[at];
        let holds = (index == 7 || lane.preds[index as usize]) != not;
        at += 1;
        if !holds {
            continue;
        }
        let reg = |lane: &Lane, n: u8| lane.regs[n as usize];
        match op {
            Op::Add(d, a, imm) => lane.regs[d as usize] = reg(lane, a).wrapping_add(imm),
            Op::Xor(d, a, imm) => lane.regs[d as usize] = reg(lane, a) ^ imm,
            Op::And(d, a, imm) => lane.regs[d as usize] = reg(lane, a) & imm,
            Op::AddCarry(d, a, b) => {
                let (a, b) = (reg(lane, a), reg(lane, b));
                let (sum, carry) = a.overflowing_add(b);
                let overflow = (a as i32).checked_add(b as i32).is_none();
                lane.cc = [sum == 0, (sum as i32) < 0, carry, overflow];
                lane.regs[d as usize] = sum;
            }
            Op::AddExtended(d, a, b) => {
                lane.regs[d as usize] =
                    reg(lane, a).wrapping_add(reg(lane, b)).wrapping_add(lane.cc[2].into());
            }
            Op::NotEqual(p, a, imm) => lane.preds[p as usize] = reg(lane, a) != imm,
            Op::Less(p, a, imm) => lane.preds[p as usize] = (reg(lane, a) as i32) < imm as i32,
            Op::Push(kind, label) => stack.push((kind, program.labels[label])),
            Op::Call(label) => {
                stack.push((Kind::Return, at));
                at = program.labels[label];
            }
            Op::Leave(kind) => loop {
                match stack.pop() {
                    Some((found, target)) if found == kind => {
                        at = target;
                        break;
                    }
                    Some(_) => {}
                    None => panic!("a leave without a goal"),
                }
            },
            Op::Branch(label) => at = program.labels[label],
            Op::Exit => {
                lane.exited = true;
                return true;
            }
            Op::Stop => return true,
            Op::Load(n) => lane.regs[usize::from(DATA_FIRST + n)] = lane.memory[usize::from(n)],
            Op::Store(n) => lane.memory[usize::from(DATA + n)] = reg(lane, DATA_FIRST + n),
        }
    }
    false
}

/// Returns the words of all lanes in global memory.
fn memory(lanes: &[Lane]) -> impl Iterator<Item = Item> {
    lanes.iter().enumerate().flat_map(|(lane, state)| {
        let place = move |n: usize| Place::Global(lane as u64 * LANE_BYTES + 4 * n as u64);
        state.memory.iter().enumerate().map(move |(n, &word)| item(place(n), |_| word))
    })
}

fn item(place: Place, lanes: impl Fn(usize) -> u32) -> Item {
    Item { place, lanes: std::array::from_fn(lanes) }
}

#[test]
fn random_programs_run_as_their_lanes_do() {
    let seeds = crate::variable::variable("WARPLOOM_SEEDS").unwrap_or(100);
    let mut ran = 0;
    for seed in 0..seeds {
        let closed = seed.is_multiple_of(2);
        let program = Generator::program(seed, closed);
        let mut random = Random(seed ^ 0x5555);
        let mut before = State::default();
        let mut lanes = vec![Lane::new(); LANES];
        for n in 0..DATA {
            let values: Vec<u32> = (0..LANES).map(|_| random.below(1 << 32) as u32).collect();
            for (lane, &value) in lanes.iter_mut().zip(&values) {
                lane.memory[usize::from(n)] = value;
                if !closed {
                    lane.regs[usize::from(DATA_FIRST + n)] = value;
                }
            }
            if !closed {
                before.items.push(item(Place::Reg((DATA_FIRST + n).into()), |lane| values[lane]));
            }
        }
        for (lane, state) in lanes.iter_mut().enumerate() {
            let address = GLOBAL + lane as u64 * LANE_BYTES;
            (state.regs[usize::from(ADDRESS)], state.regs[usize::from(ADDRESS) + 1]) =
                (address as u32, (address >> 32) as u32);
        }
        for half in [0, 1] {
            let reg = u32::from(ADDRESS) + half;
            before.items.push(item(Place::Reg(reg), |lane| lanes[lane].regs[reg as usize]));
        }
        before.items.extend(memory(&lanes));
        // Some programs begin with predicates set.
        for pred in (0..6).filter(|_| !closed) {
            let bits = random.below(1 << 32);
            lanes
                .iter_mut()
                .enumerate()
                .for_each(|(i, lane)| lane.preds[pred as usize] = bits >> i & 1 != 0);
            before.items.push(item(Place::Pred(pred), |lane| (bits >> lane & 1) as u32));
        }
        if !lanes.iter_mut().all(|lane| run_lane(&program, lane)) {
            continue;
        }
        ran += 1;
        let mut after = State { items: memory(&lanes).collect(), fault: None };
        // In a closed program, all state that is not stored is dead.
        for reg in (0..REGISTERS as u32).filter(|_| !closed) {
            after.items.push(item(Place::Reg(reg), |lane| lanes[lane].regs[reg as usize]));
        }
        let stopped =
            lanes.iter().fold(0, |mask, lane| mask << 1 | u32::from(!lane.exited)).reverse_bits();
        for pred in (0..7).filter(|_| !closed) {
            after
                .items
                .push(item(Place::Pred(pred), |lane| lanes[lane].preds[pred as usize].into()));
        }
        for bit in (0..4).filter(|_| !closed) {
            after.items.push(item(Place::Cc(bit), |lane| lanes[lane].cc[bit as usize].into()));
        }
        let (code, named) = (assemble(&program.words()), before.places().chain(after.places()));
        let probe = if closed { Probe::of_named(&code, named) } else { Probe::new(&code, named) };
        for (engine, left) in probe.run(&before, LANES as u32) {
            // The flags of lanes that have ended are invisible.
            let differences = left.compare_where(&before, &after, LANES as u32, stopped.into());
            assert!(
                differences.is_empty(),
                "seed {seed} ({engine}): {differences:#?}\n{}",
                program
                    .ops
                    .iter()
                    .enumerate()
                    .map(|(i, op)| format!("{i}: {op:?}\n"))
                    .collect::<String>()
            );
        }
    }
    assert!(ran > seeds / 2, "only {ran} of {seeds} programs end");
}
