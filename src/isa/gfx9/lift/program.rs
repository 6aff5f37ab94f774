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

/// An address of code, and its mode.
pub type CodePoint = (u64, Mode);

/// A decoded instruction.
#[derive(Clone, Debug)]
pub struct Step {
    /// `None` if there is no instruction.
    pub insn: Option<Instruction>,
    pub flow: Flow,
    /// The scalar registers that the instruction writes, and their known contents afterwards.
    writes: SmallVec<[(u8, Option<Known>); 2]>,
    /// The vector registers that the instruction writes, with the bits if all lanes get one
    /// constant.
    vectors: SmallVec<[(u8, Option<u32>); 2]>,
}

/// A block of guest instructions.
#[derive(Clone, Debug)]
pub struct GuestBlock {
    pub steps: Vec<(u64, Step)>,
    pub mode: Mode,
    pub end: End,
    /// The known contents of scalar registers at the start.
    pub known: KnownScalars,
}

/// The end of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// Control goes on in another block.
    Jump(CodePoint),
    /// The last step's flow ends the block; `next` is the place behind the step.
    Flow { flow: Flow, next: CodePoint },
}

/// All code that has been found.
pub struct Program {
    pub blocks: BTreeMap<CodePoint, GuestBlock>,
    /// The targets of indirect jumps, in the order in which they were found.
    pub indirect: Vec<u64>,
    pub vectors: u32,
    /// Vector registers that hold a constant wherever they are read.
    ///
    /// Only one instruction writes the register, and nothing writes it before. Its content in other
    /// lanes and in earlier code is undefined. Compilers load constants this way in front of a
    /// loop.
    pub constants: FxHashMap<u8, u32>,
}

struct Explorer<'a> {
    code: Found<CodePoint, Step>,
    guest: Guest<'a>,
    /// The number of targets of indirect jumps that have been explored.
    explored: usize,
}

/// The effects of instructions, and the targets found on the way.
struct Guest<'a> {
    kernel: &'a Kernel<'a>,
    /// The targets of indirect jumps, as a set and in the order in which they were found.
    indirect: BTreeSet<u64>,
    found: Vec<u64>,
    trial: Trial,
}

/// A function in which lift functions run to show an instruction's effects.
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
        // Code that is not known yet may write vector registers.
        let constants = if open { FxHashMap::default() } else { constant_vectors(kernel, &blocks) };
        Ok(Program { blocks, indirect, vectors: kernel.vectors, constants })
    }
}

impl Explorer<'_> {
    /// Explores the targets of indirect jumps, and the targets found meanwhile: return addresses.
    fn explore_found(&mut self) {
        while let Some(&pc) = self.guest.found.get(self.explored) {
            self.explored += 1;
            self.explore((pc, self.guest.kernel.mode));
        }
    }

    /// Finds the code that can be reached from a place.
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
            // Where instructions overlap, other instructions may have led to the jump: then its
            // target was not explored.
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
    /// Returns the step at a place, and where control may go from it.
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

    /// Returns where control goes after a step, given the address that is known before it.
    fn flow(&self, step: &Step, mode: Mode, computed: Option<Computed>) -> Flow {
        match Computed::resolve(computed, step.flow) {
            // Code that is reached indirectly is lifted for the entry's mode.
            Flow::Indirect(_) | Flow::Call { .. } | Flow::IndirectCall { .. }
                if mode != self.kernel.mode =>
            {
                Flow::Trap(TrapKind::Unimplemented)
            }
            flow => flow,
        }
    }
}

/// Returns [`Program::constants`].
///
/// If the kernel has no initial vector registers, the user of the code sets its registers, and no
/// register counts as a constant.
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
            // A step at this address in another mode, or in an overlapping block, is the same
            // instruction.
            let again = writers.insert(number, *pc).is_some_and(|before| before != *pc);
            let known = found.entry(number).or_insert(bits);
            *known = known.filter(|_| !again && *known == bits);
        }
    }
    found.into_iter().filter_map(|(number, bits)| Some((number, bits?))).collect()
}

/// Finds the contents of scalar registers at the start of each block that hold on every way to it.
///
/// Any indirect jump may lead to any target of indirect jumps. Code that is not known yet is lifted
/// together with this code when it is found.
fn follow_scalars(guest: &mut Guest<'_>, blocks: &mut BTreeMap<CodePoint, GuestBlock>) {
    let kernel = guest.kernel;
    // The return address of a call starts no block if nothing returns.
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
                // A load depends on the known pointer, and a sum depends on the known operand.
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
    /// Returns whether the block ends with an indirect jump or call.
    pub fn jumps_indirectly(&self) -> bool {
        matches!(self.end, End::Flow { flow: Flow::Indirect(_) | Flow::IndirectCall { .. }, .. })
    }

    /// Returns the successors of the block, without the targets of indirect jumps.
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

/// Returns the instruction at an address.
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

    /// Returns the vector registers that the last run instruction writes, with constants that all
    /// lanes get.
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

    /// Runs an instruction's lift function with the contents `known`, and updates `known`.
    ///
    /// Fails if the instruction has no lift function, or is not supported.
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
