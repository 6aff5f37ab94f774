//! Faults in words.

use warploom_container::FunctionId;
use warploom_runtime::fault::FaultKind;
use warploom_runtime::launch;

use super::Program;
use super::guest::SourcePlace;

/// A fault of the guest, with what its pc means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub fault: launch::Fault,
    pub kernel: String,
    /// The function that the pc lies in, if it lies in one.
    pub function: Option<String>,
    /// Offset of the pc in its section, as disassemblies count; for a pc outside all code the pc itself.
    pub offset: u64,
    /// Where that stands in the text that the code was read from, and in the source that it was made from.
    pub line: Option<SourcePlace>,
    /// Text of the instruction there.
    pub instruction: Option<String>,
    /// What was called is neither part of the binary nor provided by the host.
    pub undefined: bool,
    /// The condition that the guest found not to hold, and where it stands in the source.
    pub assertion: Option<String>,
    /// What the guest wanted of the driver, which does not provide it.
    pub absent: Option<&'static str>,
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
            line: place.as_ref().and_then(|p| guest.line(linked, p.offset)),
            function: place.map(|p| p.function),
            instruction: instruction.map(|placed| placed.text),
            fault,
        }
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
        if let Some(absent) = self.absent {
            write!(f, "; {absent}")?;
        }
        Ok(())
    }
}
