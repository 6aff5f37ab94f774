//! Random calls of the CUDA driver library and of the runtime library over it, against a model of
//! handles and memory. The steps by calls of the runtime are in `runtime`.
//!
//! What is done to a buffer is done in its stream, and work between two of them is ordered by events: so the model can do everything
//! at once, in the order of the calls. At the end all is given back, and as much memory must be free as at the beginning.

use std::sync::Once;

use arbitrary::{Result, Unstructured};

mod calls;
mod runtime;
mod runtime_calls;

use calls::*;

/// `at[i] += more` for 32 elements.
const ADD: &str = concat!(include_str!("../../../cuda/tests/support/add.ptx"), "\0");
const LANES: usize = 32;

/// Errors, by their numbers in the documentation of `CUresult`.
const INVALID_VALUE: u32 = 1;
const INVALID_HANDLE: u32 = 400;

/// Where memory is from, and so how it is given back.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Device,
    Managed,
    Pinned,
    Pool,
    /// Mapped to reserved addresses: the handle.
    Mapped(u64),
}

const PIECE: usize = 2 << 20;

struct Buffer {
    address: u64,
    kind: Kind,
    /// Which of the streams its work is in.
    stream: usize,
    content: Vec<u8>,
}

struct Model {
    buffers: Vec<Buffer>,
    streams: Vec<u64>,
    /// Handles of what is gone.
    gone: Vec<u64>,
    module: u64,
    function: u64,
    /// The runtime's registration of the same code.
    binary: u64,
}

fn ok(answer: u32, what: &str) {
    assert_eq!(answer, 0, "{what}");
}

fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    ok(cuMemGetInfo_v2(&mut free, &mut total), "cuMemGetInfo");
    free
}

impl Buffer {
    /// Bytes of memory that it has.
    fn extent(&self) -> usize {
        if let Kind::Mapped(_) = self.kind { PIECE } else { self.content.len() }
    }
}

impl Model {
    fn new() -> Model {
        let (mut module, mut function) = (0, 0);
        ok(cuModuleLoadData(&mut module, ADD.as_ptr()), "cuModuleLoadData");
        ok(cuModuleGetFunction(&mut function, module, c"add".as_ptr()), "cuModuleGetFunction");
        Model {
            buffers: vec![],
            streams: vec![0],
            gone: vec![1 << 40],
            module,
            function,
            binary: runtime_calls::register(ADD),
        }
    }

    fn step(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        match u.int_in_range(0..=23)? {
            16.. => self.runtime_step(u),
            0 | 1 if self.buffers.len() < 12 => self.allocate(u),
            2 if !self.buffers.is_empty() => {
                let buffer = self.buffers.swap_remove(u.choose_index(self.buffers.len())?);
                self.give_back(buffer);
                Ok(())
            }
            3 => self.open_or_close(u),
            4 => self.wrong(u),
            _ if self.buffers.is_empty() => Ok(()),
            5 | 6 => self.fill(u),
            7 => self.upload(u),
            8 | 9 => self.copy(u),
            10 | 11 => self.launch(u),
            12 => self.graph(u),
            13 => self.asked(u),
            _ => {
                let at = u.choose_index(self.buffers.len())?;
                self.compare(&self.buffers[at]);
                Ok(())
            }
        }
    }

    fn allocate(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let bytes = u.int_in_range(1..=5000_usize)?;
        let stream = u.choose_index(self.streams.len())?;
        let mut address = 0;
        let kind =
            *u.choose(&[Kind::Device, Kind::Managed, Kind::Pinned, Kind::Pool, Kind::Mapped(0)])?;
        let kind = match kind {
            Kind::Device => {
                ok(cuMemAlloc_v2(&mut address, bytes), "cuMemAlloc");
                kind
            }
            Kind::Managed => {
                ok(cuMemAllocManaged(&mut address, bytes, 1), "cuMemAllocManaged");
                kind
            }
            Kind::Pinned => {
                ok(cuMemHostAlloc(&mut address, bytes, 0), "cuMemHostAlloc");
                kind
            }
            Kind::Pool => {
                ok(cuMemAllocAsync(&mut address, bytes, self.streams[stream]), "cuMemAllocAsync");
                kind
            }
            Kind::Mapped(_) => {
                let (properties, access, mut handle) = ([1, 1, 0, 0], [1, 0, 3], 0);
                ok(cuMemAddressReserve(&mut address, PIECE, 0, 0, 0), "cuMemAddressReserve");
                ok(cuMemCreate(&mut handle, PIECE, properties.as_ptr(), 0), "cuMemCreate");
                ok(cuMemMap(address, PIECE, 0, handle, 0), "cuMemMap");
                ok(cuMemSetAccess(address, PIECE, access.as_ptr(), 1), "cuMemSetAccess");
                Kind::Mapped(handle)
            }
        };
        let value = u.arbitrary()?;
        ok(cuMemsetD8Async(address, value, bytes, self.streams[stream]), "cuMemsetD8Async");
        self.buffers.push(Buffer { address, kind, stream, content: vec![value; bytes] });
        Ok(())
    }

