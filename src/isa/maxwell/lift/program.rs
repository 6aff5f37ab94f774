//! Discovery of code: which instructions can run, and where blocks begin and end.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use warploom_guest::discover::{Cut, Found, Ways};
use warploom_guest::header::Header;
use warploom_ir::{BlockId, FunctionBuilder, Service, TrapKind};

use super::context::{Banks, Cx, KnownImages, Usage};
use super::flow::{Active, Flow, Leave, Unsupported, Wait};
use super::shader::{self, Permit, permit};
use super::{Kernel, NAN, WARP_LANES, cc, declare_scratch};
use crate::field::{CcTest, Field};
use crate::{Instruction, Opcode, WORD_BYTES, code, past_control};
use warploom_sass::lift::Flags;
use warploom_sass::lift::service;

/// The most instructions that are searched for a leave behind a branch.
const MAX_LOOKAHEAD: usize = 8;

/// The lanes of an instruction, as far as its word determines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Always,
    Never,
    /// The lanes that the guard and the CC test choose.
    Lanes,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The instruction. None: the word is illegal, or there is no word, as in a stand-in.
    pub insn: Option<Instruction>,
    pub when: When,
    /// The CC test besides the guard.
    pub test: Option<CcTest>,
    /// The flow of control. Values in it are meaningless.
    pub flow: Flow,
    pub usage: Usage,
}

/// The effect of a step in the middle of its block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// No effect: the guard is `!PT`, or only the cost of the block includes the step.
    Nothing,
    Plain,
    Push(Wait, u64),
    Activate(Active),
    Kill,
    /// The lanes of the condition leave; the remaining lanes go on.
    Leave(Leave),
}

/// The end of a block. `pc` is the instruction that ends it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// Goes on in another block.
    Jump(u64),
    /// All lanes leave.
    Leave(Leave),
    /// The lanes of the condition go on at `target`, the remaining lanes leave: a conditional
    /// branch over a leave.
    KeepOn { pc: u64, target: u64, leave: Leave },
    /// The lanes of the condition go to `target`, the remaining lanes to `next`.
    Split { pc: u64, target: u64, next: u64 },
    /// The lanes of the condition follow the flow of the instruction, the remaining lanes go to
    /// `next`.
    Do { pc: u64, next: u64 },
}

/// A block of guest instructions.
#[derive(Clone, Debug)]
pub struct GuestBlock {
    pub steps: Vec<(u64, Action)>,
    pub end: End,
    /// The number of guest instructions that the block counts.
    pub cost: u32,
    /// Lanes may leave within the block, so that the active mask may be empty at its end.
    pub may_be_empty: bool,
}

/// The code found so far.
pub struct Program<'a> {
    code: &'a [u8],
    pub images: KnownImages<'a>,
    pub constants: &'a [u8],
    pub driver_words: bool,
    shader: Option<&'a shader::Program>,
    /// Known targets of indirect jumps.
    indirect_targets: BTreeSet<u64>,
    /// The actions of stand-ins for functions that the host provides; a stand-in's last action
    /// returns.
    stand_ins: FxHashMap<u64, Flow>,
    found: Found<u64, Step>,
    pub blocks: BTreeMap<u64, GuestBlock>,
    /// Where lanes that wait for an entry of a kind go on.
    pub push_targets: [BTreeSet<u64>; Wait::ALL.len()],
    /// Targets of jumps.
    pub jump_targets: BTreeSet<u64>,
    trial: Trial,
}

/// The function in which lift functions run to find the effects of instructions.
struct Trial {
    function: FunctionBuilder,
    banks: Banks,
    block: BlockId,
}

/// Returns the address of the instruction behind `pc`.
pub fn next_pc(pc: u64) -> u64 {
    past_control(pc.wrapping_add(WORD_BYTES))
}

impl<'a> Program<'a> {
    pub fn new(kernel: &Kernel<'a>) -> Self {
        let stand_in = |&(pc, service): &(u64, Service)| {
            let pc = past_control(pc);
            [(pc, Flow::Service(service)), (next_pc(pc), Flow::Leave(Leave::To(Wait::Return)))]
        };
        Program {
            code: kernel.code,
            images: kernel.images,
            constants: kernel.constants,
            driver_words: kernel.driver_words,
            shader: kernel.shader,
            indirect_targets: kernel.indirect_targets.iter().map(|&pc| past_control(pc)).collect(),
            stand_ins: kernel.services.iter().flat_map(stand_in).collect(),
            found: Found::default(),
            blocks: BTreeMap::new(),
            push_targets: Default::default(),
            jump_targets: BTreeSet::new(),
            trial: Trial::new(kernel.shader),
        }
    }

