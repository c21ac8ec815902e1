package dev.larder.gloo;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.time.Backoff;
import dev.larder.internal.time.Deadline;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.bytedeco.javacpp.Loader;
import org.jspecify.annotations.Nullable;

/**
 * Unpacks all libraries before it loads one, in one process at a time. Otherwise a library fails to load if its dependencies are not
 * unpacked yet. The system's library of that name is then loaded instead (Debian's python3-torch has a libtorch.so), and the process
 * crashes.
 */
final class GlooLibraries {
    private static final String LOCK = ".larder.lock";
    private static final List<String> PARTS = List.of("openblas", "pytorch");
    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);

    private static boolean isLoaded;

    private GlooLibraries() {}

    /** Loads the libraries. Waits up to {@code patience} for other processes that unpack them. */
    static synchronized void load(Duration patience) {
        if (isLoaded) {
            return;
        }
        Deadline deadline = Deadline.after(patience);
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);
        try {
            Path lock = Loader.getCacheDir().toPath().resolve(LOCK);
            try (FileChannel file = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                @Nullable FileLock held = file.tryLock();
                while (held == null) {
                    if (deadline.isOver() || !backoff.pause(deadline)) {
                        throw Failure.of(
                                        ErrorCode.DEADLINE,
                                        "another process has not unpacked the libraries of Gloo in time")
                                .with("lock", lock)
                                .with("waited", patience.toSeconds() + "s")
                                .remedy("wait longer (the group's timeout), or end the process that holds the lock");
                    }
                    held = file.tryLock();
                }
                for (String part : PARTS) {
                    Object unused = Loader.cacheResources(
                            GlooLibraries.class, "/org/bytedeco/" + part + "/" + Loader.getPlatform() + "/");
                }
                Object unused = Loader.load(org.bytedeco.pytorch.global.torch.class);
                isLoaded = true;
            } // closing the file releases the lock
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "the libraries of Gloo cannot be unpacked")
                    .with("reason", e)
                    .cause(e)
                    .remedy("make room in ~/.javacpp, or name another folder with -Dorg.bytedeco.javacpp.cachedir");
        }
    }
}
