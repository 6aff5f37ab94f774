//! Any file, as `warploom inspect` and a launch would read it: formats, fat binary members, linking, code.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use warploom::container::{self, Addresses, Format, FunctionId, Linked, fatbin};

fuzz_target!(|bytes: &[u8]| {
    if let Some(format @ (Format::FatBinary | Format::HostElf)) = container::recognise(bytes) {
        let _ = fatbin::visit(bytes, format, &mut |visited| drop(visited.member.label()));
    }
    let Ok(modules) = container::modules(bytes) else { return };
    for module in modules {
        let Ok(linked) = Linked::new(Arc::new(module), Addresses::default()) else { continue };
        let kernels: Vec<FunctionId> = linked.module().kernels().map(|(id, _)| id).collect();
        for kernel in kernels.into_iter().take(8) {
            let code = linked.code(kernel);
            for &pc in code.targets.iter().take(64).chain([&code.entry]) {
                let _ = linked.locate(kernel, pc);
            }
        }
    }
});
