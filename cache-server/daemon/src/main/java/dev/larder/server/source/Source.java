package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import dev.larder.layout.Names;
import dev.larder.layout.StoreLayout;
import dev.larder.protocol.LoadOptions;
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
 * @param hiddenFiles how many files and folders have names that begin with a dot, and were left out for that
 */
public record Source(String name, Path path, List<SourceArray> arrays, int skippedFiles, int hiddenFiles) {
    /** Keeps its own copy. */
    public Source {
        arrays = List.copyOf(arrays);
    }

    /**
     * Finds and checks what a load will read. Fails with {@link ErrorCode#BAD_INPUT}, naming every bad file at once: what
     * cannot be read, is malformed, truncated or too long, two files of one name, missing keys, or nothing at all.
     */
    public static Source scan(String name, Path path, SourceOptions options, ScanSettings settings) {
        Names.requireDataset(name);
        if (options.as() != LoadOptions.As.ARRAYS) {
            return ColumnScan.of(name, path, options, settings);
        }
        try {
            return scan(name, path, options, settings, true);
        } catch (FolderFound called) { // like a file
            return scan(name, path, options, settings, false);
        }
    }

    /** Scans with the calling thread alone. */
    static Source scan(String name, Path path, SourceOptions options) {
        return scan(name, path, options, new ScanSettings(1, false, () -> false, checked -> {}));
    }

    private static Source scan(String name, Path path, SourceOptions options, ScanSettings settings, boolean isQuick) {
        KeyFilter filter = new KeyFilter(options.keys());
        SourceWalk walk = SourceWalk.of(path, filter::isWanted, settings.takesHidden(), isQuick);
        List<SourceFile> files = walk.files();
        Scan checked = Scan.of(name, files, settings);
        List<SourceArray> arrays = new ArrayList<>(checked.arrays());
        arrays.sort(Comparator.comparing(array -> array.name().array()));
        List<LarderException> refusals = new ArrayList<>(walk.refusals());
        refusals.addAll(checked.refusals());
        refuseClashes(files, refusals);
        LarderException incomplete = filter.incomplete(path, files);
        if (incomplete != null) {
            refusals.add(incomplete);
        }
        if (!refusals.isEmpty()) {
            throw Refusal.all(name, path, refusals);
        }
        if (arrays.isEmpty()) {
            throw nothing(path, options, walk);
        }
        return new Source(name, path, arrays, walk.skipped(), walk.hidden());
    }

    /** Returns how many bytes the data of all arrays takes. */
    public long byteSize() {
        return arrays.stream().mapToLong(SourceArray::byteSize).reduce(0, Math::addExact);
    }

    private static void refuseClashes(List<SourceFile> files, List<LarderException> refusals) {
        Map<String, SourceFile> taken = new HashMap<>();
        for (SourceFile file : files) {
            SourceFile other = taken.putIfAbsent(StoreLayout.arrayFile(file.arrayName()), file);
            if (other != null) {
                refusals.add(clash(file, other, "has the same name"));
            }
        }
        for (SourceFile file : files) {
            String folder = file.arrayName();
            for (int slash = folder.lastIndexOf('/'); slash > 0; slash = folder.lastIndexOf('/')) {
                folder = folder.substring(0, slash);
                SourceFile other = taken.get(folder);
                if (other != null) {
                    refusals.add(clash(file, other, "would be stored where this one needs a folder"));
                }
            }
        }
    }

    private static LarderException clash(SourceFile file, SourceFile other, String how) {
        return Refusal.of(
                file.path(), 0, "array " + Names.printable(file.arrayName()) + " clashes: " + other.path() + " " + how);
    }

    private static LarderException nothing(Path path, SourceOptions options, SourceWalk walk) {
        Failure failure = Failure.of(ErrorCode.BAD_INPUT, "source has nothing to load")
                .with("path", path)
                .with("knownFiles", walk.known())
                .with("skippedFiles", walk.skipped())
                .with("hiddenFiles", walk.hidden());
        return options.keys().isEmpty()
                ? failure.remedy("files of these kinds are read: " + SourceKind.ALL)
                : failure.with("keys", options.keys()).remedy("no file's stem ends in _ and one of the keys");
    }
}
