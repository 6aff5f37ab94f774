//! Transforms of all types and layouts, compared with sums of their definition; and wrong calls.

#![allow(non_snake_case, reason = "the names are the C API's")]

use std::f64::consts::TAU;

// The library's functions, by their C names.
use cufft12 as _;
use libloading::Library;

unsafe extern "C" {
    fn cufftCreate(out: *mut i32) -> u32;
    fn cufftDestroy(plan: i32) -> u32;
    fn cufftPlan1d(out: *mut i32, x: i32, kind: u32, batches: i32) -> u32;
    fn cufftPlan2d(out: *mut i32, x: i32, y: i32, kind: u32) -> u32;
    fn cufftPlan3d(out: *mut i32, x: i32, y: i32, z: i32, kind: u32) -> u32;
    fn cufftPlanMany(
        out: *mut i32,
        axes: i32,
        sizes: *const i32,
        from: *const i32,
        from_step: i32,
        from_distance: i32,
        to: *const i32,
        to_step: i32,
        to_distance: i32,
        kind: u32,
        batches: i32,
    ) -> u32;
    fn cufftExecC2C(plan: i32, from: u64, to: u64, direction: i32) -> u32;
    fn cufftExecR2C(plan: i32, from: u64, to: u64) -> u32;
    fn cufftXtExec(plan: i32, from: u64, to: u64, direction: i32) -> u32;
    fn cufftGetSize(plan: i32, work: *mut usize) -> u32;
}

// `cufftType`
const R2C: u32 = 0x2a;
const C2R: u32 = 0x2c;
const C2C: u32 = 0x29;
const D2Z: u32 = 0x6a;
const Z2D: u32 = 0x6c;
const Z2Z: u32 = 0x69;
// `cufftResult`
const INVALID_PLAN: u32 = 1;
const INVALID_VALUE: u32 = 4;
const INVALID_SIZE: u32 = 8;

/// The driver that cargo has built beside the tests. Once it is loaded, `libcuda.so.1` names it.
struct Driver(Library);

macro_rules! ok {
    ($driver:expr, $name:ident($($arg:expr => $ty:ty),* $(,)?)) => {{
        // SAFETY: the function has this type in the driver API.
        let function = unsafe { $driver.0.get::<unsafe extern "C" fn($($ty),*) -> u32>(stringify!($name).as_bytes()) };
        // SAFETY: pointers are to variables of the tests.
        assert_eq!(unsafe { function.expect("it is exported")($($arg),*) }, 0, stringify!($name));
    }};
}

impl Driver {
    fn open() -> Driver {
        let path = std::env::current_exe().unwrap().with_file_name("libcuda.so");
        // SAFETY: at its start the library reads the environment, which nobody changes.
        let driver =
            Driver(unsafe { Library::new(path) }.expect("the library is built with the tests"));
        ok!(driver, cuInit(0 => u32));
        let mut context = 0_u64;
        ok!(driver, cuDevicePrimaryCtxRetain(&mut context => *mut u64, 0 => i32));
        ok!(driver, cuCtxSetCurrent(context => u64));
        driver
    }

    /// Allocates memory for numbers.
    fn room(&self, bytes: usize) -> u64 {
        let mut address = 0_u64;
        ok!(self, cuMemAlloc_v2(&mut address => *mut u64, bytes => usize));
        address
    }

    fn write(&self, address: u64, numbers: &[f64], wide: bool) {
        let bytes: Vec<u8> = if wide {
            numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
        } else {
            numbers.iter().flat_map(|number| (*number as f32).to_le_bytes()).collect()
        };
        ok!(self, cuMemcpyHtoD_v2(address => u64, bytes.as_ptr() => *const u8, bytes.len() => usize));
    }

    fn read(&self, address: u64, count: usize, wide: bool) -> Vec<f64> {
        let mut bytes = vec![0_u8; count * if wide { 8 } else { 4 }];
        ok!(self, cuCtxSynchronize());
        ok!(self, cuMemcpyDtoH_v2(bytes.as_mut_ptr() => *mut u8, address => u64, bytes.len() => usize));
        if wide {
            bytes.as_chunks().0.iter().map(|&number| f64::from_le_bytes(number)).collect()
        } else {
            bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number).into()).collect()
        }
    }
}

type Complex = (f64, f64);

