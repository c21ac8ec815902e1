package dev.larder.server;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Remedy;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Progress.Phase;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.DataChecksum;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.SourceRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;

/** Computes the checksums of published arrays again and compares them with those of their load. One use, one thread. */
final class Verification {
    private static final int MOST_NAMED = 10;

    private final Store store;
    private final List<List<Target>> targets;
    private final Consumer<Progress> listener;
    private final BooleanSupplier hasClient;
    private final long arraysTotal;
    private final long bytesTotal;
    private final List<String> damaged = new ArrayList<>();
    private final Map<Path, Map<String, List<SourceRecord>>> sources = new HashMap<>();
    private long bytesDone;
    private int verified;

    private record Target(PublishedVersion version, ArrayEntry array) {
        @Override
        public String toString() {
            return version.dataset() + "/" + array.name();
        }
    }

    /**
     * Prepares to verify the arrays of these versions.
     *
     * @param array only this array or column; empty for all
     * @param listener receives the progress
     * @param hasClient returns false to stop early
     */
    Verification(
            Store store,
            List<PublishedVersion> versions,
            String array,
            Consumer<Progress> listener,
            BooleanSupplier hasClient) {
        this.store = store;
        this.targets = versions.stream()
                .map(version -> version.arrays().stream()
                        .filter(entry -> array.isEmpty()
                                || entry.name().equals(array)
                                || entry.part().columnName(entry.name()).equals(array))
                        .map(entry -> new Target(version, entry))
                        .toList())
                .toList();
        this.listener = listener;
        this.hasClient = hasClient;
        this.arraysTotal = targets.stream().mapToLong(List::size).sum();
        this.bytesTotal = targets.stream()
                .flatMap(List::stream)
                .mapToLong(target -> target.array.byteSize())
                .sum();
    }

    /** Reads everything. Fails with the names of damaged arrays. Skips versions that are evicted meanwhile. */
    Done run() {
        for (List<Target> ofVersion : targets) {
            if (!ofVersion.isEmpty() && hasClient.getAsBoolean()) {
                store.leases().runLeased(ofVersion.get(0).version.folder(), () -> verifyAll(ofVersion));
            }
        }
        if (!damaged.isEmpty()) {
            throw Failure.of(ErrorCode.CHECKSUM, "arrays are damaged")
                    .with("count", damaged.size())
                    .with("arrays", damaged.subList(0, Math.min(MOST_NAMED, damaged.size())))
                    .remedy("load it again with larder reload; if no process changed the files of the store, test"
                            + " the machine's memory");
        }
        return Done.of(verified, bytesDone, "");
    }

    private void verifyAll(List<Target> ofVersion) {
        for (Target target : ofVersion) {
            if (hasClient.getAsBoolean()) {
                verify(target);
                verified++;
            }
        }
    }

    private void verify(Target target) {
        if (target.version.isInPlace() && hasChanged(target)) {
            damaged.add(target + " file=" + target.array.file() + " was written or replaced since it was loaded");
            return;
        }
        int found = checksum(target);
        if (found != target.array.crc32c() && hasClient.getAsBoolean()) {
            damaged.add(target + " crc32c=" + String.format("%08x", found) + " expected=" + target.array.crc32cHex());
        }
    }

    private boolean hasChanged(Target target) {
        return sources
                .computeIfAbsent(
                        target.version.folder(),
                        folder -> target.version.sources().stream().collect(Collectors.groupingBy(SourceRecord::array)))
                .getOrDefault(target.array.name(), List.of())
                .stream()
                .anyMatch(source -> !isStill(source));
    }

    private static boolean isStill(SourceRecord source) {
        try {
            return SourceIdentity.of(Path.of(source.path())).stamp().equals(source.stamp());
        } catch (LarderException e) {
            return false;
        }
    }

    private void report(Target target) {
        listener.accept(
                new Progress(Phase.VERIFYING, target.toString(), bytesDone, bytesTotal, verified, arraysTotal, ""));
    }

    private int checksum(Target target) {
        Path file = target.version.folder().resolve(target.array.file());
        CRC32C crc = new CRC32C();
        try {
            DataChecksum.update(crc, file, target.array.offset(), target.array.byteSize(), bytes -> {
                bytesDone += bytes;
                report(target);
                return hasClient.getAsBoolean();
            });
        } catch (IOException e) {
            throw Failure.of(ErrorCode.CHECKSUM, "cannot read array")
                    .with("array", target)
                    .with("file", file)
                    .with("reason", e)
                    .cause(e)
                    .remedy(Remedy.reload(target.version.dataset()));
        }
        return (int) crc.getValue();
    }
}
