//! Runs a lifted function from one state to another. A block in front of the function's first block
//! loads the state, and a block behind its last block stores it, so an engine only runs the
//! function.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use warploom_ir::{
    BankId, BlockBuilder, BlockId, Extend, Function, FunctionBuilder, Space, Special, Terminator,
    Type, Value,
};
use warploom_maxwell::lift::{Kernel, lift_kernel};
use warploom_runtime::launch::{ConstBank, Engine, LaunchConfig, Outcome, launch};
use warploom_runtime::memory::{Access, Memory, MemoryConfig, Placement as Where};

use super::state::{GLOBAL, GLOBAL_BYTES, Item, LANES, LOW, Place, State};
use super::{Engines, engines};

/// The guest address of the state.
const STATE: u64 = 0x2_0000_0000;
const ROW: u64 = 4 * LANES as u64;
/// The number of words of shared memory, and of words of local memory per lane.
const SHARED_WORDS: u64 = 256;
const LOCAL_WORDS: u64 = 64;
/// `BRX RZ` to nowhere: code behind it may read all state, so no state that the test compares is
/// dead.
const STOP: u64 = 0xe250_0000_0007_ff0f;

/// Returns code from instruction words, with control words in between, that ends in [`STOP`].
pub fn assemble(words: &[u64]) -> Vec<u8> {
    let words: Vec<u64> = words.iter().copied().chain([STOP]).collect();
    words
        .chunks(3)
        .flat_map(|bundle| std::iter::once(&0).chain(bundle))
        .flat_map(|word| word.to_le_bytes())
        .collect()
}

/// Returns the places that a test compares whether it names them or not.
fn usual_places() -> impl Iterator<Item = Place> {
    (0..16).map(Place::Reg).chain((0..7).map(Place::Pred)).chain((0..5).map(Place::Cc))
}

/// Returns the guest address of a place in the state: a row with a word for each lane. Predicates
/// and CC use the first 8 bytes of the row as a mask; shared memory uses the first 4.
fn address(place: Place) -> u64 {
    let row = match place {
        Place::Reg(n) => u64::from(n),
        Place::Pred(n) => 256 + u64::from(n),
        Place::Cc(n) => 264 + u64::from(n),
        Place::Shared(offset) => 272 + offset / 4,
        Place::Local(offset) => 272 + SHARED_WORDS + offset / 4,
        Place::Global(offset) => return GLOBAL.wrapping_add(offset),
        Place::Const(..) => panic!("constants are no state"),
    };
    STATE + row * ROW
}

/// One function that can be run from many states.
pub struct Probe {
    function: Arc<Function>,
    /// The places to load before and store after: all but global memory.
    places: BTreeSet<Place>,
    /// The engines for each number of lanes of earlier runs.
    engines: RefCell<BTreeMap<u32, Rc<Engines>>>,
}

/// The result of a run.
pub struct After {
    pub outcome: Outcome,
    memory: Memory,
    places: BTreeSet<Place>,
}

impl Probe {
    /// Returns a probe for states that name these places. It compares the usual places, too.
    pub fn new(code: &[u8], named: impl IntoIterator<Item = Place>) -> Probe {
        Probe::of_named(code, usual_places().chain(named))
    }

    /// Returns a probe that compares the named places only.
    pub fn of_named(code: &[u8], named: impl IntoIterator<Item = Place>) -> Probe {
        let state = |place: &Place| !matches!(place, Place::Global(_) | Place::Const(..));
        let places: BTreeSet<Place> = named.into_iter().filter(state).collect();
        let kernel = Kernel::new("probe", code, 8);
        let lifted = lift_kernel(&kernel).unwrap_or_else(|error| panic!("{error}"));
        Probe { function: Arc::new(wrap(lifted, &places)), places, engines: RefCell::default() }
    }