    fn give_back(&mut self, buffer: Buffer) {
        self.compare(&buffer);
        let address = buffer.address;
        match buffer.kind {
            Kind::Device | Kind::Managed => {
                ok(cuMemFree_v2(address), "cuMemFree");
                assert_eq!(cuMemFree_v2(address), INVALID_VALUE);
            }
            Kind::Pinned => {
                ok(cuMemFreeHost(address), "cuMemFreeHost");
                assert_eq!(cuMemFreeHost(address), INVALID_VALUE);
            }
            Kind::Pool => {
                ok(cuMemFreeAsync(address, self.streams[buffer.stream]), "cuMemFreeAsync");
                ok(cuStreamSynchronize(self.streams[buffer.stream]), "cuStreamSynchronize");
            }
            Kind::Mapped(handle) => {
                ok(cuMemUnmap(address, PIECE), "cuMemUnmap");
                ok(cuMemRelease(handle), "cuMemRelease");
                ok(cuMemAddressFree(address, PIECE), "cuMemAddressFree");
            }
        }
        self.gone.push(address);
    }

    fn open_or_close(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        if self.streams.len() < 4 {
            let mut stream = 0;
            ok(cuStreamCreate(&mut stream, u.int_in_range(0..=1)?), "cuStreamCreate");
            self.streams.push(stream);
            return Ok(());
        }
        // Its work is still done; buffers that were in it are used in the first one from now on.
        let last = self.streams.len() - 1;
        let stream = self.streams[last];
        ok(cuStreamSynchronize(stream), "cuStreamSynchronize");
        ok(cuStreamDestroy_v2(stream), "cuStreamDestroy");
        self.streams.pop();
        self.buffers
            .iter_mut()
            .filter(|buffer| buffer.stream == last)
            .for_each(|buffer| buffer.stream = 0);
        self.gone.push(stream);
        Ok(())
    }

    /// Part of a buffer: where it begins, and how long it is.
    fn part(&self, u: &mut Unstructured<'_>, buffer: usize) -> Result<(usize, usize)> {
        let all = self.buffers[buffer].content.len();
        let start = u.choose_index(all)?;
        Ok((start, u.int_in_range(0..=all - start)?))
    }

    fn fill(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let at = u.choose_index(self.buffers.len())?;
        let (start, bytes) = self.part(u, at)?;
        let value: u32 = u.arbitrary()?;
        let wide: bool = u.arbitrary()?;
        let buffer = &mut self.buffers[at];
        let (address, stream) = (buffer.address + start as u64, self.streams[buffer.stream]);
        if !wide {
            ok(cuMemsetD8Async(address, value as u8, bytes, stream), "cuMemsetD8Async");
            buffer.content[start..start + bytes].fill(value as u8);
            return Ok(());
        }
        let answer = cuMemsetD32Async(address, value, bytes / 4, stream);
        if bytes >= 4 && !start.is_multiple_of(4) {
            assert_eq!(answer, INVALID_VALUE, "an address that is not aligned");
            return Ok(());
        }
        ok(answer, "cuMemsetD32Async");
        buffer.content[start..start + bytes / 4 * 4]
            .chunks_exact_mut(4)
            .for_each(|word| word.copy_from_slice(&value.to_le_bytes()));
        Ok(())
    }

