//! Runs instructions in one wave: sets registers and memory before, and reads them after.

use std::collections::BTreeMap;
use std::sync::Arc;

use warploom_analysis::LaunchClass;
use warploom_engine::{Effort, Program};
use warploom_gfx9::lift::{self, Kernel, apertures};
use warploom_interp::Interpreter;
use warploom_ir::{BankId, Function, Reg, verify};
use warploom_runtime::launch::{ConstBank, Engine, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, MemoryConfig, Placement};
use warploom_runtime::window::Windows;
use warploom_testing::instrument::{Buffers, instrument, row, row_bytes, values};

use super::encode::{self, Words};

/// The address of the test's memory.
pub const MEMORY: u64 = 0x12_3456_0000;
const REGISTERS_IN: u64 = 0x20_0000_0000;
const REGISTERS_OUT: u64 = 0x21_0000_0000;

/// The state before the code; registers that are not set are 0.
pub struct Wave {
    pub scalars: BTreeMap<u8, u32>,
    pub vectors: BTreeMap<u8, [u32; 64]>,
    pub exec: u64,
    /// Shared memory: up to 1008 bytes, a multiple of 16.
    pub shared: Vec<u8>,
    pub memory: Vec<u8>,
}

#[derive(Debug, PartialEq)]
pub struct After {
    /// The registers v0 to v31.
    pub vectors: Vec<[u32; 64]>,
    pub shared: Vec<u8>,
    pub memory: Vec<u8>,
    /// The fault's kind, lane and address.
    pub fault: Option<(String, u32, u64)>,
}

impl After {
    /// Panics at the first difference.
    #[track_caller]
    pub fn check(&self, expected: &After, what: &str) {
        assert_eq!(self.fault, expected.fault, "{what}");
        for (number, (found, expected)) in self.vectors.iter().zip(&expected.vectors).enumerate() {
            if let Some(lane) = (0..64).find(|&lane| found[lane] != expected[lane]) {
                panic!(
                    "{what}: v{number} of lane {lane} is {:#x}, not {:#x}",
                    found[lane], expected[lane]
                );
            }
        }
        for (name, found, expected) in
            [("shared", &self.shared, &expected.shared), ("global", &self.memory, &expected.memory)]
        {
            if let Some(at) = (0..found.len()).find(|&at| found[at] != expected[at]) {
                panic!(
                    "{what}: byte {at:#x} of {name} memory is {:#x}, not {:#x}",
                    found[at], expected[at]
                );
            }
        }
    }
}

/// The registers that carry shared memory in and out, and their addresses.
const STAGE: u8 = 244;
const STAGE_ADDRESS: u8 = 248;
const RESULTS: u32 = 32;

impl Default for Wave {
    fn default() -> Self {
        let (scalars, vectors) = Default::default();
        Wave { scalars, vectors, exec: u64::MAX, shared: vec![], memory: vec![] }
    }
}

impl Wave {
    pub fn set_pair(&mut self, number: u8, value: u64) {
        self.scalars.insert(number, value as u32);
        self.scalars.insert(number + 1, (value >> 32) as u32);
    }

    /// Sets an address for each lane.
    pub fn set_addresses(&mut self, number: u8, values: &[u64; 64]) {
        self.vectors.insert(number, values.map(|value| value as u32));
        self.vectors.insert(number + 1, values.map(|value| (value >> 32) as u32));
    }

    /// Runs the code on every engine, and panics if engines disagree.
    pub fn run(&self, code: &[Words]) -> After {
        let function = self.lift(code);
        let one = [64, 1, 1];
        let interp = self.run_on(&function, |f| Box::new(Interpreter::new(f).unwrap()));
        for (one_worker, effort) in
            [(true, Effort::Quick), (true, Effort::Full), (false, Effort::Full)]
        {
            let jit = self.run_on(&function, |f| {
                let program = Program::new(
                    &f,
                    LaunchClass::of(one, 64, warploom_cranelift::CHUNK),
                    one_worker,
                    warploom_cranelift::backend(),
                )
                .unwrap();
                program.compile_all(effort).unwrap();
                Box::new(program)
            });
            jit.check(&interp, "JIT and interpreter");
        }
        interp
    }

    fn lift(&self, code: &[Words]) -> Function {
        let all = [0xbefe_01c1];
        let mut words = all.to_vec();
        words.extend(encode::ds("ds_write_b128", 0, STAGE_ADDRESS, [STAGE, 0], 0));
        // exec = s[96:97]
        words.push(0xbefe_0160);
        words.extend(code.iter().flatten());
        words.extend(all);
        words.extend(encode::ds("ds_read_b128", STAGE, STAGE_ADDRESS, [0; 2], 0));
        // s_endpgm
        words.push(0xbf81_0000);
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let function = lift::lift_kernel(&Kernel::new("test", &code)).unwrap();
        verify::verify(&function).unwrap();
        function
    }

