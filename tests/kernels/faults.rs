//! Launches that end in a fault: its kind, its place, and the effects before it.

use warploom::{Arg, EngineKind, Fault, LaunchOptions, Program};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::launch;

use crate::reference::{Shape, WARP};
use crate::support::Case;

/// An address with no mapping.
const NOWHERE: u64 = 0x7000_0000_0000;
const OLD: u32 = 0xabcd;

/// Returns a launch of a kernel of `fault.cu`: `out` starts as OLD, `first` and `last` as zeros.
fn fault_case(entry: &'static str, block: usize, out: &[u32], first: &[u32], last: &[u32]) -> Case {
    Case::behaviour("fault", entry)
        .shape(Shape { grid: 1, block })
        .inout(&vec![OLD; out.len()], out)
        .output(first)
        .output(last)
}

/// Returns the values t + 1 for the threads before `end`, then zeros.
fn marks(block: usize, end: usize) -> Vec<u32> {
    (0..block).map(|t| if t < end { t as u32 + 1 } else { 0 }).collect()
}

#[track_caller]
fn assert_fault(fault: &Fault, kind: FaultKind, thread: usize, address: u64, text: &str) {
    let launch::Fault { block, warp, lane, address: at, .. } = fault.fault;
    let place = ([0, 0, 0], (thread / WARP) as u32, (thread % WARP) as u32);
    assert_eq!((fault.kind(), (block, warp, lane), at), (kind, place, address), "{fault}");
    assert!(fault.instruction.as_ref().is_some_and(|i| i.starts_with(text)), "{fault}");
}

/// The warps before the faulting warp have finished. In the faulting warp, all lanes have done the
/// work before the access, and the lower lanes have done the access.
#[test]
fn a_store_that_fails_in_one_lane() {
    for (block, thread) in [(32, 20), (32, 0), (32, 31), (96, 52), (33, 32), (7, 6)] {
        let warp = thread / WARP * WARP;
        let out: Vec<u32> =
            (0..block).map(|t| if t < thread { t as u32 + 1000 } else { OLD }).collect();
        fault_case(
            "fault_store",
            block,
            &out,
            &marks(block, (warp + WARP).min(block)),
            &marks(block, warp),
        )
        .value(thread as u32)
        .value(NOWHERE)
        .check_fault(|fault| {
            assert_fault(fault, FaultKind::AddressOutOfRange, thread, NOWHERE, "STG")
        });
        fault_case(
            "fault_store",
            block,
            &out,
            &marks(block, (warp + WARP).min(block)),
            &marks(block, warp),
        )
        .value(thread as u32)
        .value(NOWHERE + 2)
        .check_fault(|fault| {
            assert_fault(fault, FaultKind::MisalignedAddress, thread, NOWHERE + 2, "STG")
        });
    }
}

#[test]
fn a_load_that_fails_in_one_lane() {
    for (block, thread) in [(32, 20), (32, 0), (64, 63), (33, 32)] {
        let warp = thread / WARP * WARP;
        let last: Vec<u32> = (0..block).map(|t| if t < warp { OLD + 1 } else { 0 }).collect();
        fault_case(
            "fault_load",
            block,
            &vec![OLD; block],
            &marks(block, (warp + WARP).min(block)),
            &last,
        )
        .value(thread as u32)
        .value(NOWHERE)
        .check_fault(|fault| {
            assert_fault(fault, FaultKind::AddressOutOfRange, thread, NOWHERE, "LDG")
        });
    }
}

#[test]
fn an_atomic_that_fails_in_one_lane() {
    for (block, thread) in [(32, 20), (32, 0), (64, 40)] {
        let warp = thread / WARP * WARP;
        let sum = |threads: usize| (0..threads).fold(OLD, |sum, t| sum + t as u32 + 1);
        let last: Vec<u32> = (0..block).map(|t| if t < warp { sum(t) } else { 0 }).collect();
        fault_case(
            "fault_atomic",
            block,
            &[sum(thread)],
            &marks(block, (warp + WARP).min(block)),
            &last,
        )
        .value(thread as u32)
        .value(NOWHERE)
        .check_fault(|fault| {
            assert_fault(fault, FaultKind::AddressOutOfRange, thread, NOWHERE, "ATOM")
        });
    }
}

#[test]
fn a_store_past_the_shared_memory() {
    for (thread, offset) in [(20, 4096), (3, 0x7f_fffc), (31, 0xffff_fffc)] {
        fault_case("fault_shared", 32, &[], &marks(32, 32), &marks(32, 0))
            .value(thread as u32)
            .value(offset)
            .check_fault(|fault| {
                assert_fault(fault, FaultKind::AddressOutOfRange, thread, offset, "STS")
            });
    }
}

/// Lane 20 fails in the second store, lane 3 in the third: the report names the earlier
/// instruction.
#[test]
fn the_first_instruction_to_fail_counts() {
    let out: Vec<u32> = (0..32).map(|t| if t < 20 { t + 1 } else { OLD }).collect();
    fault_case("fault_order", 32, &out, &marks(32, 32), &marks(32, 0))
        .value(NOWHERE)
        .check_fault(|fault| assert_fault(fault, FaultKind::AddressOutOfRange, 20, NOWHERE, "STG"));
}

