import copy

import pytest
import torch
from torch import nn

from bilex.errors import SettingsError
from bilex.training import adversarial
from bilex.training.adversarial import Adversary, Game, Selection, play, towards_orthogonal
from bilex.training.trace import Trace
from random_tensors import generator, normal


def labels(n, m, smoothing):
    return torch.cat([torch.full((n,), 1 - smoothing), torch.full((m,), smoothing)]).double()


def test_a_turn_is_the_discriminators_steps_and_one_of_the_map(plain, as_modules):
    x, z, w = normal(9, 4), normal(8, 4, rng_seed=1), normal(4, 4, rng_seed=2)
    random = generator()
    game = Game(plain, x, z, w, random, beta=0.02)
    again = generator()
    again.set_state(random.get_state())
    slow = as_modules(game.discriminator)
    optimizer = torch.optim.SGD(slow.parameters(), lr=0.3)
    scaled = [rows / rows.square().mean().sqrt() for rows in (x, z)]

    def drawn(rows, count=12):
        return rows[torch.randint(len(rows), (count,), generator=again)]

    losses, mapped, others = [], drawn(scaled[0]) @ w, drawn(scaled[1])
    for turn in range(2):
        v = torch.cat([rows[6 * turn : 6 * turn + 6] for rows in (mapped, others)])
        torch.rand(v.shape, generator=again)  # the coins of dropout
        loss = nn.functional.binary_cross_entropy(slow(v)[:, 0], labels(6, 6, 0.2))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    v = w.clone().requires_grad_()
    said = slow(drawn(scaled[0], 6) @ v)[:, 0]
    (nn.functional.binary_cross_entropy(said, labels(0, 6, 0.2)) / 2).backward()
    stepped = w - 0.5 * v.grad
    assert game.turn(0.5) == pytest.approx(sum(losses) / 2)
    torch.testing.assert_close(game.w, 1.02 * stepped - 0.02 * stepped @ stepped.T @ stepped)


def test_a_small_pull_waits_for_ten_steps(plain):
    game = Game(plain, normal(9, 4), normal(8, 4), 2 * torch.eye(4).double(), generator(), beta=0.01)
    still = torch.zeros(4, 4).double()
    for step in range(1, 21):
        before = game.w
        game.step(still, 0.1)
        assert torch.equal(game.w, towards_orthogonal(before, 0.1) if step % 10 == 0 else before)


def test_words_are_drawn_among_the_most_frequent():
    adversary = Adversary(hidden=2, max_rank=3)
    game = Game(adversary, normal(9, 4), normal(9, 4), torch.eye(4).double(), generator())
    assert len(game.x) == len(game.z) == 3
    assert game.draw(game.x).shape == (32, 4)
    assert game.draw(game.x, 3).shape == (96, 4)


def test_the_scale_of_the_tables_does_not_matter(plain):
    x, z = normal(9, 4), normal(8, 4, rng_seed=1)
    one, other = (Game(plain, a * x, b * z, torch.eye(4).double(), generator()) for a, b in ((1, 1), (5, 0.1)))
    for game in (one, other):
        game.turn(0.1)
    torch.testing.assert_close(one.w, other.w)


@pytest.mark.parametrize("rng_seed", range(3))
def test_towards_orthogonal(rng_seed):
    w = torch.linalg.qr(normal(5, 5, rng_seed=rng_seed)).Q * torch.linspace(0.7, 1.2, 5)
    s = torch.linalg.svdvals(w)
    torch.testing.assert_close(torch.linalg.svdvals(towards_orthogonal(w, 0.1)), s + 0.1 * (s - s**3))
    for _ in range(100):
        w = towards_orthogonal(w, 0.1)
    torch.testing.assert_close(w @ w.T, torch.eye(5).double())


def test_the_rate_falls_each_epoch_and_halves_from_the_second_worse_one():
    selection = Selection(torch.tensor(0), 0.5, 1.0)
    rates = []
    for number, criterion in enumerate([0.6, 0.4, 0.7, 0.6, 0.8, 0.2], 1):
        selection.update(torch.tensor(number), criterion)
        rates.append(selection.rate)
    assert int(selection.best) == 5
    assert selection.criterion == 0.8
    factors = [0.98, 0.98, 0.98, 0.49, 0.98, 0.49]
    assert rates == pytest.approx([torch.tensor(factors[: i + 1]).prod().item() for i in range(6)])
    for _ in range(50):
        selection.update(torch.tensor(0), 0.0)
    assert selection.rate == adversarial.MIN_RATE


class Counting:
    """A game whose map is the number of its turns."""

    w = torch.tensor(0)

    def turn(self, rate):
        self.w = self.w + 1
        return rate


def test_the_best_epoch_is_kept():
    told, trace = {0: 0.1, 3: 0.3, 6: 0.4, 9: 0.2}, Trace()
    made = play(Counting(), lambda w: told[int(w)], epochs=3, steps=3, learning_rate=1.0, trace=trace)
    assert int(made.best) == 6
    assert [record["criterion"] for record in trace.records] == [0.1, 0.3, 0.4, 0.2]
    assert [record["discriminator_loss"] for record in trace.records[1:]] == pytest.approx([1, 0.98, 0.98**2])


def test_a_map_that_is_no_number_is_never_the_best():
    selection = Selection(torch.tensor(0), 0.5, 1.0)
    selection.update(torch.tensor(1), float("nan"))
    assert int(selection.best) == 0


def test_the_game_leaves_its_tables_alone(plain):
    x, z = normal(9, 4), normal(8, 4, rng_seed=1)
    before = copy.deepcopy((x, z))
    Game(plain, x, z, torch.eye(4).double(), generator()).turn(0.1)
    assert all(torch.equal(*both) for both in zip((x, z), before, strict=True))


@pytest.mark.parametrize(
    "settings",
    [
        {"hidden": 0},
        {"turns": 0},
        {"batch": 0},
        {"max_rank": 0},
        {"dropout": 1.0},
        {"smoothing": 0.5},
        {"smoothing": -0.1},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
    ],
)
def test_bad_settings_are_refused(settings):
    (name, value), *_ = settings.items()
    with pytest.raises(SettingsError, match=f"adversary: {name}={value}; needed"):
        Adversary(**settings)
