package dev.larder.server.store.lock;

import dev.larder.internal.posix.FileStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * What tells a file from every other one on the machine, whatever its name.
 *
 * @param deviceMajor with {@code deviceMinor} the file system it lies on
 * @param inode its number there
 */
record FileNumber(int deviceMajor, int deviceMinor, long inode) {
    static FileNumber of(FileStatus file) {
        return new FileNumber(file.deviceMajor(), file.deviceMinor(), file.inode());
    }

    /** Looks at a name, which needs no right to open the file, nor a free descriptor; empty where there is nothing to be seen. */
    static Optional<FileNumber> of(Path path) {
        try {
            Map<String, Object> found = Files.readAttributes(path, "unix:dev,ino", LinkOption.NOFOLLOW_LINKS);
            return found.get("dev") instanceof Long device && found.get("ino") instanceof Long inode
                    ? Optional.of(of(device, inode))
                    : Optional.empty();
        } catch (IOException absent) {
            return Optional.empty();
        }
    }

    /** In the number of a device the minor one's low bits stand below the major one, its high bits above. */
    private static FileNumber of(long device, long inode) {
        int major = (int) ((device >>> 8 & 0xfff) | (device >>> 32 & 0xfffff000L));
        int minor = (int) ((device & 0xff) | (device >>> 12 & 0xffffff00L));
        return new FileNumber(major, minor, inode);
    }
}
