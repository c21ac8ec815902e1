package dev.larder.loader.opencl;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceProvider;
import java.util.List;
import java.util.Optional;

/** Lists and opens OpenCL devices. Loads native libraries at its first use. */
public final class OpenClProvider implements DeviceProvider {
    /** Does nothing; for {@link java.util.ServiceLoader}. */
    public OpenClProvider() {}

    @Override
    public String backend() {
        return OpenClDevices.BACKEND;
    }

    @Override
    public List<DeviceInfo> devices() {
        return OpenClDevices.list().stream().map(OpenClDevices.Found::info).toList();
    }

    @Override
    public DeviceBackend open(DeviceInfo device) {
        return open(device, OpenClOptions.DEFAULT);
    }

    static OpenClBackend open(DeviceInfo device, OpenClOptions options) {
        return OpenClBackend.open(Session.create(OpenClDevices.find(device), options), Optional.empty());
    }
}
