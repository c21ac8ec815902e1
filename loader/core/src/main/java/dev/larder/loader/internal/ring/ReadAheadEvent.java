package dev.larder.loader.internal.ring;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** Requests of rows, for the flight recorder. */
@Name("dev.larder.ReadAhead")
@Label("Read Ahead")
@Description("Rows of coming batches were requested from a disk")
@Category("Larder")
@StackTrace(false)
final class ReadAheadEvent extends Event {
    @Label("Dataset")
    String dataset = "";

    @Label("Epoch")
    long epoch;

    @Label("Batch")
    @Description("The number of the batch in its epoch")
    long batch;

    @Label("Samples")
    int samples;

    @Label("Bytes")
    @Description("The pages of the rows")
    @DataAmount
    long bytes;

    @Label("Window")
    @Description("The most samples that may be requested and not gathered yet")
    int window;

    /** Begins a request. */
    static ReadAheadEvent of(String dataset, int window) {
        ReadAheadEvent event = new ReadAheadEvent();
        event.dataset = dataset;
        event.window = window;
        event.begin();
        return event;
    }

    /** Ends and records the request of some samples. */
    void ended(long itsEpoch, long itsBatch, int count, long byteCount) {
        end();
        if (shouldCommit()) {
            epoch = itsEpoch;
            batch = itsBatch;
            samples = count;
            bytes = byteCount;
            commit();
        }
    }
}
