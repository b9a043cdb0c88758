"""Tests within one process. Run: python3 -m unittest discover -s tests, in actuator/python."""

import copy
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist
from torch import nn

from lendstream_afe.data import Order, Position, micro_batches, shares
from lendstream_afe.gradients import Gradients, Noise
from lendstream_afe.group import Group
from lendstream_afe.state import TrainingState


def on_ranks(size, work):
    """Calls ``work`` with the group of each rank, all at once; returns what each returned."""
    store = dist.HashStore()
    with ThreadPoolExecutor(size) as threads:
        return list(threads.map(lambda rank: work(Group("gloo", store, rank, size, torch.device("cpu"))), range(size)))


def alone() -> Group:
    return Group("gloo", dist.HashStore(), 0, 1, torch.device("cpu"))


class Data(unittest.TestCase):
    def test_every_sample_of_an_epoch_is_taken_once_whatever_the_number_of_replicas(self):
        order, position, taken = Order(103, seed=7), Position(), []
        sizes = [1, 4, 2, 3]
        while position.epoch == 0:
            replicas = sizes[position.step % len(sizes)]
            samples = order.step_samples(position, replicas * 5)
            taken += [each for share in shares(samples, replicas) for each in share]
            position.advance(len(samples), order.size)

        self.assertEqual(sorted(taken), list(range(103)))
        self.assertEqual(position.offset, 0)

    def test_each_epoch_has_its_own_order_and_the_same_on_every_rank(self):
        first, second = Order(50, seed=1), Order(50, seed=1)

        self.assertEqual(first.step_samples(Position(epoch=3), 50), second.step_samples(Position(epoch=3), 50))
        self.assertNotEqual(first.step_samples(Position(epoch=3), 50), first.step_samples(Position(epoch=4), 50))

    def test_a_short_step_is_shared_evenly_and_may_leave_replicas_without_samples(self):
        self.assertEqual([len(share) for share in shares(range(2), 4)], [0, 1, 0, 1])
        self.assertEqual(micro_batches([1, 2, 3], 2), [[1, 2], [3]])


class GradientsTest(unittest.TestCase):
    def test_sums_to_what_the_script_alone_would_get_also_for_parameters_not_used(self):
        torch.manual_seed(1)
        model = nn.ModuleDict({"used": nn.Linear(3, 2), "unused": nn.Linear(3, 2)})
        plain = copy.deepcopy(model)
        inputs = torch.randn(4, 3)
        gradients = Gradients(list(model.parameters()))
        notes = torch.zeros(3, dtype=torch.float64)

        gradients.sum_from_here(alone(), measure=True)
        model["used"](inputs).sum().backward()
        gradients.finish(notes, local_squared_at=2)
        plain["used"](inputs).sum().backward()

        self.assertTrue(torch.equal(model["used"].weight.grad, plain["used"].weight.grad))
        self.assertEqual(float(model["unused"].weight.grad.abs().sum()), 0.0)
        self.assertAlmostEqual(float(notes[2]), gradients.squared(), places=4)

    def test_noise_is_that_of_gradients_with_known_mean_and_variance(self):
        torch.manual_seed(1)
        noise, replicas, size = Noise(), 4, 1000
        mean, deviation = 0.1, 0.5
        for _ in range(200):
            own = mean + deviation * torch.randn(replicas, size)
            local = float((own * own).sum(dim=1).mean())
            total = float((own.mean(dim=0) ** 2).sum())
            noise.observe(local, total, replicas, batch_ratio=replicas)

        self.assertAlmostEqual(noise.squared / (size * mean**2), 1.0, delta=0.2)
        self.assertAlmostEqual(noise.variance / (size * deviation**2), 1.0, delta=0.05)


class StateTest(unittest.TestCase):
    def test_a_snapshot_restores_model_optimiser_and_position_exactly(self):
        def job():
            model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
            optimizer = torch.optim.AdamW(model.parameters())
            return model, optimizer, TrainingState(model, optimizer, {}, torch.device("cpu"))

        def step(model, optimizer, inputs):
            optimizer.zero_grad()
            model(inputs).square().mean().backward()
            optimizer.step()

        torch.manual_seed(1)
        model, optimizer, state = job()
        inputs = torch.randn(8, 3)
        step(model, optimizer, inputs)
        state.position.advance(5, 10)
        snapshot = state.snapshot()
        other, other_optimizer, other_state = job()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other_state.restore(snapshot)
        step(model, optimizer, inputs)
        step(other, other_optimizer, inputs)

        self.assertEqual(other_state.position, state.position)
        for name, tensor in model.state_dict().items():
            self.assertTrue(torch.equal(tensor, other.state_dict()[name]), name)

    def test_a_broadcast_gives_a_newcomer_the_state_also_beside_a_rank_that_has_received_it_itself(self):
        def job():
            model = nn.Linear(3, 2)
            optimizer = torch.optim.Adam(model.parameters())
            return model, optimizer, TrainingState(model, optimizer, {}, torch.device("cpu"))

        def grow(group):
            # As between GPUs. Rank 0 has joined first, so its description of the same state is longer than rank 1's.
            group._broadcasts = True
            model, optimizer, state = jobs[group.rank]
            transfers = ((1, 0),) if group.size == 2 else ((0, 2),)
            if group.rank == transfers[0][1]:
                state.receive(group, transfers)
            else:
                state.send(group, transfers).wait()
            group.close()
            return model.weight.detach().clone()

        torch.manual_seed(1)
        jobs = [job() for _ in range(3)]
        model, optimizer, _ = jobs[1]
        model(torch.ones(4, 3)).square().mean().backward()
        optimizer.step()
        before = model.weight.detach().clone()

        for size in (2, 3):
            for weight in on_ranks(size, grow):
                self.assertTrue(torch.equal(weight, before))


if __name__ == "__main__":
    unittest.main()
