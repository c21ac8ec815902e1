"""Learns to classify Fashion-MNIST in several processes, as DataParallelTrainer does in Java, with torch.distributed and rows of Larder."""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F

import larder

IMAGES, LABELS = "-images", "-labels"


def batches(name, part, **options):
    """Yields the batches of this rank for one epoch: images as floats, and labels."""
    loader = larder.Loader(name, [part + IMAGES, part + LABELS], shard=(dist.get_rank(), dist.get_world_size()), **options)
    while True:
        yield ((torch.from_numpy(batch[part + IMAGES]).flatten(1).float() / 255, torch.from_numpy(batch[part + LABELS]).long()) for batch in loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset", default="fashion")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64, help="of all ranks together")
    parser.add_argument("--lr", type=float, default=0.05)
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    size = options.batch_size // world

    torch.manual_seed(42)
    model = torch.nn.Linear(784, 10)
    parameters = list(model.parameters())
    for parameter in parameters:
        dist.broadcast(parameter.data, 0)

    train = batches(options.dataset, "train", batch_size=size, shuffle=42, drop_last=True)
    for epoch in range(options.epochs):
        total = seen = 0
        for images, labels in next(train):
            loss = F.cross_entropy(model(images), labels)
            model.zero_grad()
            loss.backward()
            slope = torch.cat([parameter.grad.flatten() for parameter in parameters])
            dist.all_reduce(slope)
            slope /= world
            begin = 0
            for parameter in parameters:
                parameter.data -= options.lr * slope[begin : begin + parameter.numel()].view_as(parameter)
                begin += parameter.numel()
            total += loss.item() * len(labels)
            seen += len(labels)
        print(f"rank {rank} epoch {epoch} loss {total / seen:.6f}", flush=True)

    counts = torch.zeros(2, dtype=torch.int64)
    with torch.no_grad():
        for images, labels in next(batches(options.dataset, "t10k", batch_size=size, tail="exact")):
            counts += torch.tensor([(model(images).argmax(1) == labels).sum().item(), len(labels)])
        length = torch.cat([parameter.flatten() for parameter in parameters]).double().norm().item()
    dist.all_reduce(counts)
    if rank == 0:
        print(f"ranks {world} accuracy {counts[0].item() / counts[1].item():.4f} parameters {length:.6f} tested {counts[1].item()}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
