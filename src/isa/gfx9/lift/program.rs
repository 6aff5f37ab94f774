//! Discovery: which instructions can run in which modes, and where blocks begin and end.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use warploom_guest::LiftError;
use warploom_guest::discover::{Cut, Found, Ways};
use warploom_ir::{BlockId, FunctionBuilder, Op, TrapKind, Value};

use super::computed::Computed;
use super::context::{Banks, Cx};
use super::flow::{Flow, Lifted, Unsupported};
use super::known::{Known, KnownScalars};
use super::mode::Mode;
use super::{Kernel, NAN, WARP_LANES, support};
use crate::{Encoding, Instruction};

/// Code at an address in a mode.
pub type CodePoint = (u64, Mode);

/// A decoded instruction.
#[derive(Clone, Debug)]
pub struct Step {
    /// None: there is no instruction.
    pub insn: Option<Instruction>,
    pub flow: Flow,
    /// The scalar registers that it writes, and what they are known to hold then.
    writes: SmallVec<[(u8, Option<Known>); 2]>,
    /// The vector registers that it writes; with the bits, if those of all lanes are a constant.
    vectors: SmallVec<[(u8, Option<u32>); 2]>,
}

/// A block of guest instructions.
#[derive(Clone, Debug)]
pub struct GuestBlock {
    pub steps: Vec<(u64, Step)>,
    pub mode: Mode,
    pub end: End,
    /// What scalar registers hold at the start.
    pub known: KnownScalars,
}

/// What ends a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// Goes on in another block.
    Jump(CodePoint),
    /// The last step's flow does; `next` is the place behind it.
    Flow { flow: Flow, next: CodePoint },
}

/// All code that has been found.
pub struct Program {
    pub blocks: BTreeMap<CodePoint, GuestBlock>,
    /// Where indirect jumps lead, in order.
    pub indirect: Vec<u64>,
    pub vectors: u32,
    /// Vector registers that hold a constant wherever they are read: one instruction writes them, and nothing does before. What other lanes and
    /// earlier code find in them is undefined. Compilers load such constants in front of a loop.
    pub constants: FxHashMap<u8, u32>,
}

struct Explorer<'a> {
    code: Found<CodePoint, Step>,
    guest: Guest<'a>,
    /// How many of the places that indirect jumps may lead to have been explored.
    explored: usize,
}

/// What instructions do, and what is found on the way.
struct Guest<'a> {
    kernel: &'a Kernel<'a>,
    /// Where indirect jumps may lead, and the same in the order in which that was found.
    indirect: BTreeSet<u64>,
    found: Vec<u64>,
    trial: Trial,
}

/// Where lift functions are run to see what an instruction does.
struct Trial {
    function: FunctionBuilder,
    banks: Banks,
    block: BlockId,
}

impl Program {
    pub fn new(kernel: &Kernel<'_>) -> Result<Program, LiftError> {
        let no_entry = || LiftError::NoEntry {
            kernel: kernel.name.into(),
            entry: kernel.entry,
            len: kernel.code.len(),
        };
        decode(kernel, kernel.entry).ok_or_else(no_entry)?;
        let guest =
            Guest { kernel, indirect: BTreeSet::new(), found: Vec::new(), trial: Trial::new() };
        let mut explorer = Explorer { code: Found::default(), guest, explored: 0 };
        explorer.explore((kernel.entry, kernel.mode));
        let mut blocks = explorer.cut();
        let open = blocks.values().any(GuestBlock::jumps_indirectly);
        if open {
            explorer.explore_found();
            for &pc in kernel.indirect_targets.iter().chain(kernel.discovered) {
                explorer.guest.may_jump_to(pc);
                explorer.explore_found();
            }
            blocks = explorer.cut();
        }
        follow_scalars(&mut explorer.guest, &mut blocks);
        let indirect = if open { explorer.guest.found } else { vec![] };
        // Code that is not known yet may write them.
        let constants = if open { FxHashMap::default() } else { constant_vectors(kernel, &blocks) };
        Ok(Program { blocks, indirect, vectors: kernel.vectors, constants })
    }
}

