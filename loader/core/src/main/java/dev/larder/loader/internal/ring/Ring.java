package dev.larder.loader.internal.ring;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.LoaderDescriptor;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.slot.BatchSlot;
import dev.larder.loader.internal.slot.PipelineStage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Moves slots through their states, which {@link RingSlot} describes: from free to the threads that fill them, in the order of the plan
 * to the consumer, and back.
 *
 * <p>All state changes happen under this object's monitor, which is held for some tens of nanoseconds, and never during a copy or a call
 * of other code. The ring allocates nothing after its creation. Threads park outside of the monitor:
 *
 * <ul>
 *   <li>Gather threads park if there is no slot to fill, and are woken when slots become free.
 *   <li>The consumer runs tasks of the batch that it waits for, spins for some microseconds for the rest, then parks. So a ring
 *       without gather threads works, and the first batch does not wait for a thread to wake up. The consumer leaves the user's own
 *       transforms and samplers, and reads of disks, to the gather threads, if there are any, because one that hangs would make its time
 *       limit useless.
 * </ul>
 *
 * <p>An epoch that ends early does not wait for threads that still fill its slots: these slots are marked as abandoned, and become free
 * when the last thread has left them.
 */
public final class Ring implements DeliveredBatch.Lender {
    /** The checks of a thread before it parks: some microseconds, about the time of parking and waking. */
    static final int SPINS = 200;

    private final LoaderSource source;
    private final Gather gather;
    private final GatherTask consumerTask;
    private final Stopwatch stopwatch;
    private final Duration timeout;
    private final long timeoutNanos;
    private final int depth;
    private final int taskRows;
    private final RingWork work;

    /** Free slots; the one used last is first, because caches still hold it. */
    private final ArrayDeque<RingSlot> free;

    /** Slots that the consumer has not taken yet, in the order of the plan. */
    private final ArrayDeque<RingSlot> line;

    private final List<RingSlot> slots;

    private final ArrayDeque<GatherThreads.Worker> idle;
    private final Deliveries deliveries;

    private final PlanQueue plans = new PlanQueue();
    private final Taken taken = new Taken();

    /** The number of batches of all epochs that were begun. */
    private long begun;

    /** The slot of the next batch, if batches use slots in turn. */
    private int turn;

    private @Nullable LarderException failure;
    /** The thread within {@link #take}; set under the lock, so that two exclude each other. */
    private volatile @Nullable Thread consumer;

    private @Nullable Plan consumerPlan;
    private @Nullable RingSlot awaited;
    private boolean closed;

    private long startNanos;
    private long lastNanos;

    Ring(
            LoaderSource source,
            Gather gather,
            List<RingSlot> slots,
            RingWork work,
            Duration timeout,
            LoaderCounters counters) {
        this.source = source;
        this.gather = gather;
        this.stopwatch = counters.newStopwatch(LoaderDescriptor.ROLE_CONSUMER);
        this.consumerTask =
                new GatherTask(new Workspace(source.fields(), counters.newStopwatch(LoaderDescriptor.ROLE_GATHERER)));
        this.timeout = timeout;
        this.timeoutNanos = Deadline.nanos(timeout);
        this.depth = slots.size();
        this.work = work;
        this.taskRows = work.taskRows();
        this.slots = slots;
        this.free = new ArrayDeque<>(slots);
        this.line = new ArrayDeque<>(depth + 1);
        this.idle = new ArrayDeque<>();
        this.deliveries = new Deliveries(this, depth, Deliveries.REST);
    }

    // ---- for epochs

    /** Ends the running plan, and begins to fill slots for another one. */
    synchronized void start(Plan next) {
        requireOpen();
        end();
        startNanos = startNanos == 0 ? System.nanoTime() : startNanos;
        IntSupplier firstSlot = work.firstSlot();
        turn = firstSlot == null ? 0 : firstSlot.getAsInt();
        failure = null;
        taken.clear();
        plans.start(next);
        wakeGatherers(free.size());
    }

    /** Fills slots that the running plan does not need for the following plan; does nothing if {@code running} has ended. */
    synchronized void follow(Plan running, Plan next) {
        if (!closed && plans.follow(running, next)) {
            wakeGatherers(Math.min(free.size(), plans.unbegun()));
        }
    }

    /** Ends the running plan, and continues with the following one if it is {@code next}; else returns false. */
    synchronized boolean advance(Plan next) {
        requireOpen();
        if (plans.following() == next) {
            endPlan();
        }
        if (plans.following() != next) { // also if slots in turn were abandoned with the last plan
            return false;
        }
        plans.advance();
        failure = null;
        taken.clear();
        return true;
    }

    /** Ends the running plan, if any, and the following one. */
    synchronized void endRunning() {
        requireOpen();
        end();
    }

