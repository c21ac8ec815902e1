package dev.larder.server.store.lock;

import dev.larder.internal.posix.FileStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Identifies a file on this machine by number, not by name.
 *
 * @param deviceMajor with {@code deviceMinor}, the file system
 * @param inode the number of the file in its file system
 */
record FileNumber(int deviceMajor, int deviceMinor, long inode) {
    static FileNumber of(FileStatus file) {
        return new FileNumber(file.deviceMajor(), file.deviceMinor(), file.inode());
    }

    /** Reads the number of the file that has this name, without opening it; empty if it cannot be read. */
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

    /** Splits the device number as the kernel encodes it: low bits of the minor, then the major, then high bits of the minor. */
    private static FileNumber of(long device, long inode) {
        int major = (int) ((device >>> 8 & 0xfff) | (device >>> 32 & 0xfffff000L));
        int minor = (int) ((device & 0xff) | (device >>> 12 & 0xffffff00L));
        return new FileNumber(major, minor, inode);
    }
}
