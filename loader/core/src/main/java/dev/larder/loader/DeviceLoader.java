package dev.larder.loader;

import dev.larder.internal.error.LeakGuard;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceMode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Brings the batches of a {@link Loader} to a device, ahead of a consumer.
 *
 * <pre>{@code
 * try (DeviceLoader loader = Loader.over(mnist).arrays("train-images", "train-labels")
 *         .transform("train-images", Transforms.toFloat().normalize(0.286f, 0.353f)).shuffle(42).batch(256)
 *         .device(Device.auto()).build()) {
 *     for (DeviceBatch batch : loader.epoch(0)) {
 *         step(batch.array("train-images"), batch.array("train-labels"), batch.size());
 *     }
 * }
 * }</pre>
 *
 * <p>Batches are the same bytes as on the host, for any device and mode. One epoch runs at a time. A loader is closed before its
 * dataset.
 */
public final class DeviceLoader implements AutoCloseable {
    private final Loader host;
    private final DeviceFeed feed;
    private final Plan plan;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final LeakGuard leakGuard;

    /**
     * What was chosen.
     *
     * @param mode empty where batches stay on the host
     * @param deviceBytes what the devices hold, for as long as rows do not grow
     * @param hostBytes the slots of the host
     */
    record Plan(Optional<DeviceMode> mode, long deviceBytes, long hostBytes, int slots) {}

    DeviceLoader(Loader host, DeviceFeed feed, Plan plan) {
        this.host = host;
        this.feed = feed;
        this.plan = plan;
        this.leakGuard = new LeakGuard(this, "loader", toString(), feed::close);
    }

    /** Returns how many samples the dataset has: rows of its arrays. */
    public long rows() {
        return host.rows();
    }

    /** Returns the devices that batches are brought to; none where they stay in memory of the host. */
    public List<DeviceInfo> devices() {
        return feed.devices();
    }

    /** Returns how rows get there: {@code STREAM} or {@code RESIDENT}; nothing where they stay in memory of the host. */
    public Optional<DeviceMode> mode() {
        return plan.mode();
    }

    /** Returns how many bytes of all devices together the loader holds, resident arrays included; slots of ragged rows may grow. */
    public long deviceBytes() {
        return plan.deviceBytes();
    }

    /** Returns how many bytes of the host its slots have; those of ragged rows may grow. */
    public long hostBytes() {
        return plan.hostBytes();
    }

    /** Returns how many batches can be on their way to a device or there at a time. */
    public int slots() {
        return plan.slots();
    }

    /** Returns how many bytes were uploaded for batches so far. */
    public long uploadedBytes() {
        return feed.uploadedBytes();
    }

    /** Begins an epoch, as {@link Loader#epoch} does. */
    public DeviceEpoch epoch(long number) {
        return begin(host.epoch(number));
    }

    /** Goes on where an earlier run stopped, on any device, as {@link Loader#resume} does. */
    public DeviceEpoch resume(LoaderState state) {
        return begin(host.resume(state));
    }

    private DeviceEpoch begin(Epoch epoch) {
        feed.start(epoch);
        return new DeviceEpoch(this, feed, epoch.plan());
    }

    /** Returns what the host did and where its time went: its consumer is the thread that uploads. */
    public LoaderStats stats() {
        return host.stats();
    }

    /**
     * Closes every batch, waits for the devices and the consumer's work on its queue, for at most 5 s, then gives everything back. What
     * a device may still use after that is left as it is, and the call fails with {@code DEADLINE}. Idempotent, from any thread, a
     * shutdown hook included.
     */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            leakGuard.disarm();
            feed.close();
        }
    }

    @Override
    public String toString() {
        String where = plan.mode().map(mode -> mode + " on " + devices()).orElse("host");
        return "DeviceLoader{" + host + " " + where + "}";
    }
}
