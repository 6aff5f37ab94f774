//! Lines of work. A line does its pieces in order, each once all pieces that it comes after in
//! other lines are done.
//!
//! A thread that waits for its turn does its work itself, so that work without predecessors costs
//! two locks. Work that nobody waits for is done by a thread of the line, which ends after some
//! idle time.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;

/// The time that an idle thread waits for more work.
const IDLE: Duration = Duration::from_secs(2);

/// The line that all blocking lines are in order with.
pub const LEGACY: u64 = 0;

/// A point in a line: the end of the piece of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub line: u64,
    pub number: u64,
}

enum Work {
    /// Done by the thread that waits for the turn.
    Own,
    Given(Box<dyn FnOnce() + Send>),
}

struct Piece {
    number: u64,
    after: Vec<Point>,
    work: Work,
}

struct Line {
    /// Whether the line is in order with [`LEGACY`].
    blocking: bool,
    last: u64,
    done: u64,
    queue: VecDeque<Piece>,
    busy: bool,
    has_thread: bool,
    /// Whether the line ends once it is empty.
    closed: bool,
    /// Points that the next piece also comes after.
    after: Vec<Point>,
}

impl Line {
    fn new(blocking: bool) -> Line {
        Line {
            blocking,
            last: 0,
            done: 0,
            queue: VecDeque::new(),
            busy: false,
            has_thread: false,
            closed: false,
            after: vec![],
        }
    }
}

struct State {
    lines: FxHashMap<u64, Line>,
    next: u64,
}

/// The lines of a context.
pub struct Lines {
    state: Mutex<State>,
    changed: Condvar,
}

impl State {
    fn is_done(&self, point: Point) -> bool {
        self.lines.get(&point.line).is_none_or(|line| line.done >= point.number)
    }

    /// Adds a piece to a line. Returns its number and the points that it comes after.
    fn enter(&mut self, id: u64) -> Option<(u64, Vec<Point>)> {
        let blocking = self.lines.get(&id)?.blocking;
        let mut after = std::mem::take(&mut self.lines.get_mut(&id)?.after);
        let others = self.lines.iter().filter(|&(&other, line)| {
            other != id
                && line.done < line.last
                && blocking
                && line.blocking
                && (id == LEGACY || other == LEGACY)
        });
        after.extend(others.map(|(&line, other)| Point { line, number: other.last }));
        after.retain(|&point| !self.is_done(point));
        let line = self.lines.get_mut(&id)?;
        line.last += 1;
        Some((line.last, after))
    }

    /// Returns whether the first piece of a line can be done now.
    fn is_first_ready(&self, id: u64) -> bool {
        let Some(line) = self.lines.get(&id) else { return false };
        !line.busy
            && line
                .queue
                .front()
                .is_some_and(|piece| piece.after.iter().all(|&point| self.is_done(point)))
    }

    fn end(&mut self, id: u64, number: u64) {
        let Some(line) = self.lines.get_mut(&id) else { return };
        line.busy = false;
        line.done = number;
        if line.closed && line.queue.is_empty() {
            self.lines.remove(&id);
        }
    }
}

