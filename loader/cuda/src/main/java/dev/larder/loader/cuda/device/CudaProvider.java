package dev.larder.loader.cuda.device;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceLimits;
import dev.larder.loader.internal.device.DeviceProvider;
import java.util.List;
import java.util.OptionalLong;

/** Lists and opens CUDA devices. Loads native libraries at its first use. */
public final class CudaProvider implements DeviceProvider {
    /** Does nothing; for {@link java.util.ServiceLoader}. */
    public CudaProvider() {}

    @Override
    public String backend() {
        return CudaDevices.BACKEND;
    }

    @Override
    public List<DeviceInfo> devices() {
        return CudaDevices.list().stream().map(CudaDevices.Found::info).toList();
    }

    @Override
    public DeviceBackend open(DeviceInfo device) {
        return CudaBackend.open(CudaDevices.find(device.index()), DeviceLimits.NONE, OptionalLong.empty());
    }
}