/// Returns a transform by its definition.
fn sums(sizes: &[usize], input: &[Complex], sign: f64) -> Vec<Complex> {
    let place = |mut index: usize| {
        let mut at = vec![0; sizes.len()];
        for (at, size) in at.iter_mut().zip(sizes).rev() {
            (*at, index) = (index % size, index / size);
        }
        at
    };
    let all: Vec<Vec<usize>> = (0..input.len()).map(place).collect();
    let one = |to: &Vec<usize>| {
        let term = |(from, (re, im)): (&Vec<usize>, &Complex)| {
            let turns =
                from.iter().zip(to).zip(sizes).map(|((a, b), n)| (a * b) as f64 / *n as f64);
            let (sin, cos) = (sign * TAU * turns.sum::<f64>()).sin_cos();
            (re * cos - im * sin, re * sin + im * cos)
        };
        let add = |sum: Complex, term: Complex| (sum.0 + term.0, sum.1 + term.1);
        all.iter().zip(input).map(term).fold((0.0, 0.0), add)
    };
    all.iter().map(one).collect()
}

/// Returns numbers between -1 and 1.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn complex(numbers: &[f64]) -> Vec<Complex> {
    numbers.as_chunks().0.iter().map(|&[re, im]| (re, im)).collect()
}

fn assert_close(found: &[Complex], expected: &[Complex], wide: bool, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let limit = if wide { 1e-10 } else { 1e-3 };
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let distance = (found.0 - expected.0).abs().max((found.1 - expected.1).abs());
        assert!(distance < limit, "{what}, element {i}: {found:?}, expected {expected:?}");
    }
}

fn plan(sizes: &[usize], kind: u32) -> i32 {
    let mut plan = 0;
    let n: Vec<i32> = sizes.iter().map(|&size| size as i32).collect();
    // SAFETY: the pointer is to a variable.
    let answer = unsafe {
        match n[..] {
            [x] => cufftPlan1d(&mut plan, x, kind, 1),
            [x, y] => cufftPlan2d(&mut plan, x, y, kind),
            [x, y, z] => cufftPlan3d(&mut plan, x, y, z, kind),
            _ => panic!("{sizes:?}"),
        }
    };
    assert_eq!(answer, 0, "{sizes:?}");
    plan
}

const SHAPES: [&[usize]; 8] = [&[1], &[2], &[16], &[15], &[31], &[6, 10], &[5, 7], &[3, 4, 5]];

#[test]
fn transforms_are_sums_of_their_definition() {
    let driver = Driver::open();
    for (seed, sizes) in (1..).zip(SHAPES) {
        for wide in [false, true] {
            let all: usize = sizes.iter().product();
            let bytes = if wide { 8 } else { 4 };
            let half = sizes[sizes.len() - 1] / 2 + 1;
            let rows = all / sizes[sizes.len() - 1];
            let (from, to) = (driver.room(4 * all * bytes), driver.room(4 * all * bytes));
            let what = format!("{sizes:?}, {bytes} bytes");

            // Complex to complex, both ways; the second in place.
            let given = numbers(2 * all, seed);
            let handle = plan(sizes, if wide { Z2Z } else { C2C });
            driver.write(from, &given, wide);
            // SAFETY: the addresses are device memory of this size.
            unsafe {
                assert_eq!(cufftXtExec(handle, from, to, -1), 0, "{what}");
                assert_eq!(cufftXtExec(handle, from, from, 1), 0, "{what}");
                assert_eq!(cufftXtExec(handle, from, to, 0), INVALID_VALUE);
            }
            for (address, sign) in [(to, -1.0), (from, 1.0)] {
                let found = complex(&driver.read(address, 2 * all, wide));
                assert_close(&found, &sums(sizes, &complex(&given), sign), wide, &what);
            }

            // Real to complex, out of place and in place, where rows have room for both.
            let given = numbers(all, seed + 100);
            let as_complex: Vec<Complex> = given.iter().map(|&re| (re, 0.0)).collect();
            let whole = sums(sizes, &as_complex, -1.0);
            let halves: Vec<Complex> = whole
                .chunks(sizes[sizes.len() - 1])
                .flat_map(|row| &row[..half])
                .copied()
                .collect();
            let handle = plan(sizes, if wide { D2Z } else { R2C });
            driver.write(from, &given, wide);
            // SAFETY: as above.
            assert_eq!(unsafe { cufftXtExec(handle, from, to, -1) }, 0, "{what}");
            let found = complex(&driver.read(to, 2 * rows * half, wide));
            assert_close(&found, &halves, wide, &what);
            let last = sizes[sizes.len() - 1];
            let padded: Vec<f64> = given
                .chunks(last)
                .flat_map(|row| row.iter().copied().chain(std::iter::repeat(9.0)).take(2 * half))
                .collect();
            driver.write(from, &padded, wide);
            // SAFETY: as above.
            assert_eq!(unsafe { cufftXtExec(handle, from, from, -1) }, 0, "{what}");
            let found = complex(&driver.read(from, 2 * rows * half, wide));
            assert_close(&found, &halves, wide, &what);

            // And back.
            let handle = plan(sizes, if wide { Z2D } else { C2R });
            // SAFETY: as above.
            assert_eq!(unsafe { cufftXtExec(handle, from, to, 1) }, 0, "{what}");
            let found = driver.read(to, all, wide);
            let found: Vec<Complex> = found.iter().map(|value| (value / all as f64, 0.0)).collect();
            assert_close(&found, &as_complex, wide, &what);
        }
    }

    // Two batches of rows of 6 numbers, in a larger array, with steps.
    let (sizes, embed) = ([4, 6], [9, 8]);
    let (step, distance) = (2, 150);
    let mut handle = 0;
    // SAFETY: the lists have two numbers.
    let answer = unsafe {
        cufftPlanMany(
            &mut handle,
            2,
            sizes.as_ptr(),
            embed.as_ptr(),
            step,
            distance,
            sizes.as_ptr(),
            1,
            24,
            C2C,
            2,
        )
    };
    assert_eq!(answer, 0);
    let given = numbers(2 * 2 * distance as usize, 5);
    let (from, to) = (driver.room(4 * given.len()), driver.room(8 * 48));
    driver.write(from, &given, false);
    // SAFETY: the addresses are device memory of this size.
    assert_eq!(unsafe { cufftExecC2C(handle, from, to, -1) }, 0);
    let found = complex(&driver.read(to, 96, false));
    for batch in 0..2 {
        let at = |i: usize| batch * 150 + (i / 6 * 8 + i % 6) * 2;
        let chosen = (0..24).map(|i| (given[2 * at(i)], given[2 * at(i) + 1]));
        let expected = sums(&[4, 6], &chosen.collect::<Vec<Complex>>(), -1.0);
        assert_close(&found[24 * batch..24 * (batch + 1)], &expected, false, "a layout");
    }

    wrong_calls(&driver, handle);
}

