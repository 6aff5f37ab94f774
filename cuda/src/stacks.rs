//! The host's calls that allocated and freed memory, for findings of `--check memory`.

use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::driver;

/// The most stacks that are kept; the oldest addresses go first.
const MOST: usize = 1 << 14;
/// The most calls of a stack that are shown.
const MOST_CALLS: usize = 12;

/// By address.
static STACKS: Mutex<BTreeMap<u64, Stacks>> = Mutex::new(BTreeMap::new());

#[derive(Clone)]
struct Stacks {
    allocated: Arc<Backtrace>,
    freed: Option<Arc<Backtrace>>,
}

fn stacks() -> MutexGuard<'static, BTreeMap<u64, Stacks>> {
    STACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_wanted() -> bool {
    driver::get().guard || driver::get().checks.is_some_and(|checks| checks.memory)
}

/// Notes the calls that allocate memory at an address.
pub fn allocated(address: u64) {
    if is_wanted() {
        let allocated = Arc::new(Backtrace::force_capture());
        let mut stacks = stacks();
        stacks.insert(address, Stacks { allocated, freed: None });
        if stacks.len() > MOST {
            stacks.pop_first();
        }
    }
}

/// Notes the calls that free the memory at an address.
pub fn freed(address: u64) {
    if is_wanted() {
        let freed = Arc::new(Backtrace::force_capture());
        if let Some(found) = stacks().get_mut(&address) {
            found.freed = Some(freed);
        }
    }
}

/// Returns the calls that allocated and freed the memory at an address, as text that begins with an
/// end of line.
pub fn text(address: u64) -> String {
    let found = stacks().get(&address).cloned();
    let mut text = String::new();
    let Some(Stacks { allocated, freed }) = found else { return text };
    for (did, stack) in [("allocated", Some(allocated)), ("freed", freed)] {
        let Some(stack) = stack else { continue };
        let all = stack.to_string();
        let calls: Vec<&str> = calls(&all).take(MOST_CALLS).collect();
        if !calls.is_empty() {
            // Nothing fails that writes to a string.
            let _ = write!(text, "\n    {did} by {}", calls.join(", called by "));
        }
    }
    text
}

/// Returns the names of the functions of a stack that called the driver, the innermost first.
fn calls(stack: &str) -> impl Iterator<Item = &str> {
    fn name(line: &str) -> Option<&str> {
        let (number, name) = line.trim_start().split_once(": ")?;
        number.parse::<u32>().is_ok().then_some(name)
    }
    let names: Vec<&str> = stack.lines().filter_map(name).collect();
    let is_driver = |name: &&str| name.contains("::api::") || name.starts_with("cuMem");
    let first = names.iter().rposition(is_driver).map_or(0, |driver| driver + 1);
    names.into_iter().skip(first).filter(|name| *name != "<unknown>")
}
