//! Writes routines as Intel's compiler does.

use std::fmt::Write;

use warploom_guest::platform::Platform;

use super::print_code::{instruction_text, label_name, quoted, surface_name, variable_name};
use crate::module::*;
use crate::predefined::{self, FIRST_PREDICATE, FIRST_SURFACE};
use crate::types::Align;

/// The column up to which instructions are padded. Their numbers follow.
const COLUMNS: usize = 80;

/// Appends text. Writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{ let _ = write!($out, $($arg)*); }};
}

/// Returns the text of a module: all routines in order.
pub fn print(module: &Module) -> String {
    let mut out = String::new();
    for (n, routine) in module.routines.iter().enumerate() {
        if n > 0 {
            out.push('\n');
        }
        print_routine(routine, module.platform, &mut out);
    }
    out
}

fn print_routine(routine: &Routine, platform: Option<Platform>, out: &mut String) {
    let is_new = routine.version.is_text_only();
    put!(out, ".version {}\n", routine.version);
    let gap = if is_new { "\n" } else { "" };
    let directive = if routine.kernel { ".kernel" } else { ".global_function" };
    put!(out, "{gap}{directive} {}\n", quoted(&routine.name.replace('.', " ")));
    for name in &routine.declared {
        put!(out, ".funcdecl {}\n", quoted(name));
    }
    put!(out, "\n/// VISA Predefined Variables");
    let variables = predefined::known(routine.version);
    for (number, one) in predefined::VARIABLES.iter().take(variables).enumerate() {
        put!(out, "\n// .decl V{number} v_type=G v_name={}", one.name);
    }
    for (number, name) in predefined::SURFACES.iter().enumerate() {
        put!(out, "\n// .decl T{number} v_type=T v_name={name}");
    }
    out.push('\n');
    declarations(routine, out);
    for attribute in
        routine.attributes.iter().filter(|one| !matches!(&*one.name, "OutputAsmPath" | "AsmName"))
    {
        put!(out, "\n.kernel_attr {}", attribute_text(attribute));
    }
    code(routine, is_new, out);
    if let Some(platform) = platform.filter(|_| is_new || routine.build_options.is_some()) {
        put!(out, "\n//Platform: {}", platform.comment());
    }
    if let Some(options) = &routine.build_options {
        put!(out, "\n//Build option: \"{options}\"");
    }
}

fn declarations(routine: &Routine, out: &mut String) {
    for variable in &routine.variables {
        put!(
            out,
            "\n.decl {} v_type=G type={} num_elts={}",
            variable.name,
            variable.ty.name(),
            variable.elements
        );
        if variable.align != Align::Byte {
            put!(out, " align={}", variable.align.name());
        }
        if let Some((of, offset)) = variable.alias {
            put!(out, " alias=<{}, {offset}>", variable_name(routine, of));
        }
        attributes(&variable.attributes, out);
    }
    for (number, one) in routine.addresses.iter().enumerate() {
        put!(out, "\n.decl A{number} v_type=A num_elts={}", one.elements);
        attributes(&one.attributes, out);
    }
    for (number, one) in routine.predicates.iter().enumerate() {
        put!(
            out,
            "\n.decl P{} v_type=P num_elts={}",
            number + usize::from(FIRST_PREDICATE),
            one.elements
        );
        attributes(&one.attributes, out);
    }
    for (number, one) in routine.samplers.iter().enumerate() {
        put!(out, "\n.decl S{number} v_type=S num_elts={} v_name={}", one.elements, one.name);
        attributes(&one.attributes, out);
    }
    for (number, one) in routine.surfaces.iter().enumerate() {
        let number = number + usize::from(FIRST_SURFACE);
        put!(out, "\n.decl T{number} v_type=T num_elts={} v_name={}", one.elements, one.name);
        attributes(&one.attributes, out);
    }
    for input in &routine.inputs {
        let directive = match input.implicit {
            0 => "input".into(),
            1 => "implicit_LOCAL_SIZE".into(),
            2 => "implicit_GROUP_COUNT".into(),
            3 => "implicit_LOCAL_ID".into(),
            16 => "implicit_PSEUDO_INPUT".into(),
            kind => format!("implicit_UNDEFINED_{kind}"),
        };
        let name = match input.of {
            InputOf::Variable(id) => variable_name(routine, id),
            InputOf::Sampler(id) => format!("S{}", id.0),
            InputOf::Surface(id) => surface_name(id),
        };
        put!(out, "\n.{directive} {name} offset={} size={}", input.offset, input.size);
    }
}

fn attribute_text(attribute: &Attribute) -> String {
    let name = &attribute.name;
    match &attribute.value {
        Value::Flag => name.clone(),
        Value::Integer(0) if name == "Target" => format!("{name}=\"cm\""),
        Value::Integer(1) if name == "Target" => format!("{name}=\"3d\""),
        Value::Integer(number) => format!("{name}={number}"),
        Value::Text(text) => format!("{name}={}", quoted(text)),
    }
}

fn attributes(all: &[Attribute], out: &mut String) {
    if !all.is_empty() {
        let texts: Vec<_> = all.iter().map(attribute_text).collect();
        put!(out, " attrs={{{}}}", texts.join(", "));
    }
}

fn code(routine: &Routine, is_new: bool, out: &mut String) {
    if !matches!(routine.code.first(), Some(one) if one.row.name == "subroutine") {
        out.push('\n');
    }
    for (number, one) in routine.code.iter().enumerate() {
        let text = instruction_text(routine, one);
        match (one.row.name, one.operands.first()) {
            ("subroutine", Some(&Operand::Label(id))) => {
                let gap = if is_new { "\n" } else { "" };
                let end = if is_new { "" } else { "\n" };
                put!(
                    out,
                    "    \n{gap}.function {}\n{end}{text}\n",
                    quoted(&label_name(routine, id))
                );
            }
            ("label", _) => put!(out, "\n{text}\n"),
            ("LOC" | "FILE", _) => put!(out, "    {text}\n"),
            _ => put!(out, "    {text:<width$} /// ${number}\n", width = COLUMNS - 4),
        }
    }
}
