package dev.larder.server.source.scan;

import dev.larder.error.LarderException;
import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.Exclusion;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds files of any kind in a folder and below, through links; those and folders whose name begins with a dot are skipped. */
final class FileWalk extends FolderWalk {
    /** From so many entries on it pays to ask with several threads. */
    private static final int MANY = 256;

    private final ScanSettings settings;
    private final FileTable files;

    /** An entry of a folder, looked at: one of the two is there. */
    private record Entry(
            Path path,
            String name,
            SourceIdentity.@Nullable Status status,
            @Nullable LarderException refusal) {
        static Entry at(Path path) {
            String name = String.valueOf(path.getFileName());
            try {
                requireText(path, name);
                return new Entry(path, name, SourceIdentity.Status.of(path), null);
            } catch (LarderException e) {
                return new Entry(path, name, null, e);
            }
        }

        /** The table of files keeps names as text: another file, or none, is called what is left of these bytes. */
        private static void requireText(Path path, String name) {
            if (name.indexOf(DiscoveredFile.REPLACEMENT) >= 0 && !isNamed(path, name)) {
                throw Refusal.unfit(
                        path, "its name is not text in this locale", "rename it, or leave it out with --exclude");
            }
        }

        private static boolean isNamed(Path path, String name) {
            try {
                return path.equals(path.resolveSibling(name));
            } catch (InvalidPathException e) {
                return false;
            }
        }

        boolean isFolder() {
            return status != null && status.isFolder();
        }

        /** Sorts as the whole path does. */
        String key() {
            return isFolder() ? name + "/" : name;
        }
    }

    private FileWalk(Path root, boolean isFolder, Exclusion exclusion, ScanSettings settings) {
        super(exclusion, false);
        this.settings = settings;
        this.files = new FileTable(root, !isFolder);
    }

    /** Looks at everything that the options do not leave out. */
    static FileWalk of(Path root, SourceOptions options, ScanSettings settings) {
        boolean isFolder = Files.isDirectory(root);
        FileWalk walk = new FileWalk(root, isFolder, options.exclusion(), settings);
        if (isFolder) {
            walk.walk(root);
        } else {
            SourceIdentity file = SourceIdentity.of(root);
            walk.files.add(
                    "",
                    String.valueOf(root.getFileName()),
                    file.byteSize(),
                    file.modifiedNanos(),
                    file.changedNanos(),
                    file.inode());
        }
        return walk;
    }

    /** Returns the files, sorted by name. */
    FileTable files() {
        return files;
    }

    @Override
    void visit(Path folder, String level, List<Path> entries) {
        int found = 0;
        for (Entry entry : look(entries)) {
            SourceIdentity.Status status = entry.status;
            if (status == null) {
                refusals().add(Objects.requireNonNull(entry.refusal));
            } else if (status.isFolder()) {
                enter(entry.path, level + entry.name + "/");
            } else {
                files.add(
                        level,
                        entry.name,
                        status.byteSize(),
                        status.modifiedNanos(),
                        status.changedNanos(),
                        status.inode());
                found++;
            }
        }
        settings.onChecked().accept(found);
    }

    /** Returns the entries of a folder in the order of their whole paths. */
    private List<Entry> look(List<Path> entries) {
        Stream<Path> some = entries.size() > MANY ? entries.parallelStream() : entries.stream();
        return some.map(entry -> {
                    if (settings.isCancelled().getAsBoolean()) {
                        throw new CancellationException("cancelled while scanning");
                    }
                    return Entry.at(entry);
                })
                .sorted(Comparator.comparing(Entry::key))
                .toList();
    }
}