    /** Returns whether a thread still looks up rows for an ended epoch, and so uses its order. */
    synchronized boolean isPlanningEnded() {
        return slots.stream().anyMatch(slot -> slot.abandoned && slot.busy > 0 && !slot.planned);
    }

    /** Ends a plan, unless it has ended, and closes its batches, except kept ones. The following plan continues. */
    synchronized void end(Plan ending) {
        if (plans.running() == ending) {
            endPlan();
        }
    }

    private void end() {
        endPlan();
        endFollowing();
    }

    private void endPlan() {
        Plan ending = plans.running();
        if (ending != null) {
            boolean isDone = plans.endRunning() && failure == null;
            isDone &= abandon(ending);
            if (!isDone
                    && work.firstSlot()
                            != null) { // the following batches are behind slots that have to be filled again
                endFollowing();
            }
            ending.release();
        }
        for (DeliveredBatch delivery : deliveries.allOpen()) {
            if (!delivery.isKept()) {
                free(delivery);
            }
        }
        wakeGatherers(Math.min(free.size(), plans.unbegun()));
        LockSupport.unpark(consumer);
    }

    private void endFollowing() {
        Plan ending = plans.following();
        plans.endFollowing();
        if (ending != null) {
            abandon(ending);
            ending.release();
        }
    }

    /** Abandons the batches of a plan that were not taken; returns whether there were none. */
    private boolean abandon(Plan ending) {
        boolean none = true;
        for (int i = 0; i < depth; i++) {
            RingSlot slot = slots.get(i);
            if (slot.isOf(ending) && line.remove(slot)) {
                none = false;
                slot.abandoned = true;
                slot.ended = true;
                recycle(slot);
            }
        }
        return none;
    }

    /** Closes the ring; threads end after their current tasks. */
    synchronized void close() {
        if (!closed) {
            closed = true;
            end();
            deliveries.allOpen().forEach(this::free);
            wakeGatherers(idle.size());
        }
    }

