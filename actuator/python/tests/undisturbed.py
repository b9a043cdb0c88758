"""Trains the example's model in one process, step by step on the samples that a log names, for some seeds.

Arguments: the log (a JSON list of lists of samples), a checkpoint, the number of samples and of features, then seeds.
Prints the loss of the checkpoint, for the first seed's data, and one loss per seed: what an undisturbed run with the same
batch schedule comes to. The first seed takes exactly the log's samples; the others take as many per step, in their own
order.
"""

import json
import sys

import torch
from torch import nn


def data_and_model(count, features, seed):
    torch.manual_seed(seed)
    inputs = torch.randn(count, features)
    targets = torch.sin(inputs.sum(dim=1, keepdim=True)) + 0.1 * torch.randn(count, 1)
    return inputs, targets, nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, 1))


def loss(model, inputs, targets):
    with torch.no_grad():
        return nn.functional.mse_loss(model(inputs), targets).item()


def train(schedule, count, features, seed, own_order):
    inputs, targets, model = data_and_model(count, features, seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    order = []
    for samples in schedule:
        if own_order:
            while len(order) < len(samples):
                order += torch.randperm(count).tolist()
            samples, order = order[: len(samples)], order[len(samples) :]
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs[samples]), targets[samples]).backward()
        optimizer.step()
    return loss(model, inputs, targets)


torch.set_num_threads(1)
with open(sys.argv[1]) as file:
    steps = json.load(file)
shape = int(sys.argv[3]), int(sys.argv[4])
seeds = [int(each) for each in sys.argv[5:]]
made_inputs, made_targets, kept = data_and_model(*shape, seeds[0])
kept.load_state_dict(torch.load(sys.argv[2], weights_only=False)["model"])
print(loss(kept, made_inputs, made_targets))
for seed in seeds:
    print(train(steps, *shape, seed, own_order=seed != seeds[0]))