    /// Finds the code that `entry` can reach. Existing blocks keep their extent.
    pub fn explore(&mut self, entry: u64) {
        let Program { code, shader, stand_ins, trial, found, indirect_targets, .. } = self;
        let (push_targets, jump_targets) = (&mut self.push_targets, &mut self.jump_targets);
        found.explore(entry, |pc, ()| {
            let step = match stand_ins.get(&pc) {
                Some(&flow) => stand_in_step(flow),
                None => decode(code, pc, *shader, trial),
            };
            match step.flow {
                _ if step.when == When::Never => {}
                Flow::Branch(target) => {
                    jump_targets.insert(target);
                }
                Flow::Push(wait, target) => {
                    push_targets[wait as usize].insert(target);
                }
                Flow::Call(target) => {
                    push_targets[Wait::Return as usize].insert(next_pc(pc));
                    jump_targets.insert(target);
                }
                _ => {}
            }
            (step, step.ways(pc, indirect_targets))
        });
        self.cut_blocks();
    }

    pub fn step(&self, pc: u64) -> &Step {
        self.found.step(pc).expect("code that was found")
    }

    /// Returns the targets of indirect jumps that are known before the launch, in order.
    pub fn indirect_targets(&self) -> impl Iterator<Item = u64> {
        self.indirect_targets.iter().copied()
    }

    /// Returns the first instruction that reads an input that the launch lacks, with a description
    /// of the problem.
    pub fn missing(&self) -> Option<(u64, Instruction, &'static str)> {
        let shader = self.shader?;
        let steps = self.blocks.values().flat_map(|block| &block.steps);
        let executed = steps.filter(|(_, action)| *action == Action::Plain);
        executed.into_iter().find_map(|&(pc, _)| {
            let insn = self.step(pc).insn?;
            Some((pc, insn, shader.missing(&insn)?))
        })
    }

    pub fn has(&self, what: impl Fn(&Flow) -> bool) -> bool {
        self.found.steps().any(|step| step.when != When::Never && what(&step.flow))
    }

    pub fn has_indirect(&self) -> bool {
        self.has(|flow| matches!(flow, Flow::Indirect(_)))
    }

    /// Whether anything puts entries on the divergence stack.
    pub fn pushes(&self) -> bool {
        self.has(|flow| matches!(flow, Flow::Push(..) | Flow::Call(_) | Flow::Indirect(_)))
            || self.blocks.values().any(|block| matches!(block.end, End::Split { .. }))
    }

    /// Returns the number of instructions that push, without branches.
    pub fn entries(&self) -> u32 {
        self.found
            .steps()
            .filter(|step| matches!(step.flow, Flow::Push(..) | Flow::Call(_)))
            .count() as u32
    }

    /// Returns the number of registers used: registers 0 to this, exclusive; at least one.
    pub fn registers(&self) -> u32 {
        self.found.steps().map(|step| step.usage.registers).max().unwrap_or(0).max(1)
    }

    /// Whether anything goes to this address.
    pub fn is_target(&self, pc: u64) -> bool {
        self.jump_targets.contains(&pc)
            || self.push_targets.iter().any(|targets| targets.contains(&pc))
    }

    /// Whether a function may call itself, directly or not.
    pub fn recursive(&self) -> bool {
        let calls = |flow: &Flow| if let Flow::Call(target) = *flow { Some(target) } else { None };
        let functions: BTreeSet<u64> =
            self.found.steps().filter_map(|step| calls(&step.flow)).collect();
        // A function is recursive if the code that it reaches can call it.
        functions.iter().any(|&function| {
            let (mut seen, mut work) = (BTreeSet::new(), vec![function]);
            while let Some(pc) = work.pop() {
                let Some(block) = self.blocks.get(&pc).filter(|_| seen.insert(pc)) else {
                    continue;
                };
                match block.end {
                    End::Jump(target) | End::KeepOn { target, .. } => work.push(target),
                    End::Split { target, next, .. } => work.extend([target, next]),
                    End::Leave(_) => {}
                    End::Do { pc, next } => {
                        work.push(next);
                        match calls(&self.step(pc).flow) {
                            Some(target) if target == function => return true,
                            target => work.extend(target),
                        }
                    }
                }
                work.extend(block.steps.iter().filter_map(|&(_, action)| match action {
                    Action::Push(_, target) => Some(target),
                    _ => None,
                }));
            }
            false
        })
    }

