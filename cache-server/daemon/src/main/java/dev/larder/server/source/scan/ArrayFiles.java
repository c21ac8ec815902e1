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
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Files of arrays, such as {@code .npy} and {@code .npz}: the array of each, or its members, under names made of its path. */
final class ArrayFiles implements Format {
    private final SourceOptions options;
    private final ArrayKeys filter;

    ArrayFiles(SourceOptions options) {
        this.options = options;
        this.filter = new ArrayKeys(options.keys());
    }

    @Override
    public @Nullable String kindOf(String fileName) {
        return SourceKind.of(fileName, options) == null ? null : "arrays";
    }

    @Override
    public boolean reads(String path, FileListing listing) {
        SourceKind kind = SourceKind.of(Format.fileName(path), options);
        return kind != null && (kind.hasMembers(options) || filter.isWanted(DiscoveredFile.nameOf(path, kind)));
    }

    private boolean isWanted(DiscoveredFile file) {
        return file.hasMembers() || filter.isWanted(file.arrayName());
    }

    /** Returns whether each key belongs to one of some files, as far as names show. */
    boolean haveAllKeys(FileTable files) {
        List<String> names = IntStream.range(0, files.size())
                .mapToObj(i -> below(files, i))
                .filter(file -> !file.hasMembers())
                .map(DiscoveredFile::arrayName)
                .toList();
        return filter.keysOfNone(names).isEmpty();
    }

    private DiscoveredFile below(FileTable files, int index) {
        SourceKind kind = Objects.requireNonNull(SourceKind.of(Format.fileName(files.name(index)), options));
        return DiscoveredFile.below(files, index, kind, options);
    }

    /** Returns the files to load; refuses a single file of another format, and a dtype for files of which none takes one. */
    List<DiscoveredFile> wanted(FileListing listing, FileTable files) {
        boolean isFolder = listing.isFolder();
        List<DiscoveredFile> wanted = IntStream.range(0, files.size())
                .mapToObj(i -> isFolder ? below(files, i) : alone(files))
                .filter(this::isWanted)
                .sorted(Comparator.comparing(DiscoveredFile::arrayName).thenComparing(DiscoveredFile::path))
                .toList();
        if (isFolder && isTyped() && !wanted.isEmpty() && wanted.stream().noneMatch(file -> file.kind().takesDtype())) {
            throw typed(listing);
        }
        return wanted;
    }

    private boolean isTyped() {
        return !options.dtype().isEmpty();
    }

    /** Returns the refusal of a folder whose files say their types themselves. */
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
        Set<String> names = new HashSet<>();
        discovered.stream().filter(file -> !file.hasMembers()).forEach(file -> names.add(file.arrayName()));
        checked.arrays().forEach(array -> names.add(array.name().array()));
        ArrayKeys ofScenes = filter.without(checked.columns());
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
