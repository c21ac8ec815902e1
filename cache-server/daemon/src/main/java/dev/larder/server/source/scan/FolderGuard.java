package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Bounds a walk through folders that follows links. Refuses a folder within itself, a folder that links lead to many times, and file systems
 * without data, such as {@code /proc}.
 */
final class FolderGuard {
    private static final Set<String> WITHOUT_DATA = Set.of(
            "binfmt_misc",
            "bpf",
            "cgroup",
            "cgroup2",
            "configfs",
            "debugfs",
            "devpts",
            "devtmpfs",
            "efivarfs",
            "fusectl",
            "mqueue",
            "nsfs",
            "proc",
            "pstore",
            "rpc_pipefs",
            "securityfs",
            "sysfs",
            "tracefs");
    private static final int MOST_VISITS = 64;

    private final Deque<Level> above = new ArrayDeque<>();
    private final Map<Folder, Integer> visitsThroughLinks = new HashMap<>();

    /** Identifies a folder, by any of its names. */
    private record Folder(@Nullable Object device, @Nullable Object inode) {}

    private record Level(Folder folder, boolean isThroughLink) {}

    /** Refuses the root of the file system, by any name. */
    static void requireNotEverything(Path source) {
        if (isRoot(source)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "source is the whole file system")
                    .with("path", source)
                    .remedy("name the folder that has your data");
        }
    }

    private static boolean isRoot(Path source) {
        try {
            return source.toRealPath().getNameCount() == 0;
        } catch (IOException unreadable) { // the walk reports it
            return false;
        }
    }

    /** Enters a folder; {@link #leave} ends that. Fails without entering it if a walk must not go there. */
    void enter(Path path) throws IOException {
        Map<String, Object> attributes = Files.readAttributes(path, "unix:dev,ino");
        Folder folder = new Folder(attributes.get("dev"), attributes.get("ino"));
        Level parent = above.peek();
        if (above.stream().anyMatch(level -> level.folder.equals(folder))) {
            throw new FileSystemLoopException(path.toString());
        } else if (parent == null || !Objects.equals(parent.folder.device, folder.device)) {
            requireData(path);
        }
        boolean isThroughLink = (parent != null && parent.isThroughLink) || Files.isSymbolicLink(path);
        if (isThroughLink && visitsThroughLinks.merge(folder, 1, Integer::sum) > MOST_VISITS) {
            throw new FileSystemException(
                    path.toString(), null, "links lead to this folder more than " + MOST_VISITS + " times");
        }
        above.push(new Level(folder, isThroughLink));
    }

    private static void requireData(Path path) throws IOException {
        String type;
        try {
            type = Files.getFileStore(path).type();
        } catch (IOException e) {
            return; // as in a chroot whose root is no mount point
        }
        if (WITHOUT_DATA.contains(type)) {
            throw new FileSystemException(
                    path.toString(), null, "it is on a file system of type " + type + ", which has no data");
        }
    }

    void leave() {
        above.pop();
    }
}
