"""A small training job that may be resized: regression with a multi-layer perceptron on data made from a seed.

Alone: python3 train.py. With torchrun: torchrun --nproc-per-node 2 train.py. Under Lendstream: as it is.
With --log it records each completed step in DIR/<process id>.jsonl, which Lendstream's tests and benchmark read.
"""

import argparse
import json
import os
import time

import torch
from torch import nn

from lendstream_afe import Elastic


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--local-batch", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--step-seconds", type=float, default=0.0, help="seconds to sleep in each step")
    parser.add_argument("--checkpoint")
    parser.add_argument("--checkpoint-seconds", type=float, default=60.0)
    parser.add_argument("--log")
    options = parser.parse_args()

    torch.set_num_threads(1)
    if options.device == "cuda":  # torchrun shows all GPUs to each worker, Lendstream only its own
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    torch.manual_seed(options.seed)
    inputs = torch.randn(options.samples, options.features)
    targets = torch.sin(inputs.sum(dim=1, keepdim=True)) + 0.1 * torch.randn(options.samples, 1)
    data = torch.utils.data.TensorDataset(inputs, targets)

    widths = [options.features] + [options.hidden] * options.layers
    layers = [layer for wide in zip(widths, widths[1:]) for layer in (nn.Linear(*wide), nn.ReLU())]
    model = nn.Sequential(*layers, nn.Linear(options.hidden, 1)).to(options.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def loss_of(batch):
        taken, wanted = (tensor.to(options.device, non_blocking=True) for tensor in batch)
        return nn.functional.mse_loss(model(taken), wanted)

    job = Elastic(
        model,
        optimizer,
        data,
        epochs=options.epochs,
        local_batch=options.local_batch,
        seed=options.seed,
        rehearse=loss_of,
        checkpoint=options.checkpoint,
        checkpoint_seconds=options.checkpoint_seconds,
        report_seconds=0.2,
    )
    log = open(os.path.join(options.log, f"{os.getpid()}.jsonl"), "a") if options.log else None
    for step in job:
        for batch in step:
            step.backward(loss_of(batch))
            time.sleep(options.step_seconds)
        completed = step.finish()
        if log and completed:
            noted = {
                "step": step.number,
                "nanos": job.ended_nanos,
                "membership": job.membership_epoch,
                "rank": job.rank,
                "world": job.world,
                "samples": step.samples,
                "own": step.indices,
            }
            log.write(json.dumps(noted) + "\n")
            log.flush()
    with torch.no_grad():
        final = loss_of((inputs, targets)).item()
    if job.rank == 0:
        print(json.dumps({"loss": final}), flush=True)


if __name__ == "__main__":
    main()
