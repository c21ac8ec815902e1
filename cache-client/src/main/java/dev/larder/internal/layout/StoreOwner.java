package dev.larder.internal.layout;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;

/**
 * The owner and the access mode of a store. If the folder's group bits and {@code setgid} bit are set, the store and its
 * contents are open to its group.
 *
 * @param uid the owner
 * @param user the owner's name
 * @param gid the group of the folder
 * @param group the name of that group
 * @param mode type and permission bits
 */
public record StoreOwner(int uid, String user, int gid, String group, int mode) {
    private static final int SHARED = 02050;
    private static final int WRITABLE_BY_OTHERS = 022;

    /** Reads the owner of a folder, without following a link. Fails with REFUSED if that is not possible. */
    public static StoreOwner of(Path folder) {
        try {
            Map<String, Object> found =
                    Files.readAttributes(folder, "unix:uid,gid,mode,owner,group", LinkOption.NOFOLLOW_LINKS);
            return new StoreOwner(
                    number(found, "uid"),
                    String.valueOf(found.get("owner")),
                    number(found, "gid"),
                    String.valueOf(found.get("group")),
                    number(found, "mode"));
        } catch (IOException e) {
            throw Failure.of(ErrorCode.REFUSED, "cannot read the owner of the store")
                    .with("store", folder)
                    .with("reason", e)
                    .cause(e)
                    .exception();
        }
    }

    private static int number(Map<String, Object> attributes, String name) {
        return attributes.get(name) instanceof Integer number ? number : -1;
    }

    /** Returns whether members of the folder's group may read published datasets and send requests. */
    public boolean isShared() {
        return (mode & SHARED) == SHARED;
    }

    /** Returns whether users other than the owner can create and remove files in the folder. */
    boolean isWritableByOthers() {
        return (mode & WRITABLE_BY_OTHERS) != 0;
    }
}