impl Lines {
    pub fn new() -> Arc<Lines> {
        let lines = FxHashMap::from_iter([(LEGACY, Line::new(true))]);
        Arc::new(Lines {
            state: Mutex::new(State { lines, next: LEGACY + 1 }),
            changed: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a line.
    pub fn open(&self, blocking: bool) -> u64 {
        let mut state = self.lock();
        let id = state.next;
        state.next += 1;
        state.lines.insert(id, Line::new(blocking));
        id
    }

    /// Closes a line. Work that is in it is still done.
    pub fn close(&self, id: u64) {
        let mut state = self.lock();
        if let Some(line) = state.lines.get_mut(&id) {
            line.closed = true;
            if line.queue.is_empty() && !line.busy {
                state.lines.remove(&id);
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for the line's turn, and does the work on this thread.
    pub fn run<R>(&self, id: u64, work: impl FnOnce() -> R) -> R {
        let mut state = self.lock();
        let Some((number, after)) = state.enter(id) else { return work() };
        if let Some(line) = state.lines.get_mut(&id) {
            line.queue.push_back(Piece { number, after, work: Work::Own });
        }
        while !(state.is_first_ready(id) && state.lines[&id].queue[0].number == number) {
            state = self.wait(state);
        }
        if let Some(line) = state.lines.get_mut(&id) {
            line.queue.pop_front();
            line.busy = true;
        }
        drop(state);
        let result = catch_unwind(AssertUnwindSafe(work));
        self.lock().end(id, number);
        self.changed.notify_all();
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Returns whether work could start at once and no other work could run before it ends. Then
    /// any thread may do it.
    pub fn is_alone(&self, id: u64) -> bool {
        let state = self.lock();
        let others = state.lines.len() - 1;
        let blocking = state.lines.get(&id).is_some_and(|line| line.blocking && !line.closed);
        let idle = state.lines.values().all(|line| line.done == line.last);
        idle && blocking && others <= usize::from(id != LEGACY)
    }

    /// Gives work to the line's thread.
    pub fn give(self: &Arc<Self>, id: u64, work: Box<dyn FnOnce() + Send>) {
        let mut state = self.lock();
        let Some((number, after)) = state.enter(id) else { return };
        let Some(line) = state.lines.get_mut(&id) else { return };
        line.queue.push_back(Piece { number, after, work: Work::Given(work) });
        if !line.has_thread {
            let lines = self.clone();
            let name = format!("warploom stream {id}");
            line.has_thread =
                std::thread::Builder::new().name(name).spawn(move || lines.serve(id)).is_ok();
            if !line.has_thread {
                // The host refuses threads: do the work here, as the next waiter would wait
                // forever.
                let Some(Piece { work: Work::Given(work), .. }) = line.queue.pop_back() else {
                    return;
                };
                line.last -= 1;
                drop(state);
                return self.run(id, work);
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Runs the thread of a line.
    fn serve(&self, id: u64) {
        let mut state = self.lock();
        loop {
            let given = |state: &State| {
                state.is_first_ready(id) && matches!(state.lines[&id].queue[0].work, Work::Given(_))
            };
            if given(&state) {
                let Some(line) = state.lines.get_mut(&id) else { return };
                line.busy = true;
                let Some(Piece { number, work: Work::Given(work), .. }) = line.queue.pop_front()
                else {
                    return;
                };
                drop(state);
                // The work itself has reported the meaning of a panic.
                let _ = catch_unwind(AssertUnwindSafe(work));
                state = self.lock();
                state.end(id, number);
                self.changed.notify_all();
                continue;
            }
            let (locked, timeout) =
                self.changed.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = locked;
            match state.lines.get_mut(&id) {
                None => return,
                Some(line) if timeout.timed_out() && line.queue.is_empty() => {
                    line.has_thread = false;
                    return;
                }
                Some(_) => {}
            }
        }
    }

    /// Returns the current end of a line.
    pub fn tail(&self, id: u64) -> Point {
        Point { line: id, number: self.lock().lines.get(&id).map_or(0, |line| line.last) }
    }

    /// Makes the line's next piece come after a point.
    pub fn come_after(&self, id: u64, point: Point) {
        let mut state = self.lock();
        if !state.is_done(point)
            && let Some(line) = state.lines.get_mut(&id)
        {
            line.after.push(point);
        }
    }

    /// Returns whether a line has no work and waits for no point.
    pub fn is_idle(&self, id: u64) -> bool {
        let state = self.lock();
        let idle = |line: &Line| {
            line.done == line.last && line.after.iter().all(|&point| state.is_done(point))
        };
        state.lines.get(&id).is_none_or(idle)
    }

    pub fn is_done(&self, point: Point) -> bool {
        self.lock().is_done(point)
    }

    pub fn wait_for(&self, point: Point) {
        let mut state = self.lock();
        while !state.is_done(point) {
            state = self.wait(state);
        }
    }

    /// Returns the ends of the lines that have unfinished work.
    pub fn ends(&self) -> Vec<Point> {
        let state = self.lock();
        let busy = state.lines.iter().filter(|(_, line)| line.done < line.last);
        busy.map(|(&line, at)| Point { line, number: at.last }).collect()
    }

    /// Waits until all work that is in lines now is done.
    pub fn wait_for_all(&self) {
        self.ends().into_iter().for_each(|point| self.wait_for(point));
    }
}
