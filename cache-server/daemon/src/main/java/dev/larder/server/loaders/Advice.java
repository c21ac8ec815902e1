package dev.larder.server.loaders;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.WorkPart;

/** The sentence with the setting to change. */
final class Advice {
    /** Gather threads that wait for the consumer for this share of their time, while it waits for batches, lack slots. */
    private static final double IDLE = 0.25;

    private static final double MOSTLY = 0.5;
    private static final long TINY_BYTES = 4096;
    private static final long FEW_SAMPLES = 8;

    private final Cause cause;
    private final LoaderWork work;

    private Advice(Cause cause, LoaderWork work) {
        this.cause = cause;
        this.work = work;
    }

    /** Returns the end of the sentence. */
    static String of(Cause cause, LoaderWork work) {
        return new Advice(cause, work).remedy();
    }

    private String remedy() {
        return switch (cause) {
            case TRAINER ->
                work.facts().threads() > 0
                        ? "it is the bottleneck itself, and a faster loader gains nothing"
                        : "it is the bottleneck itself; threads that gather meanwhile save the rest: " + setting("threads", "threads");
            case STARTING -> "the start of epochs: " + longerEpochs();
            case UPLOAD ->
                "uploads: choose deviceMode(RESIDENT), or convert rows on the device so that fewer bytes are uploaded";
            case PROCESSOR ->
                "a processor: give this process more processors (it may use "
                        + work.facts().processors() + "), or end other programs";
            case DISK ->
                "rows from a disk: give the machine more memory, or load the dataset without --in-place into a store in memory";
            default -> ofThreads();
        };
    }

    /** Returns the remedy for work that threads of the loader do. */
    private String ofThreads() {
        if (isTiny()) {
            return largerBatches();
        }
        if (lacksSlots()) {
            return slots();
        }
        return isLookUp() ? quickerLookUp() : threadsOrLess();
    }

    private String longerEpochs() {
        return switch (work.facts().program()) {
            case LoaderDescriptor.PROGRAM_PYTHON -> "keep one Loader for all epochs, and make epochs longer";
            case LoaderDescriptor.PROGRAM_FEED -> "wait for the first batches";
            default -> "iterate over loader.epochs(from, to), and make epochs longer";
        };
    }

    /** Returns whether threads have nothing to do although the trainer waits, and does not take their work. */
    private boolean lacksSlots() {
        return work.idle() > IDLE && work.helped() < IDLE * work.window();
    }

    private String slots() {
        return cause.text() + ", while other threads wait for free slots: raise " + setting("prefetch", "--slots")
                + ", now " + work.facts().slots();
    }

    private String threadsOrLess() {
        int threads = work.facts().threads();
        if (threads == 0) {
            return cause.text() + ": let threads gather ahead with " + setting("threads", "threads");
        }
        if (cause == Cause.USER_CODE && isBlocked()) {
            return waitingCode();
        }
        if (threads < work.facts().processors() && work.facts().program() != LoaderDescriptor.PROGRAM_FEED) {
            return cause.text() + ": raise " + setting("threads", "threads") + ", now " + threads + " of "
                    + work.facts().processors() + " processors";
        }
        return cause.text() + ": " + lessWork();
    }

    private String largerBatches() {
        return "gather of tiny batches: raise " + setting("batchSize", "--batch-size") + ", now "
                + work.facts().batchSize();
    }

    private boolean isTiny() {
        int samples = work.facts().batchSize();
        return cause == Cause.GATHER
                && samples > 0
                && samples <= FEW_SAMPLES
                && samples * work.facts().sampleBytes() < TINY_BYTES;
    }

    /** Returns whether most of the work is to find the rows of batches: in a sampler of the user, or in an index. */
    private boolean isLookUp() {
        return cause == Cause.GATHER && work.time(WorkPart.PLANNING) > work.time(WorkPart.GATHERING);
    }

    private String quickerLookUp() {
        return "gather, in which most is to find the rows of batches: make your sampler faster, or give row numbers instead of keys";
    }

    private boolean isBlocked() {
        return work.visible() > 0 && work.blocked() > MOSTLY * work.visible();
    }

    private String waitingCode() {
        boolean isBusy = work.processCpu() > MOSTLY * work.window() && work.processCpu() < 1.3 * work.window();
        boolean isLock =
                work.facts().program() == LoaderDescriptor.PROGRAM_PYTHON && (isBusy || work.isTrainerLocked());
        return isLock
                ? "user code that holds Python's lock: use functions of numpy in transform=, or steps of larder.feed"
                : "user code that waits for a lock, a network or a sleep: remove the wait, or raise "
                        + setting("threads", "threads") + ", now "
                        + work.facts().threads();
    }

    private String lessWork() {
        boolean isJava = work.facts().program() == LoaderDescriptor.PROGRAM_JAVA;
        return switch (cause) {
            case GATHER ->
                "name fewer arrays, or store a smaller dtype; larder doctor shows whether huge pages are missing";
            case DECODE ->
                isJava
                        ? "keep decoded rows with computed(…), store smaller images, or give the process more processors"
                        : "store smaller images, or give the feed more processors";
            default ->
                isJava
                        ? "keep the rows with computed(…), or give the process more processors"
                        : "store the rows transformed, or give the process more processors";
        };
    }

    private String setting(String name, String ofFeed) {
        return switch (work.facts().program()) {
            case LoaderDescriptor.PROGRAM_PYTHON -> (name.equals("batchSize") ? "batch_size" : name) + "=";
            case LoaderDescriptor.PROGRAM_FEED -> ofFeed;
            default -> name + "(…)";
        };
    }
}
