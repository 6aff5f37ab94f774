//! Helpers in CLIF: their signatures, and trampolines that keep every register.

use std::sync::OnceLock;

use cranelift_codegen::ir::{
    self as clif, AbiParam, ExtFuncData, ExternalName, FuncRef, InstBuilder, Signature,
    UserExternalName, UserFuncName, types,
};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use warploom_engine::backend::Code;
use warploom_engine::helpers::Helper;
use warploom_engine::{Effort, JitError};

use crate::Target;
use crate::code::{CodeModule, MachineCode};

/// The namespace of the helpers' names in CLIF.
pub const NAMESPACE: u32 = 0;

/// Imports a helper's symbol: in a trampoline the helper itself, elsewhere its trampoline.
pub fn import(helper: Helper, b: &mut FunctionBuilder, conv: CallConv) -> FuncRef {
    let signature = b.import_signature(signature(helper, conv));
    let name = b.func.declare_imported_user_function(UserExternalName {
        namespace: NAMESPACE,
        index: helper as u32,
    });
    let function = ExtFuncData {
        name: ExternalName::user(name),
        signature,
        colocated: false,
        patchable: false,
    };
    b.import_function(function)
}

pub fn signature(helper: Helper, conv: CallConv) -> Signature {
    let mut signature = Signature::new(conv);
    let params: &[clif::Type] = match helper {
        Helper::Access => &[types::I64, types::I32, types::I64, types::I64],
        Helper::Reach => &[types::I64, types::I64, types::I64, types::I64],
        Helper::Interpret | Helper::Product => &[types::I64, types::I32],
        Helper::Fill => &[types::I64, types::I64],
        Helper::Shared => &[types::I64, types::I32, types::I32, types::I32],
        Helper::Fused => &[types::I64, types::I32, types::I32],
    };
    signature.params.extend(params.iter().map(|&ty| AbiParam::new(ty)));
    signature
}

/// Returns the helpers' trampolines: code that keeps all registers around the call, made once per
/// process.
pub fn trampolines() -> Result<[(Helper, Code); Helper::ALL.len()], JitError> {
    struct Trampolines {
        _module: CodeModule,
        code: [(Helper, Code); Helper::ALL.len()],
    }
    static TRAMPOLINES: OnceLock<Result<Trampolines, String>> = OnceLock::new();
    let make = || -> Result<Trampolines, JitError> {
        let (isa, module) = (Target::host()?.isa(Effort::Quick), CodeModule::of_trampolines()?);
        let compile = |helper| MachineCode::new(trampoline(isa, helper), false, isa)?.relocatable();
        let compiled = Helper::ALL.into_iter().map(compile).collect::<Result<Vec<_>, _>>()?;
        let names = Helper::ALL.map(|helper| format!("{}_trampoline", helper.name()));
        let functions: Vec<_> = names.iter().map(String::as_str).zip(&compiled).collect();
        let code = module.define_all(&functions)?;
        Ok(Trampolines {
            _module: module,
            code: Helper::ALL.map(|helper| (helper, code[helper as usize])),
        })
    };
    let made = TRAMPOLINES.get_or_init(|| make().map_err(|error| error.to_string()));
    made.as_ref().map(|made| made.code).map_err(|message| JitError::Trampoline(message.clone()))
}

fn trampoline(isa: &OwnedTargetIsa, helper: Helper) -> clif::Function {
    let signature = signature(helper, CallConv::PreserveAll);
    let mut function = clif::Function::with_name_signature(UserFuncName::default(), signature);
    let mut builder_context = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut function, &mut builder_context);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let args = b.block_params(block).to_vec();
    let target = import(helper, &mut b, isa.default_call_conv());
    b.ins().call(target, &args);
    b.ins().return_(&[]);
    b.seal_all_blocks();
    b.finalize(isa.frontend_config());
    function
}
