package dev.larder.loader.opencl;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.Rig;
import dev.larder.loader.internal.device.DeviceBackend;

/** Opens rigs on the first OpenCL device. */
final class OpenClRig {
    private OpenClRig() {}

    static Rig open() {
        return new Rig(openBackend(OpenClOptions.DEFAULT), 100);
    }

    static DeviceBackend openBackend(OpenClOptions options) {
        return OpenClDevice.of(info()).with(options.withPoison()).open();
    }

    static DeviceInfo info() {
        return new OpenClProvider().devices().get(0);
    }
}
