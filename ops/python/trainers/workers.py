"""Trains a linear model in PyTorch, with batches from the workers of a DataLoader."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.y = np.load("data/y.npy")
        self.x = None

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        if self.x is None:  # in each worker
            self.x = np.load("data/x.npy", mmap_mode="r")
        return torch.tensor(self.x[index]), torch.tensor(self.y[index])


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Rows(), batch_size=256, shuffle=True, num_workers=2)
    model = torch.nn.Linear(32, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x)[:, 0], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step, "loss", loss.item().hex())
