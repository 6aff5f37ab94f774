//! The text of faults.

use warploom_container::FunctionId;
use warploom_runtime::fault::FaultKind;
use warploom_runtime::launch;
use warploom_runtime::memory::PAGE_BYTES;

use super::Program;
use super::check::Allocation;
use super::guest::SourcePlace;

/// A fault of the guest, with the meaning of its pc.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    pub fault: launch::Fault,
    pub kernel: String,
    /// The function that contains the pc, if there is one.
    pub function: Option<String>,
    /// Offset of the pc in its section, as in disassemblies. For a pc outside all code, the pc
    /// itself.
    pub offset: u64,
    /// The place of the pc in the text of the code, and in the source that the code was compiled
    /// from.
    pub line: Option<SourcePlace>,
    /// The text of the instruction at the pc.
    pub instruction: Option<String>,
    /// The called function is neither part of the binary nor provided by the host.
    pub undefined: bool,
    /// The failed condition of an assertion, and its place in the source.
    pub assertion: Option<String>,
    /// The facility of the driver that the guest wanted and the driver does not provide.
    pub absent: Option<&'static str>,
    /// The allocation behind whose end the access lies.
    pub behind: Option<Allocation>,
}

impl Fault {
    pub(super) fn new(
        fault: launch::Fault,
        assertion: Option<String>,
        program: &Program,
        kernel: FunctionId,
    ) -> Fault {
        let (linked, guest) = (program.linked(), program.guest());
        let place = linked.locate(kernel, fault.pc);
        let instruction = place.as_ref().filter(|p| !p.undefined);
        let instruction =
            instruction.and_then(|_| guest.instruction(&linked.code(kernel), fault.pc));
        Fault {
            kernel: linked.module().function(kernel).name.clone(),
            offset: place.as_ref().map_or(fault.pc, |p| p.offset),
            undefined: place.as_ref().is_some_and(|p| p.undefined && !guest.provides(&p.function)),
            assertion,
            absent: program.absent_at(fault.address).map(|thing| thing.name()),
            line: place.as_ref().and_then(|p| guest.line(linked, p)),
            function: place.map(|p| p.function),
            instruction: instruction.map(|placed| placed.text),
            behind: None,
            fault,
        }
    }

    /// Notes the allocation behind whose end the access lies, if there is one in the page before.
    pub fn compare_with(&mut self, allocations: impl IntoIterator<Item = Allocation>) {
        if self.kind() != FaultKind::AddressOutOfRange {
            return;
        }
        let address = self.fault.address;
        let is_behind = |one: &Allocation| {
            let end = one.address.saturating_add(one.bytes);
            one.address <= address && address < end.saturating_add(PAGE_BYTES)
        };
        let found = allocations.into_iter().filter(is_behind);
        self.behind = found.max_by_key(|one| one.address);
    }

    pub fn kind(&self) -> FaultKind {
        self.fault.kind
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let located = launch::Fault { pc: self.offset, ..self.fault.clone() };
        write!(f, "{located}, in kernel `{}`", self.kernel)?;
        match &self.function {
            Some(name) if self.undefined => {
                write!(f, ": the call of `{name}`, which the binary does not define")?
            }
            Some(name) if *name != self.kernel => write!(f, ", function `{name}`")?,
            Some(_) => {}
            None => write!(f, ", outside its code")?,
        }
        if let Some(line) = &self.line {
            write!(f, ", {line}")?;
        }
        if let Some(text) = self.assertion.as_ref().or(self.instruction.as_ref()) {
            write!(f, ": {text}")?;
        }
        if let Some(Allocation { name, address, bytes }) = &self.behind {
            let offset = self.fault.address.wrapping_sub(*address);
            write!(f, "; offset {offset} of `{name}`, which has {bytes} bytes")?;
        }
        if let Some(absent) = self.absent {
            write!(f, "; {absent}")?;
        }
        Ok(())
    }
}
