package dev.larder.command;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceProvider;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A GPU that an environment variable puts into a machine, or a driver that is amiss. */
public final class MadeUpDevices implements DeviceProvider {
    static final String VARIABLE = "LARDER_MADE_UP_DEVICES";
    private static final int ABORTED = 134;

    @Override
    public String backend() {
        return "made-up";
    }

    @Override
    public List<DeviceInfo> devices() {
        return switch (System.getenv().getOrDefault(VARIABLE, "")) {
            case "gpu" -> List.of(gpu(0, "Quick"), gpu(1, "Quicker"));
            case "crash" -> crash();
            case "hang" -> hang();
            default -> List.of();
        };
    }

    private static DeviceInfo gpu(int index, String name) {
        return new DeviceInfo(
                "made-up", index, name, "gpu", "Platform 3", "1.2", 3L << 30, 1L << 30, 8, false, true, true);
    }

    private static List<DeviceInfo> crash() {
        Runtime.getRuntime().halt(ABORTED);
        return List.of();
    }

    private static List<DeviceInfo> hang() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return List.of();
    }

    @Override
    public DeviceBackend open(DeviceInfo device) {
        throw new UnsupportedOperationException("it is made up");
    }
}
