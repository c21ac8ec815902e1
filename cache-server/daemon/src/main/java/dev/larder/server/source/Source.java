package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.Names;
import dev.larder.layout.StoreLayout;
import dev.larder.protocol.LoadRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What one {@code NAME=PATH} stands for: the arrays of a folder or of a single file, all checked, none read.
 *
 * @param name the dataset
 * @param path where its files lie
 * @param arrays sorted by name; never empty
 * @param skippedFiles how many files of the folder are of no known kind
 */
public record Source(String name, Path path, List<SourceArray> arrays, int skippedFiles) {
    /** Keeps its own copy. */
    public Source {
        arrays = List.copyOf(arrays);
    }

    /** Scans every source of a load; what is bad in any of them is listed at once. */
    public static List<Source> scanAll(List<LoadRequest.Source> requested, SourceOptions options) {
        List<Source> scanned = new ArrayList<>();
        List<LarderException> refusals = new ArrayList<>();
        for (LoadRequest.Source source : requested) {
            try {
                scanned.add(scan(source.name(), Path.of(source.path()), options));
            } catch (LarderException e) {
                requireBadInput(e);
                refusals.add(e);
            }
        }
        if (!refusals.isEmpty()) {
            scanned.forEach(source -> source.arrays().forEach(SourceArray::release));
            throw Refusal.all(requested.get(0).name(), Path.of(requested.get(0).path()), refusals);
        }
        return scanned;
    }

    private static void requireBadInput(LarderException e) {
        if (e.code() != ErrorCode.BAD_INPUT) {
            throw e;
        }
    }

    /**
     * Finds and checks what a load will read. Fails with {@link ErrorCode#BAD_INPUT}, naming every bad file at once: what
     * cannot be read, is malformed, truncated or too long, two files of one name, missing keys, or nothing at all.
     */
    public static Source scan(String name, Path path, SourceOptions options) {
        Names.requireDataset(name);
        SourceWalk walk = SourceWalk.of(path, options);
        KeyFilter filter = new KeyFilter(options.keys());
        List<SourceFile> files = filter.keep(walk.files());
        List<LarderException> refusals = new ArrayList<>(walk.refusals());
        List<SourceArray> arrays = check(name, files, options, refusals);
        arrays.removeIf(array -> !filter.keeps(array));
        refuseClashes(arrays, refusals);
        LarderException incomplete = filter.incomplete(path, files);
        if (incomplete != null) {
            refusals.add(incomplete);
        }
        if (!refusals.isEmpty()) {
            arrays.forEach(SourceArray::release);
            throw Refusal.all(name, path, refusals);
        }
        if (arrays.isEmpty()) {
            throw nothing(path, options, walk);
        }
        return new Source(name, path, arrays, walk.skipped());
    }

    /** Returns how many bytes the data of all arrays takes. */
    public long byteSize() {
        return arrays.stream().mapToLong(SourceArray::byteSize).reduce(0, Math::addExact);
    }

    private static List<SourceArray> check(
            String name, List<SourceFile> files, SourceOptions options, List<LarderException> refusals) {
        List<SourceArray> arrays = new ArrayList<>();
        for (SourceFile file : files) {
            try {
                arrays.addAll(file.check(name, options));
            } catch (LarderException e) {
                requireBadInput(e);
                refusals.add(e);
            }
        }
        arrays.sort(Comparator.comparing(array -> array.name().array()));
        return arrays;
    }

    private static void refuseClashes(List<SourceArray> arrays, List<LarderException> refusals) {
        Map<String, SourceArray> taken = new HashMap<>();
        for (SourceArray array : arrays) {
            SourceArray other =
                    taken.putIfAbsent(StoreLayout.arrayFile(array.name().array()), array);
            if (other != null) {
                refusals.add(clash(array, other, "has the same name"));
            }
        }
        for (SourceArray array : arrays) {
            String folder = array.name().array();
            for (int slash = folder.lastIndexOf('/'); slash > 0; slash = folder.lastIndexOf('/')) {
                folder = folder.substring(0, slash);
                SourceArray other = taken.get(folder);
                if (other != null) {
                    refusals.add(clash(array, other, "would be stored where this one needs a folder"));
                }
            }
        }
    }

    private static LarderException clash(SourceArray array, SourceArray other, String how) {
        boolean within = array.file().equals(other.file());
        String what = within
                ? "array " + other.name().array() + " of the same file"
                : other.file().toString();
        return Refusal.of(array.file(), 0, "array " + array.name().array() + " clashes: " + what + " " + how);
    }

    private static LarderException nothing(Path path, SourceOptions options, SourceWalk walk) {
        Failure failure = Failure.of(ErrorCode.BAD_INPUT, "source has nothing to load")
                .with("path", path)
                .with("knownFiles", walk.files().size())
                .with("skippedFiles", walk.skipped());
        return options.keys().isEmpty()
                ? failure.remedy("files of these kinds are read: " + SourceKind.ALL)
                : failure.with("keys", options.keys()).remedy("no file's stem ends in _ and one of the keys");
    }
}
