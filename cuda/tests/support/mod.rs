//! The library as a program sees it, and launches of examples.

#![allow(dead_code, reason = "each test uses a part")]

pub mod captures;

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;
use warploom_replay::{ArgValue, Content, Launch, compare};

/// A kernel `add(at, more)` that adds a number to each number of a block's lanes.
pub const ADD: &str = include_str!("add.ptx");

/// The loaded library.
pub struct Driver(Library);

/// Calls a function by its name. Returns the number of its error.
macro_rules! call {
    ($driver:expr, $name:ident($($arg:expr => $ty:ty),* $(,)?)) => {{
        type Function = unsafe extern "C" fn($($ty),*) -> u32;
        let function: Function = $driver.function(stringify!($name));
        // SAFETY: the types are those of the API.
        unsafe { function($($arg),*) }
    }};
}
pub(crate) use call;

/// Calls a function that must succeed.
macro_rules! ok {
    ($driver:expr, $name:ident($($arg:expr => $ty:ty),* $(,)?)) => {
        assert_eq!($crate::support::call!($driver, $name($($arg => $ty),*)), 0, stringify!($name))
    };
}
#[allow(unused_imports, reason = "each test uses a part")]
pub(crate) use ok;

static DRIVER: OnceLock<Driver> = OnceLock::new();

impl Driver {
    /// Returns the library, after a call of [`Driver::get`].
    pub fn loaded() -> &'static Driver {
        DRIVER.get().expect("it is loaded")
    }

    /// Returns the library, initialised as this GPU, with its primary context current in the
    /// calling thread.
    pub fn get(device: &str) -> &'static Driver {
        let driver = DRIVER.get_or_init(|| {
            // SAFETY: nothing in the process reads the environment before the library does, at its
            // start below.
            unsafe { std::env::set_var("WARPLOOM_DEVICE", device) };
            Driver::open()
        });
        driver.enter();
        driver
    }

    /// Loads and initialises the library.
    pub fn open() -> Driver {
        // SAFETY: the initialiser of the library reads the environment, which nobody changes
        // meanwhile. It loads another driver if a test asks for one.
        let driver =
            Driver(unsafe { Library::new(path()) }.expect("the library is built with the tests"));
        ok!(driver, cuInit(0 => u32));
        driver
    }

    /// Makes the primary context current.
    pub fn enter(&self) {
        let mut context = 0_u64;
        ok!(self, cuDevicePrimaryCtxRetain(&mut context => *mut u64, 0 => i32));
        ok!(self, cuCtxSetCurrent(context => u64));
    }

    pub fn close(self) {
        self.0.close().expect("it is closed");
    }

    /// Returns a function of the API.
    pub fn function<F: Copy>(&self, name: &str) -> F {
        // SAFETY: callers name the function's type.
        *unsafe { self.0.get::<F>(name.as_bytes()) }
            .unwrap_or_else(|_| panic!("{name} is exported"))
    }

    pub fn alloc(&self, bytes: usize) -> u64 {
        let mut address = 0;
        ok!(self, cuMemAlloc_v2(&mut address => *mut u64, bytes => usize));
        address
    }

    pub fn upload(&self, address: u64, bytes: &[u8]) {
        ok!(self, cuMemcpyHtoD_v2(address => u64, bytes.as_ptr() => *const u8, bytes.len() => usize));
    }

    pub fn download(&self, address: u64, bytes: usize) -> Vec<u8> {
        let mut content = vec![0; bytes];
        ok!(self, cuMemcpyDtoH_v2(content.as_mut_ptr() => *mut u8, address => u64, bytes => usize));
        content
    }

    pub fn words(&self, address: u64, count: usize) -> Vec<u32> {
        let bytes = self.download(address, 4 * count);
        bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect()
    }

    /// Loads a module from an image, and returns it with one of its functions.
    pub fn load(&self, image: &[u8], name: &str) -> (u64, u64) {
        let image = [image, &[0]].concat();
        let (mut module, mut function) = (0, 0);
        ok!(self, cuModuleLoadData(&mut module => *mut u64, image.as_ptr() => *const u8));
        let name = CString::new(name).unwrap();
        ok!(self, cuModuleGetFunction(&mut function => *mut u64, module => u64, name.as_ptr() => *const i8));
        (module, function)
    }

    /// Launches a kernel with parameters that are passed by address.
    pub fn launch(
        &self,
        function: u64,
        grid: u32,
        block: u32,
        stream: u64,
        params: &[*const c_void],
    ) -> u32 {
        self.launch_in(function, [grid, 1, 1], [block, 1, 1], 0, stream, params)
    }

    pub fn launch_in(
        &self,
        function: u64,
        g: [u32; 3],
        b: [u32; 3],
        shared: u32,
        stream: u64,
        params: &[*const c_void],
    ) -> u32 {
        call!(self, cuLaunchKernel(
            function => u64, g[0] => u32, g[1] => u32, g[2] => u32, b[0] => u32, b[1] => u32, b[2] => u32,
            shared => u32, stream => u64, params.as_ptr() => *const *const c_void, std::ptr::null() => *const c_void,
        ))
    }
}

