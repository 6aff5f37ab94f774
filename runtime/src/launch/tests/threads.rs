use std::collections::HashSet;
use std::sync::Barrier;
use std::thread::{self, ThreadId};

use super::super::threads::share_out;
use super::*;

/// Every share waits for all others.
#[test]
fn shares_are_done_at_once_each_by_a_thread() {
    for shares in [1, 2, 5, 17, 3] {
        let (all, done) = (Barrier::new(shares as usize), Mutex::new(Vec::new()));
        let work = |mine: &[u64]| {
            all.wait();
            let [share] = *mine else { panic!("one thread has {mine:?}") };
            done.lock().unwrap().push((share, thread::current().id()));
        };
        share_out(shares, work, |mine| work(mine));
        let done = done.into_inner().unwrap();
        assert!(done.contains(&(0, thread::current().id())), "the calling thread does the first");
        assert_eq!(
            BTreeSet::from_iter(done.iter().map(|&(share, _)| share)),
            BTreeSet::from_iter(0..shares)
        );
        let threads: HashSet<ThreadId> = done.iter().map(|&(_, id)| id).collect();
        assert_eq!(threads.len(), shares as usize);
    }
}

#[test]
fn launches_at_the_same_time_have_threads_of_their_own() {
    let all = Barrier::new(4 * 3);
    let work = |_: &[u64]| {
        all.wait();
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| share_out(3, work, work));
        }
    });
}

/// Other tests may have the threads now and then.
#[test]
fn threads_stay_for_the_next_launch() {
    let helpers = Mutex::new(HashSet::new());
    let rounds = rounds(1000).max(20);
    for _ in 0..rounds {
        share_out(2, |_| _ = helpers.lock().unwrap().insert(thread::current().id()), |_| ());
    }
    let helpers = helpers.into_inner().unwrap().len();
    assert!((1..rounds as usize / 2).contains(&helpers), "{helpers} threads");
}

#[test]
fn a_panic_of_a_share_is_the_caller_s() {
    let launch = || share_out(3, |mine| assert_ne!(mine, [2], "share two"), |_| ());
    let panic = std::panic::catch_unwind(launch).unwrap_err();
    assert!(panic.downcast_ref::<String>().is_some_and(|message| message.contains("share two")));
    share_out(3, |_| (), |_| ());
}
