//! Launches.

use std::ffi::c_void;
use std::sync::{Arc, PoisonError};

use super::require;
use crate::boundary::{HostFn, Owned, Ptr, api, plain};
use crate::error::{Answer, Error};
use crate::launch::{Launch, arguments, from_block};
use crate::module::{FUNCTIONS, Function, OldLaunch};
use crate::operation::Operation;
use crate::stream;

/// The most bytes of a kernel's parameters.
const MAX_PARAM_BYTES: usize = 32_764;

plain! {
    /// `CUlaunchConfig`.
    pub struct Config {
        pub grid: [u32; 3],
        pub block: [u32; 3],
        pub shared: u32,
        stream: u64,
        attributes: Ptr<Attribute>,
        count: u32,
    }

    /// `CUlaunchAttribute`.
    pub struct Attribute {
        id: u32,
        padding: u32,
        value: [u64; 8],
    }

    /// `CUDA_LAUNCH_PARAMS`.
    pub struct Params {
        function: u64,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        stream: u64,
        params: Ptr<Ptr<u8>>,
    }
}

const _: () =
    assert!(size_of::<Params>() == size_of::<cudarc::driver::sys::CUDA_LAUNCH_PARAMS_st>());

const _: () = assert!(size_of::<Config>() == size_of::<cudarc::driver::sys::CUlaunchConfig>());
const _: () =
    assert!(size_of::<Attribute>() == size_of::<cudarc::driver::sys::CUlaunchAttribute>());

/// A `CUlaunchAttributeID`: all blocks are resident at once and may wait for each other.
pub(super) const COOPERATIVE: u32 = 2;

/// Other values of `CUlaunchAttributeID`.
mod attribute {
    pub const CLUSTER: u32 = 4;
    pub const EVENT: u32 = 7;
    pub const LAUNCH_EVENT: u32 = 12;
    pub const LAST: u32 = 24;
}

impl Config {
    pub(super) fn lanes(&self) -> u32 {
        self.block.iter().fold(1, |all: u32, &n| all.saturating_mul(n))
    }

    /// Returns whether an attribute demands that all blocks are resident at once.
    pub fn is_cooperative(&self) -> bool {
        let attributes = self.attributes.list(self.count as usize).unwrap_or_default();
        attributes
            .iter()
            .any(|attribute| attribute.id == COOPERATIVE && attribute.value[0] as u32 != 0)
    }
}

fn launch(launch: Launch, stream: u64) -> Answer {
    let (stream, context) = stream::get(stream)?;
    launch.check()?;
    stream.submit(&context, Operation::Launch(Arc::new(launch)))
}

fn with_old<R>(
    function: u64,
    change: impl FnOnce(&Arc<Function>, &mut OldLaunch) -> R,
) -> Result<R, Error> {
    let function = FUNCTIONS.get(function)?;
    let mut old = function.old.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(change(&function, &mut old))
}

/// Writes bytes to the parameters of the function's next launch by the old API.
fn put_param(function: u64, offset: i32, bytes: &[u8]) -> Answer {
    let offset = usize::try_from(offset).map_err(|_| super::INVALID)?;
    let end = offset
        .checked_add(bytes.len())
        .filter(|&end| end <= MAX_PARAM_BYTES)
        .ok_or(super::INVALID)?;
    with_old(function, |_, old| {
        old.params.resize(old.params.len().max(end), 0);
        old.params[offset..end].copy_from_slice(bytes);
    })
}

fn old_launch(function: u64, grid: [i32; 2], stream: u64) -> Answer {
    require(grid[0] > 0 && grid[1] > 0)?;
    let kernel = with_old(function, |function, old| {
        let block = old.block.map(|n| n.max(1));
        let mut params = old.params.clone();
        params.resize(params.len().max(function.code().param_bytes as usize), 0);
        let args = from_block(&function.code().params, &params)?;
        Ok(Launch::new(function, [grid[0] as u32, grid[1] as u32, 1], block, old.shared, args))
    })??;
    launch(kernel, stream)
}

