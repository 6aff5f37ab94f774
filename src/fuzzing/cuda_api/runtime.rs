//! Calls of the runtime library on the model of the driver's, whose handles and memory both
//! libraries share.

use arbitrary::{Result, Unstructured};

use super::calls::cuStreamSynchronize;
use super::runtime_calls::*;
use super::{Buffer, INVALID_HANDLE, INVALID_VALUE, Kind, LANES, Model, ok};

/// Errors, by their numbers in the documentation of `cudaError_t`.
const INVALID_SYMBOL: u32 = 13;
const INVALID_DEVICE_FUNCTION: u32 = 98;

/// `cudaMemcpyKind`
const HOST_TO_DEVICE: i32 = 1;
const DEVICE_TO_DEVICE: i32 = 3;
const BY_ADDRESS: i32 = 4;

/// A call that must be refused: its error is the thread's last one, once.
fn refused(answer: u32, expected: u32, what: &str) {
    assert_eq!((answer, cudaGetLastError(), cudaGetLastError()), (expected, expected, 0), "{what}");
}

/// Ends the registration of the kernel, which is none from then on.
pub fn end(binary: u64) {
    unregister(binary);
    refused(launch(add_stub(), 0, &[]), INVALID_DEVICE_FUNCTION, "a kernel that is gone");
}

/// `cudaKernelNodeParams` of one warp.
fn kernel_node(params: &[*const u8]) -> [u64; 7] {
    let params = params.as_ptr().expose_provenance() as u64;
    [add_stub(), 1 | 1 << 32, 1 | (LANES as u64) << 32, 1 | 1 << 32, 0, params, 0]
}

impl Model {
    pub fn runtime_step(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        match u.int_in_range(0..=9)? {
            0 if self.buffers.len() < 12 => self.runtime_allocate(u),
            1 => self.runtime_streams(u),
            2 => self.runtime_wrong(u),
            3 => self.runtime_null(u),
            _ if self.buffers.is_empty() => Ok(()),
            4 => self.runtime_fill(u),
            5 => self.runtime_copy(u),
            6 => {
                let at = u.choose_index(self.buffers.len())?;
                let (start, _) = self.part(u, at)?;
                self.add(
                    at,
                    start,
                    u.arbitrary()?,
                    |_, stream, params| launch(add_stub(), stream, params),
                    1,
                );
                Ok(())
            }
            7 => self.runtime_graph(u),
            8 => self.runtime_recording(u),
            _ => {
                let buffer = self.buffers.swap_remove(u.choose_index(self.buffers.len())?);
                self.runtime_give_back(buffer);
                Ok(())
            }
        }
    }

    fn runtime_allocate(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let bytes = u.int_in_range(1..=5000_usize)?;
        let stream = u.choose_index(self.streams.len())?;
        let kind = *u.choose(&[Kind::Device, Kind::Managed, Kind::Pinned, Kind::Pool])?;
        let mut address = 0;
        let answer = match kind {
            Kind::Device => cudaMalloc(&mut address, bytes),
            Kind::Managed => cudaMallocManaged(&mut address, bytes, 1),
            Kind::Pinned => cudaHostAlloc(&mut address, bytes, 0),
            Kind::Pool | Kind::Mapped(_) => {
                cudaMallocAsync(&mut address, bytes, self.streams[stream])
            }
        };
        ok(answer, "an allocation of the runtime");
        // `cudaPointerGetAttributes`: host, device or managed memory, and the device.
        let mut attributes = [9_u32; 22];
        ok(cudaPointerGetAttributes(attributes.as_mut_ptr(), address), "cudaPointerGetAttributes");
        let expected = match kind {
            Kind::Pinned => 1,
            Kind::Managed => 3,
            _ => 2,
        };
        assert_eq!(attributes[..2], [expected, 0]);
        let value: u8 = u.arbitrary()?;
        ok(cudaMemsetAsync(address, value.into(), bytes, self.streams[stream]), "cudaMemsetAsync");
        self.buffers.push(Buffer { address, kind, stream, content: vec![value; bytes] });
        Ok(())
    }

