package dev.larder.loader.device;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Chooses one of the devices of this machine. Immutable: every method returns another choice.
 *
 * <p>What is said here counts first, then {@code $LARDER_DEVICE} (an index, {@code BACKEND:INDEX}, a part of a name, or {@code host}),
 * then {@code $LOCAL_RANK}, which deals out the devices of the best kind in turn, then the first one of the best kind. Where both
 * OpenCL and CUDA have devices of that kind, they are OpenCL's.
 */
public final class DeviceChoice implements Device {
    private static final Logger LOG = Logs.of(DeviceChoice.class);

    /** Listed last: its devices are mostly those of OpenCL once more, and have been in use for less long. */
    static final String CUDA = "cuda";

    private static final List<String> KINDS = List.of("gpu", "accelerator", "cpu");

    private final @Nullable String backend;
    private final @Nullable Integer index;
    private final @Nullable String name;
    private final boolean orHost;

    private DeviceChoice(@Nullable String backend, @Nullable Integer index, @Nullable String name, boolean orHost) {
        this.backend = backend;
        this.index = index;
        this.name = name;
        this.orHost = orHost;
    }

    static DeviceChoice auto() {
        return new DeviceChoice(null, null, null, true);
    }

    static DeviceChoice of(String backend) {
        return new DeviceChoice(backend, null, null, false);
    }

    /** Takes the device with a number, as {@code larder devices} lists them. */
    public DeviceChoice index(int newIndex) {
        return new DeviceChoice(backend, newIndex, null, orHost);
    }

    /** Takes the first device whose name has this in it, in upper or lower case. */
    public DeviceChoice named(String part) {
        return new DeviceChoice(backend, null, part, orHost);
    }

    /** Leaves batches in memory of the host, with a warning, where no such device can be had, or none with enough memory. */
    public DeviceChoice orHost() {
        return new DeviceChoice(backend, index, name, true);
    }

    @Override
    public boolean fallsBackToHost() {
        return orHost;
    }

    @Override
    public @Nullable DeviceBackend open() {
        return open(Installed.find(backend), System.getenv());
    }

    /** Lists the devices that there are to choose from; fails with {@code NOT_FOUND} and the remedy where a backend is missing. */
    public List<DeviceInfo> devices() {
        return Installed.find(backend).devices();
    }

    /**
     * Tells which of these devices it takes; nothing where {@code $LARDER_DEVICE} wants the host. Fails with {@code NOT_FOUND}
     * where there is no such device, also if the host would do instead.
     */
    public Optional<DeviceInfo> among(List<DeviceInfo> devices) {
        return Optional.ofNullable(choose(devices, System.getenv()));
    }

    @Nullable
    DeviceBackend open(Installed installed, Map<String, String> environment) {
        try {
            DeviceInfo chosen = choose(installed.devices(), environment);
            return chosen == null ? null : installed.open(chosen);
        } catch (LarderException e) {
            if (!orHost) {
                throw e;
            }
            LOG.warn("no device: batches stay in host memory: wanted={} reason={}", this, e.getMessage());
            return null;
        }
    }

    @Nullable
    DeviceInfo choose(List<DeviceInfo> devices, Map<String, String> environment) {
        if (index != null) {
            return byIndex(devices, index);
        }
        if (name != null) {
            return byName(devices, name);
        }
        String wanted = environment.getOrDefault("LARDER_DEVICE", "").strip();
        if (wanted.equalsIgnoreCase("host")) {
            return null;
        }
        if (!wanted.isEmpty()) {
            return wanted.matches("[0-9]{1,6}") ? byIndex(devices, Integer.parseInt(wanted)) : byName(devices, wanted);
        }
        return byRank(devices, environment.getOrDefault("LOCAL_RANK", "").strip());
    }

    private DeviceInfo byIndex(List<DeviceInfo> devices, int wanted) {
        return devices.stream()
                .filter(device -> device.index() == wanted)
                .findFirst()
                .orElseThrow(() -> none(devices, "index " + wanted));
    }

    private DeviceInfo byName(List<DeviceInfo> devices, String wanted) {
        String part = wanted.toLowerCase(Locale.ROOT);
        return devices.stream()
                .filter(device -> device.name().toLowerCase(Locale.ROOT).contains(part)
                        || part.equals(device.backend() + ":" + device.index()))
                .findFirst()
                .orElseThrow(() -> none(devices, "name " + wanted));
    }

    private DeviceInfo byRank(List<DeviceInfo> devices, String rank) {
        // without a backend named, a device must be worth the way there: a processor is not
        List<String> kinds = backend == null ? KINDS.subList(0, 2) : KINDS;
        List<DeviceInfo> best = devices.stream()
                .filter(device -> kinds.contains(device.kind()))
                .sorted(Comparator.comparingInt(device -> kinds.indexOf(device.kind())))
                .toList();
        if (best.isEmpty()) {
            throw none(devices, "a " + String.join(" or ", kinds));
        }
        DeviceInfo first = best.get(0);
        List<DeviceInfo> alike = best.stream() // of one backend: another may list the same devices again
                .filter(device ->
                        device.kind().equals(first.kind()) && device.backend().equals(first.backend()))
                .toList();
        return alike.get(rank.matches("[0-9]{1,9}") ? Integer.parseInt(rank) % alike.size() : 0);
    }

    private static LarderException none(List<DeviceInfo> devices, String wanted) {
        return Failure.of(ErrorCode.NOT_FOUND, "no such device")
                .with("wanted", wanted)
                .with("devices", devices)
                .remedy(
                        "see `larder devices` and `larder doctor`; install the driver, choose another, or allow orHost()");
    }

    @Override
    public String toString() {
        String what = index != null ? "index " + index : name != null ? "name " + name : "first";
        return (backend == null ? "auto" : backend) + " " + what;
    }

    /** The providers on the class path, or those of one backend. */
    record Installed(List<DeviceProvider> providers) {
        static Installed find(@Nullable String backend) {
            List<DeviceProvider> found = new ArrayList<>();
            for (DeviceProvider provider : ServiceLoader.load(DeviceProvider.class, Device.class.getClassLoader())) {
                if (backend == null || provider.backend().equals(backend)) {
                    found.add(provider);
                }
            }
            found.sort(Comparator.comparing(provider -> provider.backend().equals(CUDA)));
            return new Installed(List.copyOf(found));
        }

        List<DeviceInfo> devices() {
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

        DeviceBackend open(DeviceInfo device) {
            return providers.stream()
                    .filter(provider -> provider.backend().equals(device.backend()))
                    .findFirst()
                    .orElseThrow()
                    .open(device);
        }
    }
}