api! {
    fn cuLaunchKernel(
        function: u64, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: u64, params: Ptr<Ptr<u8>>, extra: Ptr<Ptr<c_void>>,
    ) / cuLaunchKernel_ptsz {
        let function = FUNCTIONS.get(function)?;
        let args = arguments(&function.code().params, params, extra)?;
        launch(Launch::new(&function, [grid_x, grid_y, grid_z], [block_x, block_y, block_z], shared, args), stream)
    }

    fn cuLaunchKernelEx(
        config: Ptr<Config>, function: u64, params: Ptr<Ptr<u8>>, extra: Ptr<Ptr<c_void>>,
    ) / cuLaunchKernelEx_ptsz {
        let (config, function) = (config.get()?, FUNCTIONS.get(function)?);
        let args = arguments(&function.code().params, params, extra)?;
        let mut kernel = Launch::new(&function, config.grid, config.block, config.shared, args);
        let mut events = vec![];
        for attribute in config.attributes.list(config.count as usize)? {
            match attribute.id {
                COOPERATIVE => kernel.cooperative = attribute.value[0] as u32 != 0,
                attribute::CLUSTER => {
                    let axes = [attribute.value[0] as u32, (attribute.value[0] >> 32) as u32, attribute.value[1] as u32];
                    if axes.iter().any(|&n| n > 1) {
                        return Err(Error::CUDA_ERROR_INVALID_CLUSTER_SIZE);
                    }
                }
                attribute::EVENT | attribute::LAUNCH_EVENT => events.push(attribute.value[0]),
                // Attributes that only concern speed or features that this device lacks.
                0..=attribute::LAST => {}
                _ => return Err(super::INVALID),
            }
        }
        launch(kernel, config.stream)?;
        events.into_iter().try_for_each(|event| super::event::record(event, config.stream))
    }

    fn cuLaunchCooperativeKernel(
        function: u64, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: u64, params: Ptr<Ptr<u8>>,
    ) / cuLaunchCooperativeKernel_ptsz {
        let function = FUNCTIONS.get(function)?;
        let args = arguments(&function.code().params, params, Ptr::NULL)?;
        let mut kernel = Launch::new(&function, [grid_x, grid_y, grid_z], [block_x, block_y, block_z], shared, args);
        kernel.cooperative = true;
        launch(kernel, stream)
    }

    /// Accepts one launch, as there is one device.
    fn cuLaunchCooperativeKernelMultiDevice(list: Ptr<Params>, count: u32, flags: u32) {
        require(count == 1 && flags <= 3)?;
        let Params { function, grid, block, shared, stream, params } = list.get()?;
        let function = FUNCTIONS.get(function)?;
        let mut kernel = Launch::new(&function, grid, block, shared, arguments(&function.code().params, params, Ptr::NULL)?);
        kernel.cooperative = true;
        launch(kernel, stream)
    }

    fn cuLaunchHostFunc(stream: u64, function: HostFn, data: Ptr<c_void>) / cuLaunchHostFunc_ptsz {
        require(function.is_some())?;
        let (stream, context) = stream::get(stream)?;
        stream.submit(&context, Operation::Host { function, data, _owner: None })
    }

    fn cuLaunchHostFunc_v2(stream: u64, function: HostFn, data: Ptr<c_void>, mode: u32) / cuLaunchHostFunc_v2_ptsz {
        require(function.is_some() && mode <= 1)?;
        let (stream, context) = stream::get(stream)?;
        stream.submit(&context, Operation::Host { function, data, _owner: None })
    }

    /// Submits a host function like `cuLaunchHostFunc`, for libraries that hand their data over. If
    /// this succeeds, the driver calls `release` once with the data: when neither the stream nor a
    /// graph can call `function` any more. `release` must not call the driver.
    fn warploomLaunchHostFunc(stream: u64, function: HostFn, data: Ptr<c_void>, release: HostFn) {
        require(function.is_some() && release.is_some())?;
        let (stream, context) = stream::get(stream)?;
        let owner = Arc::new(Owned::new(data, release));
        let done = stream.submit(&context, Operation::Host { function, data, _owner: Some(owner.clone()) });
        if done.is_err() {
            owner.give_back();
        }
        done
    }

    fn cuFuncSetBlockShape(function: u64, x: i32, y: i32, z: i32) {
        require(x > 0 && y > 0 && z > 0)?;
        with_old(function, |_, old| old.block = [x as u32, y as u32, z as u32])
    }

    fn cuFuncSetSharedSize(function: u64, bytes: u32) {
        with_old(function, |_, old| old.shared = bytes)
    }

    fn cuParamSetSize(function: u64, bytes: u32) {
        require(bytes as usize <= MAX_PARAM_BYTES)?;
        with_old(function, |_, old| old.params.resize(bytes as usize, 0))
    }

    fn cuParamSeti(function: u64, offset: i32, value: u32) {
        put_param(function, offset, &value.to_le_bytes())
    }

    fn cuParamSetf(function: u64, offset: i32, value: f32) {
        put_param(function, offset, &value.to_le_bytes())
    }

    fn cuParamSetv(function: u64, offset: i32, value: Ptr<u8>, bytes: u32) {
        value.with(bytes as usize, |bytes| put_param(function, offset, bytes))?
    }

    fn cuLaunch(function: u64) {
        old_launch(function, [1, 1], 0)
    }

    fn cuLaunchGrid(function: u64, width: i32, height: i32) {
        old_launch(function, [width, height], 0)
    }

    fn cuLaunchGridAsync(function: u64, width: i32, height: i32, stream: u64) {
        old_launch(function, [width, height], stream)
    }
}
