package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.server.reader.Readers;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.arrow.ArrowFolder;
import dev.larder.server.source.formats.DiscoveredFile;
import dev.larder.server.source.formats.SourceKind;
import dev.larder.server.source.formats.TarMembers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The table of formats, in order of precedence. Of a folder it takes the first format that has files there; with {@code --columns}, each name
 * comes from the first format that has it.
 */
public final class Formats {
    private static final int MOST_UNKNOWN = 3;

    private final SourceOptions options;

    /** True if the arrays become rows of columns. */
    private final boolean isRagged;

    private final ArrayFiles arrays;
    private final ReaderFiles readers;
    private final Format images = new ImageFiles();
    private final Format texts = new TextFiles();

    /** All formats of arrays and columns, whether the options allow them or not. */
    private final List<Format> known;

    private Formats(SourceOptions options, boolean isRagged) {
        this.options = options;
        this.isRagged = isRagged;
        this.arrays = new ArrayFiles(options, isRagged);
        this.readers = new ReaderFiles(options.as());
        this.known = List.of(arrays, new ArrowFiles(), new TarArchives(), readers);
    }

    /** Returns the table for some options; fails with {@link ErrorCode#USAGE} if they contradict each other. */
    static Formats of(SourceOptions options) {
        if (options.as() == LoadOptions.As.RAGGED) {
            RaggedFiles.requireColumns(options.keys());
            return new Formats(options.withAs(LoadOptions.As.ARRAYS), true);
        } else if (!options.dtype().isEmpty() && options.as() != LoadOptions.As.ARRAYS) {
            throw Failure.of(
                            ErrorCode.USAGE,
                            "--dtype cannot be used with --as "
                                    + options.as().name().toLowerCase(Locale.ROOT))
                    .with("dtype", options.dtype())
                    .remedy("load it without one of the two");
        }
        return new Formats(options, false);
    }

    /** Returns the formats that the options allow. */
    private List<Format> allowed() {
        return switch (options.as()) {
            case ARRAYS -> options.dtype().isEmpty() ? known : List.of(arrays);
            case BYTES -> List.of(readers, new AnyFiles());
            case IMAGES -> List.of(readers, images);
            case STRINGS, INDEX -> List.of(readers, texts);
            case RAGGED -> throw new IllegalStateException("as=" + options.as());
        };
    }

    /** Returns the format of a file that is the source itself: by its name, else by its first bytes, else the most general. */
    private Format ofFile(Path file) {
        List<Format> allowed = allowed();
        for (Format format : allowed) {
            if (format.kindOf(String.valueOf(file.getFileName())) != null) {
                return format;
            }
        }
        return allowed.contains(readers) && readers.recognizes(file)
                ? readers
                : isForArrays() ? arrays : allowed.get(1);
    }

    private boolean isForArrays() {
        return options.as() == LoadOptions.As.ARRAYS;
    }

    /** Finds all that a source has. */
    ScannedSource scan(String dataset, Path path, ScanSettings settings) {
        FileListing listing = FileListing.of(path, options.exclusion(), settings);
        try (Findings found = new Findings(dataset, listing, options, settings)) {
            look(found);
            return found.source(passedOver(found), firstUnknown(found));
        }
    }

    private void look(Findings found) {
        FileListing listing = found.listing();
        if (!listing.isFolder()) {
            found.look(ofFile(listing.root()), listing.files(), true);
        } else {
            found.refusals().addAll(listing.refusals());
            if (isForArrays()) {
                lookForArrays(found);
            } else {
                Format format = ofFolder(listing);
                found.look(format, format.filesOf(listing), true);
            }
        }
        if (isForArrays() && found.refusals().isEmpty()) {
            requireAll(found);
        }
        if (isRagged && found.refusals().isEmpty()) {
            RaggedFiles.join(found);
        }
    }

    /** Returns the format of a folder if files become rows: that of readers only if they read all files. */
    private Format ofFolder(FileListing listing) {
        List<Format> allowed = allowed();
        FileTable files = listing.files();
        boolean isForReaders = !files.isEmpty() && readers.filesOf(listing).size() == files.size();
        return isForReaders ? readers : allowed.get(1);
    }