    fn runtime_give_back(&mut self, buffer: Buffer) {
        let (address, stream) = (buffer.address, self.streams[buffer.stream]);
        match buffer.kind {
            Kind::Device | Kind::Managed | Kind::Pinned => {
                self.compare(&buffer);
                let free = if buffer.kind == Kind::Pinned { cudaFreeHost } else { cudaFree };
                ok(free(address), "cudaFree");
                refused(free(address), INVALID_VALUE, "memory that is gone");
                self.gone.push(address);
            }
            Kind::Pool => {
                self.compare(&buffer);
                ok(cudaFreeAsync(address, stream), "cudaFreeAsync");
                ok(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
                self.gone.push(address);
            }
            Kind::Mapped(_) => self.give_back(buffer),
        }
    }

    fn runtime_streams(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let (mut stream, mut event) = (0, 0);
        if self.streams.len() < 4 {
            ok(cudaStreamCreate(&mut stream), "cudaStreamCreate");
            self.streams.push(stream);
        }
        let (first, second) = (*u.choose(&self.streams)?, *u.choose(&self.streams)?);
        ok(cudaEventCreate(&mut event), "cudaEventCreate");
        ok(cudaEventRecord(event, first), "cudaEventRecord");
        ok(cudaStreamWaitEvent(second, event, 0), "cudaStreamWaitEvent");
        ok(cudaEventSynchronize(event), "cudaEventSynchronize");
        ok(cudaEventQuery(event), "cudaEventQuery");
        ok(cudaEventDestroy(event), "cudaEventDestroy");
        refused(cudaEventQuery(event), INVALID_HANDLE, "an event that is gone");
        self.gone.push(event);
        Ok(())
    }

    fn runtime_fill(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let at = u.choose_index(self.buffers.len())?;
        let (start, bytes) = self.part(u, at)?;
        let (value, upload): (u8, bool) = (u.arbitrary()?, u.arbitrary()?);
        let buffer = &mut self.buffers[at];
        let (address, stream) = (buffer.address + start as u64, self.streams[buffer.stream]);
        if upload {
            let source = vec![value; bytes];
            let kind = if value.is_multiple_of(2) { HOST_TO_DEVICE } else { BY_ADDRESS };
            let from = source.as_ptr().expose_provenance() as u64;
            ok(cudaMemcpyAsync(address, from, bytes, kind, stream), "cudaMemcpyAsync");
            ok(cuStreamSynchronize(stream), "cuStreamSynchronize");
        } else {
            ok(
                cudaMemsetAsync(address, i32::from(value) | 0x100, bytes, stream),
                "cudaMemsetAsync",
            );
        }
        buffer.content[start..start + bytes].fill(value);
        Ok(())
    }

    fn runtime_copy(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let (from, to) = (u.choose_index(self.buffers.len())?, u.choose_index(self.buffers.len())?);
        let (start, bytes) = self.part(u, from)?;
        let (target, room) = self.part(u, to)?;
        let bytes = bytes.min(room);
        let (own, other) = (self.buffers[to].stream, self.buffers[from].stream);
        self.order(other, own);
        let (source, address) =
            (self.buffers[from].address + start as u64, self.buffers[to].address + target as u64);
        let kind = *u.choose(&[DEVICE_TO_DEVICE, BY_ADDRESS])?;
        ok(cudaMemcpyAsync(address, source, bytes, kind, self.streams[own]), "cudaMemcpyAsync");
        self.order(own, other);
        let content = self.buffers[from].content[start..start + bytes].to_vec();
        self.buffers[to].content[target..target + bytes].copy_from_slice(&content);
        Ok(())
    }

    /// A graph whose node is added in either way, shown, and changed before it is launched.
    fn runtime_graph(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let at = u.choose_index(self.buffers.len())?;
        let (start, _) = self.part(u, at)?;
        let (more, any_kind, enabled): (u32, bool, bool) =
            (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
        let run = |_, stream, params: &[*const u8]| {
            let (mut graph, mut clone, mut node, mut exec, mut count) = (0, 0, 0, 0, 0_usize);
            ok(cudaGraphCreate(&mut graph, 0), "cudaGraphCreate");
            let zero = 0_u32;
            let nothing = [params[0], (&raw const zero).cast()];
            let (launch, idle) = (kernel_node(params), kernel_node(&nothing));
            if any_kind {
                let mut parameters = [0; 32];
                parameters[2..9].copy_from_slice(&idle);
                let none = std::ptr::null();
                ok(
                    cudaGraphAddNode(&mut node, graph, none, none, 0, parameters.as_mut_ptr()),
                    "cudaGraphAddNode",
                );
            } else {
                let none = std::ptr::null();
                ok(
                    cudaGraphAddKernelNode(&mut node, graph, none, 0, idle.as_ptr()),
                    "cudaGraphAddKernelNode",
                );
            }
            let mut shown = [0; 7];
            ok(
                cudaGraphKernelNodeGetParams(node, shown.as_mut_ptr()),
                "cudaGraphKernelNodeGetParams",
            );
            // The last half of the fifth word is nobody's.
            assert_eq!((&shown[..4], shown[4] as u32), (&launch[..4], 0));
            refused(
                cudaGraphMemsetNodeGetParams(node, shown.as_mut_ptr()),
                INVALID_VALUE,
                "another kind of node",
            );
            ok(cudaGraphClone(&mut clone, graph), "cudaGraphClone");
            ok(cudaGraphGetNodes(clone, std::ptr::null_mut(), &mut count), "cudaGraphGetNodes");
            assert_eq!(count, 1);
            ok(cudaGraphInstantiate(&mut exec, graph, 0), "cudaGraphInstantiate");
            ok(
                cudaGraphExecKernelNodeSetParams(exec, node, launch.as_ptr()),
                "cudaGraphExecKernelNodeSetParams",
            );
            ok(cudaGraphNodeSetEnabled(exec, node, enabled.into()), "cudaGraphNodeSetEnabled");
            for made in [graph, clone] {
                ok(cudaGraphDestroy(made), "cudaGraphDestroy");
                refused(cudaGraphDestroy(made), INVALID_HANDLE, "a graph that is gone");
            }
            ok(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
            ok(cudaGraphExecDestroy(exec), "cudaGraphExecDestroy");
            refused(cudaGraphLaunch(exec, stream), INVALID_HANDLE, "a graph that is gone");
            0
        };
        self.add(at, start, more, run, enabled.into());
        Ok(())
    }

    /// Launches of a graph that a stream records.
    fn runtime_recording(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let at = u.choose_index(self.buffers.len())?;
        let (start, _) = self.part(u, at)?;
        let (more, times) = (u.arbitrary()?, u.int_in_range(0..=2)?);
        let own = self.streams[self.buffers[at].stream];
        let run = |_, _, params: &[*const u8]| {
            let (mut stream, mut graph, mut exec) = (0, 0, 0);
            ok(cudaStreamCreate(&mut stream), "cudaStreamCreate");
            ok(cudaStreamBeginCapture(stream, 0), "cudaStreamBeginCapture");
            ok(launch(add_stub(), stream, params), "a launch that is recorded");
            ok(cudaStreamEndCapture(stream, &mut graph), "cudaStreamEndCapture");
            ok(cudaGraphInstantiate(&mut exec, graph, 0), "cudaGraphInstantiate");
            (0..times).for_each(|_| ok(cudaGraphLaunch(exec, own), "cudaGraphLaunch"));
            ok(cudaGraphExecDestroy(exec), "cudaGraphExecDestroy");
            ok(cudaGraphDestroy(graph), "cudaGraphDestroy");
            cudaStreamDestroy(stream)
        };
        self.add(at, start, more, run, times);
        Ok(())
    }

    /// Handles that are gone or never were.
    fn runtime_wrong(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let gone = self.gone_handle(u)?;
        let any = u.int_in_range(5..=u64::MAX >> 20)? << 17 | 9;
        refused(cudaFree(gone), INVALID_VALUE, "cudaFree");
        refused(cudaStreamSynchronize(gone), INVALID_HANDLE, "cudaStreamSynchronize");
        refused(cudaStreamDestroy(any), INVALID_HANDLE, "cudaStreamDestroy");
        refused(cudaEventRecord(any, 0), INVALID_HANDLE, "cudaEventRecord");
        refused(cudaGraphDestroy(gone), INVALID_HANDLE, "cudaGraphDestroy");
        refused(cudaGraphLaunch(any, 0), INVALID_HANDLE, "cudaGraphLaunch");
        refused(cudaMemsetAsync(gone, 1, 1, 0), INVALID_VALUE, "cudaMemsetAsync");
        refused(
            cudaMemcpyAsync(gone, gone, 4, DEVICE_TO_DEVICE, 0),
            INVALID_VALUE,
            "cudaMemcpyAsync",
        );
        refused(launch(any, 0, &[]), INVALID_DEVICE_FUNCTION, "cudaLaunchKernelExC");
        refused(cudaGetSymbolSize(&mut 0, any), INVALID_SYMBOL, "cudaGetSymbolSize");
        Ok(())
    }

    /// Null where a pointer must lead somewhere.
    fn runtime_null(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let (out, none) = (std::ptr::null_mut(), std::ptr::null());
        let mut graph = 0;
        ok(cudaGraphCreate(&mut graph, 0), "cudaGraphCreate");
        // `cudaChannelFormatDesc`: one unsigned number of 32 bits.
        let words = [32, 0, 0, 0, 1];
        let answer = match u.int_in_range(0..=15)? {
            0 => cudaMalloc(out, 4),
            1 => cudaMallocAsync(out, 4, 0),
            2 => cudaHostAlloc(out, 4, 0),
            3 => cudaStreamCreate(out),
            4 => cudaEventCreate(out),
            5 => cudaGraphCreate(out, 0),
            6 => cudaGraphAddKernelNode(&mut 0, graph, none, 0, none),
            7 => cudaGraphAddNode(&mut 0, graph, none, none, 0, out),
            8 => cudaGraphInstantiate(out, graph, 0),
            9 => cudaMemcpy3D(none),
            10 => cudaLaunchKernelExC(none, add_stub(), std::ptr::null()),
            11 => cudaLaunchKernelExC_ptsz(none, add_stub(), std::ptr::null()),
            12 => cudaFuncGetAttributes(out, add_stub()),
            13 => cudaMallocPitch(out, &mut 0, 16, 2),
            14 => cudaMallocArray(out, words.as_ptr(), 4, 0, 0),
            _ => cudaPointerGetAttributes(std::ptr::null_mut(), 4),
        };
        refused(answer, INVALID_VALUE, "a null pointer");
        ok(cudaGraphDestroy(graph), "cudaGraphDestroy");
        Ok(())
    }
}
