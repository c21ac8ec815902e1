package dev.larder.server.source.scan;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.reader.InputFile;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.Selection;
import dev.larder.server.reader.ReaderSource;
import dev.larder.server.reader.ReaderSpec;
import dev.larder.server.reader.Readers;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Files that readers read, each in a process of its own. If a format's files are tables, those of a folder are one table, and each folder below has a
 * level of names; else each file of a folder has a level of its own. A folder with metadata of Zarr is read as one file with levels would be.
 */
final class ReaderFiles implements Format {
    private final List<Readers.Known> readers = Readers.all();
    private final String as;

    ReaderFiles(LoadOptions.As as) {
        this.as = as.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public @Nullable String kindOf(String fileName) {
        return named(fileName).map(reader -> reader.spec().description()).orElse(null);
    }

    private Optional<Readers.Known> named(String fileName) {
        return MetadataFolders.isMetadata(fileName) ? ofFolders() : Readers.named(readers, fileName, as);
    }

    /** Returns the reader of folders with metadata, if this is for arrays. */
    private Optional<Readers.Known> ofFolders() {
        return readers.stream()
                .filter(reader ->
                        reader.spec().isForFolders() && reader.spec().takes().contains(as))
                .findFirst();
    }

    @Override
    public boolean reads(String path, FileListing listing) {
        return (listing.metadataFolders().has(path) && ofFolders().isPresent())
                || kindOf(Format.fileName(path)) != null;
    }

    @Override
    public FileTable filesOf(FileListing listing) {
        return listing.files().only(path -> reads(path, listing));
    }

    /** Returns whether the first bytes of a file are those of a format that a reader reads as arrays. */
    boolean recognizes(Path file) {
        return as.equals("arrays") && Readers.beginning(readers, file, as).isPresent();
    }

    /** The files of one reader, and the names of their arrays. */
    private record Group(List<SourceIdentity> files, List<InputFile> inputs) {
        void add(SourceIdentity file, String level) {
            files.add(file);
            inputs.add(new InputFile(file.file(), level));
        }
    }

    @Override
    public void look(FileTable files, Findings found) {
        found.read(files.size());
        Map<Readers.Known, Group> groups = new LinkedHashMap<>();
        Map<String, SourceIdentity> firstOf = new HashMap<>();
        for (int i = 0; i < files.size(); i++) {
            String name = files.name(i);
            Readers.Known reader = reader(name, found.listing());
            SourceIdentity file = files.get(i);
            String level = level(reader.spec(), name, found.listing());
            boolean isAlone = !reader.spec().isJoining() && !reader.spec().isForFolders();
            SourceIdentity other = isAlone ? firstOf.putIfAbsent(Selection.storedName(level), file) : null;
            if (other != null) {
                found.refusals()
                        .add(Refusal.unfit(
                                file.file(),
                                "its arrays would be called " + level + "…, as those of " + other.file(),
                                "rename one of them, or leave one out with --exclude"));
            }
            groups.computeIfAbsent(reader, kind -> new Group(new ArrayList<>(), new ArrayList<>()))
                    .add(file, level);
        }
        if (!found.isSound()) {
            return;
        }
        groups.forEach((reader, group) -> look(reader, group, found));
        found.arrays().forEach(array -> refuse(array, found.refusals()));
        List<String> keys = found.options().keys();
        if (found.arrays().isEmpty() && found.isSound()) {
            throw found.nothing(
                    keys.isEmpty()
                            ? "its files have no arrays"
                            : "none of its files has a column of this name: " + keys);
        } else if (!found.missing().isEmpty()) {
            found.object(Refusal.noColumns(found.listing().root(), found.missing()));
        }
    }

    private Readers.Known reader(String name, FileListing listing) {
        if (!listing.isFolder() && MetadataFolders.isMetadata(name)) {
            throw Refusal.unfit(
                    listing.root(), "it is the metadata of a Zarr folder, without the data", "name the folder");
        }
        Optional<Readers.Known> known =
                listing.metadataFolders().has(name) ? ofFolders() : named(Format.fileName(name));
        return known.or(() -> Readers.beginning(readers, listing.root(), as)).orElseThrow();
    }

    private static String level(ReaderSpec spec, String name, FileListing listing) {
        if (!listing.isFolder()) {
            return "";
        } else if (spec.isForFolders() && listing.metadataFolders().has(name)) {
            return listing.metadataFolders().level(name, spec::stem);
        }
        String folder = name.substring(0, name.lastIndexOf('/') + 1);
        return spec.isJoining() ? folder : folder + spec.stem(Format.fileName(name)) + "/";
    }

    private void look(Readers.Known reader, Group group, Findings found) {
        ScanSettings settings = found.settings();
        ReadRequest request = new ReadRequest(
                group.inputs,
                as,
                found.options().keys(),
                Math.max(1, settings.workers()),
                found.options().decimals());
        ReaderSource source = ReaderSource.open(reader, group.files, request, settings);
        try {
            List<SourceArray> arrays = source.arrays(found.dataset(), found.refusals());
            found.missing().removeIf(source::has);
            found.addAll(arrays);
            if (arrays.isEmpty()) {
                source.close();
            }
        } catch (RuntimeException | Error e) {
            source.close();
            throw e;
        }
    }

    /** Refuses an array that the store cannot have. */
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
