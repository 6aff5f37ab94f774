//! The progress bar.

use std::cell::OnceCell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar that shows itself on a terminal when a launch takes long.
pub struct Progress {
    start: Instant,
    name: String,
    bar: OnceCell<ProgressBar>,
}

impl Progress {
    const PATIENCE: Duration = Duration::from_millis(700);

    pub fn new(name: String) -> Progress {
        Progress { start: Instant::now(), name, bar: OnceCell::new() }
    }

    /// Shows that `done` of `total` are done.
    pub fn show(&self, done: u64, total: u64) {
        if self.start.elapsed() < Self::PATIENCE || !std::io::stderr().is_terminal() {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template(
                "{msg} {wide_bar} {human_pos}/{human_len}, {eta} left",
            );
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(self.name.clone());
            bar
        });
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
