package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.server.source.Parallel;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.formats.DiscoveredFile;
import dev.larder.server.source.formats.SourceProbe;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Checks the files of a source, many of them with several threads. The results are in the order of the files. */
final class Scan {
    private static final int BATCH = 64;
    private static final int MOST_KEPT = 1_000;

    private final List<DiscoveredFile> files;
    private final ScanSettings settings;
    private final SourceProbe probe;
    private final @Nullable List<SourceArray>[] arrays;
    /** The refusals of the first refused files, by their indexes: a million would fill the heap. */
    private final TreeMap<Integer, LarderException> refusals = new TreeMap<>();

    private int refused;

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of lists
    private Scan(String dataset, List<DiscoveredFile> files, SourceOptions options, ScanSettings settings) {
        this.files = files;
        this.settings = settings;
        this.probe = new SourceProbe(dataset, options, settings);
        this.arrays = new List[files.size()];
    }

    /** Checks all files. A failure releases all arrays. */
    static Scan of(String dataset, List<DiscoveredFile> files, SourceOptions options, ScanSettings settings) {
        Scan scan = new Scan(dataset, files, options, settings);
        int batches = (files.size() + BATCH - 1) / BATCH;
        try {
            Parallel.forEach(
                    IntStream.range(0, batches).boxed().toList(),
                    settings.workers(),
                    batch -> scan.check(batch * BATCH));
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

    /** Returns names of arrays within files, for the error if a wanted column is missing. */
    Set<String> members() {
        return probe.members();
    }

    /** Returns a refusal for each refused file; for all but the first ones, the last that was kept. */
    List<LarderException> refusals() {
        List<LarderException> all = new ArrayList<>(refusals.values());
        if (all.size() < refused) {
            all.addAll(Collections.nCopies(refused - all.size(), all.get(all.size() - 1)));
        }
        return all;
    }

    private void check(int from) {
        if (settings.isCancelled().getAsBoolean()) {
            throw new CancellationException("cancelled while scanning");
        }
        int to = Math.min(from + BATCH, files.size());
        for (int i = from; i < to; i++) {
            try {
                arrays[i] = probe.arrays(files.get(i));
            } catch (LarderException e) {
                if (e.code() != ErrorCode.BAD_INPUT) {
                    throw e;
                }
                refuse(i, e);
            }
        }
        settings.onChecked().accept(to - from);
    }

    /** Keeps the refusals of the first files, whichever thread is faster. */
    private synchronized void refuse(int file, LarderException refusal) {
        refused++;
        refusals.put(file, refusal);
        if (refusals.size() > MOST_KEPT) {
            refusals.pollLastEntry();
        }
    }
}
