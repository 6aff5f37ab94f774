//! Texts that are accepted and texts that are refused, by the sections of the facts (`ptx.md` 1.1
//! to 1.4).

mod code;
mod declarations;
mod head;
mod lexis;
mod limits;
mod old;
mod operands;

use super::{print, read};
use crate::module::{Module, Operand, Operands, Variable};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// The registers that statements of tests name.
const REGISTERS: &str = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .pred %p<9>; .reg .b16 %h<9>;";

fn errors(text: &str) -> String {
    match read(text.as_bytes()) {
        Ok(_) => panic!("is taken: {text}"),
        Err(errors) => errors.to_string(),
    }
}

/// Reads a whole text, and reads the printed module again.
fn module(text: &str) -> Module {
    let module = read(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let printed = print(&module);
    let again = read(printed.as_bytes()).unwrap_or_else(|errors| panic!("{errors}\n{printed}"));
    assert_eq!(print(&again), printed);
    module
}

/// Reads declarations of a module.
fn declared(text: &str) -> Module {
    module(&format!("{HEAD}{text}"))
}

fn refused(text: &str, message: &str) {
    let errors = errors(&format!("{HEAD}{text}"));
    assert!(errors.contains(message), "{errors}\n{text}");
}

fn variable<'m>(module: &'m Module, name: &str) -> &'m Variable {
    module
        .variables
        .iter()
        .find(|variable| variable.name == name)
        .unwrap_or_else(|| panic!("no `{name}`"))
}

fn bytes(text: &str) -> Vec<u8> {
    let module = declared(text);
    module.variables.last().unwrap().initial.as_ref().unwrap().bytes.clone()
}

fn kernel(statements: &str) -> String {
    format!(
        "{HEAD}.global .align 16 .b8 var[64];\n.entry k(.param .u64 pp) {{ {REGISTERS}\n{statements}\n}}"
    )
}

/// Reads statements.
fn body(statements: &str) -> Module {
    module(&kernel(statements))
}

fn refused_body(statements: &str, message: &str) {
    let errors = errors(&kernel(statements));
    assert!(errors.contains(message), "{errors}\n{statements}");
}

/// Returns the operands of the last statement.
fn operands(statements: &str) -> Operands {
    let module = body(statements);
    module
        .functions
        .last()
        .unwrap()
        .body
        .as_ref()
        .unwrap()
        .statements
        .last()
        .unwrap()
        .operands
        .clone()
}

/// Returns the value of an integer expression.
fn integer(expression: &str) -> u64 {
    match operands(&format!("mov.u64 %rd1, {expression};"))[1] {
        Operand::Integer(bits) => bits,
        ref other => panic!("{other:?}"),
    }
}