    private void lookForArrays(Findings found) {
        boolean isNamed = !options.keys().isEmpty();
        boolean isAny = false;
        for (Format format : allowed()) {
            FileTable files = format.filesOf(found.listing());
            boolean isThere = !files.isEmpty()
                    || found.listing().unreadable().stream()
                            .anyMatch(file -> format.reads(file.name(), found.listing()));
            if (isThere) {
                isAny = true;
                found.look(format, files, !isNamed || format == arrays);
            }
            if (!found.refusals().isEmpty() || (isAny && found.missing().isEmpty())) {
                break;
            }
        }
    }

    /** Fails unless something was found, and all names that the options have. */
    private void requireAll(Findings found) {
        LarderException objection = found.objection();
        if (objection != null && !found.missing().isEmpty()) {
            throw objection;
        } else if (found.arrays().isEmpty()) {
            ArrowFolder.requireRows(found.listing().root());
            throw nothing(found);
        } else if (!found.missing().isEmpty()) {
            throw Refusal.noColumns(found.listing().root(), found.missing(), present(found));
        }
    }

    /** Returns the names of arrays that {@code --columns} can choose. */
    private Set<String> present(Findings found) {
        Set<String> names = new TreeSet<>(found.present());
        names.addAll(arrays.present(arrays.filesOf(found.listing())));
        return names;
    }

    private LarderException nothing(Findings found) {
        FileTable files = found.listing().files();
        Set<String> present = options.keys().isEmpty() ? Set.of() : present(found);
        if (!present.isEmpty()) {
            return isRagged
                    ? Refusal.unfit(
                            found.listing().root(),
                            "no file is called SCENE_KEY with one of the keys " + options.keys() + ": there are "
                                    + Refusal.shown(present),
                            "name other keys with --columns, or rename the files, as in scene0_"
                                    + options.keys().get(0))
                    : Refusal.noColumns(found.listing().root(), options.keys(), present);
        }
        if (!options.dtype().isEmpty()
                && !files.only(path -> isKnown(Format.fileName(path))).isEmpty()) {
            return ArrayFiles.typed(found.listing());
        }
        int known = arrays.filesOf(found.listing()).size();
        Failure failure = Failure.of(ErrorCode.BAD_INPUT, "source has nothing to load")
                .with("path", found.listing().root())
                .with("knownFiles", known)
                .with("skippedFiles", files.size() - known)
                .with("hiddenFiles", found.listing().hidden());
        if (!options.keys().isEmpty()) {
            failure.with("keys", options.keys());
        }
        String others = loadedOtherwise(found.listing());
        return failure.remedy(
                others.isEmpty()
                        ? "files of these kinds are read: " + allSuffixes()
                                + (files.size() == known ? "" : "; files of any kind with --as bytes")
                        : others);
    }

    /** Returns the ends of the names of files that are read without a reader, for people. */
    public static String suffixes() {
        List<String> suffixes = new ArrayList<>();
        Stream.of(SourceKind.values())
                .filter(kind -> kind != SourceKind.RAW)
                .forEach(kind -> suffixes.add(kind.suffixes()));
        suffixes.add(TarMembers.SUFFIXES);
        suffixes.addAll(ArrowFolder.SUFFIXES);
        return String.join(", ", suffixes) + "; " + SourceKind.RAW.suffixes();
    }

    /** Returns the same with the formats that readers add. */
    static String allSuffixes() {
        String readers = Readers.all().stream()
                .filter(reader -> reader.spec().schemes().isEmpty())
                .map(reader -> reader.spec().description())
                .collect(Collectors.joining(", "));
        return suffixes() + "; by readers (larder readers lists those that are installed) " + readers;
    }

    /** Returns the kind of a file by its name, for people; null if it is of none. */
    private @Nullable String kindOf(String path) {
        String name = Format.fileName(path);
        for (Format format : known) {
            String kind = format.kindOf(name);
            if (kind != null) {
                return kind;
            }
        }
        return images.kindOf(name);
    }

    /** Returns whether files with this name have types of their own. */
    static boolean isTyped(String fileName) {
        return new Formats(SourceOptions.none(), false).isKnown(fileName);
    }

    private boolean isKnown(String fileName) {
        return known.stream().anyMatch(format -> format.kindOf(fileName) != null);
    }