impl Explorer<'_> {
    /// Explores from where indirect jumps may lead, also from what is found then: where calls return to.
    fn explore_found(&mut self) {
        while let Some(&pc) = self.guest.found.get(self.explored) {
            self.explored += 1;
            self.explore((pc, self.guest.kernel.mode));
        }
    }

    /// Finds what can be reached from a place.
    fn explore(&mut self, start: CodePoint) {
        let Explorer { code, guest, .. } = self;
        code.explore(start, |place, computed| guest.visit(place, computed));
    }

    fn cut(&self) -> BTreeMap<CodePoint, GuestBlock> {
        let mut blocks = BTreeMap::new();
        self.code.cut_blocks(&mut blocks, |start| self.block(start));
        blocks
    }

    fn block(&self, start: CodePoint) -> (GuestBlock, Option<CodePoint>) {
        let mode = start.1;
        let mut block = GuestBlock {
            steps: Vec::new(),
            mode,
            end: End::Jump(start),
            known: KnownScalars::NOTHING,
        };
        let mut computed = None;
        let before = self.code.follow(start, |(pc, mode), step| {
            block.steps.push((pc, step.clone()));
            // Where instructions overlap, the jump may have been explored from others: its target was not.
            let explored =
                computed.filter(|known: &Computed| self.code.is_leader((known.address, mode)));
            let (flow, next) = (self.guest.flow(step, mode, explored), step.next(pc));
            computed = step.computed(pc, computed);
            match flow {
                Flow::Next => return Cut::GoesOn((next, mode)),
                Flow::SetMode(mode) => block.end = End::Jump((next, mode)),
                flow => block.end = End::Flow { flow, next: (next, mode) },
            }
            Cut::Ends
        });
        if let Some(place) = before {
            block.end = End::Jump(place);
        }
        (block, before)
    }
}

impl Guest<'_> {
    /// What is at a place, and where control may go from it.
    fn visit(
        &mut self,
        (pc, mode): CodePoint,
        computed: Option<Computed>,
    ) -> (Step, Ways<CodePoint, Option<Computed>>) {
        let step = self.step(pc, mode);
        let (flow, next) = (self.flow(&step, mode, computed), step.next(pc));
        let mut ways = Ways { next: None, leaders: SmallVec::new() };
        match flow {
            Flow::Next => ways.next = Some(((next, mode), step.computed(pc, computed))),
            Flow::Jump(target) => ways.leaders.push((target, mode)),
            Flow::Branch { target, .. } => ways.leaders.extend([(target, mode), (next, mode)]),
            Flow::Barrier => ways.leaders.push((next, mode)),
            Flow::SetMode(mode) => ways.leaders.push((next, mode)),
            Flow::Call { target, .. } => {
                self.may_jump_to(next);
                ways.leaders.push((target, mode));
            }
            Flow::IndirectCall { .. } => self.may_jump_to(next),
            Flow::Indirect(_) | Flow::Exit | Flow::Trap(_) => {}
        }
        (step, ways)
    }

    fn may_jump_to(&mut self, pc: u64) {
        if self.indirect.insert(pc) {
            self.found.push(pc);
        }
    }

    fn step(&mut self, pc: u64, mode: Mode) -> Step {
        let Some(insn) = decode(self.kernel, pc) else {
            let flow = Flow::Trap(TrapKind::IllegalInstruction);
            return Step { insn: None, flow, writes: smallvec![], vectors: smallvec![] };
        };
        let flow = Flow::Trap(TrapKind::Unimplemented);
        let trap = Step { insn: Some(insn), flow, writes: smallvec![], vectors: smallvec![] };
        let mut known = KnownScalars::untouched();
        match self.trial.run(self.kernel, &insn, pc, mode, &mut known) {
            Ok(flow) => {
                let (writes, vectors) = (known.touched().collect(), self.trial.written_vectors());
                Step { insn: Some(insn), flow, writes, vectors }
            }
            Err(_) => trap,
        }
    }

    /// Where control goes after a step, given what is known before it.
    fn flow(&self, step: &Step, mode: Mode, computed: Option<Computed>) -> Flow {
        match Computed::resolve(computed, step.flow) {
            // Code that is reached indirectly is lifted for the mode of the entry.
            Flow::Indirect(_) | Flow::Call { .. } | Flow::IndirectCall { .. }
                if mode != self.kernel.mode =>
            {
                Flow::Trap(TrapKind::Unimplemented)
            }
            flow => flow,
        }
    }
}

