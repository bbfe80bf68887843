import numpy as np
import pytest

import directions_table
from bilex import EmbeddingTable


@pytest.mark.parametrize("noise", [0.5, 2.0])
def test_noise_has_the_length_that_is_said(noise):
    rows = np.random.default_rng(0).normal(size=(20, 7)).astype(np.float32) * np.linspace(1, 3, 20)[:, None]
    table = EmbeddingTable([f"w{i}" for i in range(20)], rows.astype(np.float32))
    poorer = directions_table.with_noise(table, noise)
    lengths = np.linalg.norm(poorer.rows - table.rows, axis=1) / np.linalg.norm(table.rows, axis=1)
    np.testing.assert_allclose(lengths, noise, rtol=1e-5)
    np.testing.assert_array_equal(poorer.rows, directions_table.with_noise(table, noise).rows)
    assert directions_table.with_noise(table, 0.0) is table
