package dev.larder.server.loaders;

import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.layout.LoaderDescriptor.Facts;
import dev.larder.internal.layout.WorkPart;
import dev.larder.server.loaders.WorkRow.Scheduling;
import org.jspecify.annotations.Nullable;

/**
 * The work of a loader between two moments. Times are nanoseconds.
 *
 * @param window the time between the moments
 * @param times for each part, its time over all threads; waits for batches are those of the consumer
 * @param uploaderWaits the time that the thread that uploads waited for batches; negative if there is no such thread
 * @param gatherers the threads that gather, without the consumer
 * @param helped the working time of a consumer that gathers itself
 * @param busy how long one thread or more worked, at least: the sums do not show overlaps
 * @param visible the working time of the threads with known scheduling; the next three are of these threads
 * @param isReading whether one of them waits for a disk at the end
 * @param processCpu the processor time of the whole process; 0 if it is unknown
 * @param isTrainerLocked whether the main thread waits for a lock at the end
 * @param readBytes the bytes that the whole process read from disks; 0 if they are unknown
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record LoaderWork(
        Facts facts,
        long window,
        long[] times,
        long uploaderWaits,
        int gatherers,
        long helped,
        long busy,
        long visible,
        long cpu,
        long queued,
        long majorFaults,
        boolean isReading,
        long processCpu,
        boolean isTrainerLocked,
        long readBytes,
        long batches) {
    /** Returns the work since an earlier sample of the same loader, or since its creation. */
    static LoaderWork between(@Nullable LoaderSample before, LoaderSample now) {
        Sums sums = new Sums(now.nanos());
        for (int row = 0; row < now.rows().size(); row++) {
            WorkRow earlier = before == null || row >= before.rows().size()
                    ? null
                    : before.rows().get(row);
            sums.add(row, earlier, now.rows().get(row));
        }
        long window = Math.max(1, now.nanos() - (before == null ? now.facts().createdNanos() : before.nanos()));
        if (before != null && !now.rows().isEmpty() && !before.rows().isEmpty()) {
            sums.addHelp(before.rows().get(0), now.rows().get(0), window);
        }
        return new LoaderWork(
                now.facts(),
                window,
                sums.times,
                sums.uploaderWaits,
                sums.gatherers,
                sums.helped,
                Math.min(window, sums.busy(now.facts().threads())),
                sums.visible,
                sums.cpu,
                sums.queued,
                sums.majorFaults,
                sums.isReading,
                before == null ? 0 : Math.max(0, now.cpuTicks() - before.cpuTicks()) * Scheduling.NANOS_PER_TICK,
                now.isLocked(),
                before == null ? 0 : Math.max(0, now.readBytes() - before.readBytes()),
                sums.batches);
    }

    long time(WorkPart part) {
        return times[part.index()];
    }

    /** Returns the share of the window that gather threads waited for the consumer, of all their time. */
    double idle() {
        return gatherers == 0 ? 0 : (double) time(WorkPart.WAITING_FOR_CONSUMER) / gatherers / window;
    }

    /** Returns the time that visible threads worked, but neither ran nor waited for a processor: for a disk, a lock, a network. */
    long blocked() {
        return Math.max(0, visible - cpu - queued);
    }

    /** The sums over the rows. */
    private static final class Sums {
        private static final Scheduling NOTHING = new Scheduling(0, 0, 0, false, 0);

        private final long moment;
        private final long[] times = new long[WorkPart.COUNT];
        private long uploaderWaits = -1;
        private int gatherers;
        private long helped;
        private long worked;
        private long longest;
        private long visible;
        private long cpu;
        private long queued;
        private long majorFaults;
        private boolean isReading;
        private long batches;

        Sums(long moment) {
            this.moment = moment;
        }

        /** Returns the longest work of one row, or the mean of all threads if that is longer. */
        long busy(int threads) {
            return Math.max(longest, worked / Math.max(1, threads));
        }

        void add(int row, @Nullable WorkRow before, WorkRow now) {
            long[] grown = now.nanos().clone();
            long working = 0;
            for (WorkPart part : WorkPart.values()) {
                int i = part.index();
                // the moment of an earlier read may be later than that of its words
                grown[i] = Math.max(0, grown[i] - (before == null ? 0 : before.nanos()[i]));
                working += part == WorkPart.WAITING_FOR_CONSUMER ? 0 : grown[i];
            }
            if (now.role() == LoaderDescriptor.ROLE_UPLOADER) {
                uploaderWaits = grown[WorkPart.WAITING_FOR_BATCH.index()] + grown[WorkPart.STARTING.index()];
                return;
            }
            for (int i = 0; i < grown.length; i++) {
                times[i] += grown[i];
            }
            if (now.role() == LoaderDescriptor.ROLE_CONSUMER) {
                batches += now.batches() - (before == null ? 0 : before.batches());
                return;
            }
            longest = Math.max(longest, working);
            if (row == LoaderDescriptor.HELPER_ROW) {
                helped += working;
                return;
            }
            worked += working;
            if (now.thread() != 0) { // else it has ended
                gatherers++;
                addScheduling(before, now, working);
            }
        }

        /**
         * Adds the kernel's view of a consumer that gathers itself. Its thread does other work too, and waited for a processor as
         * often meanwhile. Its faults and blocks may be those of other work.
         */
        void addHelp(WorkRow before, WorkRow now, long window) {
            Scheduling start = before.scheduling();
            Scheduling end = now.scheduling();
            if (start != null && end != null && before.thread() == now.thread()) {
                double share = Math.min(1, (double) helped / window);
                long waited = Math.min(helped, Math.round(share * (end.queuedNanos() - start.queuedNanos())));
                visible += helped;
                queued += waited;
                cpu += helped - waited;
            }
        }

        /** Adds the kernel's view of a row's thread. A loader in Python has other threads in each epoch. */
        private void addScheduling(@Nullable WorkRow before, WorkRow now, long working) {
            Scheduling end = now.scheduling();
            WorkRow earlier = before == null || before.thread() != now.thread() ? null : before;
            Scheduling start = earlier == null ? NOTHING : earlier.scheduling();
            if (end == null || start == null) {
                return;
            }
            visible += earlier == null ? Math.min(working, Math.max(0, moment - end.startNanos())) : working;
            cpu += end.cpuNanos() - start.cpuNanos();
            queued += end.queuedNanos() - start.queuedNanos();
            majorFaults += end.majorFaults() - start.majorFaults();
            isReading |= end.isReading();
        }
    }
}
