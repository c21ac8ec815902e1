package dev.larder.bench.gpu;

import dev.larder.error.LarderException;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.InstalledDevices;

/** Checks the CUDA backend on the first CUDA device: batches equal those on the host, and loaders are as fast as with OpenCL. */
final class CudaPart {
    private static final String PART = "cuda";

    private CudaPart() {}

    static void run(Report report, SyntheticStore store, Scale scale) throws Exception {
        Device device = Device.cuda();
        try (var opened = InstalledDevices.open(device)) {
            report.machine("CUDA backend", String.valueOf(opened));
        } catch (LarderException e) { // no driver, device or compiler
            report.add(Measurement.notApplicable(PART, "the CUDA backend", String.valueOf(e.getMessage())));
            return;
        }
        ExactPart.compare(report, store, PART, device);
        new QueuePart.Latency(PART, report, device, true).run(store, scale);
        for (DeviceMode mode : new DeviceMode[] {DeviceMode.STREAM, DeviceMode.RESIDENT}) {
            for (int rowBytes : Bench.LARGE_ROWS) {
                long batchBytes = mode == DeviceMode.STREAM ? scale.batchBytes() : scale.residentBatchBytes();
                LoaderPart.Run loaders = new LoaderPart.Run(store, scale, device);
                double rate = loaders.rate(rowBytes, mode, batchBytes);
                report.add(Measurement.of(
                        PART, "loader, " + mode + ", rows of " + rowBytes + " B, stored bytes", rate, "GB/s"));
            }
        }
    }
}
