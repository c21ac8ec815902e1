package dev.larder.launch.grid;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Deadline;
import dev.larder.launch.process.Job;
import dev.larder.launch.process.OutputRedirect;
import dev.larder.launch.process.PoolSlot;
import dev.larder.launch.process.PooledJob;
import dev.larder.launch.process.ProcessPool;
import dev.larder.launch.process.ProcessResult;
import dev.larder.launch.process.ProcessSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Runs jobs of a grid in the slots of a pool, until all have ended or it is stopped. The caller finally calls {@link #kill}. */
public final class GridRun {
    /** The time for jobs to clean up before they are killed. */
    public static final Duration GRACE = Duration.ofSeconds(10);

    private final Settings settings;
    private final GridListener listener;
    private final ProcessPool pool;
    private final Set<Integer> begun = ConcurrentHashMap.newKeySet();
    private final List<CompletableFuture<Void>> told = new CopyOnWriteArrayList<>();
    private volatile @Nullable RuntimeException trouble;

    /** Prepares a run, and starts nothing. */
    public GridRun(List<PoolSlot> slots, Settings settings, GridListener listener) {
        this.settings = settings;
        this.listener = listener;
        this.pool = new ProcessPool(slots, GRACE);
    }

    /**
     * The settings of jobs.
     *
     * @param folder their working folder
     * @param environment changes of this process's environment for all jobs
     * @param timeout of each job; null for none
     * @param stopsOnFailure whether no further job starts after one has failed
     */
    public record Settings(
            Path folder,
            Map<String, @Nullable String> environment,
            @Nullable Duration timeout,
            boolean stopsOnFailure) {}

    /**
     * The files of a job.
     *
     * @param log its output is appended here
     * @param result the file that {@code LARDER_RESULT} names
     */
    public record Files(Path log, Path result) {}

    /** Adds a job, which starts as soon as a slot is free. */
    public void submit(GridJob job, Files files) {
        PooledJob pooled = pool.submit(new Job(job.text(), settings.timeout(), slot -> program(job, files, slot)));
        told.add(pooled.onEnd().thenAccept(ending -> ended(job, ending)));
    }

    private ProcessSpec program(GridJob job, Files files, PoolSlot slot) {
        begun.add(job.number());
        listener.starting(job, slot);
        Map<String, @Nullable String> environment = new HashMap<>(settings.environment());
        job.parameters().forEach((name, value) -> environment.put(new Axis(name, List.of()).variable(), value));
        environment.put("LARDER_JOB", Integer.toString(job.number()));
        environment.put("LARDER_RESULT", files.result().toString());
        OutputRedirect output = OutputRedirect.merged(files.log(), lines -> listener.lines(job, lines));
        return ProcessSpec.of(job.words(), output)
                .withEnvironment(environment)
                .withPromptPython()
                .in(settings.folder());
    }

    private void ended(GridJob job, ProcessResult ending) {
        if (!begun.contains(job.number())) {
            return; // it never had a slot
        }
        try {
            listener.ended(job, ending);
        } catch (RuntimeException e) {
            trouble = e;
            startNoMore();
        }
        if (settings.stopsOnFailure() && !ending.cause().isSuccess()) {
            startNoMore();
        }
    }

    /** Sends a signal, named without SIG, to the running jobs. */
    public void signal(String name) {
        pool.signal(name);
    }

    /** Starts no further jobs; running ones continue. */
    public void startNoMore() {
        pool.close();
        pool.unfinished().forEach(PooledJob::withdraw);
    }

    /** Starts no further jobs, and terminates the running ones, which are killed after {@link #GRACE}. Returns immediately. */
    public void stop() {
        startNoMore();
        pool.cancel(GRACE);
    }

    /** Starts no further jobs, and kills the running ones. Waits until they are gone, with a deadline. */
    public void kill() {
        pool.closeNow();
    }

    /**
     * Waits until every job has ended; false if some have not in time. Rethrows an exception of the listener about the end of a job.
     */
    public boolean await(Duration timeout) {
        Deadline deadline = Deadline.after(timeout);
        try {
            for (CompletableFuture<Void> one :
                    told) { // one by one: a common future would stay registered with each of them
                one.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of(ErrorCode.INTERRUPTED, "waiting for the jobs of a grid was interrupted")
                    .exception();
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
        RuntimeException failure = trouble;
        if (failure != null) {
            throw failure;
        }
        return true;
    }
}
