#!/usr/bin/env python3
"""Measures torchvision's transforms over JPEG files in torch's DataLoader, shuffled, in batches of 64.

usage: torchvision_peer.py FOLDER SECONDS WORKERS    prints JSON, also if torchvision is absent
"""
import io
import json
import os
import sys
import time

from children import processor_s

BATCH = 64
MEANS, DEVIATIONS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def imported():
    """Imports torchvision; its transforms of Pillow's images need none of its native operators, which not every wheel of torch fits."""
    import torch

    try:
        import torchvision
    except RuntimeError as e:
        if "does not exist" not in str(e):
            raise
        for name in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[name]
        torch.library.register_fake = lambda *_, **__: lambda function: function
        import torchvision
    from torchvision import transforms

    return torch, torchvision, transforms


class Files:
    """Encoded images in memory, so that no disk is measured."""

    def __init__(self, folder, transform):
        paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        self.files = [open(path, "rb").read() for path in paths]
        self.transform = transform

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        from PIL import Image

        return self.transform(Image.open(io.BytesIO(self.files[i])).convert("RGB"))


def main():
    folder, seconds, workers = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    try:
        torch, torchvision, transforms = imported()
        import PIL
    except ImportError as e:
        print(json.dumps({"what": "torchvision", "absent": f"{e}; LARDER_TORCH_PYTHON names a python3 that has it"}))
        return
    torch.set_num_threads(1)
    steps = [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(), transforms.Normalize(MEANS, DEVIATIONS)]
    data = Files(folder, transforms.Compose(steps))
    # At least one worker, with a core of its own: the consumer is a trainer, which has other work.
    loader = torch.utils.data.DataLoader(data, BATCH, shuffle=True, num_workers=workers, persistent_workers=True, drop_last=len(data) > BATCH)
    for batch in loader:
        batch[0, 0, 0, 0].item()
    count, began, used = 0, time.perf_counter(), processor_s()
    while time.perf_counter() - began < seconds:
        for batch in loader:
            batch[0, 0, 0, 0].item()
            count += len(batch)
    rate = count / (time.perf_counter() - began)
    processor_ms = 1e3 * (processor_s() - used) / count
    versions = f"torchvision {torchvision.__version__}, torch {torch.__version__}, Pillow {PIL.__version__}"
    print(json.dumps({"what": "torchvision", "threads": workers, "imagesPerSecond": [rate], "processorMs": [processor_ms], "versions": versions}))


if __name__ == "__main__":
    main()
