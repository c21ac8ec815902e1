package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Progress.Phase;
import dev.larder.internal.protocol.SourceAddress;
import dev.larder.server.remote.StagedSources;
import dev.larder.server.source.Parallel;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.scan.ScannedSource;
import dev.larder.server.source.shard.ShardCut;
import dev.larder.server.store.space.ScratchMemory;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.SourceRecord;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.zip.ZipException;

/** Reads the sources of versions again and reports arrays that differ from the loaded ones. One use, one thread. */
public final class SourceComparison {
    private static final int MOST_NAMED = 10;

    private final String array;
    private final int workers;
    private final LoadProgress progress;
    private final Checksums checksums;
    private final ScratchMemory scratch;
    private final List<Pair> pairs = new ArrayList<>();
    private final List<SourceArray> toRelease = new ArrayList<>();
    private final List<StagedSources> staged = new ArrayList<>();
    private final List<String> different = Collections.synchronizedList(new ArrayList<>());
    private final List<String> missing = Collections.synchronizedList(new ArrayList<>());

    /** A source array and the entry of its loaded copy. */
    private record Pair(SourceArray source, ArrayEntry entry) {}

    /**
     * Prepares to compare.
     *
     * @param array the only array of interest; empty for all
     * @param hasClient returns false if no client waits for the answer
     * @param scratch memory for columns that have to be built for the comparison
     */
    public SourceComparison(
            String array, int workers, ProgressListener listener, BooleanSupplier hasClient, ScratchMemory scratch) {
        this.scratch = scratch;
        this.array = array;
        this.workers = workers;
        this.progress = new LoadProgress("sources");
        this.checksums = new Checksums(progress::addBytes, hasClient);
        var unused = progress.listen(listener);
    }

    /**
     * Reads the sources of all versions that have one. Fails with {@link ErrorCode#CHECKSUM} if any differs, and with {@link
     * ErrorCode#BAD_INPUT} if files are only missing or cannot be read. A source that a load would refuse counts as different.
     */
    public Done run(List<PublishedVersion> versions) {
        try {
            return compareAll(versions);
        } finally {
            toRelease.forEach(SourceArray::release);
            staged.forEach(StagedSources::close);
        }
    }

    private Done compareAll(List<PublishedVersion> versions) {
        progress.enter(Phase.SCANNING);
        versions.forEach(this::pair);
        long bytes = ByteSums.sum(pairs.stream().mapToLong(pair -> pair.entry.byteSize()));
        progress.begin(Phase.VERIFYING, bytes, pairs.size());
        Parallel.forEach(pairs, workers, this::compare);
        if (!different.isEmpty()) {
            throw failure(ErrorCode.CHECKSUM, "sources differ from the loaded data", different)
                    .with("missing", missing.size())
                    .remedy("load them as they are now: larder reload DATASET");
        } else if (!missing.isEmpty()) {
            throw failure(ErrorCode.BAD_INPUT, "sources are missing or cannot be read", missing)
                    .remedy("the loaded arrays are intact; restore the files before they have to be loaded again");
        }
        return Done.of(pairs.size(), bytes, "");
    }

    private static Failure failure(ErrorCode code, String what, List<String> findings) {
        List<String> sorted = findings.stream().sorted().limit(MOST_NAMED).toList();
        return Failure.of(code, what).with("count", findings.size()).with("sources", sorted);
    }