/// Wrong calls are refused, with cuFFT's errors.
fn wrong_calls(driver: &Driver, good: i32) {
    let (small, mut plan, mut work) = (driver.room(16), 0, 1);
    // SAFETY: pointers are to variables, null, or device memory, which the library checks.
    unsafe {
        assert_eq!(cufftPlan1d(&mut plan, 0, C2C, 1), INVALID_SIZE);
        assert_eq!(cufftPlan1d(&mut plan, 8, C2C, -1), INVALID_SIZE);
        assert_eq!(cufftPlan1d(&mut plan, 8, 0x33, 1), INVALID_VALUE);
        assert_eq!(cufftPlan1d(std::ptr::null_mut(), 8, C2C, 1), INVALID_VALUE);
        // No array of this size exists.
        assert_eq!(cufftPlan3d(&mut plan, i32::MAX, i32::MAX, i32::MAX, C2C), INVALID_SIZE);
        assert_eq!(cufftPlan1d(&mut plan, i32::MAX, C2C, 1), 0);
        assert_eq!(cufftExecC2C(plan, small, small, -1), INVALID_VALUE);
        assert_eq!(cufftExecC2C(good, small, small, -1), INVALID_VALUE);
        assert_eq!(cufftExecC2C(good, 0, 0, -1), INVALID_VALUE);
        assert_eq!(cufftExecR2C(good, small, small), INVALID_PLAN);
        assert_eq!(cufftCreate(&mut plan), 0);
        // Nothing has made it yet.
        assert_eq!(cufftExecC2C(plan, small, small, -1), INVALID_PLAN);
        assert_eq!(cufftGetSize(plan, &mut work), 0);
        assert_eq!(work, 0);
        assert_eq!(cufftDestroy(plan), 0);
        assert_eq!(cufftDestroy(plan), INVALID_PLAN);
        // Elements of the output lie over each other.
        let (many, one) = ([1_000_000, 1_000_000], [1, 1]);
        let answer = cufftPlanMany(
            &mut plan,
            2,
            many.as_ptr(),
            one.as_ptr(),
            1,
            1,
            one.as_ptr(),
            1,
            1,
            C2C,
            1,
        );
        assert_eq!(answer, INVALID_VALUE);
        let none = std::ptr::null();
        let answer = cufftPlanMany(&mut plan, 4, none, none, 1, 1, none, 1, 1, C2C, 1);
        assert_eq!(answer, INVALID_VALUE);
    }
}
