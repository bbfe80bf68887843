"""The device that tensors are computed on."""

from __future__ import annotations

import torch

from bilex.errors import SettingsError


def choose_device(name: str | None) -> torch.device:
    """The named device; without a name a GPU where there is one."""
    if name in (None, "auto"):
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(str(name))
        torch.zeros(1, device=device, dtype=torch.float64).item()  # some devices lack float64, some have no values
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = str(error).split("\n")[0]
        raise SettingsError(f"device {name!r} cannot be used here ({reason}); use cpu or auto") from None
    return device