/// As [`Program::constants`] says. Code that is given without what a wave begins with has its registers from whoever runs it.
fn constant_vectors(
    kernel: &Kernel<'_>,
    blocks: &BTreeMap<CodePoint, GuestBlock>,
) -> FxHashMap<u8, u32> {
    if kernel.initial.vectors.is_empty() {
        return FxHashMap::default();
    }
    let mut found: FxHashMap<u8, Option<u32>> = FxHashMap::default();
    let mut writers: FxHashMap<u8, u64> = FxHashMap::default();
    for &(number, _) in &kernel.initial.vectors {
        found.insert(number, None);
    }
    for (pc, step) in blocks.values().flat_map(|block| &block.steps) {
        for &(number, bits) in &step.vectors {
            // In another mode, or in a block that overlaps, it is the same instruction.
            let again = writers.insert(number, *pc).is_some_and(|before| before != *pc);
            let known = found.entry(number).or_insert(bits);
            *known = known.filter(|_| !again && *known == bits);
        }
    }
    found.into_iter().filter_map(|(number, bits)| Some((number, bits?))).collect()
}

/// Finds out what scalar registers hold at the start of each block, whichever way control has come. An indirect jump may lead to
/// all that any of them may lead to: code that is not known yet is lifted together with this when it is found.
fn follow_scalars(guest: &mut Guest<'_>, blocks: &mut BTreeMap<CodePoint, GuestBlock>) {
    let kernel = guest.kernel;
    // Where a call would return to is no block if nothing returns.
    let places = guest
        .indirect
        .iter()
        .map(|&pc| (pc, kernel.mode))
        .filter(|place| blocks.contains_key(place));
    let indirect: Vec<CodePoint> = places.collect();
    let entry = (kernel.entry, kernel.mode);
    let mut known = BTreeMap::from([(entry, KnownScalars::at_start(&kernel.initial))]);
    let mut work: Vec<CodePoint> = vec![entry];
    while let Some(place) = work.pop() {
        let (block, mut left) = (&blocks[&place], known[&place].clone());
        for (pc, step) in &block.steps {
            match &step.insn {
                // What is loaded depends on what the pointer is known to be, and a sum on what is added to.
                Some(insn)
                    if insn.encoding() == Encoding::Smem || insn.row().mnemonic == "s_addc_u32" =>
                {
                    let _ = guest.trial.run(kernel, insn, *pc, block.mode, &mut left);
                }
                _ => step.writes.iter().for_each(|&(number, known)| left.set(number, known)),
            }
        }
        let anywhere = if block.jumps_indirectly() { &indirect[..] } else { &[] };
        for to in block.successors().chain(anywhere.iter().copied()) {
            let less = match known.get_mut(&to) {
                Some(before) => before.meet(&left),
                None => {
                    known.insert(to, left.clone());
                    true
                }
            };
            if less {
                work.push(to);
            }
        }
    }
    for (place, known) in known {
        if let Some(block) = blocks.get_mut(&place) {
            block.known = known;
        }
    }
}

impl GuestBlock {
    /// Whether it ends with a jump to anywhere.
    pub fn jumps_indirectly(&self) -> bool {
        matches!(self.end, End::Flow { flow: Flow::Indirect(_) | Flow::IndirectCall { .. }, .. })
    }

