package dev.larder.bench.gpu;

import dev.larder.error.LarderException;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.InstalledDevices;

/** The CUDA backend on the first CUDA device: the same bytes as on the host, and whole loaders beside those by OpenCL. */
final class CudaPart {
    private static final String PART = "cuda";

    private CudaPart() {}

    static void run(Report report, SyntheticStore store, Scale scale) throws Exception {
        Device device = Device.cuda();
        try (var opened = InstalledDevices.open(device)) {
            report.machine("CUDA backend", String.valueOf(opened));
        } catch (LarderException e) { // no driver, no device, no compiler, each with its remedy
            report.add(Measurement.notApplicable(PART, "the CUDA backend", String.valueOf(e.getMessage())));
            return;
        }
        ExactPart.compare(report, store, PART, device);
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
