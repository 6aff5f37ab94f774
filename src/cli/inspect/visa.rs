//! The part of `inspect` for vISA kernels.

use std::fmt::Write;

use warploom_container::visa::VisaKernel;
use warploom_container::visa::info::{AddressMode, KernelInfo, PayloadArgument};
use warploom_container::{Function, Module};
use warploom_visa::module::Routine;

pub(super) fn kernel(module: &Module, f: &Function, visa: &VisaKernel, out: &mut String) {
    line!(out, "\nkernel {}", f.name);
    if let Some(routine) = module.visa.as_ref().and_then(|of| of.module.routines.get(visa.routine))
    {
        self::routine(routine, f, out);
    }
    if let Some(info) = &visa.info {
        self::info(info, f, out);
    }
}

fn routine(routine: &Routine, f: &Function, out: &mut String) {
    line!(
        out,
        "  code       {} bytes, vISA {}, {} instructions",
        f.size,
        routine.version,
        routine.code.len()
    );
    line!(out, "  SIMD       {} lanes", routine.simd_size());
    line!(
        out,
        "  declared   {} variables, {} addresses, {} predicates, {} labels",
        routine.variables.len(),
        routine.addresses.len(),
        routine.predicates.len(),
        routine.labels.len()
    );
    line!(out, "  inputs     {}", routine.inputs.len());
}

fn info(info: &KernelInfo, f: &Function, out: &mut String) {
    let env = &info.env;
    line!(out, "  registers  {}", env.grf_count);
    line!(out, "  shared     {} bytes", env.slm_size);
    line!(out, "  private    {} bytes a thread", env.private_size);
    line!(out, "  barriers   {}", env.barrier_count);
    for (is_so, what) in [(env.has_stack_calls, "stack calls"), (env.has_printf_calls, "printf")] {
        if is_so {
            line!(out, "  needs      {what}");
        }
    }
    if let Some(shape) = f.required_threads {
        line!(out, "  block      exactly {shape:?} lanes");
    }
    line!(out, "  arguments  {}", f.params.len());
    for (number, param) in f.params.iter().enumerate() {
        let named = info.args.iter().find(|arg| arg.index as usize == number);
        let name = named.map_or(String::new(), |arg| format!(", {} ({})", arg.name, arg.type_name));
        line!(
            out,
            "    {:<2} offset {:#05x}, {} bytes{name}",
            number + 1,
            param.offset,
            param.size
        );
    }
    line!(out, "  payload    {} bytes inline", env.inline_data_payload_size);
    info.per_thread.iter().for_each(|arg| payload(arg, " of each thread", out));
    info.payload.iter().for_each(|arg| payload(arg, "", out));
    for (argument, index) in &info.binding_table {
        line!(out, "    argument {}: binding table index {index}", argument + 1);
    }
}

fn payload(arg: &PayloadArgument, whose: &str, out: &mut String) {
    let of = arg.arg_index.map_or(String::new(), |index| format!(", argument {}", index + 1));
    let mode = match arg.address_mode {
        None => "",
        Some(AddressMode::Stateless) => ", stateless",
        Some(AddressMode::Stateful) => ", stateful",
        Some(AddressMode::Bindless) => ", bindless",
        Some(AddressMode::Slm) => ", shared local memory",
    };
    line!(
        out,
        "    {:#05x} {:>3} bytes{whose}: {}{of}{mode}",
        arg.offset,
        arg.size,
        arg.kind.name()
    );
}
