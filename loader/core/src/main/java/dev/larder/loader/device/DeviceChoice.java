package dev.larder.loader.device;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Chooses one of the devices of this machine. Immutable: every method returns another choice.
 *
 * <p>Settings here come first, then {@code $LARDER_DEVICE} (an index, {@code BACKEND:INDEX}, part of a name, or {@code host}),
 * then {@code $LOCAL_RANK}, which assigns the devices of the best kind in turn, then the first device of the best kind. If both
 * OpenCL and CUDA have devices of that kind, CUDA's are used, or OpenCL's if CUDA's cannot be opened (no NVRTC).
 */
public final class DeviceChoice implements Device {
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

    /** Chooses the device with this index in the output of {@code larder devices}. */
    public DeviceChoice index(int newIndex) {
        return new DeviceChoice(backend, newIndex, null, orHost);
    }

    /** Chooses the first device with this text in its name, ignoring case. */
    public DeviceChoice named(String part) {
        return new DeviceChoice(backend, null, part, orHost);
    }

    /** Keeps batches in host memory, with a warning, if no such device is available or none has enough memory. */
    public DeviceChoice orHost() {
        return new DeviceChoice(backend, index, name, true);
    }

    /** Returns the name of the backend to choose from, or empty for all backends. */
    public Optional<String> backend() {
        return Optional.ofNullable(backend);
    }

    @Override
    public boolean fallsBackToHost() {
        return orHost;
    }

    /**
     * Returns the chosen device, or empty if {@code $LARDER_DEVICE} is {@code host}. Fails with {@code NOT_FOUND}
     * if there is no such device, even if the host is allowed instead.
     */
    public Optional<DeviceInfo> among(List<DeviceInfo> devices) {
        return Optional.ofNullable(choose(devices, System.getenv()));
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
        // unless a backend is named, the device must justify the copies: a CPU does not
        List<String> kinds = backend == null ? KINDS.subList(0, 2) : KINDS;
        List<DeviceInfo> best = devices.stream()
                .filter(device -> kinds.contains(device.kind()))
                .sorted(Comparator.comparingInt(device -> kinds.indexOf(device.kind())))
                .toList();
        if (best.isEmpty()) {
            throw none(devices, "a " + String.join(" or ", kinds));
        }
        DeviceInfo first = best.get(0);
        List<DeviceInfo> alike = best.stream() // from one backend: another may list the same devices
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
}
