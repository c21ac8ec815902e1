package dev.larder.loader.internal.ring;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** A wait of the trainer, for the flight recorder. */
@Name("dev.larder.BatchWait")
@Label("Batch Wait")
@Description("The trainer's thread waited for a batch, or gathered it itself")
@Category("Larder")
@StackTrace(false)
@Threshold("1 ms")
final class BatchWaitEvent extends Event {
    @Label("Dataset")
    String dataset;

    @Label("Batches Before")
    @Description("The batches of the loader that the trainer had taken before, of all epochs")
    long batchesBefore;

    @Label("Starting")
    @Description("Whether an epoch began: its order and its first batch were made")
    boolean starting;

    private BatchWaitEvent(String dataset, long batchesBefore, boolean starting) {
        this.dataset = dataset;
        this.batchesBefore = batchesBefore;
        this.starting = starting;
    }

    /** Begins a wait. It ends with {@code commit()}. */
    static BatchWaitEvent of(String dataset, long batchesBefore, boolean starting) {
        BatchWaitEvent event = new BatchWaitEvent(dataset, batchesBefore, starting);
        event.begin();
        return event;
    }
}