    synchronized boolean isClosed() {
        return closed;
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(
                    "loader is closed: dataset=" + source.data().name());
        }
    }

    private void requireRunning(Plan wanted) {
        requireOpen();
        if (plans.running() != wanted) {
            throw new IllegalStateException("epoch has ended, since it was closed or another one began: dataset="
                    + source.data().name() + " epoch=" + wanted.epoch());
        }
        if (failure != null) {
            throw failure;
        }
    }

    // ---- for the consumer

    /** Closes the last batch, unless it is kept, and waits for the next one. */
    DeliveredBatch take(Plan wanted, @Nullable DeliveredBatch before) {
        DeliveredBatch delivery = enter(wanted, before);
        try {
            if (delivery == null) {
                long start = System.nanoTime();
                stopwatch.beginWait();
                while (delivery == null) {
                    if (consumerTask.slot != null) {
                        gather.run(consumerTask, this);
                    } else if (!spin()) {
                        park(wanted, start);
                    }
                    delivery = poll(wanted);
                }
            }
            return delivery;
        } finally {
            stopwatch.end();
            consumer = null;
        }
    }

    private synchronized @Nullable DeliveredBatch enter(Plan wanted, @Nullable DeliveredBatch before) {
        if (wanted == plans.following() && consumer == null) {
            var unused = advance(wanted);
        }
        requireRunning(wanted);
        Thread other = consumer;
        if (other != null) {
            String what = consumerPlan == wanted
                    ? "two threads take batches from one epoch"
                    : "another thread is still in the previous epoch";
            throw new IllegalStateException(what + ": dataset=" + source.data().name() + " threads=" + other.getName()
                    + "," + Thread.currentThread().getName());
        }
        consumerPlan = wanted;
        if (before != null && !before.isKept()) {
            release(before);
        }
        DeliveredBatch delivery = poll(wanted);
        consumer = Thread.currentThread();
        return delivery;
    }

    /** Opens the next batch if it is ready; else claims one of its tasks for the consumer, if there is one. */
    private synchronized @Nullable DeliveredBatch poll(Plan wanted) {
        requireRunning(wanted);
        consumerTask.clear();
        RingSlot head = work.inOrder() ? line.peekFirst() : firstReadyElseHead();
        boolean helps = work.consumerHelps() && !(work.hasThreads() && gather.reads());
        awaited = head;
        if (head == null) {
            if (helps) {
                claimPlanning(consumerTask);
            }
        } else if (head.hasUnclaimedRows() && helps) {
            consumerTask.gather(head, taskRows);
        } else if (head.ready) {
            line.remove(head); // usually the first
            if (head.failure != null) {
                failure = head.failure;
                free.addFirst(head);
                throw failure;
            }
            return deliver(head);
        }
        if (consumerTask.slot == null && plans.unbegun() > 0 && !free.isEmpty()) {
            wakeGatherers(1); // if batches are kept or come in any order, maybe no returned slot has woken a thread
        }
        return null;
    }

    private @Nullable RingSlot firstReadyElseHead() {
        RingSlot first = null;
        for (int i = 0; i < depth; i++) {
            RingSlot slot = slots.get(i);
            if (slot.ready
                    && slot.isOf(plans.running())
                    && (first == null || slot.turn < first.turn)
                    && line.contains(slot)) {
                first = slot;
            }
        }
        return first == null ? line.peekFirst() : first;
    }

    private DeliveredBatch deliver(RingSlot slot) {
        lastNanos = System.nanoTime();
        stopwatch.taken(slot.size, slot.filledBytes());
        taken.note(slot, work.inOrder() ? List.of() : slots, line);
        return deliveries.open(slot, work.keepsBatches());
    }

    /** Spins for about the time of parking and waking; returns whether the batch became ready. */
    private boolean spin() {
        RingSlot slot = awaited;
        for (int i = 0; slot != null && i < SPINS; i++) {
            if (slot.ready) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }

    private void park(Plan wanted, long start) {
        if (Thread.currentThread().isInterrupted()) {
            throw waiting(ErrorCode.INTERRUPTED, "interrupted while waiting for a batch", wanted, start)
                    .exception();
        }
        boolean areAllOpen = areAllOpen();
        long left = OpenBatches.limitNanos(areAllOpen, timeoutNanos) - (System.nanoTime() - start);
        if (left <= 0) {
            String check = source.whatToCheck();
            throw OpenBatches.late(
                    areAllOpen, (code, what) -> waiting(code, what, wanted, start), "prefetch(…)", check);
        }
        LockSupport.parkNanos(this, left);
    }

    /** Returns whether the consumer itself holds every slot. Other parts of a loader that keep batches close them. */
    private synchronized boolean areAllOpen() {
        return !work.keepsBatches() && deliveries.openCount() == depth;
    }

    /** Returns a failure with the batch that the consumer waits for, and the states of the slots. */
    private synchronized Failure waiting(ErrorCode code, String what, Plan wanted, long start) {
        RingSlot head = line.peekFirst();
        PipelineStage stage =
                head == null ? PipelineStage.SLOT : head.planned ? PipelineStage.GATHER : PipelineStage.PLAN;
        int ready = (int) line.stream().filter(slot -> slot.ready).count();
        return source.describeReads(source.failure(code, what).with("stage", stage))
                .with("epoch", wanted.epoch())
                .with("batch", head == null ? plans.nextBatch() : head.number)
                .with("waited", Duration.ofNanos(System.nanoTime() - start).toMillis() + "ms")
                .with("slots", depth)
                .with("openBatches", deliveries.openCount())
                .with("free", free.size())
                .with("filling", line.size() - ready)
                .with("ready", ready);
    }

    @Override
    public void release(DeliveredBatch delivery, Fence @Nullable [] lastUse) {
        if (lastUse == null) {
            close(delivery);
            return;
        }
        try (Fence fence = lastUse[0]) {
            if (beginRelease(delivery)) {
                try {
                    fence.await(timeout);
                } finally {
                    release(delivery); // also if the wait failed, because no other thread returns the slot
                }
            }
        }
    }

    /** Reserves the close for the caller and the end of the loader, so that the batch is still the same after the wait. */
    private synchronized boolean beginRelease(DeliveredBatch delivery) {
        return delivery.beginRelease();
    }

    private synchronized void close(DeliveredBatch delivery) {
        if (!delivery.isReleasing()) {
            release(delivery);
        }
    }

    /** Takes back the slot of a batch; does nothing if the batch is closed. */
    private synchronized void release(DeliveredBatch delivery) {
        // Waking a thread takes the consumer's time, so it happens once for several slots, and for one thread.
        // If one is too few, the next batch wakes another.
        if (free(delivery) && plans.unbegun() > 0 && (line.isEmpty() || free.size() * 2 >= depth)) {
            wakeGatherers(1);
            if (line.isEmpty()) { // the consumer waits for this slot, and there may be no idle thread
                LockSupport.unpark(consumer);
            }
        }
    }

    private boolean free(DeliveredBatch delivery) {
        BatchSlot slot = deliveries.close(delivery);
        if (slot != null) {
            free.addFirst((RingSlot) slot);
        }
        return slot != null;
    }

    // ---- for gather threads and the read-ahead thread

    /** Finds the next sample that a gather thread will claim. */
    synchronized void locate(NextSample place) {
        place.find(plans, slots);
    }

    /** Claims rows to gather or a batch to plan; if there are none, the thread counts as idle until it is woken. */
    synchronized boolean claim(GatherTask task, GatherThreads.Worker thread) {
        if (thread.idle || closed) {
            return false;
        }
        if (claimRows(task) || claimPlanning(task)) {
            return true;
        }
        thread.idle = true;
        idle.addFirst(thread);
        return false;
    }

    /** Claims rows of the earliest batch with unclaimed ones: all threads fill one batch, so that it is ready soon. */
    private boolean claimRows(GatherTask task) {
        RingSlot earliest = null;
        for (int i = 0; i < depth; i++) {
            RingSlot slot = slots.get(i);
            if (slot.hasUnclaimedRows() && (earliest == null || slot.turn < earliest.turn)) {
                earliest = slot;
            }
        }
        if (earliest != null) {
            task.gather(earliest, taskRows);
        }
        return earliest != null;
    }

    private boolean claimPlanning(GatherTask task) {
        RingSlot slot = nextFree();
        if (plans.unbegun() == 0 || slot == null) {
            return false;
        }
        free.remove(slot);
        turn = (turn + 1) % depth;
        plans.begin(slot, begun++);
        line.addLast(slot);
        task.plan(slot);
        return true;
    }

    /** Returns the slot for the next batch; null while it is in use. */
    private @Nullable RingSlot nextFree() {
        if (work.firstSlot() == null) {
            return free.peekFirst();
        }
        RingSlot slot = slots.get(turn);
        return free.contains(slot) ? slot : null;
    }

    /** Returns whether there are batches to plan, but the consumer holds all slots for them. */
    synchronized boolean isWaitingForConsumer() {
        return plans.unbegun() > 0 && free.isEmpty();
    }

    /** Records that a batch was planned. Its thread gathers the first rows; other threads can claim the rest. */
    synchronized void planned(RingSlot slot, GatherTask task) {
        slot.planned = true;
        if (!slot.abandoned) {
            task.claimRows(slot, taskRows);
            wakeGatherers((slot.size - 1) / taskRows);
        }
    }

    /**
     * Records that a task's rows are in the slot, except for {@code bad} ones to skip. Returns whether the caller has to finish the batch,
     * because its task was the last.
     */
    synchronized boolean gathered(RingSlot slot, int bad) {
        slot.badCount += bad;
        boolean isLast = slot.busy == 1 && slot.unclaimed == slot.size;
        if (isLast && gather.finishes(slot) && !slot.abandoned && slot.failure == null) {
            return true;
        }
        slot.busy--;
        settle(slot);
        return false;
    }

    /** Records that a thread has finished a whole batch. */
    synchronized void finished(RingSlot slot) {
        slot.unclaimed = slot.size; // skipped samples make it smaller
        slot.busy--;
        settle(slot);
    }

    /** The deliveries since the creation of the ring, and the time since the start of the first epoch. */
    public record Counts(long batches, long samples, long bytes, long skippedSamples, Duration elapsed) {}

    synchronized Counts counts() {
        return new Counts(
                stopwatch.batches(),
                stopwatch.samples(),
                stopwatch.bytes(),
                gather.skippedSamples(),
                Duration.ofNanos(stopwatch.batches() == 0 ? 0 : lastNanos - startNanos));
    }

    /** Returns the stopwatch of the consumer, which does not include the tasks that it runs. */
    Stopwatch stopwatch() {
        return stopwatch;
    }

    /** Records that a batch has failed. Earlier batches are still delivered, later ones are not. */
    synchronized void failed(RingSlot slot, LarderException cause) {
        slot.ended = true;
        if (!slot.abandoned) {
            slot.failure = slot.failure == null ? cause : slot.failure;
            slot.unclaimed = slot.size;
            plans.endAfter(slot);
        }
        left(slot);
    }

    /** Records that a thread has left a batch that has ended. */
    synchronized void left(RingSlot slot) {
        slot.busy--;
        settle(slot);
    }

    private void settle(RingSlot slot) {
        if (slot.abandoned) {
            recycle(slot);
        } else if (slot.busy == 0 && slot.unclaimed == slot.size) {
            slot.ready = true;
            if (line.peekFirst() == slot || !work.inOrder()) {
                LockSupport.unpark(consumer);
            }
        }
    }

    private void recycle(RingSlot slot) {
        if (slot.busy == 0) {
            free.addFirst(slot);
            LockSupport.unpark(consumer);
            wakeGatherers(Math.min(free.size(), plans.unbegun()));
        }
    }

    private void wakeGatherers(int count) {
        for (int i = 0; i < count && !idle.isEmpty(); i++) {
            GatherThreads.Worker thread = idle.removeFirst();
            thread.idle = false;
            thread.wake();
        }
    }
}
