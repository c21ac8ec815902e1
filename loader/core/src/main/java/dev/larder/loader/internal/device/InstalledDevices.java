package dev.larder.loader.internal.device;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceChoice;
import dev.larder.loader.device.DeviceInfo;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The devices of the providers on the class path, or of one backend. */
public record InstalledDevices(List<DeviceProvider> providers) {
    private static final Logger LOG = Logs.of(InstalledDevices.class);

    /** Sorted first: its devices are also OpenCL devices, but a small batch takes half the time with CUDA. */
    private static final String FIRST = "cuda";

    /** Finds the providers of one backend, or of all backends if null. */
    public static InstalledDevices find(@Nullable String backend) {
        List<DeviceProvider> found = new ArrayList<>();
        for (DeviceProvider provider : ServiceLoader.load(DeviceProvider.class, Device.class.getClassLoader())) {
            if (backend == null || provider.backend().equals(backend)) {
                found.add(provider);
            }
        }
        found.sort(Comparator.comparing(provider -> !provider.backend().equals(FIRST)));
        return new InstalledDevices(List.copyOf(found));
    }

    /** Opens a device, or returns null if batches stay in host memory. The caller closes it. */
    public static @Nullable DeviceBackend open(Device device) {
        if (device instanceof OpenableDevice own) {
            return own.open();
        }
        return device instanceof DeviceChoice choice
                ? find(choice.backend().orElse(null)).open(choice, choice::among)
                : null;
    }

    /**
     * Opens the chosen device. If its backend lacks something and the choice names no backend, opens one of another backend.
     * Returns null if the host is chosen, or if no device can be opened and the choice allows the host.
     *
     * @param chosen selects one of the devices, or empty for the host
     */
    public @Nullable DeviceBackend open(DeviceChoice choice, Function<List<DeviceInfo>, Optional<DeviceInfo>> chosen) {
        try {
            return openOf(devices(), choice, chosen);
        } catch (LarderException e) {
            if (!choice.fallsBackToHost()) {
                throw e;
            }
            LOG.warn("no device: batches stay in host memory: wanted={} reason={}", choice, e.getMessage());
            return null;
        }
    }

    private @Nullable DeviceBackend openOf(
            List<DeviceInfo> devices, DeviceChoice choice, Function<List<DeviceInfo>, Optional<DeviceInfo>> chosen) {
        DeviceInfo device = chosen.apply(devices).orElse(null);
        try {
            return device == null ? null : open(device);
        } catch (LarderException e) {
            List<DeviceInfo> others = devices.stream()
                    .filter(other -> !other.backend().equals(device.backend()))
                    .toList();
            if (e.code() != ErrorCode.NOT_FOUND || choice.backend().isPresent() || others.isEmpty()) {
                throw e;
            }
            DeviceBackend opened;
            try {
                opened = openOf(others, choice, chosen);
            } catch (LarderException failure) {
                e.addSuppressed(failure);
                throw e;
            }
            LOG.warn(
                    "a device of another backend is used: opened={} refused={} reason={}",
                    opened,
                    device,
                    e.getMessage());
            return opened;
        }
    }

    private DeviceBackend open(DeviceInfo device) {
        return providers.stream()
                .filter(provider -> provider.backend().equals(device.backend()))
                .findFirst()
                .orElseThrow()
                .open(device);
    }

    /** Lists the devices. Fails with {@code NOT_FOUND} and a remedy if there are none because a backend is missing. */
    public List<DeviceInfo> devices() {
        if (providers.isEmpty()) {
            throw Failure.of(ErrorCode.NOT_FOUND, "no device backend on the class path")
                    .remedy("add the artifact larder-loader-opencl or larder-loader-cuda, or use Device.host()");
        }
        List<DeviceInfo> devices = new ArrayList<>();
        LarderException missing = null;
        for (DeviceProvider provider : providers) {
            try {
                devices.addAll(provider.devices());
            } catch (LarderException e) {
                if (e.code() != ErrorCode.NOT_FOUND) {
                    throw e;
                }
                missing = missing == null ? e : missing;
            }
        }
        if (devices.isEmpty() && missing != null) {
            throw missing;
        }
        return List.copyOf(devices);
    }
}
