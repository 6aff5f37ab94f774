//! Tables that code reads. Code names them by symbols, since their addresses differ from process to
//! process.

use std::sync::LazyLock;

use cranelift_codegen::ir::{
    ExternalName, GlobalValueData, InstBuilder, UserExternalName, Value as Clif, types,
};
use cranelift_frontend::FunctionBuilder;
use warploom_ir::names::Named;
use warploom_ir::shared::TWO_OVER_PI_PAIRS;
use warploom_ir::{SharedFn, special};

use super::masks::MASK_WORDS;

/// The namespace of tables in CLIF.
pub const NAMESPACE: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Table {
    MaskWords,
    TwoOverPi,
    /// The polynomials of a shared function, if it has any.
    Rows(SharedFn),
}

impl Table {
    /// Returns all tables, in the order of their numbers.
    pub fn all() -> &'static [Table] {
        static ALL: LazyLock<Vec<Table>> = LazyLock::new(|| {
            let with_rows =
                SharedFn::NAMES.iter().filter(|&&(function, _)| special::rows(function).is_some());
            let rows = with_rows.map(|&(function, _)| Table::Rows(function));
            [Table::MaskWords, Table::TwoOverPi].into_iter().chain(rows).collect()
        });
        &ALL
    }

    /// Returns the table's symbol in code.
    pub fn name(self) -> String {
        match self {
            Table::MaskWords => "warploom_mask_words".into(),
            Table::TwoOverPi => "warploom_two_over_pi".into(),
            Table::Rows(function) => format!("warploom_rows_{function:?}"),
        }
    }

    pub fn address(self) -> *const u8 {
        match self {
            Table::MaskWords => MASK_WORDS.as_ptr().cast(),
            Table::TwoOverPi => TWO_OVER_PI_PAIRS.as_ptr().cast(),
            Table::Rows(function) => {
                special::rows(function).map_or(std::ptr::null(), |rows| rows.rows.as_ptr().cast())
            }
        }
    }

    /// Returns the table's address in code.
    pub(super) fn in_code(self, b: &mut FunctionBuilder) -> Clif {
        let number =
            Table::all().iter().position(|&table| table == self).expect("all tables are listed");
        let name = UserExternalName { namespace: NAMESPACE, index: number as u32 };
        let name = ExternalName::user(b.func.declare_imported_user_function(name));
        let symbol =
            GlobalValueData::Symbol { name, offset: 0.into(), colocated: false, tls: false };
        let symbol = b.create_global_value(symbol);
        b.ins().symbol_value(types::I64, symbol)
    }
}
