package dev.larder.server.source.scan;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.reader.InputFile;
import dev.larder.reader.ReadRequest;
import dev.larder.server.reader.ReaderSource;
import dev.larder.server.reader.ReaderSpec;
import dev.larder.server.reader.Readers;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceKind;
import dev.larder.server.source.SourceOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Has readers look at files of formats that the daemon does not read itself. Where a format's files are tables, those of one folder follow
 * each other, and each folder below has a level of names; else each file of a folder has a level of its own.
 */
final class ReaderScan {
    private ReaderScan() {}

    /** Tells whether a source is a file for a reader by itself, or a folder that has nothing else where files are rows otherwise. */
    static boolean isSource(Path path, SourceOptions options, ScanSettings settings) {
        if (!options.dtype().isEmpty()) {
            return false;
        }
        List<Readers.Known> readers = Readers.all();
        String as = word(options.as());
        if (readers.stream().noneMatch(reader -> reader.spec().takes().contains(as))) {
            return false;
        }
        if (!Files.isDirectory(path)) {
            return Files.isRegularFile(path) && readerOf(readers, path, options).isPresent();
        }
        return options.as() != LoadOptions.As.ARRAYS && hasOnlyFiles(readers, path, options, settings);
    }

    private static boolean hasOnlyFiles(
            List<Readers.Known> readers, Path path, SourceOptions options, ScanSettings settings) {
        String as = word(options.as());
        boolean hasOther =
                NameWalk.hasOther(path, name -> Readers.named(readers, name, as).isPresent(), options.exclusion());
        return !hasOther && !FileWalk.of(path, options, settings).files().isEmpty();
    }

    /** Tells whether some files are for readers, by their names. */
    static boolean isAmong(FileTable files, SourceOptions options) {
        List<Readers.Known> readers = Readers.all();
        String as = word(options.as());
        return IntStream.range(0, files.size())
                .anyMatch(
                        i -> Readers.named(readers, fileName(files.name(i)), as).isPresent());
    }

    /** Tells, by its path, whether a file has a reader. */
    static Predicate<String> named(SourceOptions options) {
        List<Readers.Known> readers = Readers.all();
        String as = word(options.as());
        return path -> Readers.named(readers, fileName(path), as).isPresent();
    }

    private static Optional<Readers.Known> readerOf(List<Readers.Known> readers, Path file, SourceOptions options) {
        String fileName = fileName(file.toString());
        String as = word(options.as());
        Optional<Readers.Known> named = Readers.named(readers, fileName, as);
        boolean isUnknown = named.isEmpty()
                && options.as() == LoadOptions.As.ARRAYS
                && SourceKind.of(fileName, options) == null
                && !TarScan.isArchive(file, options);
        return isUnknown ? Readers.beginning(readers, file, as) : named;
    }

    private static String word(LoadOptions.As as) {
        return as.name().toLowerCase(Locale.ROOT);
    }

    private static String fileName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** The files of one kind, and how their arrays are called. */
    private record Group(List<SourceIdentity> files, List<InputFile> inputs) {
        void add(SourceIdentity file, String level) {
            files.add(file);
            inputs.add(new InputFile(file.file(), level));
        }
    }

    static ScannedSource of(String dataset, Path path, SourceOptions options, ScanSettings settings) {
        boolean isFolder = Files.isDirectory(path);
        FileWalk walk = FileWalk.of(path, options, settings);
        FileTable files = walk.files();
        List<Readers.Known> readers = Readers.all();
        Map<Readers.Known, Group> groups = new LinkedHashMap<>();
        int skipped = 0;
        for (int i = 0; i < files.size(); i++) {
            Optional<Readers.Known> reader = isFolder
                    ? Readers.named(readers, fileName(files.name(i)), word(options.as()))
                    : readerOf(readers, path, options);
            if (reader.isEmpty()) {
                skipped++;
            } else {
                groups.computeIfAbsent(reader.get(), kind -> new Group(new ArrayList<>(), new ArrayList<>()))
                        .add(files.get(i), isFolder ? level(reader.get().spec(), files.name(i)) : "");
            }
        }
        List<LarderException> refusals = walk.refusals();
        List<SourceArray> arrays = new ArrayList<>();
        Set<String> missing = new TreeSet<>(options.keys());
        try {
            if (refusals.isEmpty()) {
                groups.forEach((reader, group) ->
                        arrays.addAll(look(reader, group, dataset, options, settings, refusals, missing)));
            }
            if (!missing.isEmpty() && !arrays.isEmpty()) {
                refusals.add(Refusal.noColumns(path, missing));
            }
            arrays.forEach(array -> refuse(array, refusals));
        } catch (RuntimeException | Error e) {
            arrays.forEach(SourceArray::release);
            throw e;
        }
        if (arrays.isEmpty() && refusals.isEmpty()) {
            throw ColumnScan.nothing(
                    path,
                    skipped,
                    walk.hidden(),
                    options.keys().isEmpty()
                            ? "its files have no arrays"
                            : "none of its files has a column of this name: " + options.keys());
        }
        return ColumnScan.source(new ScannedSource(dataset, path, arrays, skipped, walk.hidden()), refusals);
    }

    private static String level(ReaderSpec spec, String name) {
        String folder = name.substring(0, name.lastIndexOf('/') + 1);
        return spec.isJoining() ? folder : folder + spec.stem(fileName(name)) + "/";
    }

    private static List<SourceArray> look(
            Readers.Known reader,
            Group group,
            String dataset,
            SourceOptions options,
            ScanSettings settings,
            List<LarderException> refusals,
            Set<String> missing) {
        ReadRequest request =
                new ReadRequest(group.inputs, word(options.as()), options.keys(), Math.max(1, settings.workers()));
        ReaderSource source = ReaderSource.open(reader, group.files, request, settings);
        try {
            List<SourceArray> found = source.arrays(dataset, refusals);
            missing.removeIf(source::has);
            if (found.isEmpty()) {
                source.close();
            }
            return found;
        } catch (RuntimeException | Error e) {
            source.close();
            throw e;
        }
    }

    /** Refuses what the store cannot have. */
    private static void refuse(SourceArray array, List<LarderException> refusals) {
        String unlistable = ArrayRow.objection(array.name().toString(), array.dtype());
        if (unlistable != null) {
            refusals.add(Refusal.unfit(array.file(), "its array cannot be listed: " + unlistable, "shorten its name"));
        } else {
            try {
                StoreLayout.header(array.header());
            } catch (LarderException e) {
                refusals.add(
                        Refusal.unfit(array.file(), String.valueOf(e.getMessage()), "leave it out with --columns"));
            }
        }
    }
}
