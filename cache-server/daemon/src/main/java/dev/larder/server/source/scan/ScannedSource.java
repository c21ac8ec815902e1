package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.FolderFound;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceKind;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.arrow.ArrowFolder;
import dev.larder.server.source.formats.TarMembers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What one {@code NAME=PATH} stands for: the arrays of a folder or of a single file, all checked, none read.
 *
 * @param name the dataset
 * @param path where its files lie
 * @param arrays sorted by name; never empty
 * @param skippedFiles how many files of the folder are of no known kind
 * @param hiddenFiles how many files and folders have names that begin with a dot, and were left out for that
 * @param notes what of the files themselves was skipped, in words
 */
public record ScannedSource(
        String name, Path path, List<SourceArray> arrays, int skippedFiles, int hiddenFiles, List<String> notes) {
    /** Keeps its own copies. */
    public ScannedSource {
        arrays = List.copyOf(arrays);
        notes = List.copyOf(notes);
    }

    /** Says nothing of what files have. */
    ScannedSource(String name, Path path, List<SourceArray> arrays, int skippedFiles, int hiddenFiles) {
        this(name, path, arrays, skippedFiles, hiddenFiles, List.of());
    }

    /** Scans every source of a load; what is bad in any of them is listed at once. */
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
     * Finds and checks what a load will read. Fails with {@link ErrorCode#BAD_INPUT}, naming every bad file at once: what
     * cannot be read, is malformed, truncated or too long, two files of one name, missing keys, or nothing at all.
     */
    public static ScannedSource scan(String name, Path path, SourceOptions options, ScanSettings settings) {
        Names.requireDataset(name);
        if (ReaderScan.isSource(path, options, settings)) {
            return ReaderScan.of(name, path, options, settings);
        } else if (options.as() != LoadOptions.As.ARRAYS) {
            return ColumnScan.of(name, path, options, settings);
        } else if (TarScan.isArchive(path, options)) {
            return TarScan.of(name, path, options, settings);
        } else if (ArrowScan.isFile(path, options)) {
            return ArrowScan.of(name, path, options, settings);
        }
        try {
            return scan(name, path, options, settings, true);
        } catch (FolderFound called) { // like a file
            return scan(name, path, options, settings, false);
        }
    }

    /**
     * Refuses what the names of files alone tell that a load would refuse: where none is of a known kind, or where packed ones are to
     * stay in place. Nothing is opened, so that more may turn up when it is loaded.
     */
    public static void requireLikely(String name, Path path, SourceOptions options, boolean inPlace) {
        Names.requireDataset(name);
        if (options.as() != LoadOptions.As.ARRAYS) {
            return; // files of any kind
        }
        if (TarScan.isArchive(path, options)
                || ArrowScan.isFile(path, options)
                || ReaderScan.isSource(path, options, ScanSettings.quick())) {
            return;
        }
        KeyFilter filter = new KeyFilter(options.keys());
        SourceWalk walk = SourceWalk.of(path, options, filter::isWanted, false, false);
        List<LarderException> refusals = new ArrayList<>(walk.refusals());
        if (inPlace) {
            walk.files().stream()
                    .filter(file -> file.isGzip() || file.kind() == SourceKind.TABLE)
                    .map(file ->
                            Refusal.of(file.path(), 0, "it cannot be mapped in place: its data has to be unpacked"))
                    .forEach(refusals::add);
        }
        if (!refusals.isEmpty()) {
            throw Refusal.all(name, path, refusals);
        } else if (walk.files().isEmpty() && !(walk.isForColumns() && hasColumns(path, options))) {
            throw nothing(path, options, walk);
        }
    }

    private static boolean hasColumns(Path path, SourceOptions options) {
        if (!Files.isDirectory(path)) {
            return false;
        }
        FileTable files = FileWalk.of(path, options, ScanSettings.quick()).files();
        return ArrowScan.isAmong(files) || TarScan.isAmong(files) || ReaderScan.isAmong(files, options);
    }

    /** Returns the files of a folder that {@link #scan} would open, as far as names alone tell. */
    public static Set<Path> opened(Path folder, SourceOptions options, ScanSettings settings) {
        FileTable files = FileWalk.of(folder, options, settings).files();
        if (options.as() != LoadOptions.As.ARRAYS) {
            return paths(files, name -> true);
        }
        KeyFilter filter = new KeyFilter(options.keys());
        SourceWalk walk = SourceWalk.of(folder, options, filter::isWanted, settings.takesHidden(), false);
        Set<Path> opened = walk.files().stream().map(DiscoveredFile::path).collect(Collectors.toSet());
        boolean isAnyKind = !filter.keysOfNone(names(walk.files(), List.of())).isEmpty();
        if (!isAnyKind && !walk.isForColumns()) {
            return opened;
        }
        List<Predicate<String>> kinds = List.of(
                name -> ArrowFolder.isNamedSo(name) || ArrowFolder.isAbout(fileName(name)),
                TarMembers::isNamedSo,
                ReaderScan.named(options));
        for (Predicate<String> kind : kinds) {
            Set<Path> own = paths(files, kind);
            opened.addAll(own);
            if (!own.isEmpty() && !isAnyKind) {
                return opened;
            }
        }
        return opened;
    }

    private static Set<Path> paths(FileTable files, Predicate<String> isWanted) {
        Set<Path> paths = new HashSet<>();
        for (int i = 0; i < files.size(); i++) {
            if (isWanted.test(files.name(i))) {
                paths.add(files.path(i));
            }
        }
        return paths;
    }

    private static String fileName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** Scans with the calling thread alone. */
    static ScannedSource scan(String name, Path path, SourceOptions options) {
        return scan(name, path, options, ScanSettings.quick());
    }

    private static ScannedSource scan(
            String name, Path path, SourceOptions options, ScanSettings settings, boolean isQuick) {
        KeyFilter filter = new KeyFilter(options.keys());
        SourceWalk walk = SourceWalk.of(path, options, filter::isWanted, settings.takesHidden(), isQuick);
        if (walk.isForColumns()) {
            ScannedSource onlyColumns = columns(name, path, options, settings);
            if (onlyColumns != null) {
                return onlyColumns;
            }
        }
        List<DiscoveredFile> files = walk.files();
        Scan checked = Scan.of(name, files, options, settings);
        List<SourceArray> arrays = new ArrayList<>(checked.arrays()); // what is not wanted has not been looked at
        List<LarderException> refusals = new ArrayList<>(walk.refusals());
        refusals.addAll(checked.refusals());
        Set<String> names = names(files, arrays);
        List<String> elsewhere = new ArrayList<>(filter.keysOfNone(names));
        elsewhere.removeAll(checked.columns());
        boolean mayBeElsewhere =
                !elsewhere.isEmpty() && walk.skipped() > 0 && options.dtype().isEmpty();
        ScannedSource columns = refusals.isEmpty() && mayBeElsewhere
                ? addColumns(name, path, options.withKeys(elsewhere), settings, arrays)
                : null;
        arrays.sort(Comparator.comparing(array -> array.name().array()));
        refuseClashes(arrays, refusals);
        KeyFilter ofFiles = filter.without(checked.columns());
        LarderException incomplete = (columns == null ? ofFiles : ofFiles.without(elsewhere)).incomplete(path, names);
        if (incomplete != null) {
            refusals.add(incomplete);
        } else if (refusals.isEmpty() && columns == null && !arrays.isEmpty() && !elsewhere.isEmpty()) {
            refusals.add(Refusal.noColumns(path, elsewhere));
        }
        if (!refusals.isEmpty()) {
            checked.arrays().forEach(SourceArray::release);
            arrays.forEach(SourceArray::release);
            throw Refusal.all(name, path, refusals);
        }
        if (arrays.isEmpty()) {
            ArrowFolder.requireRows(path);
            throw nothing(path, options, walk);
        }
        int skipped = columns == null ? walk.skipped() : Math.max(0, columns.skippedFiles - walk.known());
        return new ScannedSource(
                name, path, arrays, skipped, walk.hidden(), columns == null ? List.of() : columns.notes);
    }

    /** Adds the columns of a folder that no file of an array is called like; null where it has none of such kinds. */
    private static @Nullable ScannedSource addColumns(
            String name, Path path, SourceOptions options, ScanSettings settings, List<SourceArray> arrays) {
        try {
            ScannedSource columns = columns(name, path, options, settings);
            if (columns != null) {
                arrays.addAll(columns.arrays);
            }
            return columns;
        } catch (RuntimeException | Error e) {
            arrays.forEach(SourceArray::release);
            throw e;
        }
    }

    /**
     * Scans what a folder has of the kinds that give columns, one of which must have those that are named; null where it has no such files.
     */
    private static @Nullable ScannedSource columns(
            String name, Path path, SourceOptions options, ScanSettings settings) {
        if (!Files.isDirectory(path)) {
            return null;
        }
        FileTable files = FileWalk.of(path, options, settings).files();
        List<Supplier<ScannedSource>> kinds = new ArrayList<>();
        if (ArrowScan.isAmong(files)) {
            kinds.add(() -> ArrowScan.of(name, path, options, settings));
        }
        if (TarScan.isAmong(files)) {
            kinds.add(() -> TarScan.of(name, path, options, settings));
        }
        if (ReaderScan.isAmong(files, options)) {
            kinds.add(() -> ReaderScan.of(name, path, options, settings));
        }
        LarderException first = null;
        for (Supplier<ScannedSource> kind : kinds) {
            try {
                return kind.get();
            } catch (LarderException e) {
                if (e.code() != ErrorCode.BAD_INPUT || options.keys().isEmpty()) {
                    throw e;
                }
                first = first == null ? e : first; // another kind may have the columns
            }
        }
        if (first != null) {
            throw first;
        }
        return null;
    }

    /** Returns what the arrays of all files are called, of bad ones too; those of members only their files tell. */
    private static Set<String> names(List<DiscoveredFile> files, List<SourceArray> arrays) {
        Set<String> names = new HashSet<>();
        files.stream().filter(file -> !file.hasMembers()).forEach(file -> names.add(file.arrayName()));
        arrays.forEach(array -> names.add(array.name().array()));
        return names;
    }

    /** Says in words what files of some sources were skipped, and why. */
    public static List<String> skipped(List<ScannedSource> sources, SourceOptions options, ScanSettings settings) {
        Map<String, Integer> others = new TreeMap<>();
        int unknown = 0;
        for (ScannedSource source : sources) {
            Map<String, Integer> passedOver = Kinds.passedOver(source, options, settings);
            passedOver.forEach((kind, count) -> others.merge(kind, count, Integer::sum));
            unknown += source.skippedFiles
                    - passedOver.values().stream().mapToInt(Integer::intValue).sum();
        }
        List<String> notes = new ArrayList<>();
        if (unknown > 0) {
            notes.add("skipped " + counted(unknown) + " of no known kind");
        }
        others.forEach((kind, count) -> notes.add("skipped " + counted(count) + " of another kind: " + kind
                + (kind.equals(Kinds.IMAGES)
                        ? "; load them by themselves, --as images"
                        : "; name their columns with --columns, or load them by themselves")));
        sources.forEach(source -> notes.addAll(source.notes));
        return notes;
    }

    private static String counted(int files) {
        return files == 1 ? "1 file" : files + " files";
    }

    /** Returns how many bytes the data of all arrays takes. */
    public long byteSize() {
        return ByteSums.sum(arrays.stream().mapToLong(SourceArray::byteSize));
    }

    /** Refuses arrays whose names, or files in the store, are those of others. */
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
                    refusals.add(clash(array, other, "would be stored where this one needs a folder"));
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

    private static LarderException nothing(Path path, SourceOptions options, SourceWalk walk) {
        Failure failure = Failure.of(ErrorCode.BAD_INPUT, "source has nothing to load")
                .with("path", path)
                .with("knownFiles", walk.known())
                .with("skippedFiles", walk.skipped())
                .with("hiddenFiles", walk.hidden());
        if (!options.keys().isEmpty()) {
            return failure.with("keys", options.keys())
                    .remedy("no file's stem ends in _ and one of the keys, and no array in a file is called like one");
        }
        String others = Kinds.loadedOtherwise(path, options);
        return failure.remedy(
                others.isEmpty()
                        ? "files of these kinds are read: " + SourceKind.ALL + "; " + Kinds.READ_BY_OTHERS
                                + (walk.skipped() == 0 ? "" : "; files of any kind with --as bytes")
                        : others);
    }
}
