"""Operators of PyTorch's own list, with its sample inputs, against PyTorch on the CPU. Names of operators choose some."""
import torch
from torch.testing._internal.common_methods_invocations import op_db

from checks import CHECKS, main

SAMPLES = 3
# Results that no seed or no rule determines.
UNDETERMINED = {
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "bernoulli", "cauchy", "exponential", "geometric",
    "log_normal", "normal", "rand_like", "randint", "randint_like", "randn", "randn_like", "uniform", "multinomial", "nn.functional.dropout",
    "nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout", "nn.functional.rrelu",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d", "pca_lowrank", "svd_lowrank", "resize_", "resize_as_",
}


def moved(value, device):
    if isinstance(value, torch.Tensor):
        return value.detach().to(device)
    if isinstance(value, (list, tuple)):
        return type(value)(*[moved(one, device) for one in value]) if hasattr(value, "_fields") else type(value)(moved(one, device) for one in value)
    if isinstance(value, dict):
        return {name: moved(one, device) for name, one in value.items()}
    return torch.device(device) if isinstance(value, torch.device) or value == "cpu" else value


def agrees(op):
    torch.manual_seed(1)
    samples = list(op.sample_inputs("cpu", torch.float32, requires_grad=False))
    for sample in samples[:SAMPLES]:
        on = {}
        for device in "cpu", "cuda":
            inputs, args, kwargs = (moved(part, device) for part in (sample.input, sample.args, sample.kwargs))
            on[device] = op(inputs, *args, **kwargs)
        found = moved(on["cuda"], "cpu")
        torch.testing.assert_close(found, on["cpu"], rtol=1e-3, atol=1e-4, equal_nan=True)


def named(op):
    def check():
        agrees(op)

    check.__name__ = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
    return check


def is_chosen(op):
    return torch.float32 in op.dtypes and torch.float32 in op.dtypesIfCUDA and op.name not in UNDETERMINED


CHECKS.extend(named(op) for op in op_db if is_chosen(op))
main()