    /** Finds the arrays of a version in its sources. */
    private void pair(PublishedVersion version) {
        if (version.origins().isEmpty()) {
            return; // it was computed
        }
        List<SourceArray> found = new ArrayList<>();
        List<LoadRequest.Source> sources = version.origins().stream()
                .map(origin -> new LoadRequest.Source(version.dataset(), origin))
                .toList();
        boolean isScanning = false;
        try {
            SourceOptions options = SourceOptions.of(version.provenance().options());
            ScanSettings scanning = LoadJob.scratchScan(
                    workers, () -> !checksums.mayContinue().getAsBoolean(), progress::addFiles, scratch);
            StagedSources fetched = StagedSources.list(sources, options, scanning, null);
            staged.add(fetched);
            fetched.fetch(
                    dataset -> true, (bytes, files) -> progress.begin(Phase.LOADING, bytes, files), progress::addBytes);
            progress.begin(Phase.SCANNING, Progress.UNKNOWN, Progress.UNKNOWN);
            ShardCut shards = new ShardCut(version.provenance().options().shard(), scanning.memory());
            isScanning = true;
            List<ScannedSource> scanned = fetched.scan(dataset -> true);
            scanned.forEach(source -> toRelease.addAll(source.arrays()));
            scanned.forEach(source -> found.addAll(shards.cut(source.arrays())));
        } catch (LarderException e) {
            boolean areThere = isScanning && areThere(version, record -> true) && !isUnreadable(e);
            (areThere ? different : missing).add(explained(requireBadInput(e)));
            return;
        } finally {
            toRelease.addAll(found);
        }
        Map<String, ArrayEntry> entries = Candidate.entries(version);
        Set<String> absent = new HashSet<>(entries.keySet());
        for (SourceArray source : found) {
            absent.remove(source.name().array());
            if (isSelected(source.name().array())) {
                pair(source, entries);
            }
        }
        absent.stream().filter(this::isSelected).forEach(name -> {
            boolean areThere = areThere(version, record -> record.array().equals(name));
            (areThere ? different : missing).add(version.dataset() + "/" + name + " is no longer in any source");
        });
    }

    /** Returns whether all local source files of some arrays can still be read. Their contents are not compared. */
    private static boolean areThere(PublishedVersion version, Predicate<SourceRecord> filter) {
        return version.sources().stream()
                .filter(filter)
                .map(SourceRecord::path)
                .allMatch(path -> SourceAddress.is(path) || Files.isReadable(Path.of(path)));
    }

    /** Returns whether the system could not read a file; otherwise its content was refused. */
    private static boolean isUnreadable(LarderException failure) {
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof IOException && !(cause instanceof EOFException || cause instanceof ZipException)) {
                return true;
            }
        }
        return false;
    }

    private boolean isSelected(String name) {
        return array.isEmpty() || array.equals(name);
    }

    private void pair(SourceArray source, Map<String, ArrayEntry> entries) {
        ArrayEntry entry = entries.get(source.name().array());
        if (entry == null) {
            different.add(source.name() + " is new: file=" + visible(source));
        } else if (Candidate.isShapedLike(source, entries)) {
            pairs.add(new Pair(source, entry));
        } else {
            different.add(source.name() + " has another dtype, shape or order: file=" + visible(source));
        }
    }

    private void compare(Pair pair) {
        try {
            int found = checksums.of(pair.source);
            if (found != pair.entry.crc32c()) {
                different.add(pair.source.name() + " file=" + visible(pair.source) + " crc32c="
                        + String.format("%08x", found) + " expected=" + pair.entry.crc32cHex());
            }
        } catch (LarderException e) {
            boolean isThere = Files.isReadable(pair.source.file()) && !isUnreadable(e);
            (isThere ? different : missing).add(explained(requireBadInput(e)));
        }
        progress.addFile();
    }

    private static LarderException requireBadInput(LarderException failure) {
        if (failure.code() != ErrorCode.BAD_INPUT) {
            throw failure;
        }
        return failure;
    }

    private String explained(LarderException failure) {
        LarderException explained = failure;
        for (StagedSources sources : staged) {
            explained = sources.explained(explained);
        }
        return String.valueOf(explained.getMessage());
    }

    private String visible(SourceArray source) {
        return staged.stream()
                .map(sources -> sources.visible(source.file()))
                .filter(SourceAddress::is)
                .findFirst()
                .orElse(source.file().toString());
    }
}
