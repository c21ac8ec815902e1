package dev.larder.loader.opencl;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.loader.device.DeviceBackend;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceProvider;
import java.util.List;
import java.util.Optional;

/** Lists and opens OpenCL devices. Nothing native is loaded before it is asked to. */
public final class OpenClProvider implements DeviceProvider {
    /** Does nothing, as {@link java.util.ServiceLoader} wants it. */
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
        List<OpenClDevices.Found> all = OpenClDevices.list();
        OpenClDevices.Found found = all.stream()
                .filter(each -> each.info().index() == device.index()
                        && each.info().name().equals(device.name()))
                .findFirst()
                .orElseThrow(() -> Failure.of(ErrorCode.NOT_FOUND, "device is gone")
                        .with("device", device)
                        .with(
                                "devices",
                                all.stream().map(OpenClDevices.Found::info).toList())
                        .remedy("see `larder devices`"));
        return OpenClBackend.open(Session.create(found, options), Optional.empty());
    }
}
