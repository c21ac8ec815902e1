package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.text.TextKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The arrays of one {@code NAME=PATH}, a folder or a file: all checked, their data not yet read.
 *
 * @param name the dataset
 * @param path the folder or file
 * @param arrays sorted by name; never empty
 * @param skippedFiles how many files of the folder no array is made of
 * @param hiddenFiles how many files and folders have names that begin with a dot, and were left out for that
 * @param passedOver how many of the skipped files are of known kinds, by kind
 * @param firstUnknown the names of the first of the others
 * @param notes sentences about parts of files that were skipped
 * @param look a hash that differs after any change of the files; empty if it is not known, or if files were skipped
 */
public record ScannedSource(
        String name,
        Path path,
        List<SourceArray> arrays,
        int skippedFiles,
        int hiddenFiles,
        Map<String, Integer> passedOver,
        List<String> firstUnknown,
        List<String> notes,
        String look) {
    private static final int MOST_NAMED = 3;

    /** Keeps its own copies. */
    public ScannedSource {
        arrays = List.copyOf(arrays);
        passedOver = Map.copyOf(passedOver);
        firstUnknown = List.copyOf(firstUnknown);
        notes = List.copyOf(notes);
    }

    /** Scans all sources of a load; its failure lists the bad files of all of them. */
    public static List<ScannedSource> scanAll(
            List<LoadRequest.Source> requested, SourceOptions options, ScanSettings settings) {
        List<ScannedSource> scanned = new ArrayList<>();
        List<LarderException> refusals = new ArrayList<>();
        try {
            for (LoadRequest.Source source : requested) {
                scan(source, options, settings, scanned, refusals);
            }
            if (!refusals.isEmpty()) {
                LoadRequest.Source first = requested.get(0);
                throw Refusal.all(first.name(), first.file(), refusals);
            }
            return scanned;
        } catch (RuntimeException | Error e) {
            scanned.forEach(source -> source.arrays().forEach(SourceArray::release));
            throw e;
        }
    }

    private static void scan(
            LoadRequest.Source source,
            SourceOptions options,
            ScanSettings settings,
            List<ScannedSource> scanned,
            List<LarderException> refusals) {
        try {
            scanned.add(scan(source.name(), source.file(), options, settings));
        } catch (LarderException e) {
            if (e.code() != ErrorCode.BAD_INPUT) {
                throw e;
            }
            refusals.add(e);
        }
    }

    /**
     * Finds and checks the arrays of a source. Fails with {@link ErrorCode#BAD_INPUT}, which lists all bad files: unreadable, malformed,
     * truncated and too long ones, two files with one name, missing keys, or an empty source.
     */
    public static ScannedSource scan(String name, Path path, SourceOptions options, ScanSettings settings) {
        Names.requireDataset(name);
        return Formats.of(options).scan(name, path, settings);
    }

    /** Scans with the calling thread. */
    static ScannedSource scan(String name, Path path, SourceOptions options) {
        return scan(name, path, options, ScanSettings.quick());
    }

    /** Returns the {@link #look} of the files that a scan would list now. Opens none of them. */
    public static String look(Path path, SourceOptions options, ScanSettings settings) {
        try {
            FileListing listing = FileListing.of(path, options.exclusion(), settings);
            return listing.hidden() > 0 ? "" : listing.look(FileListing.SETTLED_NANOS);
        } catch (LarderException e) {
            return ""; // the scan reports it
        }
    }

    /** Refuses a source that a load would refuse, as far as names show. Opens no file, so a load may still find more to refuse. */
    public static void requireLikely(String name, Path path, SourceOptions options, boolean inPlace) {
        Names.requireDataset(name);
        Formats.of(options).requireLikely(name, path, inPlace);
    }

    /** Returns the files of a folder that {@link #scan} would open, as far as names show. */
    public static Set<Path> opened(Path folder, SourceOptions options, ScanSettings settings) {
        return Formats.of(options).opened(FileListing.of(folder, options.exclusion(), settings));
    }

    /** Returns sentences about the files of some sources that were skipped, and the reasons. */
    public static List<String> notes(List<ScannedSource> sources) {
        Map<String, Integer> passedOver = new TreeMap<>();
        int unknown = 0;
        List<String> firstUnknown = new ArrayList<>();
        for (ScannedSource source : sources) {
            source.passedOver.forEach((kind, count) -> passedOver.merge(kind, count, Integer::sum));
            unknown += source.skippedFiles
                    - source.passedOver.values().stream()
                            .mapToInt(Integer::intValue)
                            .sum();
            firstUnknown.addAll(source.firstUnknown);
        }
        List<String> notes = new ArrayList<>();
        if (unknown > 0) {
            notes.add("skipped " + counted(unknown) + unknown(firstUnknown, unknown));
        }
        passedOver.forEach((kind, count) -> notes.add("skipped " + counted(count) + " of another kind: " + kind
                + (kind.equals(ImageFiles.KIND)
                        ? "; load them by themselves, --as images"
                        : "; name their columns with --columns, or load them by themselves")));
        sources.forEach(source -> notes.addAll(source.notes));
        return notes;
    }

    /** Returns the end of the note about files that no format reads: the first names, and the remedy. */
    private static String unknown(List<String> names, int count) {
        boolean hasArrays = names.stream().anyMatch(name -> Formats.isTyped(Format.fileName(name)));
        boolean hasTexts = !hasArrays && names.stream().anyMatch(name -> TextKind.of(name) != null);
        List<String> first =
                names.stream().limit(MOST_NAMED).map(Names::printable).toList();
        return (hasArrays ? " of another kind" : " of no known kind")
                + (first.isEmpty() ? "" : ": " + String.join(", ", first) + (count > first.size() ? ", …" : ""))
                + (hasArrays ? "; load arrays without --as" : hasTexts ? "; load texts with --as strings" : "")
                + (hasArrays || hasTexts
                        ? ", by themselves, or leave them out with --exclude"
                        : "; --exclude leaves files out");
    }

    private static String counted(int files) {
        return files == 1 ? "1 file" : files + " files";
    }

    /** Refuses arrays with the same name, or with names that cannot be files of one store. */
    static void refuseClashes(List<SourceArray> arrays, List<LarderException> refusals) {
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
                    refusals.add(clash(array, other, "would be a file, and this one needs a folder of that name"));
                }
            }
        }
    }

    private static LarderException clash(SourceArray array, SourceArray other, String how) {
        boolean isWithin = array.file().equals(other.file());
        String what = isWithin
                ? "array " + other.name().array() + " of the same file"
                : other.file().toString();
        return Refusal.unfit(
                array.file(),
                "array " + array.name().array() + " clashes: " + what + " " + how,
                isWithin
                        ? "rename one of them in the file, or name others with --columns"
                        : "rename one of the files, or leave one out with --exclude");
    }
}
