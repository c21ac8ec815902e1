package dev.larder.server.loaders;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.WorkPart;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The limit of a loader's speed between two moments.
 *
 * @param shares the share of the time for each cause; together 1
 * @param cause the limit
 * @param waited the share of the time that the trainer waits for batches
 * @param remedy the setting to change; it does not change with the shares
 */
public record Bottleneck(Map<Cause, Double> shares, Cause cause, double waited, String remedy) {
    /** A trainer that waits for less than this share of the time is the limit itself. */
    private static final double HARDLY = 0.1;

    private static final double NEARLY_ALWAYS = 0.9;

    /** The kernel's figures count only from this share of the work on: below it, waking up and noise explain them. */
    private static final double NOTABLE = 0.2;

    /** The longest mean time of a page fault that reads from a disk. */
    private static final long SLOWEST_FAULT = TimeUnit.MILLISECONDS.toNanos(100);

    /** The bytes of a read that count: a program also reads a few of its own files. */
    private static final long LEAST_READ = 256 << 10;

    private static final Map<WorkPart, Cause> CAUSES = Map.of(
            WorkPart.PLANNING, Cause.GATHER,
            WorkPart.READING, Cause.DISK,
            WorkPart.GATHERING, Cause.GATHER,
            WorkPart.USER_CODE, Cause.USER_CODE,
            WorkPart.DECODING, Cause.DECODE,
            WorkPart.TRANSFORMING, Cause.TRANSFORM);

    /** Finds the limit from the work of a loader. */
    static Bottleneck of(LoaderWork work) {
        Map<Cause, Double> shares = new EnumMap<>(Cause.class);
        for (Cause cause : Cause.values()) {
            shares.put(cause, 0.0);
        }
        double window = work.window();
        Map<Cause, Double> weights = weights(work);
        double sum = weights.values().stream().mapToDouble(Double::doubleValue).sum();
        double waited = Math.min(1, work.time(WorkPart.WAITING_FOR_BATCH) / window);
        double begun = Math.min(1 - waited, work.time(WorkPart.STARTING) / window);
        // Longer epochs save no more than the time while all threads are idle. The rest of a start is a wait for their
        // work.
        double starting = Math.min(begun, 1 - work.busy() / window);
        waited += begun - starting;
        if (waited < HARDLY && keepsLock(work)) {
            waited = NEARLY_ALWAYS * (1 - starting);
        }
        double gathered = work.uploaderWaits() < 0 ? waited : Math.min(waited, work.uploaderWaits() / window);
        double trainer = 1 - waited - starting;
        shares.put(Cause.STARTING, starting);
        shares.put(Cause.UPLOAD, waited - gathered);
        shares.put(Cause.TRAINER, trainer);
        if (sum <= 0) {
            shares.merge(Cause.GATHER, gathered, Double::sum);
        } else {
            weights.forEach((cause, weight) -> shares.merge(cause, gathered * weight / sum, Double::sum));
        }
        Cause largest = largest(shares);
        boolean isTrainer = waited + starting < HARDLY
                || (work.facts().threads() == 0 && trainer > shares.getOrDefault(largest, 0.0));
        Cause limit = isTrainer ? Cause.TRAINER : largest;
        return new Bottleneck(shares, limit, waited + starting, Advice.of(limit, work));
    }

    /** Returns one sentence with the setting to change. */
    public String advice() {
        return "the trainer waits for batches " + Math.round(waited * 100) + " % of the time"
                + (cause == Cause.TRAINER ? ": " : ", mostly for ") + remedy;
    }

    /**
     * Returns whether functions in Python keep the interpreter's lock, so that the trainer cannot go on with the batch that it has: the threads never
     * wait for it, as they would for a slow one.
     */
    private static boolean keepsLock(LoaderWork work) {
        return work.facts().program() == LoaderDescriptor.PROGRAM_PYTHON
                && work.isTrainerLocked()
                && work.gatherers() > 0
                && work.time(WorkPart.USER_CODE) > NEARLY_ALWAYS * work.gatherers() * work.window();
    }

    /** Divides the work of the threads that gather, as the consumer's waits are divided. */
    private static Map<Cause, Double> weights(LoaderWork work) {
        Map<Cause, Double> weights = new EnumMap<>(Cause.class);
        CAUSES.forEach((part, cause) -> weights.merge(cause, (double) work.time(part), Double::sum));
        if (work.visible() <= 0) {
            return weights;
        }
        long counted = work.time(WorkPart.READING); // waits for a disk that the loader has counted itself
        double blocked = (double) Math.max(0, work.blocked() - counted) / Math.max(1, work.visible() - counted);
        if (blocked > NOTABLE && readsFromDisk(work)) {
            moveTo(Cause.DISK, blocked, weights);
        }
        double queued = Math.min(1, (double) work.queued() / work.visible());
        if (queued > NOTABLE) {
            moveTo(Cause.PROCESSOR, queued, weights);
        }
        return weights;
    }

    /** Returns whether the blocked threads wait for a disk: for faults of pages, or for reads, which may have been requested before. */
    private static boolean readsFromDisk(LoaderWork work) {
        boolean isByFaults = work.majorFaults() > 0 && work.blocked() / work.majorFaults() < SLOWEST_FAULT;
        return isByFaults || work.isReading() || work.readBytes() > LEAST_READ;
    }

    /** Moves a share of all causes to one of them. */
    private static void moveTo(Cause target, double share, Map<Cause, Double> weights) {
        double moved = 0;
        for (Map.Entry<Cause, Double> entry : weights.entrySet()) {
            moved += entry.getValue() * share;
            entry.setValue(entry.getValue() * (1 - share));
        }
        weights.merge(target, moved, Double::sum);
    }

    private static Cause largest(Map<Cause, Double> shares) {
        return shares.entrySet().stream()
                .filter(share -> share.getKey() != Cause.TRAINER)
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(Cause.TRAINER);
    }
}