    /// Where it leads to, indirect jumps aside.
    pub fn successors(&self) -> impl Iterator<Item = CodePoint> + use<> {
        let (one, other) = match self.end {
            End::Jump(place) => (Some(place), None),
            End::Flow { flow, next } => match flow {
                Flow::Jump(target) | Flow::Call { target, .. } => (Some((target, self.mode)), None),
                Flow::Branch { target, .. } => (Some((target, self.mode)), Some(next)),
                Flow::Barrier | Flow::Next | Flow::SetMode(_) => (Some(next), None),
                Flow::Indirect(_) | Flow::IndirectCall { .. } | Flow::Exit | Flow::Trap(_) => {
                    (None, None)
                }
            },
        };
        one.into_iter().chain(other)
    }
}

impl Step {
    fn next(&self, pc: u64) -> u64 {
        pc.wrapping_add(self.insn.map_or(4, |insn| insn.bytes()).into())
    }

    fn computed(&self, pc: u64, before: Option<Computed>) -> Option<Computed> {
        Computed::after(
            before,
            &self.insn?,
            self.next(pc),
            self.writes.iter().map(|&(number, _)| number),
        )
    }
}

/// The instruction at an address.
pub fn decode(kernel: &Kernel<'_>, pc: u64) -> Option<Instruction> {
    let at = usize::try_from(pc.checked_sub(kernel.base)?).ok()?;
    pc.is_multiple_of(4).then(|| crate::decode(kernel.chip, kernel.code.get(at..)?)).flatten()
}

impl Trial {
    fn new() -> Trial {
        let mut function = FunctionBuilder::new("", WARP_LANES, NAN);
        let banks = Banks::declare(&mut function, 256);
        let block = function.new_block(0);
        Trial { function, banks, block }
    }

    /// The vector registers that the instruction writes that was run last, with constants that all lanes get.
    fn written_vectors(&self) -> SmallVec<[(u8, Option<u32>); 2]> {
        let block = self.function.function().block(self.block);
        let constant = |value: Value| {
            let made = |value: Value| {
                block.insts.iter().find(|inst| inst.results.contains(&value)).map(|inst| &inst.op)
            };
            let value = match made(value) {
                Some(&Op::Splat { a }) => a,
                _ => value,
            };
            match made(value) {
                Some(&Op::Const { bits, .. }) => Some(bits as u32),
                _ => None,
            }
        };
        let mut written = SmallVec::new();
        for inst in &block.insts {
            match inst.op {
                Op::RfWrite { reg, value, guard: None, .. } if reg.bank == self.banks.vectors => {
                    written.push((reg.index as u8, constant(value)));
                }
                Op::RfWrite { reg, .. } if reg.bank == self.banks.vectors => {
                    written.push((reg.index as u8, None))
                }
                Op::RfScatter { bank, .. } if bank == self.banks.vectors => {
                    written.extend((0..=u8::MAX).map(|number| (number, None)));
                }
                _ => {}
            }
        }
        written
    }

    /// Runs an instruction's lift function, if it has one, where this is known, and leaves what is known then.
    fn run(
        &mut self,
        kernel: &Kernel<'_>,
        insn: &Instruction,
        pc: u64,
        mode: Mode,
        known: &mut KnownScalars,
    ) -> Lifted {
        let lift = insn.row().lift.ok_or(Unsupported)?;
        support::check(insn)?;
        self.function.clear(self.block);
        let mut cx = Cx::new(self.function.at(self.block), self.banks, kernel.vectors, mode);
        cx.known = known.clone();
        (cx.constants, cx.words, cx.objects) =
            (&kernel.initial.constants, &kernel.initial.words, kernel.objects);
        cx.data_share = kernel.initial.data_share;
        cx.shader = kernel.initial.shader.as_ref();
        cx.start(insn, pc);
        let flow = lift(&mut cx, insn)?;
        if let Flow::Call { link, .. } | Flow::IndirectCall { link, .. } = flow {
            let back = cx.long(cx.next);
            cx.set_scalar_pair(link, back);
        }
        *known = cx.known;
        Ok(flow)
    }
}
