package dev.larder.loader.internal.ring;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.slot.OutputArray;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Prepares batches ahead of a consumer, one epoch after the other: in host memory, or on devices. */
public interface Pipeline extends AutoCloseable {
    /** Returns the pipeline that gathers on the host: this, or the one that it uploads from. */
    HostPipeline host();

    /** Returns the arrays of batches. */
    List<OutputArray> outputs();

    /** Ends the running epoch, if any, and the following one; closes all batches except kept ones. */
    void endRunning();

    /** Begins an epoch. No epoch may be running. */
    void start(Plan plan);

    /** Fills slots for the epoch after the running one; does nothing if that has ended. */
    void follow(Plan running, Plan next);

    /**
     * Ends the running epoch, and continues with {@code next} if it is the following one; else returns false, and the caller has to
     * start it.
     */
    boolean advance(Plan next);

    /** Closes the last batch, unless it is kept, and waits for the next one. */
    DeliveredBatch take(Plan plan, @Nullable DeliveredBatch before);

    /** Returns the stopwatch of the thread that takes batches. */
    Stopwatch stopwatch();

    /** Ends an epoch, unless it has ended. */
    void end(Plan plan);

    /** Returns the devices; none if batches are on the host. */
    default List<DeviceInfo> devices() {
        return List.of();
    }

    /** Returns how rows reach devices. */
    default Optional<DeviceMode> mode() {
        return Optional.empty();
    }

    /** Returns the bytes of device memory that it holds. */
    default long deviceBytes() {
        return 0;
    }

    /** Returns the bytes that were uploaded for batches. */
    default long uploadedBytes() {
        return 0;
    }

    /** Returns the most batches that are prepared or open at a time. */
    int slots();

    /** Ends a pipeline whose loader was garbage collected without a close. */
    void abandon();

    /** Closes every batch, ends the threads and frees all memory. */
    @Override
    void close();
}