    fn run_on(
        &self,
        function: &Function,
        make: impl FnOnce(Arc<Function>) -> Box<dyn Engine>,
    ) -> After {
        let bank = |name: &str| {
            BankId(function.banks.iter().position(|bank| bank.name == name).unwrap() as u16)
        };
        let (scalars, vectors) = (bank("s"), bank("v"));
        let windows = Windows { shared: apertures::SHARED, local: apertures::PRIVATE };
        let memory = Memory::new(MemoryConfig { windows, ..MemoryConfig::default() }).unwrap();
        let mut sets: Vec<(Reg, Vec<u64>)> = Vec::new();
        let scalar =
            |number: u32| u64::from(self.scalars.get(&(number as u8)).copied().unwrap_or(0));
        for pair in 0..62 {
            let value =
                if pair == 48 { self.exec } else { scalar(2 * pair) | scalar(2 * pair + 1) << 32 };
            if value != 0 {
                sets.push((scalars.reg(pair), vec![value]));
            }
        }
        sets.push((scalars.reg(62), vec![scalar(124)]));
        let mut vector = |number: u8, row: [u32; 64]| {
            sets.push((vectors.reg(number.into()), row.map(u64::from).to_vec()));
        };
        for (&number, &row) in &self.vectors {
            vector(number, row);
        }
        let mut shared = self.shared.clone();
        shared.resize(1024, 0);
        let word = |at: usize| u32::from_le_bytes(shared[at..at + 4].try_into().unwrap());
        for i in 0..4 {
            vector(STAGE + i, std::array::from_fn(|lane| word(lane * 16 + usize::from(i) * 4)));
        }
        vector(STAGE_ADDRESS, std::array::from_fn(|lane| lane as u32 * 16));

        let read = (0..RESULTS).chain(STAGE.into()..u32::from(STAGE) + 4);
        let buffers = Buffers {
            input: REGISTERS_IN,
            set: sets.iter().map(|(reg, _)| *reg).collect(),
            output: REGISTERS_OUT,
            read: read.map(|number| vectors.reg(number)).collect(),
        };
        let input: Vec<u8> =
            sets.iter().flat_map(|(reg, values)| row(function, *reg, values)).collect();
        let row_bytes = row_bytes(function, vectors.reg(0));
        let out = row_bytes * buffers.read.len() as u64;
        for (address, bytes) in [(REGISTERS_IN, input.len() as u64), (REGISTERS_OUT, out)] {
            memory.alloc_at(Placement::At(address), bytes, Access::READ_WRITE).unwrap();
        }
        memory.write(REGISTERS_IN, &input).unwrap();
        if !self.memory.is_empty() {
            memory
                .alloc_at(Placement::At(MEMORY), self.memory.len() as u64, Access::READ_WRITE)
                .unwrap();
            memory.write(MEMORY, &self.memory).unwrap();
        }
        let instrumented = instrument(function, &buffers);
        verify::verify(&instrumented).unwrap();
        let mut config = LaunchConfig::new([1; 3], [64, 1, 1]);
        config.shared_bytes = self.shared.len() as u32;
        config.constants[0] = Some(ConstBank::new(&[0; 8]).unwrap());
        let engine = make(Arc::new(instrumented));
        let outcome = launch(&memory, &*engine, &config, None).unwrap();
        let mut after = After {
            vectors: vec![],
            shared: vec![0; 1024],
            memory: vec![0; self.memory.len()],
            fault: outcome
                .fault
                .map(|fault| (fault.kind.name().to_owned(), fault.lane, fault.address)),
        };
        if !after.memory.is_empty() {
            memory.read(MEMORY, &mut after.memory).unwrap();
        }
        let mut bytes = vec![0; out as usize];
        memory.read(REGISTERS_OUT, &mut bytes).unwrap();
        let rows: Vec<[u32; 64]> = bytes
            .chunks(row_bytes as usize)
            .map(|row| values(function, vectors.reg(0), row))
            .map(|row| std::array::from_fn(|lane| row[lane] as u32))
            .collect();
        for (lane, piece) in after.shared.chunks_mut(16).enumerate() {
            for (i, part) in piece.chunks_mut(4).enumerate() {
                part.copy_from_slice(&rows[RESULTS as usize + i][lane].to_le_bytes());
            }
        }
        after.shared.truncate(self.shared.len());
        after.vectors = rows[..RESULTS as usize].to_vec();
        after
    }
}
