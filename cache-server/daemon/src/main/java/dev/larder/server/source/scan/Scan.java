package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.SourceProbe;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Checks the files of a source, many of them with several threads. Its results are in the order of the files. */
final class Scan {
    private static final int BATCH = 64;
    private static final int MOST_KEPT = 1_000;

    private final String dataset;
    private final List<DiscoveredFile> files;
    private final SourceOptions options;
    private final ScanSettings settings;
    private final SourceProbe probe;
    private final @Nullable List<SourceArray>[] arrays;
    private final @Nullable LarderException[] refusals;
    private final TreeSet<Integer> kept = new TreeSet<>(); // the first refused files
    private final AtomicInteger nextBatch = new AtomicInteger();
    private final AtomicBoolean ended = new AtomicBoolean();

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of lists
    private Scan(String dataset, List<DiscoveredFile> files, SourceOptions options, ScanSettings settings) {
        this.dataset = dataset;
        this.files = files;
        this.options = options;
        this.settings = settings.endingToo(ended::get);
        this.probe = new SourceProbe(this.settings);
        this.arrays = new List[files.size()];
        this.refusals = new LarderException[files.size()];
    }

    /** Checks all files. If that fails, nothing that was made of them is left. */
    static Scan of(String dataset, List<DiscoveredFile> files, SourceOptions options, ScanSettings settings) {
        Scan scan = new Scan(dataset, files, options, settings);
        int threads = Math.min(settings.workers(), (files.size() + BATCH - 1) / BATCH);
        try {
            if (threads > 1) {
                scan.runWith(threads);
            } else {
                scan.run();
            }
            return scan;
        } catch (RuntimeException | Error e) {
            scan.arrays().forEach(SourceArray::release);
            throw e;
        }
    }

    List<SourceArray> arrays() {
        return Arrays.stream(arrays)
                .filter(Objects::nonNull)
                .flatMap(List::stream)
                .toList();
    }

    /** Returns the wanted columns that are names of arrays within files. */
    Set<String> columns() {
        return probe.columns();
    }

    List<LarderException> refusals() {
        return Arrays.stream(refusals).filter(Objects::nonNull).toList();
    }

    private void runWith(int threads) {
        ExecutorService pool = Executors.newFixedThreadPool(threads, task -> {
            Thread thread = new Thread(task, "larder-scan");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<Future<?>> runs = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                runs.add(pool.submit(this::run));
            }
            runs.forEach(Scan::await);
        } finally {
            ended.set(true);
            pool.shutdownNow();
            awaitEnd(pool);
        }
    }

    /** Waits for all threads, though interrupted: the caller frees the memory that they write to. */
    private static void awaitEnd(ExecutorService pool) {
        boolean isInterrupted = false;
        boolean isEnded = false;
        while (!isEnded) {
            try {
                isEnded = pool.awaitTermination(1, TimeUnit.DAYS);
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(Future<?> run) {
        try {
            run.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while scanning");
        }
    }

    private void run() {
        try {
            for (int from = nextBatch.getAndAdd(BATCH); from < files.size(); from = nextBatch.getAndAdd(BATCH)) {
                if (settings.isCancelled().getAsBoolean()) {
                    throw new CancellationException("cancelled while scanning");
                }
                check(from, Math.min(from + BATCH, files.size()));
            }
        } catch (RuntimeException | Error e) {
            ended.set(true);
            throw e;
        }
    }

    private void check(int from, int to) {
        for (int i = from; i < to; i++) {
            try {
                arrays[i] = new FileScan(files.get(i)).arrays(dataset, options, probe);
            } catch (LarderException e) {
                if (e.code() != ErrorCode.BAD_INPUT) {
                    throw e;
                }
                refuse(i, e);
            }
        }
        settings.onChecked().accept(to - from);
    }

    /** Keeps the refusals of the first files, whichever thread is quicker; for each later one, the very first: a million would fill the heap. */
    private synchronized void refuse(int file, LarderException refusal) {
        refusals[file] = refusal;
        kept.add(file);
        if (kept.size() > MOST_KEPT) {
            int last = kept.last();
            kept.remove(last);
            refusals[last] = refusals[kept.first()];
        }
    }
}