    fn upload(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let at = u.choose_index(self.buffers.len())?;
        let (start, bytes) = self.part(u, at)?;
        let first: u8 = u.arbitrary()?;
        let source: Vec<u8> = (0..bytes).map(|i| first.wrapping_add(i as u8)).collect();
        let buffer = &mut self.buffers[at];
        let stream = self.streams[buffer.stream];
        ok(
            cuMemcpyHtoDAsync_v2(buffer.address + start as u64, source.as_ptr(), bytes, stream),
            "cuMemcpyHtoDAsync",
        );
        buffer.content[start..start + bytes].copy_from_slice(&source);
        Ok(())
    }

    /// What comes into one stream next comes after what is in another.
    fn order(&self, first: usize, second: usize) {
        let mut event = 0;
        ok(cuEventCreate(&mut event, 2), "cuEventCreate");
        ok(cuEventRecord(event, self.streams[first]), "cuEventRecord");
        ok(cuStreamWaitEvent(self.streams[second], event, 0), "cuStreamWaitEvent");
        ok(cuEventDestroy_v2(event), "cuEventDestroy");
    }

    fn copy(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let (from, to) = (u.choose_index(self.buffers.len())?, u.choose_index(self.buffers.len())?);
        let (start, bytes) = self.part(u, from)?;
        let (target, room) = self.part(u, to)?;
        let bytes = bytes.min(room);
        let (own, other) = (self.buffers[to].stream, self.buffers[from].stream);
        self.order(other, own);
        let (source, address) =
            (self.buffers[from].address + start as u64, self.buffers[to].address + target as u64);
        ok(cuMemcpyDtoDAsync_v2(address, source, bytes, self.streams[own]), "cuMemcpyDtoDAsync");
        self.order(own, other);
        let content = self.buffers[from].content[start..start + bytes].to_vec();
        self.buffers[to].content[target..target + bytes].copy_from_slice(&content);
        Ok(())
    }

    /// Adds to 32 elements of a buffer, if it has so many.
    fn add(
        &mut self,
        at: usize,
        start: usize,
        more: u32,
        run: impl FnOnce(u64, u64, &[*const u8]) -> u32,
        times: u32,
    ) {
        let (function, stream) = (self.function, self.streams[self.buffers[at].stream]);
        let buffer = &mut self.buffers[at];
        let start = start / 4 * 4;
        let Some(part) = buffer.content.get_mut(start..start + 4 * LANES) else { return };
        let address = buffer.address + start as u64;
        let params = [(&raw const address).cast::<u8>(), (&raw const more).cast()];
        ok(run(function, stream, &params), "a launch");
        for word in part.chunks_exact_mut(4) {
            let value = u32::from_le_bytes(word.try_into().expect("four bytes"));
            word.copy_from_slice(&value.wrapping_add(more.wrapping_mul(times)).to_le_bytes());
        }
    }

    fn launch(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let at = u.choose_index(self.buffers.len())?;
        let (start, _) = self.part(u, at)?;
        self.add(at, start, u.arbitrary()?, launch, 1);
        Ok(())
    }

