//! The part of `inspect` for PTX.

use std::fmt::Write;

use warploom_container::Module;
use warploom_container::ptx::PtxModule;
use warploom_ptx::layout;
use warploom_ptx::module::{self as ptx, Formal, Function, Linkage, Variable};
use warploom_ptx::types::StateSpace;

use super::text::grouped;

/// Adds a line; writing to a string does not fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => {{ let _ = writeln!($out, $($arg)*); }};
}

pub(super) fn show(module: &Module, ptx: &PtxModule, out: &mut String) {
    let read = &ptx.module;
    let suffix = read.target.suffix.map_or(String::new(), String::from);
    let (major, minor) = read.version;
    line!(
        out,
        "module of PTX {major}.{minor} for sm_{}{suffix}, addresses of {} bits",
        read.target.sm,
        read.address_size
    );
    for (id, made) in module.kernels() {
        let Some(&function) = ptx.functions.get(&id) else { continue };
        kernel(read, function, made.shared_bytes, out);
    }
    list(
        out,
        "device functions",
        read.functions.iter().filter(|one| !one.kernel && one.body.is_some()),
        |one| format!("{}: {}", one.name, statements(read, one)),
    );
    let undefined = read.functions.iter().filter(|one| one.body.is_none() && one.alias.is_none());
    list(out, "functions, not defined here", undefined, |one| one.name.clone());
    let of_module = read
        .variables
        .iter()
        .filter(|one| one.space != StateSpace::Param && one.space != StateSpace::Local);
    list(out, "variables", of_module, variable);
}

fn list<'a, T: 'a>(
    out: &mut String,
    title: &str,
    all: impl Iterator<Item = &'a T>,
    show: impl Fn(&T) -> String,
) {
    for (n, one) in all.enumerate() {
        if n == 0 {
            line!(out, "\n{title}");
        }
        line!(out, "  {}", show(one));
    }
}

/// Returns the number of a function's statements, and the line where it begins.
fn statements(read: &ptx::Module, function: &Function) -> String {
    let count = function.body.as_ref().map_or(0, |body| body.statements.len());
    let (line, _) = read.line_column(function.at);
    format!("{} instructions from line {line} on", grouped(count as u64))
}

fn kernel(read: &ptx::Module, id: ptx::FunctionId, shared: u64, out: &mut String) {
    let function = read.function(id);
    line!(out, "\nkernel {}", function.name);
    line!(out, "  code       {}", statements(read, function));
    line!(out, "  shared     {shared} bytes");
    if let Some(shape) = function.required_threads {
        line!(out, "  block      exactly {shape:?} lanes");
    }
    if let Some(shape) = function.max_threads {
        line!(
            out,
            "  block      at most {} lanes",
            shape.iter().fold(1, |n: u64, &axis| n.saturating_mul(axis.into()))
        );
    }
    if let Some(shape) = function.required_cluster {
        line!(out, "  cluster    {shape:?} blocks");
    }
    let (places, bytes) = layout::parameters(read, id);
    line!(out, "  parameters {} in {bytes} bytes", function.inputs.len());
    for (n, (id, offset)) in places.into_iter().enumerate() {
        let parameter = read.variable(id);
        let ty = parameter.ty.name();
        let count = parameter.size / u64::from(parameter.ty.bytes().max(1));
        let array = if count == 1 { String::new() } else { format!("[{count}]") };
        line!(
            out,
            "    {:<2} offset {offset:#05x}, {} bytes, .{ty}{array} {}",
            n + 1,
            parameter.size,
            parameter.name
        );
    }
    let registers =
        function.inputs.iter().filter(|formal| matches!(formal, Formal::Reg(..))).count();
    if registers > 0 {
        line!(out, "    {registers} in registers");
    }
}

fn variable(variable: &Variable) -> String {
    let space = match variable.space {
        StateSpace::Const => "constant memory",
        StateSpace::Shared => "shared memory",
        _ => "device memory",
    };
    let what = match variable.ty.kind() {
        warploom_ptx::types::Kind::Opaque => format!(".{}", variable.ty.name()),
        _ if variable.size == 0 => format!("in {space}, of the size that the launch says"),
        _ => format!("{} bytes in {space}", grouped(variable.size)),
    };
    let state = match (variable.linkage, &variable.initial) {
        (Linkage::Extern, _) if variable.space != StateSpace::Shared => ", not defined here",
        (_, Some(_)) => ", initialised",
        _ => "",
    };
    format!("{}: {what}{state}", variable.name)
}
