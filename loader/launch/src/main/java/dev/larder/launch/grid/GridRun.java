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

/** Runs jobs of a grid over places, until all have ended or somebody stops it. Whoever makes it calls {@link #kill} at last. */
public final class GridRun {
    /** How long jobs have to tidy up when they are asked to end. */
    public static final Duration GRACE = Duration.ofSeconds(10);

    private final Settings settings;
    private final GridListener listener;
    private final ProcessPool pool;
    private final Set<Integer> begun = ConcurrentHashMap.newKeySet();
    private final List<CompletableFuture<Void>> told = new CopyOnWriteArrayList<>();
    private volatile @Nullable RuntimeException trouble;

    /** Makes ready, without starting anything. */
    public GridRun(List<PoolSlot> slots, Settings settings, GridListener listener) {
        this.settings = settings;
        this.listener = listener;
        this.pool = new ProcessPool(slots, GRACE);
    }

    /**
     * How jobs run.
     *
     * @param folder where they run
     * @param environment what differs for all of them from this process's environment
     * @param timeout how long each may run; null for as long as it likes
     * @param stopsOnFailure whether no job starts any more once one has failed
     */
    public record Settings(
            Path folder,
            Map<String, @Nullable String> environment,
            @Nullable Duration timeout,
            boolean stopsOnFailure) {}

    /**
     * Where a job leaves what is to be kept of it.
     *
     * @param log what it writes is appended here
     * @param result the file that {@code LARDER_RESULT} names
     */
    public record Files(Path log, Path result) {}

    /** Adds a job, which starts as soon as there is a place for it. */
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
            return; // it never had a place
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

    /** Sends the jobs that run a signal, named without SIG. */
    public void signal(String name) {
        pool.signal(name);
    }

    /** Starts no further jobs; those that run go on. */
    public void startNoMore() {
        pool.close();
        pool.unfinished().forEach(PooledJob::withdraw);
    }

    /** Starts no further jobs, and asks those that run to end: they are killed after {@link #GRACE}. Returns at once. */
    public void stop() {
        startNoMore();
        pool.cancel(GRACE);
    }

    /** Starts no further jobs, and kills those that run. Waits until they are gone, with a deadline. */
    public void kill() {
        pool.closeNow();
    }

    /**
     * Waits until every job has ended; false where some have not when the time is up. Throws what the listener threw on being
     * told of an end.
     */
    public boolean await(Duration timeout) {
        Deadline deadline = Deadline.after(timeout);
        try {
            for (CompletableFuture<Void> one : told) { // one by one: what waits for all at once stays with each of them
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
