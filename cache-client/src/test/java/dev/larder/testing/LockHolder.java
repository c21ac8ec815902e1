package dev.larder.testing;

import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.file.Path;

/** A program that locks a file until its standard input ends, or until it is killed. */
public final class LockHolder {
    private LockHolder() {}

    /** Takes the file, and {@code shared} or {@code exclusive}; prints whether it got the lock. */
    public static void main(String[] arguments) throws IOException {
        Posix posix = Posix.system();
        int descriptor = posix.openForReading(Path.of(arguments[0]));
        boolean locked =
                arguments[1].equals("shared") ? posix.tryLockShared(descriptor) : posix.tryLockExclusive(descriptor);
        System.out.println(locked);
        System.in.read();
    }
}
