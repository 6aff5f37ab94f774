//! Helpers of the thread that launches. They stay for the next launch: starting a thread takes
//! longer than many launches do.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The helpers of a launch that is over.
///
/// Launches that run at the same time have different helpers. Each launch needs all its helpers at
/// once, since blocks of a cooperative launch wait for each other.
static IDLE: Mutex<Option<ThreadPool>> = Mutex::new(None);

/// Does shares 0 to `shares - 1` at the same time.
///
/// `own` does the first share on the calling thread. `other` does each other share on a thread of
/// its own. If the host refuses threads, the calling thread does all shares.
pub(super) fn share_out(shares: u64, other: impl Fn(&[u64]) + Sync, own: impl FnOnce(&[u64])) {
    let helpers = if shares > 1 { helpers(shares as usize - 1) } else { None };
    let Some(helpers) = helpers else { return own(&(0..shares).collect::<Vec<_>>()) };
    helpers.in_place_scope(|scope| {
        let other = &other;
        for share in 1..shares {
            scope.spawn(move |_| other(&[share]));
        }
        own(&[0]);
    });
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if idle.as_ref().is_none_or(|idle| idle.current_num_threads() < helpers.current_num_threads()) {
        *idle = Some(helpers);
    }
}

/// Calls `make` with 0 to `pieces - 1` on `threads` threads, and returns the results in this order.
/// The calling thread is one of the threads.
pub fn share<T: Send>(threads: usize, pieces: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(pieces)));
    let work = |_: &[u64]| loop {
        let piece = next.fetch_add(1, Relaxed);
        if piece >= pieces {
            return;
        }
        let one = make(piece);
        made.lock().unwrap_or_else(PoisonError::into_inner).push((piece, one));
    };
    share_out(threads.min(pieces).max(1) as u64, work, work);
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_unstable_by_key(|&(piece, _)| piece);
    made.into_iter().map(|(_, one)| one).collect()
}

/// Returns `count` threads or more, or `None` if the host refuses them.
fn helpers(count: usize) -> Option<ThreadPool> {
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).take();
    idle.filter(|idle| idle.current_num_threads() >= count).or_else(|| {
        ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|n| format!("warploom {}", n + 1))
            .build()
            .ok()
    })
}
