"""PyTorch's own kernels against its CPU's: what needs no cuBLAS or cuDNN, whose runtime is linked statically."""
import torch

from checks import check, main

torch.manual_seed(1)


def same(function, *inputs, rtol=1e-5, atol=1e-6):
    """The function gives the same on the device as on the CPU, exactly for integers."""
    expected = function(*inputs)
    found = function(*[i.cuda() if isinstance(i, torch.Tensor) else i for i in inputs])
    for a, b in zip(expected if isinstance(expected, tuple) else (expected,), found if isinstance(found, tuple) else (found,)):
        torch.testing.assert_close(b.cpu(), a, rtol=rtol, atol=atol)


@check
def tensors():
    x = torch.arange(1000, device="cuda").reshape(10, 100)
    assert x.is_cuda and torch.equal(x.cpu(), torch.arange(1000).reshape(10, 100))
    assert torch.equal(x.t().contiguous().cpu(), x.cpu().t().contiguous())
    assert torch.equal(x.to(torch.float64).cpu(), x.cpu().to(torch.float64))
    assert torch.zeros(5, device="cuda").sum().item() == 0 and torch.full((3,), 7, device="cuda").cpu().tolist() == [7] * 3


@check
def elementwise():
    x, y = torch.randn(3, 1001), torch.randn(1001)
    same(lambda a, b: a * b + torch.sin(a) - torch.exp(-b * b), x, y)
    same(lambda a: torch.where(a > 0, a.sqrt(), a.abs().log1p()), x)
    same(lambda a, b: torch.atan2(a, b) + torch.sigmoid(a) * torch.tanh(b), x, y)
    same(lambda a: (a * 100).to(torch.int32) // 7 ^ 5, x)


@check
def half_precision():
    x = torch.randn(4096).half()
    same(lambda a: a * 2 + 1, x, rtol=1e-3, atol=1e-3)
    same(lambda a: a.float().half().relu(), x)


@check
def reductions():
    x = torch.randint(-100, 100, (33, 517))
    same(lambda a: a.sum(), x)
    same(lambda a: a.sum(1), x)
    same(lambda a: a.amax(0), x)
    same(lambda a: tuple(a.max(1)), x.float() + torch.arange(517) * 1e-3)
    same(lambda a: a.double().mean(0), x)
    same(lambda a: torch.var_mean(a.double(), 1), x)
    same(lambda a: (a > 99).any(), x)


@check
def sorting():
    x = torch.randperm(5000).float()
    same(lambda a: tuple(a.sort()), x)
    same(lambda a: tuple(a.reshape(50, 100).sort(1, descending=True)), x)
    same(lambda a: tuple(a.topk(10)), x)
    same(lambda a: a.unique(), (x % 37).int())


@check
def cumulative_sums():
    same(lambda a: a.cumsum(0), torch.randint(-9, 9, (4000,)))
    same(lambda a: a.cumsum(1), torch.randint(-9, 9, (20, 300)))
    same(lambda a: a.cumprod(0), torch.rand(30).double() + 0.5)


@check
def indexing():
    x, rows = torch.randn(50, 60), torch.randint(0, 50, (20,))
    same(lambda a, i: a[i], x, rows)
    same(lambda a, i: a.index_select(0, i).t().contiguous(), x, rows)
    same(lambda a: a[a > 0], x)
    same(lambda a: a.nonzero(), (x > 1).int())
    same(lambda a, i: torch.zeros(50, dtype=torch.int64, device=a.device).index_add_(0, i, torch.ones_like(i)), x, rows)
    same(lambda a, i: a.gather(0, i[:, None].expand(20, 60)), x, rows)
    same(lambda a: torch.cat([a, a.flip(0)]), x)


@check
def autograd():
    def gradients(x):
        w = (x.detach() * 0.5).requires_grad_()
        y = torch.nn.functional.gelu(w) * torch.sigmoid(w) + torch.nn.functional.softplus(w)
        loss = torch.nn.functional.layer_norm(y, y.shape[-1:]).pow(2).mean() + torch.softmax(w, -1).std()
        loss.backward()
        return w.grad

    same(gradients, torch.randn(17, 64), rtol=1e-4, atol=1e-6)


@check
def training():
    def fit(x):
        scale = torch.ones(8, device=x.device, requires_grad=True)
        shift = torch.zeros(8, device=x.device, requires_grad=True)
        optimizer = torch.optim.Adam([scale, shift], lr=0.05)
        for _ in range(10):
            optimizer.zero_grad()
            ((x * scale + shift - 3 * x - 1) ** 2).mean().backward()
            optimizer.step()
        return scale.detach(), shift.detach()

    same(fit, torch.randn(100, 8), rtol=1e-4, atol=1e-5)


@check
def random_numbers():
    generator = torch.Generator("cuda").manual_seed(7)
    x = torch.rand(20000, device="cuda", generator=generator)
    assert 0.49 < x.mean().item() < 0.51 and x.min().item() >= 0 and x.max().item() < 1
    generator.manual_seed(7)
    assert torch.equal(x, torch.rand(20000, device="cuda", generator=generator))
    assert abs(torch.randn(20000, device="cuda").std().item() - 1) < 0.03


@check
def streams_and_events():
    stream = torch.cuda.Stream()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        start.record()
        x = torch.arange(100000, device="cuda") * 2
        end.record()
    torch.cuda.current_stream().wait_stream(stream)
    end.synchronize()
    assert start.elapsed_time(end) > 0 and x.sum().item() == 99999 * 100000


@check
def pinned_memory():
    x = torch.randn(1000).pin_memory()
    assert x.is_pinned() and torch.equal(x.cuda(non_blocking=True).cpu(), x)


@check
def device_properties():
    properties = torch.cuda.get_device_properties(0)
    assert properties.total_memory > 0 and torch.cuda.get_device_capability() == (properties.major, properties.minor)
    assert torch.cuda.device_count() == 1


@check
def matrix_products():
    a, b, c = torch.randn(37, 65), torch.randn(65, 20), torch.randn(4, 20, 33)
    torch.testing.assert_close((a.cuda() @ b.cuda()).cpu(), a @ b, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close((a.cuda().double() @ b.cuda().double()).cpu(), a.double() @ b.double())
    torch.testing.assert_close((a.half().cuda() @ b.half().cuda()).cpu().float(), a.half().float() @ b.half().float(), rtol=5e-3, atol=2e-2)
    torch.testing.assert_close(torch.matmul(b.cuda(), c.cuda()).cpu(), torch.matmul(b, c), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(torch.mv(a.cuda(), b[:, 0].cuda()).cpu(), a @ b[:, 0], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(torch.dot(a[0].cuda(), a[1].cuda()).cpu(), torch.dot(a[0], a[1]), rtol=1e-4, atol=1e-4)


@check
def a_network_of_linear_layers_learns_the_same():
    def losses(device):
        torch.manual_seed(3)
        layers = [torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)]
        network, x = torch.nn.Sequential(*layers).to(device), torch.linspace(-1, 1, 200 * 8).reshape(200, 8).to(device)
        wanted, steps = x.pow(2).sum(1, keepdim=True), torch.optim.SGD(network.parameters(), lr=0.05)
        found = []
        for _ in range(20):
            steps.zero_grad()
            loss = torch.nn.functional.mse_loss(network(x), wanted)
            loss.backward()
            steps.step()
            found.append(loss.item())
        return torch.tensor(found)

    torch.testing.assert_close(losses("cuda"), losses("cpu"), rtol=1e-3, atol=1e-4)


if __name__ == "__main__":
    main()