    fn cut_blocks(&mut self) {
        let mut blocks = std::mem::take(&mut self.blocks);
        self.found.cut_blocks(&mut blocks, |start| self.cut(start));
        self.blocks = blocks;
    }

    fn cut(&self, start: u64) -> (GuestBlock, Option<u64>) {
        let mut block =
            GuestBlock { steps: Vec::new(), end: End::Jump(start), cost: 0, may_be_empty: false };
        let mut pushes = false;
        let before = self.found.follow(start, |pc, step| {
            let cut = self.cut_at(&mut block, &mut pushes, pc, step);
            if !matches!(cut, Cut::Before) {
                block.cost += 1;
            }
            cut
        });
        if let Some(pc) = before {
            block.end = End::Jump(pc);
        }
        (block, before)
    }

    /// Puts a step into a block, or ends the block. `pushes`: the block has put entries on the
    /// stack.
    fn cut_at(&self, block: &mut GuestBlock, pushes: &mut bool, pc: u64, step: &Step) -> Cut<u64> {
        let next = next_pc(pc);
        let conditional = step.when == When::Lanes;
        let action = match step.flow {
            _ if step.when == When::Never => Action::Nothing,
            Flow::Next => Action::Plain,
            Flow::Push(wait, target) => Action::Push(wait, target),
            Flow::Activate(active) => Action::Activate(active),
            Flow::Kill => Action::Kill,
            Flow::Leave(leave) if conditional => Action::Leave(leave),
            Flow::Leave(leave) => {
                block.end = End::Leave(leave);
                return Cut::Ends;
            }
            Flow::Branch(target) if conditional => {
                match (self.leave_at(target), self.leave_at(next)) {
                    (Some(leave), _) => Action::Leave(leave),
                    (None, Some(leave)) => {
                        block.end = End::KeepOn { pc, target, leave };
                        return Cut::Ends;
                    }
                    (None, None) => {
                        block.end = End::Split { pc, target, next };
                        return Cut::Ends;
                    }
                }
            }
            Flow::Branch(target) => {
                block.end = End::Jump(target);
                return Cut::Ends;
            }
            Flow::Call(_)
            | Flow::Indirect(_)
            | Flow::Barrier(_)
            | Flow::Service(_)
            | Flow::Trap(_) => {
                // These need an active lane. Also, the registers of a barrier must be read in a
                // block that runs only if the warp arrives.
                if block.may_be_empty || (conditional && !block.steps.is_empty()) {
                    return Cut::Before;
                }
                block.end = End::Do { pc, next };
                return Cut::Ends;
            }
        };
        match action {
            // Until a block's end, the entries that it pushed determine the active mask: see
            // `Block::join`.
            Action::Leave(_) | Action::Activate(_) | Action::Kill if *pushes => return Cut::Before,
            Action::Leave(_) | Action::Activate(_) | Action::Kill => block.may_be_empty = true,
            Action::Push(..) => *pushes = true,
            Action::Nothing | Action::Plain => {}
        }
        block.steps.push((pc, action));
        Cut::GoesOn(next)
    }

    /// Returns how all lanes that come to this address leave, if they do nothing else.
    pub fn leave_at(&self, mut pc: u64) -> Option<Leave> {
        for _ in 0..MAX_LOOKAHEAD {
            let step = self.found.step(pc)?;
            match step.flow {
                Flow::Leave(leave) if step.when == When::Always => return Some(leave),
                Flow::Branch(target) if step.when == When::Always => pc = target,
                Flow::Next if step.insn.is_some_and(|insn| insn.opcode() == Opcode::Nop) => {
                    pc = next_pc(pc)
                }
                _ if step.when == When::Never => pc = next_pc(pc),
                _ => return None,
            }
        }
        None
    }
}

