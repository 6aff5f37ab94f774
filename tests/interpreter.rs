//! Tests of the interpreter: running a block in parts equals running it whole, and joins are
//! checked.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use warploom_interp::{Interpreter, Slot, run_insts};
use warploom_ir::layout::RegLayout;
use warploom_ir::{BlockId, Value, parse};
use warploom_runtime::fault::FaultRecord;
use warploom_runtime::launch::{ConstBank, Engine, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, Placement};
use warploom_runtime::warp::{ExitCode, WarpContext};
use warploom_testing::ir::{self as generate, Limits, Random, Source};

const BUFFER: u64 = 0x10_0000_0000;

/// The state that a warp leaves.
#[derive(Debug, PartialEq)]
struct Left<T> {
    outcome: T,
    fault: FaultRecord,
    buffer: Vec<u8>,
    registers: Vec<u8>,
    shared: Vec<u8>,
    local: Vec<u8>,
}

/// An engine that runs its body once with a warp.
struct Once<F> {
    limits: Limits,
    register_bytes: u32,
    body: F,
}

impl<F: Fn(&mut WarpContext<'_>) + Sync> Engine for Once<F> {
    fn lanes(&self) -> u32 {
        self.limits.lanes.into()
    }

    fn register_file_bytes(&self) -> usize {
        self.register_bytes as usize
    }

    fn run(&self, context: &mut WarpContext<'_>) -> ExitCode {
        (self.body)(context);
        ExitCode::Done
    }
}

/// Runs one warp in memory whose content depends on the seed. Returns the state that it leaves,
/// with only the first `looked_at` bytes of registers.
fn with_warp<T: Send>(
    limits: Limits,
    (register_bytes, looked_at): (u32, u32),
    seed: u64,
    body: impl Fn(&mut WarpContext<'_>) -> T + Sync,
) -> Left<T> {
    let memory = Memory::default();
    memory.alloc_at(Placement::At(BUFFER), limits.buffer_bytes.into(), Access::READ_WRITE).unwrap();
    let mut random = Random::new(seed);
    let mut bytes = |n: u32| -> Vec<u8> { (0..n).map(|_| random.below(256) as u8).collect() };
    memory.write(BUFFER, &bytes(limits.buffer_bytes)).unwrap();
    let shared = bytes(limits.shared_bytes);
    let local = bytes(limits.local_bytes * u32::from(limits.lanes));
    let left = Mutex::new(None);
    let body = |context: &mut WarpContext<'_>| {
        context.shared().copy_from_slice(&shared);
        context.local().copy_from_slice(&local);
        let outcome = body(context);
        let mut buffer = vec![0; limits.buffer_bytes as usize];
        memory.read(BUFFER, &mut buffer).unwrap();
        *left.lock().unwrap() = Some(Left {
            outcome,
            fault: context.fault,
            buffer,
            registers: context.registers()[..looked_at as usize].to_vec(),
            shared: context.shared().to_vec(),
            local: context.local().to_vec(),
        });
    };
    let mut config = LaunchConfig::new([1; 3], [limits.lanes.into(), 1, 1]);
    (config.shared_bytes, config.local_bytes) = (limits.shared_bytes, limits.local_bytes);
    config.constants[0] = Some(ConstBank::new(&BUFFER.to_le_bytes()).unwrap());
    launch(&memory, &Once { limits, register_bytes, body }, &config, None).unwrap();
    left.into_inner().unwrap().unwrap()
}

/// Returns the values that a range uses but does not define, and the values that it defines and
/// later instructions use.
fn boundary(block: &warploom_ir::Block, range: Range<usize>) -> (Vec<Value>, Vec<Value>) {
    let defined = |insts: &[warploom_ir::Inst]| -> Vec<Value> {
        insts.iter().flat_map(|i| i.results.clone()).collect()
    };
    let used = |insts: &[warploom_ir::Inst]| -> Vec<Value> {
        insts.iter().flat_map(|i| i.operands()).collect()
    };
    let own = defined(&block.insts[range.clone()]);
    let mut live_in = used(&block.insts[range.clone()]);
    live_in.retain(|value| !own.contains(value));
    let after = used(&block.insts[range.end..]);
    let live_out = own.into_iter().filter(|value| after.contains(value)).collect();
    (live_in, live_out)
}

#[test]
fn parts_are_the_whole() {
    let limits = Limits { lanes: 13, ops: 30, ..Limits::default() };
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let function = generate::function(&mut random, limits);
        let layout = RegLayout::new(&function).unwrap();
        for (index, block) in function.blocks.iter().enumerate() {
            let id = BlockId(index as u32);
            let end = block.insts.len();
            let mut with_slots = layout.clone();
            let slots: Vec<Slot> = (0..block.values.len() as u32)
                .map(|value| {
                    let offset = with_slots.append_value(block.values[value as usize]).unwrap();
                    Slot { value: Value(value), offset }
                })
                .collect();
            let slots_of = |values: Vec<Value>| -> Vec<Slot> {
                values.iter().map(|v| slots[v.0 as usize]).collect()
            };

            let sizes = (with_slots.bytes(), layout.bytes());
            let whole = with_warp(limits, sizes, seed, |context| {
                run_insts(&function, &layout, context, id, 0..end, &[], &[])
            });
            let cut = random.below(end as u32 + 1) as usize;
            let parts = with_warp(limits, sizes, seed, |context| {
                [0..cut, cut..end].into_iter().try_for_each(|range| {
                    let (live_in, live_out) = boundary(block, range.clone());
                    run_insts(
                        &function,
                        &layout,
                        context,
                        id,
                        range,
                        &slots_of(live_in),
                        &slots_of(live_out),
                    )
                })
            });
            assert!(whole == parts, "seed {seed}, {id:?}, cut at {cut}\n{function}");
        }
    }
}

/// Runs a function whose b1 leaves only lanes 0 to 3 active, and whose b2 activates lanes 4 to 7
/// instead. b3 claims to join lanes that waited since `pusher`.
fn run_joining(pusher: &str) -> ExitCode {
    let write = |mask: &str| format!("v0 = const.mask {mask}\nrf.write m[0], v0");
    let text = format!(
        "function \"f\" lanes 8 nan 0 0 0 {{\nbank m: mask x 1\nactive m[0]\nb0:\njump b1\n\
         b1:\n{}\njump b2\nb2:\n{}\njump b3\nb3 join {pusher}:\nexit\n}}\n",
        write("0xf"),
        write("0xf0")
    );
    let limits = Limits { lanes: 8, ..Limits::default() };
    let engine = Interpreter::new(Arc::new(parse::parse(&text).unwrap())).unwrap();
    let bytes = engine.layout().bytes();
    with_warp(limits, (bytes, bytes), 0, |context| engine.run(context)).outcome
}

#[test]
fn lanes_that_were_there_may_join() {
    assert_eq!(run_joining("b0"), ExitCode::Done);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "b3 joins b1, where lanes 0xf0 were not active")]
fn others_may_not() {
    run_joining("b1");
}
