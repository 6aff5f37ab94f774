//! `warploom inspect --coverage`: the instructions of a file's kernels that are not executed.

use std::path::Path;

use warploom::{Coverage, FidelityClass};
use warploom_container::{Arch, each_module};

use super::text::{grouped, plural};
use super::{Ending, Error, print};

/// Lifts every kernel, for one GPU or for every supported GPU of the file, and prints the result.
pub(super) fn run(path: &Path, bytes: &[u8], arch: Option<Arch>) -> Result<Ending, Error> {
    let (mut modules, mut failures) = (0, Vec::new());
    let mut coverage = Coverage::default();
    let found = each_module(bytes, &mut |label, module| {
        let module = match module {
            Ok(module) => module,
            Err(error) => return failures.push(error.to_string()),
        };
        if arch.zip(Arch::of(&module)).is_some_and(|(gpu, code)| gpu.rank(code).is_none()) {
            return;
        }
        modules += 1;
        failures.extend(
            module
                .unreadable
                .iter()
                .map(|kernel| format!("{label}: kernel {}: {}", kernel.name, kernel.error)),
        );
        if let Err(error) = coverage.add(module) {
            failures.push(format!("{label}: {error}"));
        }
    });
    found.map_err(|source| Error::Container { path: path.to_path_buf(), source })?;
    let mut text = String::new();
    for failure in &failures {
        text += &format!("not read: {failure}\n");
    }
    let share = 100.0 * coverage.incomplete as f64 / coverage.kernels.max(1) as f64;
    text += &format!(
        "{} module{}, {} kernel{} with {} instructions\n{} kernel{} ({share:.2} %) can reach what is not executed\n",
        grouped(modules),
        plural(modules),
        grouped(coverage.kernels),
        plural(coverage.kernels),
        grouped(coverage.instructions),
        grouped(coverage.incomplete),
        plural(coverage.incomplete),
    );
    let mut stops: Vec<_> = coverage.stops.iter().collect();
    stops.sort_by_key(|(_, count)| std::cmp::Reverse(count.kernels));
    for (stop, count) in stops {
        let class = match stop.class {
            FidelityClass::Illegal => "no instruction",
            FidelityClass::Unimplemented => "unimplemented",
            FidelityClass::Exact | FidelityClass::Approximate(_) => {
                "unimplemented with these operands"
            }
        };
        let (kernel, at, example) = &count.example;
        text += &format!(
            "  {}: {class}, {} times in {} kernel{}, such as `{example}` at {at:#x} in {kernel}\n",
            stop.mnemonic,
            grouped(count.instructions),
            grouped(count.kernels),
            plural(count.kernels),
        );
    }
    if !coverage.approximate.is_empty() {
        text += "executed, but not to the last bit as documented\n";
    }
    for ((mnemonic, bound), count) in &coverage.approximate {
        text += &format!("  {mnemonic}: {} times; {bound}\n", grouped(*count));
    }
    print(&text)?;
    Ok(if failures.is_empty() && coverage.incomplete == 0 {
        Ending::Success
    } else {
        Ending::Mismatch
    })
}