impl Step {
    /// Returns the places where control may go from a step.
    fn ways(&self, pc: u64, indirect_targets: &BTreeSet<u64>) -> Ways<u64, ()> {
        let next = next_pc(pc);
        let mut leaders = SmallVec::new();
        match self.flow {
            _ if self.when == When::Never => {}
            Flow::Next | Flow::Activate(_) | Flow::Kill => {}
            Flow::Branch(target) | Flow::Push(_, target) => leaders.push(target),
            Flow::Call(target) => leaders.extend([target, next]),
            Flow::Indirect(_) => {
                // Lanes with targets other than the first come back to the jump.
                leaders.push(pc);
                leaders.extend(indirect_targets.iter().copied());
            }
            Flow::Barrier(_) | Flow::Service(_) => leaders.push(next),
            Flow::Leave(_) | Flow::Trap(_) => {}
        }
        if self.when == When::Lanes
            && !matches!(self.flow, Flow::Next | Flow::Push(..) | Flow::Leave(_) | Flow::Kill)
        {
            leaders.push(next);
        }
        let goes_on = match self.flow {
            Flow::Next
            | Flow::Push(..)
            | Flow::Activate(_)
            | Flow::Kill
            | Flow::Barrier(_)
            | Flow::Service(_) => true,
            _ => self.when != When::Always,
        };
        Ways { next: goes_on.then_some((next, ())), leaders }
    }
}

impl Trial {
    fn new(shader: Option<&shader::Program>) -> Trial {
        let mut function = FunctionBuilder::new("", WARP_LANES, NAN);
        let banks = declare_scratch(&mut function, shader);
        let block = function.new_block(0);
        Trial { function, banks, block }
    }

    /// Runs the lift function to find the effect of the instruction. None: it is not implemented.
    fn run(&mut self, insn: &Instruction, pc: u64) -> (Option<(Flow, Option<CcTest>)>, Usage) {
        self.function.clear(self.block);
        let mut cx = Cx::new(self.function.at(self.block), self.banks, Flags::NONE);
        cx.start(insn, pc, Flags::ALL);
        let flow = insn.row.lift.ok_or(Unsupported).and_then(|lift| lift(&mut cx, insn));
        let test = match insn.field(Field::cc_condition) {
            Some(_) if !matches!(flow, Ok(Flow::Next)) => {
                Some(insn.cc_test()).filter(|&test| test != CcTest::T)
            }
            _ => None,
        };
        let tested = test.map_or(Ok(()), |test| cc::test(&mut cx, test).map(drop));
        let done = flow.and_then(|flow| tested.map(|()| (flow, test))).ok();
        (done.filter(|_| cx.has_operands()), cx.usage)
    }
}

/// Whether warploom executes an instruction with the modifiers and operands of its word; otherwise
/// the instruction traps. Only the form counts: the guard `!PT` has no influence.
///
/// `header` is the header of a graphics program.
pub fn executes(insn: &Instruction, pc: u64, header: Option<&Header>) -> bool {
    let shader = header.map(|&header| shader::Program::of_header(header));
    Trial::new(shader.as_ref()).run(insn, pc).0.is_some()
}

/// Returns a step of a stand-in, which has no code.
fn stand_in_step(flow: Flow) -> Step {
    let registers = if let Flow::Service(service) = flow { service::registers(service) } else { 0 };
    let usage = Usage { registers, ..Usage::default() };
    Step { insn: None, when: When::Always, test: None, flow, usage }
}

fn decode(code: &[u8], pc: u64, shader: Option<&shader::Program>, trial: &mut Trial) -> Step {
    let trap =
        |insn, when, kind, usage| Step { insn, when, test: None, flow: Flow::Trap(kind), usage };
    let Some(insn) = code::word_at(code, pc).and_then(|word| word.instruction) else {
        return trap(None, When::Always, TrapKind::IllegalInstruction, Usage::default());
    };
    let guard = insn.guard();
    let guard_when = match guard.index {
        7 if guard.not => When::Never,
        7 => When::Always,
        _ => When::Lanes,
    };
    let permit = shader.map_or(Permit::Executes, |shader| permit(&shader.header, &insn));
    if permit == Permit::Forbidden && guard_when != When::Never {
        return trap(Some(insn), guard_when, TrapKind::IllegalInstruction, Usage::default());
    }
    if guard_when == When::Never || permit == Permit::Nothing {
        return Step {
            insn: Some(insn),
            when: When::Never,
            test: None,
            flow: Flow::Next,
            usage: Usage::default(),
        };
    }
    match trial.run(&insn, pc) {
        (Some((flow, test)), usage) => {
            let when = match test {
                Some(CcTest::F) => When::Never,
                Some(_) => When::Lanes,
                None => guard_when,
            };
            Step { insn: Some(insn), when, test, flow, usage }
        }
        (None, usage) => trap(Some(insn), guard_when, TrapKind::Unimplemented, usage),
    }
}
