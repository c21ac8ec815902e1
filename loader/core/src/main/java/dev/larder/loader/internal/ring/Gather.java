package dev.larder.loader.internal.ring;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.internal.layout.WorkPart;
import dev.larder.internal.process.FlightRecording;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.internal.field.Collator;
import dev.larder.loader.internal.field.FieldReader;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.image.DecodeTime;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.slot.PipelineStage;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Runs the tasks of a ring: looks up a batch's rows, or copies rows into a slot. */
public final class Gather {
    private static final Duration FIRST_PAUSE = Duration.ofMillis(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(100);

    /** The most skipped samples of an epoch that are logged. */
    private static final int MOST_NAMED = 10;

    /** The remedy, for Java, Python and {@code larder feed}. */
    private static final String SKIP = "skip such samples: onFailure(FailurePolicy.skip(N)) in Java,"
            + " --max-skipped N of larder feed, max_skipped=N in Python";

    private final LoaderSource source;
    private final FieldReader[] fields;
    private final @Nullable Collator collator;
    private final int retries;
    private final long maxSkipped;
    private final LongAdder skipped = new LongAdder();

    /** Null if all rows are in memory. */
    private @Nullable ReadAhead ahead;

    Gather(LoaderSource source, int retries, long maxSkipped) {
        this.source = source;
        this.fields = source.fields().toArray(FieldReader[]::new); // a loop over it makes no iterator
        this.collator = source.collator();
        this.retries = retries;
        this.maxSkipped = maxSkipped;
    }

    /** Sets the thread that requests rows from disks. */
    void readAhead(ReadAhead thread) {
        ahead = thread;
    }

    @Nullable
    ReadAhead readAhead() {
        return ahead;
    }

    /** Returns whether rows are read from disks by calls. */
    boolean reads() {
        if (ahead != null) {
            for (FieldReader field : fields) {
                if (field.reads()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Runs a task, and reports its end to the ring. */
    void run(GatherTask task, Ring ring) {
        run(task, ring, Objects.requireNonNull(task.slot));
        if (ahead != null) {
            ahead.gathered(task.count);
        }
    }

    private void run(GatherTask task, Ring ring, RingSlot slot) {
        Stopwatch stopwatch = task.workspace().stopwatch();
        try {
            if (task.planning) {
                stopwatch.begin(WorkPart.PLANNING);
                plan(slot);
                ring.planned(slot, task);
            }
            int bad = fill(slot, task.first, task.count, task.workspace());
            if (ring.gathered(slot, bad)) {
                finish(slot, task.workspace());
                ring.finished(slot);
            }
        } catch (LarderException failure) {
            ring.failed(slot, failure);
        } catch (CancellationException ended) {
            ring.left(slot);
        } catch (Throwable e) {
            // Memory ran out while the failure was described, or toString() of the cause failed.
            ring.failed(slot, new LarderException(ErrorCode.UNEXPECTED.number(), "batch cannot be made", e));
        } finally {
            stopwatch.end();
        }
    }

    long skippedSamples() {
        return skipped.sum();
    }

    private void plan(RingSlot slot) {
        Plan plan = slot.plan();
        try {
            plan.fill(slot);
        } catch (LarderException e) {
            throw e;
        } catch (Throwable e) {
            slot.requireNotEnded();
            Failure failure = failure(slot, PipelineStage.PLAN, e, "sampler failed");
            throw (slot.size == 0 ? failure : failure.with("position", slot.positions[slot.cursor])).exception();
        }
        for (int i = 0; i < slot.size; i++) {
            if (slot.rows[i] < 0 || slot.rows[i] >= source.rows()) {
                throw failure(slot, PipelineStage.PLAN, null, "sampler returned a row that does not exist")
                        .with("position", slot.positions[i])
                        .with("row", slot.rows[i])
                        .with("rows", source.rows())
                        .exception();
            }
        }
        prepare(slot);
    }

    private void prepare(RingSlot slot) {
        for (FieldReader field : fields) {
            try {
                field.prepare(slot);
            } catch (Throwable e) {
                if (checkOneByOne(slot, field, e) == 0) {
                    throw failed(slot, field, e).exception();
                }
                slot.dropBad();
                prepare(slot);
                return;
            }
        }
    }

    /** Finds the samples without a valid row in a field; returns the number of samples to skip. */
    private int checkOneByOne(RingSlot slot, FieldReader field, Throwable first) {
        requireWorthTrying(slot, field, first);
        int bad = 0;
        for (int i = 0; i < slot.size; i++) {
            try {
                field.check(slot, i);
            } catch (Throwable e) {
                giveUp(slot, field, i, PipelineStage.PLAN, e);
                bad++;
            }
        }
        return bad;
    }

    /** Copies some samples into a slot; returns the number of samples to skip. */
    private int fill(RingSlot slot, int first, int count, Workspace workspace) {
        int bad = 0;
        for (FieldReader field : fields) {
            WorkPart part = part(field);
            workspace.stopwatch().begin(part);
            FieldEvent event = FlightRecording.isOn() ? FieldEvent.of(part) : null;
            long waited = field.diskWaitNanos();
            long decoded = DecodeTime.nanos();
            bad += field.runsUserCode()
                    ? fillOneByOne(slot, field, first, count, workspace)
                    : fillTogether(slot, field, first, count, workspace);
            waited = field.diskWaitNanos() - waited;
            decoded = DecodeTime.nanos() - decoded;
            workspace.stopwatch().move(waited, WorkPart.READING);
            workspace.stopwatch().move(decoded, WorkPart.DECODING);
            if (event != null) {
                event.diskWait = waited;
                event.decoding = decoded;
                event.ended(slot, source.data().name(), field.column(), count, field.sampleByteSize());
            }
        }
        return bad;
    }

    private static WorkPart part(FieldReader field) {
        if (field.runsUserCode()) {
            return WorkPart.USER_CODE;
        }
        return field.isTransforming() ? WorkPart.TRANSFORMING : WorkPart.GATHERING;
    }

    /**
     * Copies some samples of a field. After copies from the mapping of a file that may not be in memory, the call of the kernel does two
     * things: it reports whether they waited for the disk, so that later rows are read by calls; and without it, the JVM would report a
     * fault of this mapping only later, when the batch is delivered and another method runs.
     */
    private void fill(FieldReader field, RingSlot slot, int first, int count, Workspace workspace) {
        ReadAhead requesting =
                field.copiesFromDisk() ? ahead : null; // its wait is without decoding, which counts by itself
        long start = requesting == null ? 0 : System.nanoTime() - DecodeTime.nanos();
        field.fill(slot, first, count, workspace.scratch(field.field()));
        if (requesting != null && workspace.hasFaulted()) {
            field.addWait(System.nanoTime() - DecodeTime.nanos() - start);
            requesting.wake();
        }
    }

    private int fillTogether(RingSlot slot, FieldReader field, int first, int count, Workspace workspace) {
        try {
            fill(field, slot, first, count, workspace);
            return 0;
        } catch (Throwable e) {
            requireWorthTrying(slot, field, e);
            return fillOneByOne(slot, field, first, count, workspace);
        }
    }

    private int fillOneByOne(RingSlot slot, FieldReader field, int first, int count, Workspace workspace) {
        int bad = 0;
        for (int i = first; i < first + count; i++) {
            slot.requireNotEnded();
            Throwable e = fillOne(slot, field, i, workspace);
            if (e != null && !slot.bad[i]) {
                slot.requireNotEnded(); // else the interrupt of a closing loader would count as a failure of this
                // sample
                giveUp(slot, field, i, stage(field), e);
                slot.bad[i] = true;
                bad++;
            }
        }
        return bad;
    }

    /** Copies one sample, with retries; returns the failure, or null. */
    private @Nullable Throwable fillOne(RingSlot slot, FieldReader field, int sample, Workspace workspace) {
        Backoff backoff = null; // created at the first failure, so that batches without one allocate nothing
        for (int attempt = 0; ; attempt++) {
            try {
                fill(field, slot, sample, 1, workspace);
                return null;
            } catch (Throwable e) {
                if (e instanceof InternalError && field.leaveMappings()) {
                    continue; // a fault in mapped memory has no reason; a read by a call has one
                }
                if (attempt >= retries || slot.ended || Thread.currentThread().isInterrupted()) {
                    return e;
                }
                backoff = backoff == null ? new Backoff(FIRST_PAUSE, LONGEST_PAUSE) : backoff;
                var unused = backoff.pause(Deadline.none()); // after an interrupt, there is no other retry
                slot.requireNotEnded();
            }
        }
    }

    /** Fails unless the sample may be skipped. */
    private void giveUp(RingSlot slot, FieldReader field, int sample, PipelineStage stage, Throwable e) {
        requireWorthTrying(slot, field, e);
        long count = maxSkipped == 0 ? 1 : slot.plan().skip();
        if (count > maxSkipped) {
            throw failureOf(
                            slot,
                            field,
                            sample,
                            stage,
                            e,
                            maxSkipped > 0 ? "too many samples cannot be read" : what(stage))
                    .remedy(maxSkipped > 0 ? "check the data, or raise the limit" : "check the sample, or " + SKIP);
        }
        slot.bad[sample] = true;
        skipped.increment();
        if (count <= MOST_NAMED) {
            Logs.of(Gather.class) // not a constant: loading a logging library takes longer than starting a loader
                    .warn(failureOf(slot, field, sample, stage, e, "skipped a sample")
                            .exception()
                            .getMessage());
        }
    }

    private Failure failureOf(
            RingSlot slot, FieldReader field, int sample, PipelineStage stage, Throwable e, String what) {
        Failure failure = failure(slot, stage, e, what)
                .with("array", field.column())
                .with("sample", slot.rows[sample])
                .with("position", slot.positions[sample]);
        source.describeSample(failure, field, slot, sample);
        return maxSkipped > 0 ? failure.with("maxSkipped", maxSkipped) : failure;
    }

    private static String what(PipelineStage stage) {
        return switch (stage) {
            case PLAN -> "cannot find the row of a sample";
            case TRANSFORM -> "cannot transform a sample";
            default -> "cannot gather rows";
        };
    }

    private static PipelineStage stage(FieldReader field) {
        return field.isTransforming() ? PipelineStage.TRANSFORM : PipelineStage.GATHER;
    }

    /** Returns whether one thread has to finish the batch after all samples are copied. */
    boolean finishes(RingSlot slot) {
        return slot.badCount > 0 || collator != null;
    }

    private void finish(RingSlot slot, Workspace workspace) {
        if (slot.badCount > 0) {
            fillWithoutBad(slot, workspace);
        }
        if (collator == null) {
            return;
        }
        workspace.stopwatch().begin(WorkPart.USER_CODE);
        slot.requireNotEnded();
        FieldEvent event = FlightRecording.isOn() ? FieldEvent.of(WorkPart.USER_CODE) : null;
        try {
            collator.collate(slot, workspace.scratch(collator.field()));
        } catch (Throwable e) {
            throw failure(slot, PipelineStage.COLLATE, e, "cannot collate a batch")
                    .with("samples", slot.size)
                    .exception();
        }
        if (event != null) {
            event.ended(slot, source.data().name(), "", slot.size, source.sampleByteSize());
        }
    }

    /** Removes failed samples, and fills the batch again, because lengths may depend on them. */
    private void fillWithoutBad(RingSlot slot, Workspace workspace) {
        do {
            slot.dropBad();
            prepare(slot);
        } while (fill(slot, 0, slot.size, workspace) > 0);
    }

    private void requireWorthTrying(RingSlot slot, FieldReader field, Throwable e) {
        if (!field.isOpen()) {
            throw failed(slot, field, e).remedy("close the loader before its dataset");
        }
        if (e instanceof OutOfMemoryError || e instanceof StackOverflowError) {
            throw failed(slot, field, e).exception();
        }
    }

    private Failure failed(RingSlot slot, FieldReader field, Throwable cause) {
        PipelineStage stage = slot.planned ? stage(field) : PipelineStage.PLAN;
        return failure(slot, stage, cause, what(stage)).with("array", field.column());
    }

    private Failure failure(RingSlot slot, PipelineStage stage, @Nullable Throwable cause, String what) {
        return source.failure(what, stage, cause)
                .with("epoch", slot.plan().epoch())
                .with("batch", slot.number);
    }
}
