package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.SegmentFile;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.source.Extent;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.IncomingVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Creates versions from files that are not copied. Reads them once for their checksums. */
final class InPlace {
    private static final int MOST_NAMED = 10;

    private InPlace() {}

    /** Refuses remote sources for a load in place. */
    static void requireLocal(LoadRequest request) {
        if (request.options().inPlace() && request.sources().stream().anyMatch(LoadRequest.Source::isRemote)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "remote sources cannot be mapped in place")
                    .with(
                            "sources",
                            request.sources().stream()
                                    .filter(LoadRequest.Source::isRemote)
                                    .map(LoadRequest.Source::visiblePath)
                                    .toList())
                    .remedy("load it without --in-place");
        }
    }

    /** Refuses arrays that cannot be mapped from one file as they are, with their names and the reasons. */
    static void requireMappable(List<SourceArray> arrays, Path storeRoot) {
        List<String> refused = new ArrayList<>();
        Set<Path> files = new LinkedHashSet<>();
        for (SourceArray array : arrays) {
            String reason = objection(array, storeRoot);
            if (!reason.isEmpty()) {
                refused.add(array.name().array() + ": " + reason);
                files.add(array.file());
            }
        }
        if (!refused.isEmpty()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot be mapped in place")
                    .with("count", refused.size())
                    .with("arrays", first(refused))
                    .with("files", first(files))
                    .remedy(
                            "load them without --in-place, or unpack or convert them, or leave them out with --columns");
        }
    }

    /** Adds to a lack of space the advice to load in place, if that is possible for all arrays of a load. */
    static LarderException withAdvice(
            LarderException failure, LoadRequest request, List<SourceArray> arrays, Path storeRoot) {
        boolean isPossible = failure.code() == ErrorCode.NO_SPACE
                && !arrays.isEmpty()
                && request.sources().stream().noneMatch(LoadRequest.Source::isRemote)
                && arrays.stream().allMatch(array -> objection(array, storeRoot).isEmpty());
        return isPossible
                ? new LarderException(
                        failure.rawCode(),
                        failure.getMessage() + ", or load it with --in-place, which maps the file without a copy",
                        failure)
                : failure;
    }

    private static String first(Collection<?> all) {
        String named = all.stream().limit(MOST_NAMED).map(String::valueOf).collect(Collectors.joining(", ", "[", "]"));
        return all.size() <= MOST_NAMED ? named : named + " and " + (all.size() - MOST_NAMED) + " more";
    }

    private static String objection(SourceArray array, Path storeRoot) {
        List<Extent> regions = array.extents();
        if (regions.isEmpty()) {
            return array.byteSize() == 0 ? "it is empty" : "its data is compressed, or has to be computed";
        } else if (regions.size() > 1) {
            return "its data is in " + regions.size() + " pieces";
        } else if (regions.get(0).offset() + array.byteSize() == 0) {
            return "it is empty";
        }
        return realPath(regions.get(0).file()).startsWith(realPath(storeRoot))
                ? "it is in the store itself, which removes its files"
                : "";
    }

    /** Adds an array to a version, after reading all of it. */
    static void add(SourceArray array, IncomingVersion version, Checksums checksums) {
        Extent region = array.extents().get(0);
        SourceIdentity identity = array.fileOf(0);
        SegmentFile file = new SegmentFile(
                realPath(region.file()).toString(), identity.byteSize(), identity.modifiedNanos(), identity.inode());
        version.addInPlace(array.entry(file.file(), region.offset(), checksums.of(array)), file);
    }

    private static Path realPath(Path path) {
        try {
            return path.toRealPath();
        } catch (IOException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot resolve path")
                    .with("path", path)
                    .with("reason", e)
                    .cause(e)
                    .remedy("check that it exists and is readable");
        }
    }
}
