//! Liveness of flags, from the view of one lane.
//!
//! A lane's path goes through the targets of its leaves, whatever other lanes do. So a flag is live
//! after SYNC if it is live at the target of an SSY, after RET if it is live behind a call, and so
//! on. Behind an indirect jump all flags are live.

use rustc_hash::FxHashMap;

use super::flow::{Flow, Leave, Wait};
use super::program::{Action, End, GuestBlock, Program, When};
use warploom_sass::lift::Flags;

#[derive(Default)]
pub struct Liveness {
    /// Flags that are live at the start of each block.
    at_start: FxHashMap<u64, Flags>,
    /// Flags that are live where lanes go on that leave to an entry of a kind.
    after_leave: [Flags; Wait::ALL.len()],
    /// Flags that are live at some place where lanes wait for other lanes.
    pub kept: Flags,
}

impl Liveness {
    pub fn of(program: &Program<'_>) -> Liveness {
        let mut live = Liveness::default();
        loop {
            let mut changed = false;
            for (&pc, block) in program.blocks.iter().rev() {
                let mut flags = live.at_end(program, block);
                for &(pc, action) in block.steps.iter().rev() {
                    flags = live.before(program, pc, action, flags);
                }
                changed |= live.at_start.insert(pc, flags) != Some(flags);
            }
            for wait in Wait::ALL {
                live.after_leave[wait as usize] =
                    live.at_any(program.push_targets[wait as usize].iter());
            }
            if !changed {
                break;
            }
        }
        for flags in live.after_leave {
            live.kept = live.kept.union(flags);
        }
        for (&start, block) in &program.blocks {
            let places = match block.end {
                End::Split { target, next, .. } => [target, next],
                // Lanes may come back to an indirect jump, or wait behind a conditional call.
                End::Do { pc, next } if program.step(pc).when == When::Lanes => [start, next],
                End::Do { .. } => [start, start],
                End::Jump(_) | End::Leave(_) | End::KeepOn { .. } => continue,
            };
            live.kept = live.kept.union(live.at_any(places.iter()));
        }
        live
    }

    /// Returns the flags that are live at the start of the block at `pc`.
    pub fn at(&self, pc: u64) -> Flags {
        self.at_start.get(&pc).copied().unwrap_or(Flags::NONE)
    }

    fn at_any<'p>(&self, pcs: impl Iterator<Item = &'p u64>) -> Flags {
        pcs.fold(Flags::NONE, |flags, &pc| flags.union(self.at(pc)))
    }

    fn after_leave(&self, leave: Leave) -> Flags {
        match leave {
            Leave::To(wait) => self.after_leave[wait as usize],
            Leave::Exit => Flags::NONE,
        }
    }

    /// Returns the flags that are live after the end of a block.
    pub fn after_end(&self, program: &Program<'_>, block: &GuestBlock) -> Flags {
        match block.end {
            End::Jump(target) => self.at(target),
            End::Leave(leave) => self.after_leave(leave),
            End::KeepOn { target, leave, .. } => self.at(target).union(self.after_leave(leave)),
            End::Split { target, next, .. } => self.at(target).union(self.at(next)),
            End::Do { pc, next } => {
                let step = program.step(pc);
                let rest = if step.when == When::Lanes { self.at(next) } else { Flags::NONE };
                rest.union(match step.flow {
                    Flow::Call(target) => self.at(target),
                    Flow::Indirect(_) => Flags::ALL,
                    Flow::Barrier(_) | Flow::Service(_) => self.at(next),
                    _ => Flags::NONE,
                })
            }
        }
    }

    /// Returns the flags that are live before the instruction that ends a block, behind its steps.
    pub fn at_end(&self, program: &Program<'_>, block: &GuestBlock) -> Flags {
        let reads = match block.end {
            End::KeepOn { pc, .. } | End::Split { pc, .. } | End::Do { pc, .. } => {
                program.step(pc).usage.reads
            }
            End::Jump(_) | End::Leave(_) => Flags::NONE,
        };
        self.after_end(program, block).union(reads)
    }

    /// Returns the flags that are live before a step, for lanes that go on, with `after` live, and
    /// for lanes that leave.
    fn before(&self, program: &Program<'_>, pc: u64, action: Action, after: Flags) -> Flags {
        match action {
            Action::Nothing | Action::Activate(_) => after,
            Action::Leave(leave) => {
                after.union(self.after_leave(leave)).union(program.step(pc).usage.reads)
            }
            Action::Plain | Action::Push(..) | Action::Kill => {
                let usage = program.step(pc).usage;
                after.without(usage.kills).union(usage.reads)
            }
        }
    }

    /// Returns the flags that are live after each step of a block, in order.
    pub fn after_steps(&self, program: &Program<'_>, block: &GuestBlock) -> Vec<Flags> {
        let mut flags = self.at_end(program, block);
        let mut out = vec![Flags::NONE; block.steps.len()];
        for (slot, &(pc, action)) in out.iter_mut().zip(&block.steps).rev() {
            *slot = flags;
            flags = self.before(program, pc, action, flags);
        }
        out
    }
}
