//! `warploom cache`

use std::sync::Arc;

use warploom_cache::{Cache, Contents};

use super::text::{grouped, plural};
use super::{Ending, Error, complain, print};

/// `info` or `clear`
#[derive(Clone, Copy, clap::Subcommand)]
pub enum Action {
    /// Where compiled code is kept, how much there is and how much there may be.
    Info,
    /// Removes all of it.
    Clear,
}

/// Returns the cache that commands use.
pub fn of_environment() -> Option<Arc<Cache>> {
    Cache::of_environment(|problem| complain(&problem))
}

/// Formats a number of entries in words.
pub fn pieces_of_code(count: u64) -> String {
    format!("{} piece{} of code", grouped(count), plural(count))
}

pub(super) fn run(action: &Action) -> Result<Ending, Error> {
    let Some(cache) = of_environment() else {
        print("no compiled code is kept\n")?;
        return Ok(Ending::Success);
    };
    let failed = |doing| {
        let path = cache.folder().to_path_buf();
        move |source| Error::Io { path, doing, source }
    };
    let amount = |Contents { entries, bytes }: Contents| {
        format!("{}, {:.1} MiB", pieces_of_code(entries), bytes as f64 / f64::from(1 << 20))
    };
    let folder = cache.folder().display();
    let text = match action {
        Action::Info => {
            let contents = cache.contents().map_err(failed("cannot be read"))?;
            format!(
                "{folder}: {} of at most {} MiB\n",
                amount(contents),
                grouped(cache.max_bytes() >> 20)
            )
        }
        Action::Clear => {
            format!(
                "{folder}: {} removed\n",
                amount(cache.clear().map_err(failed("cannot be emptied"))?)
            )
        }
    };
    print(text)?;
    Ok(Ending::Success)
}