    /// The same by a graph that a stream captures.
    fn graph(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let at = u.choose_index(self.buffers.len())?;
        let (start, _) = self.part(u, at)?;
        let (more, times) = (u.arbitrary()?, u.int_in_range(0..=3)?);
        let own = self.streams[self.buffers[at].stream];
        let captured = |function, _, params: &[*const u8]| {
            let (mut stream, mut graph, mut exec) = (0, 0, 0);
            ok(cuStreamCreate(&mut stream, 1), "cuStreamCreate");
            ok(cuStreamBeginCapture_v2(stream, 0), "cuStreamBeginCapture");
            ok(launch(function, stream, params), "a launch that is captured");
            ok(cuStreamEndCapture(stream, &mut graph), "cuStreamEndCapture");
            ok(cuGraphInstantiateWithFlags(&mut exec, graph, 0), "cuGraphInstantiate");
            ok(cuGraphDestroy(graph), "cuGraphDestroy");
            (0..times).for_each(|_| ok(cuGraphLaunch(exec, own), "cuGraphLaunch"));
            ok(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
            assert_eq!(cuGraphLaunch(exec, own), INVALID_HANDLE);
            cuStreamDestroy_v2(stream)
        };
        self.add(at, start, more, captured, times);
        Ok(())
    }

    /// What the library says of an address.
    fn asked(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let at = u.choose_index(self.buffers.len())?;
        let (start, _) = self.part(u, at)?;
        let buffer = &self.buffers[at];
        let (mut base, mut bytes) = (0, 0);
        ok(
            cuMemGetAddressRange_v2(&mut base, &mut bytes, buffer.address + start as u64),
            "cuMemGetAddressRange",
        );
        let expected =
            if matches!(buffer.kind, Kind::Mapped(_)) { PIECE } else { buffer.content.len() };
        assert_eq!((base, bytes), (buffer.address, expected));
        Ok(())
    }

    /// A handle or an address of what is gone.
    fn gone_handle(&self, u: &mut Unstructured<'_>) -> Result<u64> {
        // An address may be another buffer's by now.
        let is_live = |at: u64| {
            self.buffers.iter().any(|b| (b.address..b.address + b.extent() as u64).contains(&at))
        };
        let gone: Vec<u64> = self.gone.iter().copied().filter(|&at| !is_live(at)).collect();
        u.choose(&gone).copied()
    }

    /// Calls that must be refused, and change nothing.
    fn wrong(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let gone = self.gone_handle(u)?;
        let any = u.int_in_range(5..=u64::MAX >> 20)? << 17 | 9;
        assert_eq!(cuMemFree_v2(gone), INVALID_VALUE);
        assert_eq!(cuStreamSynchronize(gone), INVALID_HANDLE);
        assert_eq!(cuStreamDestroy_v2(any), INVALID_HANDLE);
        assert_eq!(cuEventRecord(any, 0), INVALID_HANDLE);
        assert_eq!(cuGraphDestroy(gone), INVALID_HANDLE);
        assert_eq!(cuMemcpyDtoDAsync_v2(gone, gone, 4, 0), INVALID_VALUE);
        assert_eq!(launch(any, 0, &[]), INVALID_HANDLE);
        assert_eq!(cuMemUnmap(gone, PIECE), INVALID_VALUE);
        if let Some(buffer) = self.buffers.first() {
            let end = buffer.address + buffer.content.len() as u64;
            if !matches!(buffer.kind, Kind::Mapped(_)) {
                assert_eq!(cuMemsetD8Async(end - 1, 1, 2, 0), INVALID_VALUE);
                assert_eq!(cuMemsetD8Async(end, 1, usize::MAX, 0), INVALID_VALUE);
            }
        }
        Ok(())
    }

    fn compare(&self, buffer: &Buffer) {
        let mut content = vec![0; buffer.content.len()];
        let stream = self.streams[buffer.stream];
        ok(
            cuMemcpyDtoHAsync_v2(content.as_mut_ptr(), buffer.address, content.len(), stream),
            "cuMemcpyDtoHAsync",
        );
        ok(cuStreamSynchronize(stream), "cuStreamSynchronize");
        assert_eq!(content, buffer.content, "{:?} at {:#x}", buffer.kind, buffer.address);
    }

    fn end(mut self) {
        while let Some(buffer) = self.buffers.pop() {
            self.give_back(buffer);
        }
        for stream in self.streams.drain(1..) {
            ok(cuStreamDestroy_v2(stream), "cuStreamDestroy");
        }
        ok(cuModuleUnload(self.module), "cuModuleUnload");
        runtime::end(self.binary);
    }
}

/// Random calls.
pub fn cuda_api(bytes: &[u8]) {
    static START: Once = Once::new();
    START.call_once(|| ok(cuInit(0), "cuInit"));
    let mut context = 0;
    ok(cuDevicePrimaryCtxRetain(&mut context, 0), "cuDevicePrimaryCtxRetain");
    ok(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    let before = free_bytes();
    let mut model = Model::new();
    let mut u = Unstructured::new(bytes);
    // Too few bytes are no error.
    while !u.is_empty() && model.step(&mut u).is_ok() {}
    model.end();
    ok(cuCtxSynchronize(), "cuCtxSynchronize");
    assert_eq!(free_bytes(), before, "memory was not given back");
    ok(cuDevicePrimaryCtxRelease_v2(0), "cuDevicePrimaryCtxRelease");
}
