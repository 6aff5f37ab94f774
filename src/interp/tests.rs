//! Executing a block in parts is executing the block; promises are checked.

use warploom_runtime::memory::{Access, Memory, Place};
use warploom_runtime::warp::{CONST_BANK_BYTES, WarpContext};

use super::*;
use crate::ir::generate::{self, Limits, Random, Source};
use crate::ir::{Op, Special, parse};

const BUFFER: u64 = 0x10_0000_0000;

/// Host memory of a warp.
struct Host {
    memory: Memory,
    bank: Box<[u8; CONST_BANK_BYTES]>,
    registers: Vec<u64>,
    shared: Vec<u8>,
    local: Vec<u8>,
}

impl Host {
    fn new(limits: Limits, register_bytes: u32, seed: u64) -> Self {
        let memory = Memory::default();
        memory.alloc_at(Place::At(BUFFER), limits.buffer_bytes.into(), Access::READ_WRITE).unwrap();
        let mut bank = Box::new([0; CONST_BANK_BYTES]);
        bank[..8].copy_from_slice(&BUFFER.to_le_bytes());
        let mut random = Random::new(seed);
        let mut bytes = |n: u32| -> Vec<u8> { (0..n).map(|_| random.below(256) as u8).collect() };
        memory.write(BUFFER, &bytes(limits.buffer_bytes)).unwrap();
        let shared = bytes(limits.shared_bytes);
        let local = bytes(limits.local_bytes * u32::from(limits.lanes));
        Host { memory, bank, registers: vec![0; register_bytes as usize / 8], shared, local }
    }

    fn context(&mut self, limits: Limits) -> Box<WarpContext> {
        let mut context = WarpContext::empty();
        context.registers = self.registers.as_mut_ptr().cast();
        context.register_bytes = self.registers.len() as u64 * 8;
        context.shared = self.shared.as_mut_ptr();
        context.shared_bytes = limits.shared_bytes.into();
        context.local = self.local.as_mut_ptr();
        context.local_bytes = limits.local_bytes.into();
        context.constants[0] = self.bank.as_ptr();
        context.memory = &self.memory;
        context.lanes = limits.lanes.into();
        context.warps = 1;
        context.launch_mask = u64::MAX >> (64 - limits.lanes);
        context
    }

    fn state(&self, limits: Limits, register_bytes: u32) -> (Vec<u8>, Vec<u64>, Vec<u8>, Vec<u8>) {
        let mut buffer = vec![0; limits.buffer_bytes as usize];
        self.memory.read(BUFFER, &mut buffer).unwrap();
        let registers = self.registers[..register_bytes as usize / 8].to_vec();
        (buffer, registers, self.shared.clone(), self.local.clone())
    }
}

/// The values that a range uses and does not define, and those it defines that are used after it.
fn boundary(block: &crate::ir::Block, range: Range<usize>) -> (Vec<Value>, Vec<Value>) {
    let defined = |insts: &[crate::ir::Inst]| -> Vec<Value> { insts.iter().flat_map(|i| i.results.clone()).collect() };
    let used = |insts: &[crate::ir::Inst]| -> Vec<Value> { insts.iter().flat_map(|i| i.operands()).collect() };
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
        let mut function = generate::function(&mut random, limits);
        for block in &mut function.blocks {
            // The table of thread indices is the scheduler's.
            for inst in &mut block.insts {
                if let Op::Special(Special::Tid(_)) = inst.op {
                    inst.op = Op::LaneId;
                }
            }
        }
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
            let slots_of = |values: Vec<Value>| -> Vec<Slot> { values.iter().map(|v| slots[v.0 as usize]).collect() };

            let mut whole = Host::new(limits, with_slots.bytes(), seed);
            let mut context = whole.context(limits);
            let outcome = run_insts(&function, &layout, &mut context, id, 0..end, &[], &[]);
            let fault = context.fault;

            let mut parts = Host::new(limits, with_slots.bytes(), seed);
            let mut context = parts.context(limits);
            let cut = random.below(end as u32 + 1) as usize;
            let in_parts = [0..cut, cut..end].into_iter().try_for_each(|range| {
                let (live_in, live_out) = boundary(block, range.clone());
                run_insts(&function, &layout, &mut context, id, range, &slots_of(live_in), &slots_of(live_out))
            });

            assert_eq!((outcome, fault), (in_parts, context.fault), "seed {seed}, {id:?}, cut at {cut}\n{function}");
            let bytes = layout.bytes();
            let same = whole.state(limits, bytes) == parts.state(limits, bytes);
            assert!(same, "seed {seed}, {id:?}, cut at {cut}\n{function}");
        }
    }
}

/// b0 leaves lanes 4 to 7 waiting and the others run b1; b2 brings the former back, and b3 is where they go on.
fn run_joining(pusher: &str) -> ExitCode {
    let write = |mask: &str| format!("v0 = const.i64 {mask}\nrf.write m[0], v0");
    let text = format!(
        "function \"f\" lanes 8 nan 0 0 0 {{\nbank m: mask x 1\nactive m[0]\nb0:\njump b1\n\
         b1:\n{}\njump b2\nb2:\n{}\njump b3\nb3 join {pusher}:\nexit\n}}\n",
        write("0xf"),
        write("0xf0")
    );
    let limits = Limits { lanes: 8, ..Limits::default() };
    let engine = Interpreter::new(Arc::new(parse::parse(&text).unwrap())).unwrap();
    let mut host = Host::new(limits, engine.layout().bytes(), 0);
    let mut context = host.context(limits);
    context.instruction_limit = u64::MAX;
    engine.run(&mut context)
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