/// Returns the path of the library that cargo builds for tests: beside the tests.
pub fn path() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("libcuda.so")
}

pub fn param<T>(value: &T) -> *const c_void {
    std::ptr::from_ref(value).cast()
}

/// Returns the examples in a folder of the repository, each with its file.
pub fn examples(folder: &str) -> Vec<(PathBuf, Launch)> {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples").join(folder);
    let mut found = vec![];
    for entry in std::fs::read_dir(&root).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(files) = std::fs::read_dir(&folder) else { continue };
        for file in files.map(|file| file.unwrap().path()) {
            if file.extension().is_some_and(|extension| extension == "toml") {
                let launch = Launch::read(&file).unwrap();
                found.push((file, launch));
            }
        }
    }
    found
}

/// Launches an example and compares its buffers with the expected ones. Returns false if the
/// example has features that this function does not set up.
pub fn run(driver: &Driver, launch: &Launch) -> bool {
    if !launch.surfaces.is_empty() || !launch.sparse.is_empty() || !launch.linked.is_empty() {
        return false;
    }
    let name = launch.entry.clone();
    let image = [launch.binary.as_slice(), &[0]].concat();
    let mut module = 0_u64;
    ok!(driver, cuModuleLoadData(&mut module => *mut u64, image.as_ptr() => *const u8));
    let mut function = 0_u64;
    match name {
        Some(name) => {
            let name = CString::new(name).unwrap();
            ok!(driver, cuModuleGetFunction(&mut function => *mut u64, module => u64, name.as_ptr() => *const i8));
        }
        None => {
            ok!(driver, cuModuleEnumerateFunctions(&mut function => *mut u64, 1 => u32, module => u64))
        }
    }
    for symbol in &launch.symbols {
        let (mut address, mut size, text) =
            (0_u64, 0_usize, CString::new(symbol.name.as_str()).unwrap());
        ok!(driver, cuModuleGetGlobal_v2(&mut address => *mut u64, &mut size => *mut usize, module => u64, text.as_ptr() => *const i8));
        match &symbol.content {
            Some(Content::Bytes(bytes)) => driver.upload(address, bytes),
            Some(Content::Zeros(bytes)) => {
                ok!(driver, cuMemsetD8_v2(address => u64, 0 => u8, *bytes as usize => usize));
            }
            None => {}
        }
    }
    let buffers: Vec<u64> =
        launch.buffers.iter().map(|buffer| driver.alloc(buffer.content.len() as usize)).collect();
    for (buffer, &address) in launch.buffers.iter().zip(&buffers) {
        match &buffer.content {
            Content::Bytes(bytes) => driver.upload(address, bytes),
            Content::Zeros(bytes) => {
                ok!(driver, cuMemsetD8_v2(address => u64, 0 => u8, *bytes as usize => usize));
            }
        }
    }
    let args: Vec<Vec<u8>> = (launch.args.iter())
        .map(|arg| match arg {
            ArgValue::Buffer(i) => buffers[*i].to_le_bytes().to_vec(),
            ArgValue::Bytes(bytes, _) => bytes.clone(),
            other => panic!("{other:?} is no argument of an example without surfaces"),
        })
        .collect();
    let params: Vec<*const c_void> = args.iter().map(|arg| arg.as_ptr().cast()).collect();
    let (g, b, shared) = (launch.shape.grid, launch.shape.block, launch.shape.shared_bytes);
    if launch.shape.cooperative {
        ok!(driver, cuLaunchCooperativeKernel(
            function => u64, g[0] => u32, g[1] => u32, g[2] => u32, b[0] => u32, b[1] => u32, b[2] => u32,
            shared => u32, 0 => u64, params.as_ptr() => *const *const c_void,
        ));
    } else {
        assert_eq!(driver.launch_in(function, g, b, shared, 0, &params), 0);
    }
    ok!(driver, cuCtxSynchronize());
    let mut compared = 0;
    for (buffer, &address) in launch.buffers.iter().zip(&buffers) {
        if let Some(expect) = &buffer.expect {
            let found = driver.download(address, expect.array.bytes.len());
            let comparison = compare(&found, &expect.array, expect.tolerance);
            assert!(comparison.mismatches == 0, "{}: {comparison:?}", buffer.name);
            compared += 1;
        }
    }
    buffers.iter().for_each(|&address| ok!(driver, cuMemFree_v2(address => u64)));
    ok!(driver, cuModuleUnload(module => u64));
    compared > 0
}
