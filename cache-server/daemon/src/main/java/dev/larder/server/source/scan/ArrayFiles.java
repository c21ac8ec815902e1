package dev.larder.server.source.scan;

import dev.larder.error.LarderException;
import dev.larder.server.source.ArrayKeys;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.formats.DiscoveredFile;
import dev.larder.server.source.formats.ImageFormat;
import dev.larder.server.source.formats.SourceKind;
import dev.larder.server.source.text.TextKind;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Files of arrays, such as {@code .npy} and {@code .npz}: the array of each, or its members, under names made of its path. */
final class ArrayFiles implements Format {
    private static final int MOST_STEMS = 10_000;

    private static final Pattern PICKLE =
            Pattern.compile(".*\\.(pkl|pickle|pt|pth|joblib)", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private final SourceOptions options;
    private final ArrayKeys filter;
    private final boolean isRagged;

    /** Takes the options; {@code isRagged} if arrays become rows, and their files need names of scenes before the keys. */
    ArrayFiles(SourceOptions options, boolean isRagged) {
        this.options = options;
        this.isRagged = isRagged;
        this.filter = new ArrayKeys(options.keys());
    }

    @Override
    public @Nullable String kindOf(String fileName) {
        return SourceKind.of(fileName, options) == null ? null : "arrays";
    }

    @Override
    public boolean reads(String path, FileListing listing) {
        SourceKind kind = SourceKind.of(Format.fileName(path), options);
        return kind != null && (kind.hasMembers(options) || mayWant(DiscoveredFile.nameOf(path, kind)));
    }

    private boolean mayWant(String arrayName) {
        return filter.isWanted(arrayName) || (!isRagged && filter.mayChoose(ArrayKeys.lastLevel(arrayName)));
    }

    private boolean isWanted(DiscoveredFile file, Set<String> stems) {
        return file.hasMembers()
                || filter.isWanted(file.arrayName())
                || stems.contains(ArrayKeys.lastLevel(file.arrayName()));
    }

    /** Returns the names of the arrays of files that have one array each. */
    private static List<String> names(List<DiscoveredFile> files) {
        return files.stream()
                .filter(file -> !file.hasMembers())
                .map(DiscoveredFile::arrayName)
                .toList();
    }

    /** Returns the keys that are stems of files, if no stem ends in {@code _} and the key. */
    private Set<String> stems(Collection<String> names) {
        return isRagged ? Set.of() : filter.stems(names);
    }

    /** Returns the keys that would choose some files with one array each by their stems. */
    Set<String> present(FileTable files) {
        return IntStream.range(0, files.size())
                .mapToObj(i -> below(files, i))
                .filter(file -> !file.hasMembers())
                .map(file -> ArrayKeys.lastLevel(file.arrayName()))
                .limit(MOST_STEMS)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns whether each key belongs to one of some files, as far as names show. */
    boolean haveAllKeys(FileTable files) {
        List<String> names = names(
                IntStream.range(0, files.size()).mapToObj(i -> below(files, i)).toList());
        return stems(names).containsAll(filter.keysOfNone(names));
    }

    private DiscoveredFile below(FileTable files, int index) {
        SourceKind kind = Objects.requireNonNull(SourceKind.of(Format.fileName(files.name(index)), options));
        return DiscoveredFile.below(files, index, kind, options);
    }

    /** Returns the files to load; refuses a single file of another format, and a dtype for a folder if no file takes it. */
    List<DiscoveredFile> wanted(FileListing listing, FileTable files) {
        boolean isFolder = listing.isFolder();
        List<DiscoveredFile> all = IntStream.range(0, files.size())
                .mapToObj(i -> isFolder ? below(files, i) : alone(files))
                .toList();
        Set<String> stems = options.keys().isEmpty() ? Set.of() : stems(names(all));
        List<DiscoveredFile> wanted = all.stream()
                .filter(file -> isWanted(file, stems))
                .sorted(Comparator.comparing(DiscoveredFile::arrayName).thenComparing(DiscoveredFile::path))
                .toList();
        if (isFolder
                && isTyped()
                && !wanted.isEmpty()
                && wanted.stream().noneMatch(file -> file.kind().takesDtype())) {
            throw typed(listing);
        }
        return wanted;
    }

    private boolean isTyped() {
        return !options.dtype().isEmpty();
    }

    /** Returns the refusal of a dtype for a folder of typed files. */
    static LarderException typed(FileListing listing) {
        return Refusal.unfit(
                listing.root(), "the formats of its files already have a dtype", "load it without --dtype");
    }

    private DiscoveredFile alone(FileTable files) {
        Path file = files.path(0);
        String fileName = files.name(0);
        SourceKind kind = SourceKind.of(fileName, options);
        if (kind == null && !isTyped()) {
            throw unknown(file, fileName);
        } else if (isTyped() && (kind == null ? Formats.isTyped(fileName) : !kind.takesDtype())) {
            throw Refusal.unfit(file, "its format already has a dtype", "load it without --dtype");
        }
        return DiscoveredFile.alone(files, kind == null ? SourceKind.RAW : kind, options);
    }

    private static LarderException unknown(Path file, String fileName) {
        boolean isImage = ImageFormat.isNamedSo(fileName);
        boolean isText = TextKind.of(fileName) != null;
        if (TextKind.isJson(fileName) || PICKLE.matcher(fileName).matches()) {
            return Refusal.unfit(
                    file,
                    "it is not a file of arrays",
                    TextKind.isJson(fileName)
                            ? TextKind.AS_LINES + ", and load that --as strings"
                            : "read it in Python and write its arrays with numpy.save");
        }
        return Refusal.unfit(
                file,
                isImage || isText
                        ? "it is not a file of arrays"
                        : "its name has no known suffix (" + Formats.allSuffixes() + ")",
                isImage
                        ? "load it --as images"
                        : isText
                                ? "load it --as strings, or --as bytes"
                                : "rename it, give --dtype if it has raw numbers, or load it --as bytes");
    }

    @Override
    public void look(FileTable files, Findings found) {
        List<DiscoveredFile> discovered = wanted(found.listing(), files);
        found.read(discovered.isEmpty() ? 0 : files.size());
        Scan checked = Scan.of(found.dataset(), discovered, options, found.settings());
        found.addAll(checked.arrays());
        found.refusals().addAll(checked.refusals());
        requireKeys(discovered, checked, found);
    }

    /** Takes the keys that were found out of those that are missing. Each scene that has one of them has to have all. */
    private void requireKeys(List<DiscoveredFile> discovered, Scan checked, Findings found) {
        Set<String> names = new HashSet<>(names(discovered));
        Set<String> named = new HashSet<>(checked.columns());
        named.addAll(stems(names));
        found.present().addAll(checked.members());
        checked.arrays().forEach(array -> names.add(array.name().array()));
        ArrayKeys ofScenes = filter.without(named);
        List<String> keysOfNone = ofScenes.keysOfNone(names);
        found.missing().retainAll(keysOfNone);
        Path root = found.listing().root();
        LarderException incomplete = ofScenes.without(keysOfNone).incomplete(root, names);
        LarderException whole = keysOfNone.isEmpty() ? null : ofScenes.incomplete(root, names);
        if (incomplete != null) {
            found.refusals().add(incomplete);
        } else if (whole != null) {
            found.noteIncomplete(whole);
        }
    }
}