    /** Counts the files of a folder, by kind, that are of known kinds and that no array is made of. */
    private Map<String, Integer> passedOver(Findings found) {
        Map<String, Integer> counts = new TreeMap<>();
        if (found.skipped() == 0 || !isForArrays() || !found.listing().isFolder()) {
            return counts;
        }
        Set<String> taken = new HashSet<>();
        found.arrays()
                .forEach(array -> taken.add(String.valueOf(kindOf(array.file().toString()))));
        FileTable files = found.listing().files();
        for (int i = 0; i < files.size(); i++) {
            String kind = kindOf(files.name(i));
            if (kind != null && !taken.contains(kind)) {
                counts.merge(kind, 1, Integer::sum);
            }
        }
        return counts;
    }

    /** Returns the names of the first files of a folder that are of no kind that the options allow, nor counted by kind. */
    private List<String> firstUnknown(Findings found) {
        FileListing listing = found.listing();
        if (found.skipped() == 0 || !listing.isFolder()) {
            return List.of();
        }
        List<Format> formats =
                isForArrays() ? Stream.concat(known.stream(), Stream.of(images)).toList() : List.of(ofFolder(listing));
        FileTable files = listing.files();
        return IntStream.range(0, files.size())
                .mapToObj(files::name)
                .filter(name -> formats.stream().allMatch(format -> format.kindOf(Format.fileName(name)) == null))
                .limit(MOST_UNKNOWN)
                .toList();
    }

    /** Returns how to load files that only {@code --as} takes, such as {@code it has 40 images: add --as images}; empty if there are none. */
    private String loadedOtherwise(FileListing listing) {
        return Stream.of(
                        counted(images.filesOf(listing).size(), "image", "images"),
                        counted(texts.filesOf(listing).size(), "text file", "strings"))
                .filter(words -> !words.isEmpty())
                .collect(Collectors.joining("; "));
    }

    private static String counted(int count, String what, String as) {
        return count == 0 ? "" : "it has " + count + " " + what + (count == 1 ? "" : "s") + ": add --as " + as;
    }

    /** Returns the files of a folder that {@link #scan} would open, as far as names show. */
    Set<Path> opened(FileListing listing) {
        FileTable files = listing.files();
        Set<Path> opened = new HashSet<>();
        if (!isForArrays()) {
            addPaths(files, opened);
            return opened;
        }
        for (Format format : allowed()) {
            FileTable own = files.only(path -> format.reads(path, listing));
            addPaths(own, opened);
            boolean isAll = options.keys().isEmpty() || (format == arrays && arrays.haveAllKeys(own));
            if (!own.isEmpty() && isAll) {
                break;
            }
        }
        return opened;
    }

    private static void addPaths(FileTable files, Set<Path> paths) {
        for (int i = 0; i < files.size(); i++) {
            paths.add(files.path(i));
        }
    }

    /** Refuses a source that {@link #scan} would refuse, as far as names show; {@code inPlace} if its files are to be mapped. */
    void requireLikely(String dataset, Path path, boolean inPlace) {
        FileListing listing = FileListing.of(path, options.exclusion(), ScanSettings.quick());
        if (!isForArrays() || (!listing.isFolder() && ofFile(listing.root()) != arrays)) {
            return;
        }
        List<LarderException> refusals = new ArrayList<>(listing.refusals());
        FileTable files = listing.isFolder() ? arrays.filesOf(listing) : listing.files();
        List<DiscoveredFile> discovered = arrays.wanted(listing, files);
        if (inPlace) {
            discovered.stream()
                    .filter(file -> file.isGzip() || file.kind() == SourceKind.TABLE)
                    .map(file ->
                            Refusal.of(file.path(), 0, "it cannot be mapped in place: its data has to be unpacked"))
                    .forEach(refusals::add);
        }
        boolean isNothing = listing.isFolder() ? opened(listing).isEmpty() : discovered.isEmpty();
        if (!refusals.isEmpty()) {
            throw Refusal.all(dataset, listing.root(), refusals);
        } else if (isNothing) {
            throw nothing(new Findings(dataset, listing, options, ScanSettings.quick()));
        }
    }
}
