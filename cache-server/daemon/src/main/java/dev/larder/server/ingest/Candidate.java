package dev.larder.server.ingest;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ByteSums;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceSamples;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.SourceRecord;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The version of a dataset that a load would publish now.
 *
 * @param arrays the arrays that were found, not yet read
 * @param provenance their sources, with stamps of the files
 */
record Candidate(String dataset, List<SourceArray> arrays, Provenance provenance) {
    /** Replaces the time of a file that was written so recently that a later write could have the same time. */
    private static final long TOO_YOUNG = -1;

    /** The clock of file systems moves in steps of up to ten milliseconds. */
    private static final long CLOCK_STEP_NANOS = 20_000_000;

    /** An array that consists of more files has one record for all of them: each record stays in memory and in the manifest. */
    static final int MOST_RECORDED = 1_000;

    Candidate {
        arrays = List.copyOf(arrays);
    }

    /** Returns the length of all arrays together, in bytes. */
    long dataBytes() {
        return ByteSums.sum(arrays.stream().mapToLong(SourceArray::byteSize));
    }

    /** Returns whether a version has arrays of the same names, types, shapes and orders, read in the same way. */
    boolean isShapedLike(PublishedVersion version) {
        if (!provenance.options().givesSameAs(version.provenance().options())
                || version.arrays().size() != arrays.size()) {
            return false;
        }
        Map<String, ArrayEntry> entries = entries(version);
        return arrays.stream().allMatch(array -> isShapedLike(array, entries));
    }

    /** Returns the arrays of a version by name. */
    static Map<String, ArrayEntry> entries(PublishedVersion version) {
        Map<String, ArrayEntry> entries = new HashMap<>();
        version.arrays().forEach(entry -> entries.put(entry.name(), entry));
        return entries;
    }

    /** Returns whether an array would be stored under the same name with the same type, shape and order. */
    static boolean isShapedLike(SourceArray array, Map<String, ArrayEntry> entries) {
        ArrayEntry entry = entries.get(array.name().array());
        return entry != null
                && entry.dtype().equals(array.dtype().descr())
                && entry.order() == array.order().name().charAt(0)
                && entry.part() == array.part()
                && Arrays.equals(entry.shape(), array.shape());
    }

    /**
     * Describes the files of arrays, sorted.
     *
     * @param foundEpochNanos when the files were examined; the times of more recent files are not recorded
     */
    static List<SourceRecord> records(
            List<SourceArray> arrays, SourceSamples samples, long foundEpochNanos, boolean inPlace) {
        List<SourceRecord> records = new ArrayList<>();
        for (SourceArray array : arrays) {
            if (array.files().size() > MOST_RECORDED) {
                records.add(condensed(array, foundEpochNanos));
                continue;
            }
            for (SourceIdentity file : array.files()) {
                boolean tooYoung = !inPlace && file.modifiedNanos() > foundEpochNanos - CLOCK_STEP_NANOS;
                records.add(new SourceRecord(
                        array.name().array(),
                        file.file().toString(),
                        file.byteSize(),
                        tooYoung ? TOO_YOUNG : file.modifiedNanos(),
                        file.changedNanos(),
                        file.inode(),
                        samples.of(file.file())));
            }
        }
        records.sort(Comparator.comparing(SourceRecord::array).thenComparing(SourceRecord::path));
        return records;
    }

    /** Returns one record for very many files: their common folder, their total length, and hashes of their names and stamps. */
    private static SourceRecord condensed(SourceArray array, long foundEpochNanos) {
        LookHash names = new LookHash();
        LookHash stamps = new LookHash();
        LookHash changes = new LookHash();
        long byteSize = 0;
        long newestNanos = Long.MIN_VALUE;
        @Nullable Path folder = null;
        for (SourceIdentity file : array.files()) {
            byteSize = Math.addExact(byteSize, file.byteSize());
            newestNanos = Math.max(newestNanos, file.modifiedNanos());
            folder = commonFolder(folder, file.file());
            String name = file.file().toString();
            names.add(name).add(file.byteSize());
            stamps.add(name).add(file.byteSize()).add(file.modifiedNanos()).add(file.inode());
            changes.add(file.changedNanos());
        }
        boolean tooYoung = newestNanos > foundEpochNanos - CLOCK_STEP_NANOS;
        return new SourceRecord(
                array.name().array(),
                String.valueOf(folder),
                byteSize,
                tooYoung ? TOO_YOUNG : newestNanos,
                changes.value(),
                stamps.value(),
                String.format("%016x", names.value()));
    }

    private static @Nullable Path commonFolder(@Nullable Path folder, Path file) {
        Path common = folder == null ? file.getParent() : folder;
        while (common != null && !file.startsWith(common)) {
            common = common.getParent();
        }
        return common;
    }

    /** Returns whether the time in a record identifies the contents. */
    static boolean isTrusted(SourceRecord record) {
        return record.modified() != TOO_YOUNG;
    }

    /** Reads the samples of every file that has its own record. */
    static void sample(List<SourceArray> arrays, SourceSamples samples, int workers) {
        samples.read(
                arrays.stream()
                        .map(SourceArray::files)
                        .filter(files -> files.size() <= MOST_RECORDED)
                        .flatMap(List::stream)
                        .toList(),
                workers);
    }
}