    /// Runs one warp with `lanes` lanes on every engine.
    pub fn run(&self, before: &State, lanes: u32) -> Vec<(&'static str, After)> {
        let engines = self
            .engines
            .borrow_mut()
            .entry(lanes)
            .or_insert_with(|| Rc::new(engines(&self.function, lanes)))
            .clone();
        let run = |(name, engine): &(&'static str, Arc<dyn Engine>)| {
            let memory = Memory::new(MemoryConfig::default()).expect("memory");
            for (base, bytes) in [(GLOBAL, GLOBAL_BYTES), (LOW, 1 << 16), (STATE, 1 << 17)] {
                memory.alloc_at(Where::At(base), bytes, Access::READ_WRITE).expect("memory");
            }
            let mut config = LaunchConfig::new([1; 3], [lanes, 1, 1]);
            config.shared_bytes = SHARED_WORDS as u32 * 4;
            config.local_bytes = LOCAL_WORDS as u32 * 4;
            config.instruction_limit = Some(1 << 20);
            let mut banks: BTreeMap<u8, Vec<u8>> = BTreeMap::new();
            for item in &before.items {
                match item.place {
                    Place::Const(bank, offset) => {
                        let bank = banks.entry(bank).or_insert_with(|| vec![0; 1 << 16]);
                        bank[offset as usize..offset as usize + 4]
                            .copy_from_slice(&item.lanes[0].to_le_bytes());
                    }
                    place => memory.write(address(place), &bytes(item)).expect("state"),
                }
            }
            for (bank, content) in banks {
                config.constants[bank as usize] = Some(ConstBank::new(&content).expect("bank"));
            }
            let outcome = launch(&memory, &**engine, &config, None).expect("launch");
            (*name, After { outcome, memory, places: self.places.clone() })
        };
        engines.iter().map(run).collect()
    }
}

fn bytes(item: &Item) -> Vec<u8> {
    match item.place {
        Place::Pred(_) | Place::Cc(_) => mask(item).to_le_bytes().to_vec(),
        Place::Global(_) | Place::Shared(_) => item.lanes[0].to_le_bytes().to_vec(),
        _ => item.lanes.iter().flat_map(|word| word.to_le_bytes()).collect(),
    }
}

fn mask(item: &Item) -> u64 {
    item.lanes.iter().enumerate().fold(0, |mask, (lane, &bit)| mask | u64::from(bit & 1) << lane)
}

impl After {
    /// Returns the differences from the expected state. Places without a name must be as before.
    pub fn compare(&self, before: &State, expected: &State, lanes: u32) -> Vec<String> {
        self.compare_where(before, expected, lanes, u64::MAX)
    }

    /// Compares like `After::compare`, but predicates and CC only in the lanes of `flags`.
    pub fn compare_where(
        &self,
        before: &State,
        expected: &State,
        lanes: u32,
        flags: u64,
    ) -> Vec<String> {
        let found =
            self.outcome.fault.as_ref().map(|fault| (format!("{:?}", fault.kind), fault.lane));
        let same_fault = match (&found, &expected.fault) {
            (None, None) => true,
            (Some((kind, lane)), Some((wanted, at))) => {
                kind == wanted && at.is_none_or(|at| at == *lane)
            }
            _ => false,
        };
        if !same_fault {
            return vec![format!(
                "fault: expected {:?}, found {:?}",
                expected.fault, self.outcome.fault
            )];
        }
        let mut wanted: HashMap<Place, &Item> =
            before.items.iter().map(|item| (item.place, item)).collect();
        wanted.extend(expected.items.iter().map(|item| (item.place, item)));
        let mut differences = Vec::new();
        let globals = wanted.keys().copied().filter(|place| matches!(place, Place::Global(_)));
        let state = self.places.iter().copied().filter(|_| found.is_none());
        for place in state.chain(globals.collect::<Vec<_>>()) {
            let zero = Item { place, lanes: [0; LANES] };
            let wanted = wanted.get(&place).copied().unwrap_or(&zero);
            let mut found = bytes(&zero);
            self.memory.read(address(place), &mut found).expect("state");
            match place {
                Place::Pred(_) | Place::Cc(_) => {
                    let exist = u64::MAX >> (64 - lanes) & flags;
                    let found = u64::from_le_bytes(found.try_into().expect("8 bytes")) & exist;
                    let wanted = mask(wanted) & exist;
                    if found != wanted {
                        differences
                            .push(format!("{place:x?}: expected {wanted:#x}, found {found:#x}"));
                    }
                }
                _ => {
                    for (lane, found) in found.chunks_exact(4).take(lanes as usize).enumerate() {
                        let found = u32::from_le_bytes(found.try_into().expect("4 bytes"));
                        if found != wanted.lanes[lane] {
                            let wanted = wanted.lanes[lane];
                            differences.push(format!(
                                "{place:x?} lane {lane}: expected {wanted:#x}, found {found:#x}"
                            ));
                            break;
                        }
                    }
                }
            }
        }
        differences
    }
}

