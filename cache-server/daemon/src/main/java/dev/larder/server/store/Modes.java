package dev.larder.server.store;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.layout.StoreOwner;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The permissions of files and folders in a store: for its owner only, or also for the group of its folder. Each follows the folder
 * that contains it; the umask of the process has no effect. The {@code setgid} bit passes the group on.
 *
 * <pre>
 *                         owner only    with a group
 *   store, data/**        0700          2750
 *   incoming              0700          2710   may be passed through but not listed
 *   loaders               0700          3770   members create files in it
 *   incoming/&lt;load&gt;       0700          2700   until it is published
 *   incoming/&lt;upload&gt;     0700          2710   of a member: the name is secret, the daemon creates the files
 *   published files       0400          0440
 * </pre>
 */
final class Modes {
    private static final int OWNER_FOLDER = 0700;
    private static final int SHARED_FOLDER = 02750;
    private static final int PASSAGE = 02710;
    private static final int MEMBERS_FOLDER = 03770;
    private static final int OWNER_FILE = 0400;
    private static final int SHARED_FILE = 0440;
    private static final int OWNER_WRITABLE_FILE = 0600;
    private static final int MEMBER_FILE = 0660;

    private Modes() {}

    /** Creates a folder for its owner only. */
    static void makePrivateFolder(Path folder) throws IOException {
        Files.createDirectory(folder, ownerOnly());
    }

    /** Creates a folder that the group may list if it may list the parent. */
    static void makeFolder(Path folder) throws IOException {
        Files.createDirectory(folder, ownerOnly());
        share(folder);
    }

    /** Creates a folder that the group may pass through if it may list the parent. */
    static void makePassage(Path folder) throws IOException {
        Files.createDirectory(folder, ownerOnly());
        set(folder, isShared(folder) ? PASSAGE : OWNER_FOLDER);
    }

    /** Lets the group list a folder if it may list the parent. */
    static void share(Path folder) throws IOException {
        set(folder, isShared(folder) ? SHARED_FOLDER : OWNER_FOLDER);
    }

    /** Lets the group create files in a folder if it may list the parent, and each member remove only its own. */
    static void letMembersCreate(Path folder) throws IOException {
        set(folder, isShared(folder.resolveSibling("")) ? MEMBERS_FOLDER : OWNER_FOLDER);
    }

    /** Creates an empty file that the group may write. */
    static void makeFileForMember(Path file) throws IOException {
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        set(file, MEMBER_FILE);
    }

    /** Lets only the owner write a file. */
    static void makeWritable(Path file) throws IOException {
        set(file, OWNER_WRITABLE_FILE);
    }

    /** Gives a file the permissions of a published file, which no user may write. */
    static void seal(Path file) throws IOException {
        set(file, fileMode(file.resolveSibling("")));
    }

    /** Returns the permissions of a published file in a folder. */
    static int fileMode(Path folder) throws IOException {
        return isShared(folder) ? SHARED_FILE : OWNER_FILE;
    }

    /** A folder inherits the bit from its parent. */
    private static boolean isShared(Path folder) throws IOException {
        return ((int) Files.getAttribute(folder, "unix:mode", LinkOption.NOFOLLOW_LINKS) & 02000) != 0;
    }

    /**
     * Opens a store to a group, or closes it to all but its owner, with all files of an earlier daemon. The store folder itself is opened
     * last and closed first, so that an open store is completely open even if an earlier call was interrupted.
     */
    static void apply(Path store, Path data, Optional<String> group) throws IOException {
        StoreOwner before = StoreOwner.of(store);
        if (group.isEmpty()) {
            set(store, OWNER_FOLDER);
            if (before.isShared()) {
                handDown(data, before.gid(), false);
            }
            return;
        }
        if (!before.isShared() || !before.group().equals(group.get())) {
            set(store, OWNER_FOLDER);
        }
        giveTo(store, group.get());
        int gid = StoreOwner.of(store).gid();
        if (!before.isShared() || before.gid() != gid) {
            handDown(data, gid, true);
        }
        set(store, SHARED_FOLDER);
    }

    private static void giveTo(Path store, String group) throws IOException {
        Object principal = principal(group);
        try {
            Files.setAttribute(store, "posix:group", principal);
        } catch (FileSystemException e) {
            throw Failure.of(ErrorCode.REFUSED, "the store cannot be given to the group")
                    .with("store", store)
                    .with("group", group)
                    .with("user", StoreLocation.userName())
                    .with("reason", e.getReason())
                    .cause(e)
                    .remedy("run the daemon as a member of the group");
        }
    }

    private static void handDown(Path data, int gid, boolean isShared) throws IOException {
        if (Files.isDirectory(data, LinkOption.NOFOLLOW_LINKS)) {
            try (Stream<Path> entries = Files.walk(data)) {
                for (Path entry : (Iterable<Path>) entries::iterator) {
                    handDownOne(entry, gid, isShared);
                }
            }
        }
    }

    /** Skips entries other than files and folders; they are removed elsewhere. */
    private static void handDownOne(Path entry, int gid, boolean isShared) throws IOException {
        boolean isFolder = Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS);
        if (isFolder || Files.isRegularFile(entry, LinkOption.NOFOLLOW_LINKS)) {
            Files.setAttribute(entry, "unix:gid", gid, LinkOption.NOFOLLOW_LINKS);
            int shared = isFolder ? SHARED_FOLDER : SHARED_FILE;
            set(entry, isShared ? shared : isFolder ? OWNER_FOLDER : OWNER_FILE);
        }
    }

    /** Fails with USAGE if there is no such group. */
    static void requireGroup(String group) throws IOException {
        Object unused = principal(group);
    }

    private static Object principal(String group) throws IOException {
        try {
            return FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByGroupName(group);
        } catch (UserPrincipalNotFoundException e) {
            throw Failure.of(ErrorCode.USAGE, "no such group")
                    .with("group", group)
                    .cause(e)
                    .remedy("getent group lists them");
        }
    }

    private static FileAttribute<?> ownerOnly() {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    }

    private static void set(Path path, int mode) throws IOException {
        Files.setAttribute(path, "unix:mode", mode, LinkOption.NOFOLLOW_LINKS);
    }
}
