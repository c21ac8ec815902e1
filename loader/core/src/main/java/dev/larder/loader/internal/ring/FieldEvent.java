package dev.larder.loader.internal.ring;

import dev.larder.internal.layout.WorkPart;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/** The work of a thread on some samples of one field of a batch, for the flight recorder. */
@Category("Larder")
@StackTrace(false)
@Threshold("1 ms")
abstract class FieldEvent extends Event {
    @Label("Dataset")
    String dataset = "";

    @Label("Array")
    @Description("The array or column that is read; empty for a function that gets a whole batch")
    String array = "";

    @Label("Epoch")
    long epoch;

    @Label("Batch")
    @Description("The number of the batch in its epoch")
    long batch;

    @Label("Samples")
    int samples;

    @Label("Bytes")
    @Description("The stored bytes of the samples; for rows of different lengths, by their mean")
    @DataAmount
    long bytes;

    @Label("Disk Wait")
    @Description("The part of the duration that the thread waited for the disk of the rows")
    @Timespan
    long diskWait;

    @Label("Decoding")
    @Description("The part of the duration that the thread decoded images")
    @Timespan
    long decoding;

    /** Begins the event of a part of a thread's work. */
    static FieldEvent of(WorkPart part) {
        FieldEvent event = part == WorkPart.GATHERING ? new GatherEvent() : new TransformEvent(part);
        event.begin();
        return event;
    }

    /** Ends and records the event, if it took long enough. */
    void ended(RingSlot slot, String itsDataset, String itsArray, int count, long sampleBytes) {
        end();
        if (shouldCommit()) {
            dataset = itsDataset;
            array = itsArray;
            epoch = slot.plan().epoch();
            batch = slot.number;
            samples = count;
            bytes = count * sampleBytes;
            commit();
        }
    }
}
