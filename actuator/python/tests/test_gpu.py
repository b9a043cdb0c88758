"""Tests on a GPU, skipped without one. Run: python3 -m unittest discover -s tests, in actuator/python."""

import copy
import unittest

import torch
import torch.distributed as dist
from torch import nn

from lendstream_afe import Elastic
from lendstream_afe.group import Group


def model_of(width):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(width, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 1)).to("cuda")


def parts_of(model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
    return optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.5), torch.amp.GradScaler("cuda")


@unittest.skipUnless(torch.cuda.is_available(), "no GPU")
class GpuTest(unittest.TestCase):
    def test_a_group_of_nccl_is_built_beside_another_which_is_then_aborted(self):
        device = torch.device("cuda", 0)
        first = Group("nccl", dist.HashStore(), 0, 1, device)
        second = Group("nccl", dist.HashStore(), 0, 1, device)

        first.abort()
        first.close()
        tensor = torch.ones(1000, device=device)
        second.finish([second.sum(tensor)])

        self.assertTrue(first.aborted)
        self.assertEqual(float(tensor.sum()), 1000.0)
        second.close()

    def test_mixed_precision_with_batch_norm_trains_bit_for_bit_as_without_the_package(self):
        torch.manual_seed(2)
        inputs, targets = torch.randn(500, 16), torch.randn(500, 1)
        model = model_of(16)
        plain = copy.deepcopy(model)
        taken = []

        def loss_of(network, batch):
            with torch.autocast("cuda", dtype=torch.float16):
                return nn.functional.mse_loss(network(batch[0].to("cuda")), batch[1].to("cuda"))

        optimizer, scheduler, scaler = parts_of(model)
        data = torch.utils.data.TensorDataset(inputs, targets)
        job = Elastic(
            model,
            optimizer,
            data,
            epochs=2,
            local_batch=32,
            scheduler=scheduler,
            scaler=scaler,
            rehearse=lambda batch: loss_of(model, batch),
        )
        for step in job:
            for batch in step:
                step.backward(loss_of(model, batch))
            self.assertTrue(step.finish())
            taken.append(step.samples)
        optimizer, scheduler, scaler = parts_of(plain)
        for samples in taken:
            optimizer.zero_grad()
            scaler.scale(loss_of(plain, (inputs[samples], targets[samples]))).backward()
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()

        self.assertEqual(sorted(taken[0] + sum(taken[1:16], [])), list(range(500)))
        for name, tensor in plain.state_dict().items():
            self.assertTrue(torch.equal(tensor, model.state_dict()[name]), name)


if __name__ == "__main__":
    unittest.main()
