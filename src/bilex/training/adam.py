"""Adam on plain tensors. The first optimizer of `torch.optim` imports torch's compiler, which takes seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class Adam:
    """Gradient descent with momentum and a step size for each number, to the bits of `torch.optim.Adam` on a CPU.

    m ← β₁ m + (1 − β₁) g,  v ← β₂ v + (1 − β₂) g²,  p ← p − η m / (1 − β₁ᵗ) / (√v / √(1 − β₂ᵗ) + ε),
    with p a parameter, g its gradient, t the number of its steps and η the learning rate.

    `steps`, `first_moments` (m) and `second_moments` (v) have one entry for each parameter, in their order. With them
    and the parameters, a training can be continued to the same bits.

    Kingma and Ba (2015). Adam: a method for stochastic optimization. ICLR.
    """

    def __init__(self, parameters: Iterable[Tensor], learning_rate: float) -> None:
        self.parameters = list(parameters)
        self.learning_rate = learning_rate
        self.steps = [0] * len(self.parameters)
        self.first_moments = [torch.zeros_like(p, requires_grad=False) for p in self.parameters]
        self.second_moments = [torch.zeros_like(p, requires_grad=False) for p in self.parameters]

    def step(self, gradients: Iterable[Tensor | None]) -> None:
        """Change the parameters in place; one without a gradient stays as it is."""
        with torch.no_grad():
            for i, (p, g) in enumerate(zip(self.parameters, gradients, strict=True)):
                if g is None:
                    continue
                self.steps[i] += 1
                t, m, v = self.steps[i], self.first_moments[i], self.second_moments[i]
                m.lerp_(g, 1 - BETAS[0])
                v.mul_(BETAS[1]).addcmul_(g, g, value=1 - BETAS[1])
                root = (v.sqrt() / (1 - BETAS[1] ** t) ** 0.5).add_(EPSILON)
                p.addcdiv_(m, root, value=-self.learning_rate / (1 - BETAS[0] ** t))