/// Puts the function between a block that loads the state and a block that stores it.
///
/// A function that cannot reach [`STOP`] has only the registers it uses: it traps, and the test
/// ignores its final state.
fn wrap(mut function: Function, places: &BTreeSet<Place>) -> Function {
    let count =
        |name| function.banks.iter().find(|bank| bank.name == name).map_or(0, |bank| bank.count);
    let registers = count("r");
    let places = places.iter().copied().filter(|place| match *place {
        Place::Reg(n) => n < registers,
        _ => true,
    });
    let places: &BTreeSet<Place> = &places.collect();
    let mut builder = FunctionBuilder::new(function.name.clone(), function.lanes, function.nan);
    let mut bank = HashMap::new();
    for declared in &function.banks {
        bank.insert(
            declared.name.clone(),
            builder.bank(declared.name.clone(), declared.kind, declared.count),
        );
    }
    builder.set_active(function.active);
    let (load, store, old_entry) =
        (builder.new_block(0), builder.new_block(0), builder.new_block(0));
    let mut state = StateCode { b: builder.at(load), bank: &bank };
    state.load(places);
    state.b.jump(old_entry);
    let mut state = StateCode { b: builder.at(store), bank: &bank };
    state.store(places);
    state.b.exit();
    builder.at(old_entry).exit();
    let wrapper = builder.finish().expect("the wrapper");

    // Blocks 0 and 1 are the wrapper's; the function's blocks follow.
    let moved = |id: BlockId| BlockId(id.0 + 2);
    for block in &mut function.blocks {
        block.join = block.join.map(moved);
        match block.term {
            Terminator::Indirect { .. } | Terminator::Exit => {
                block.term = Terminator::Jump(BlockId(1))
            }
            _ => block.term.map_targets(moved),
        }
    }
    function.blocks.splice(0..0, wrapper.blocks.into_iter().take(2));
    function
}

struct StateCode<'a> {
    b: BlockBuilder<'a>,
    bank: &'a HashMap<String, BankId>,
}

impl StateCode<'_> {
    fn reg(&mut self, place: Place) -> Option<warploom_ir::Reg> {
        let (name, index) = match place {
            Place::Reg(n) => ("r", n),
            Place::Pred(n) => ("p", n),
            Place::Cc(n) => ("cc", n),
            _ => return None,
        };
        Some(self.bank[name].reg(index))
    }

    /// Returns the address of a place's row, and whether it is an address for each lane; otherwise
    /// it is the row's start.
    fn row(&mut self, place: Place) -> (Value, bool) {
        let base = self.b.iconst(Type::I64, address(place));
        if !matches!(place, Place::Reg(_) | Place::Local(_)) {
            return (base, false);
        }
        let (lane, four) = (self.b.lane_id(), self.b.iconst(Type::I64, 4));
        let lane = self.b.zero_extend(Type::I64, lane);
        let offset = self.b.mul(lane, four);
        (self.b.add(base, offset), true)
    }

    fn own_address(&mut self, place: Place) -> (Space, Value) {
        match place {
            Place::Shared(offset) => (Space::Shared, self.b.iconst(Type::I32, offset)),
            Place::Local(offset) => {
                let offset = self.b.iconst(Type::I32, offset);
                (Space::Local, self.b.splat(offset))
            }
            _ => unreachable!("registers have none"),
        }
    }

    fn ty(place: Place) -> Type {
        if matches!(place, Place::Pred(_) | Place::Cc(_)) { Type::I64 } else { Type::I32 }
    }

    fn load(&mut self, places: &BTreeSet<Place>) {
        for &place in places {
            let (row, _) = self.row(place);
            let value = self.b.load(Space::Global, Self::ty(place), Extend::None, row, 0);
            match self.reg(place) {
                Some(reg) => {
                    let value =
                        if Self::ty(place) == Type::I64 { self.b.to_mask(value) } else { value };
                    self.b.rf_write(reg, value);
                }
                None => {
                    let (space, address) = self.own_address(place);
                    self.b.store(space, Type::I32, address, 0, value);
                }
            }
        }
    }

    fn store(&mut self, places: &BTreeSet<Place>) {
        let launched = self.b.special(Special::LaunchMask);
        self.b.write_active(launched);
        for &place in places {
            let value = match self.reg(place) {
                Some(reg) => {
                    let value = self.b.rf_read(reg);
                    if Self::ty(place) == Type::I64 { self.b.from_mask(value) } else { value }
                }
                None => {
                    let (space, address) = self.own_address(place);
                    self.b.load(space, Type::I32, Extend::None, address, 0)
                }
            };
            let (row, _) = self.row(place);
            self.b.store(Space::Global, Self::ty(place), row, 0, value);
        }
    }
}
