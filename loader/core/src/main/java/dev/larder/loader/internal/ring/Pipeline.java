package dev.larder.loader.internal.ring;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.slot.OutputArray;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes the batches of one epoch after the other ahead of a consumer: in memory of the host, or on devices. */
public interface Pipeline extends AutoCloseable {
    /** Returns what gathers on the host: this, or what it uploads from. */
    HostPipeline host();

    /** Returns the arrays that batches have. */
    List<OutputArray> outputs();

    /** Ends the epoch that runs, if any, and what follows it; its batches, but for those kept, are closed. */
    void endRunning();

    /** Begins an epoch; none runs. */
    void start(Plan plan);

    /** Fills slots ahead for the epoch after the one that runs; does nothing where that has ended. */
    void follow(Plan running, Plan next);

    /**
     * Goes on with the epoch that follows the one that runs, and ends that; false where none such follows, so that it has to be
     * started.
     */
    boolean advance(Plan next);

    /** Closes the batch before, unless it is kept, and waits for the next one. */
    DeliveredBatch take(Plan plan, @Nullable DeliveredBatch before);

    /** Ends an epoch, unless it has ended. */
    void end(Plan plan);

    /** Returns the devices; none where batches stay on the host. */
    default List<DeviceInfo> devices() {
        return List.of();
    }

    /** Returns how rows get to devices. */
    default Optional<DeviceMode> mode() {
        return Optional.empty();
    }

    /** Returns how many bytes of the devices it holds. */
    default long deviceBytes() {
        return 0;
    }

    /** Returns how many bytes were uploaded for batches. */
    default long uploadedBytes() {
        return 0;
    }

    /** Returns how many batches can be on their way or open at a time. */
    int slots();

    /** Ends what nobody waits for any more: its loader was forgotten. */
    void abandon();

    /** Closes every batch, ends the threads and gives all memory back. */
    @Override
    void close();
}
