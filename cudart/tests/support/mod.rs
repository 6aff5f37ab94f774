//! The runtime library as a program sees it, over the driver library. Helpers for graphs use the
//! types of CUDA 13.

#![allow(dead_code, reason = "each test uses a part")]

#[path = "../../../tests/support/fat_file.rs"]
mod fat_file;

use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

use libloading::Library;

/// The device code of `symbol`, `shared_word`, `add`, `bump` and `count`.
pub const KERNELS: &str = include_str!("kernels.ptx");

const LIBRARY: &str = if cfg!(runtime = "11") { "libcudart11.so" } else { "libcudart13.so" };

/// The loaded libraries.
pub struct Runtime {
    runtime: Library,
    _driver: Library,
}

/// Calls a function by its name. The result is the error's number.
macro_rules! call {
    ($runtime:expr, $name:ident($($arg:expr => $ty:ty),* $(,)?)) => {{
        type Function = unsafe extern "C" fn($($ty),*) -> i32;
        let function: Function = $runtime.function(stringify!($name));
        // SAFETY: callers state the API's types.
        unsafe { function($($arg),*) }
    }};
}
pub(crate) use call;

/// Calls a function by its name, and checks that it succeeds.
macro_rules! ok {
    ($runtime:expr, $name:ident($($arg:expr => $ty:ty),* $(,)?)) => {
        assert_eq!($crate::support::call!($runtime, $name($($arg => $ty),*)), 0, stringify!($name))
    };
}
#[allow(unused_imports, reason = "each test uses a part")]
pub(crate) use ok;

/// `cudaMemcpyKind`
pub const HOST_TO_DEVICE: i32 = 1;
pub const DEVICE_TO_HOST: i32 = 2;

/// `dim3`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dim3(pub u32, pub u32, pub u32);

/// `cudaKernelNodeParams`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct KernelNode {
    pub function: u64,
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: u32,
    pub parameters: u64,
    pub extra: u64,
}

/// `cudaMemsetParams`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memset {
    pub to: u64,
    pub pitch: usize,
    pub value: u32,
    pub element: u32,
    pub width: usize,
    pub height: usize,
}

/// Host functions and shadows, whose addresses stand for kernels and variables.
pub static ADD: u8 = 1;
pub static BUMP: u8 = 2;
pub static COUNT: u8 = 3;
pub static SYMBOL: u8 = 4;

pub fn address<T>(of: &T) -> u64 {
    std::ptr::from_ref(of).expose_provenance() as u64
}

/// The wrapper that a compiler puts around a fat binary.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: *const u8,
    name: *const u8,
}