#[test]
fn stores_out_of_range() {
    for offset in [1i64 << 40, -(1 << 44)] {
        Case::behaviour("out_of_range", "store_at")
            .shape(Shape { grid: 3, block: 40 })
            .output(&[0u32; 120])
            .value(offset)
            .check_fault(|fault| {
                assert_eq!(
                    (fault.kind(), fault.fault.block, fault.fault.warp, fault.fault.lane),
                    (FaultKind::AddressOutOfRange, [0, 0, 0], 0, 0)
                );
            });
    }
    Case::behaviour("out_of_range", "store_misaligned")
        .shape(Shape { grid: 1, block: 32 })
        .output(&[0u32; 40])
        .value(1i64)
        .check_fault(|fault| {
            assert_eq!((fault.kind(), fault.fault.lane), (FaultKind::MisalignedAddress, 0))
        });
}

#[test]
fn a_load_past_the_local_memory() {
    for offset in [1 << 20, 1 << 28] {
        Case::behaviour("out_of_range", "local_at")
            .shape(Shape { grid: 1, block: 32 })
            .output(&[0i32; 32])
            .value(offset)
            .check_fault(|fault| {
                assert_eq!(
                    (fault.kind(), fault.fault.warp, fault.fault.lane),
                    (FaultKind::AddressOutOfRange, 0, 0)
                )
            });
    }
}

#[test]
fn barriers_that_cannot_be_reached() {
    Case::behaviour("stuck", "stuck_barrier")
        .shape(Shape { grid: 1, block: 96 })
        .output(&[0u32; 96])
        .check_fault(|fault| {
            assert_eq!(fault.kind(), FaultKind::StuckBarrier);
            let waiting: Vec<_> = fault.fault.waiting.iter().map(|w| (w.warp, w.barrier)).collect();
            assert_eq!(waiting, [(0, Some(0)), (1, Some(1)), (2, Some(1))]);
        });
    Case::behaviour("stuck", "stuck_count")
        .shape(Shape { grid: 1, block: 64 })
        .output(&[0u32; 64])
        .check_fault(|fault| assert_eq!(fault.kind(), FaultKind::StuckBarrier));
}

#[test]
fn endless_loops_end_with_the_budget() {
    for entry in ["endless", "endless_empty"] {
        let case = Case::behaviour("stuck", entry)
            .shape(Shape { grid: 2, block: 64 })
            .instruction_limit(100_000);
        let case = if entry == "endless" { case.any(256) } else { case };
        case.check_fault(|fault| assert_eq!(fault.kind(), FaultKind::BudgetExceeded));
    }
}

/// A missing texture has texels of zeros.
#[test]
fn a_texture_that_is_not_there() {
    for (entry, sampled) in [("texture_branch", 5.0f32), ("texture_guard", 0.0)] {
        for (count, expected) in [(0, 5.0), (1, sampled)] {
            Case::behaviour("texture_branch", entry)
                .shape(Shape { grid: 1, block: 32 })
                .output(&[expected; 32])
                .value(0u64)
                .value(count)
                .check();
        }
    }
}

/// The corpus's kernels with surfaces and textures get addresses in place of handles. No image has
/// such a handle; an instruction that traps on a missing image faults.
#[test]
fn addresses_are_no_handles() {
    let mut trapped = 0;
    for file in ["surf", "tex"] {
        let path = format!(
            "{}/tests/fixtures/maxwell/kernels/{file}.sm_50.cubin",
            env!("CARGO_MANIFEST_DIR")
        );
        let binary = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let module = warploom_container::modules(&binary).expect("a module").remove(0);
        let names: Vec<String> =
            module.kernels().map(|(_, function)| function.name.clone()).collect();
        for name in names {
            let program =
                Program::load(&binary, Some(&name)).unwrap_or_else(|error| panic!("{error}"));
            let kernel = program.kernel(&name).expect("the kernel");
            let buffer = program.memory().alloc(1 << 16, 16).expect("memory");
            let arg = |size: u32| match size {
                8 => Arg::pointer(buffer),
                size => Arg::bytes(vec![0; size as usize]),
            };
            let args: Vec<Arg> =
                kernel.function().params.iter().map(|param| arg(param.size)).collect();
            let run = |engine| {
                let options = LaunchOptions { engine, ..LaunchOptions::new([1; 3], [32, 1, 1]) };
                kernel
                    .launch(&args, &options)
                    .unwrap_or_else(|error| panic!("{name}: {error}"))
                    .fault
            };
            let [interp, jit] = [EngineKind::Interp, EngineKind::Jit].map(run);
            assert_eq!(interp, jit, "{name}");
            if let Some(fault) = jit {
                let text = fault.instruction.clone().unwrap_or_default();
                assert_eq!(fault.kind(), FaultKind::InvalidSurface, "{name}: {fault}");
                assert!(text.contains("SULD") || text.contains("SUST"), "{name}: {text}");
                trapped += 1;
            }
        }
    }
    assert!(trapped >= 30, "{trapped} kernels");
}