impl Runtime {
    /// Returns the libraries, for programs that see an sm_80.
    pub fn get() -> &'static Runtime {
        static RUNTIME: OnceLock<Runtime> = OnceLock::new();
        RUNTIME.get_or_init(|| {
            // SAFETY: nobody reads the environment before the driver does, at its start below.
            unsafe { std::env::set_var("WARPLOOM_DEVICE", "sm_80") };
            let here = std::env::current_exe().unwrap();
            let load = |file| {
                // SAFETY: the driver's initialiser reads the environment, which nobody changes
                // then. The runtime finds the driver by its name.
                unsafe { Library::new(here.with_file_name(file)) }
                    .expect("it is built with the tests")
            };
            Runtime { _driver: load("libcuda.so"), runtime: load(LIBRARY) }
        })
    }

    /// Returns a function of the API.
    pub fn function<F: Copy>(&self, name: &str) -> F {
        // SAFETY: callers name the function's type.
        *unsafe { self.runtime.get::<F>(name.as_bytes()) }
            .unwrap_or_else(|_| panic!("{name} is exported"))
    }

    /// Registers a fat binary with one member, as a program's constructors do.
    pub fn register(&self, kind: u16, arch: u32, content: &[u8]) -> u64 {
        let data = fat_file::fat(&[fat_file::member(kind, arch, content, false, "")]).leak();
        let wrapper =
            Wrapper { magic: 0x4662_43b1, version: 1, data: data.as_ptr(), name: std::ptr::null() };
        let wrapper: &'static Wrapper = Box::leak(Box::new(wrapper));
        let register: unsafe extern "C" fn(*const Wrapper) -> u64 =
            self.function("__cudaRegisterFatBinary");
        // SAFETY: the wrapper and the binary stay.
        unsafe { register(wrapper) }
    }

    pub fn register_kernel(&self, binary: u64, stub: u64, name: &CStr) {
        call!(self, __cudaRegisterFunction(
            binary => u64, stub => u64, 0 => u64, name.as_ptr() => *const i8, -1 => i32, 0 => u64, 0 => u64, 0 => u64, 0 => u64, 0 => u64,
        ));
    }

    pub fn register_variable(&self, binary: u64, shadow: u64, name: &CStr, bytes: usize) {
        call!(self, __cudaRegisterVar(
            binary => u64, shadow => u64, 0 => u64, name.as_ptr() => *const i8, 0 => i32, bytes => usize, 0 => i32, 0 => i32,
        ));
    }

    /// Registers [`KERNELS`], once.
    pub fn register_kernels(&self) -> u64 {
        static BINARY: OnceLock<u64> = OnceLock::new();
        *BINARY.get_or_init(|| {
            const PTX: u16 = 1;
            let binary = self.register(PTX, 80, &[KERNELS.as_bytes(), &[0]].concat());
            self.register_kernel(binary, address(&ADD), c"add");
            self.register_kernel(binary, address(&BUMP), c"bump");
            self.register_kernel(binary, address(&COUNT), c"count");
            self.register_variable(binary, address(&SYMBOL), c"symbol", 16);
            binary
        })
    }

    pub fn alloc(&self, words: usize) -> u64 {
        let mut pointer = 0;
        ok!(self, cudaMalloc(&mut pointer => *mut u64, 4 * words => usize));
        ok!(self, cudaMemset(pointer => u64, 0 => i32, 4 * words => usize));
        // The tests' own streams do not wait for the legacy stream, in which the fill runs.
        ok!(self, cudaStreamSynchronize(0 => u64));
        pointer
    }

    pub fn words(&self, pointer: u64, count: usize) -> Vec<u32> {
        let mut words = vec![0; count];
        ok!(self, cudaMemcpy(words.as_mut_ptr() => *mut u32, pointer => u64, 4 * count => usize, DEVICE_TO_HOST => i32));
        words
    }

    pub fn stream(&self) -> u64 {
        let mut stream = 0;
        // Non-blocking: this stream and the legacy stream do not wait for each other.
        ok!(self, cudaStreamCreateWithFlags(&mut stream => *mut u64, 1 => u32));
        stream
    }

    pub fn graph(&self) -> u64 {
        let mut graph = 0;
        ok!(self, cudaGraphCreate(&mut graph => *mut u64, 0 => u32));
        graph
    }

    /// Launches a graph, and waits for it.
    pub fn run(&self, exec: u64) {
        let stream = self.stream();
        ok!(self, cudaGraphLaunch(exec => u64, stream => u64));
        ok!(self, cudaStreamSynchronize(stream => u64));
        ok!(self, cudaStreamDestroy(stream => u64));
    }

    pub fn instantiate(&self, graph: u64) -> u64 {
        let mut exec = 0;
        ok!(self, cudaGraphInstantiate(&mut exec => *mut u64, graph => u64, 0 => u64));
        exec
    }

    /// Launches one block.
    pub fn launch(&self, stub: u64, lanes: u32, parameters: &[*const c_void], stream: u64) -> i32 {
        call!(self, cudaLaunchKernel(
            stub => u64, Dim3(1, 1, 1) => Dim3, Dim3(lanes, 1, 1) => Dim3, parameters.as_ptr() => *const *const c_void,
            0 => usize, stream => u64,
        ))
    }
}

/// Returns a launch of `add` with 64 lanes. The node copies the arguments when it is added.
pub fn launch_of_add(words: &u64, more: &u32) -> KernelNode {
    let parameters = Box::leak(Box::new([param(words), param(more)]));
    let [grid, block] = [Dim3(1, 1, 1), Dim3(64, 1, 1)];
    KernelNode {
        function: address(&ADD),
        grid,
        block,
        parameters: address(parameters),
        ..KernelNode::default()
    }
}

pub fn param<T>(value: &T) -> *const c_void {
    std::ptr::from_ref(value).cast()
}
