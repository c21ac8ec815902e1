package dev.larder.testing;

import dev.larder.internal.posix.MemoryGroup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.opentest4j.TestAbortedException;

/**
 * A control group with a limit of memory, made below this process's own; where this user or machine does not let it, the test is
 * skipped with the reason.
 */
public final class LimitedGroup implements AutoCloseable {
    private static final long CLOSE_LIMIT_NS = TimeUnit.SECONDS.toNanos(10);

    private final Path folder;
    private final MemoryGroup group;

    private LimitedGroup(Path folder, MemoryGroup group) {
        this.folder = folder;
        this.group = group;
    }

    /** Makes one, of whichever version lets it. */
    public static LimitedGroup of(long limitBytes) {
        List<MemoryGroup> own = MemoryGroup.own();
        String refusals = own.isEmpty() ? "there is none that has memory" : "";
        for (MemoryGroup above : own) {
            Path folder = above.folder().resolve("larder-test-" + System.nanoTime());
            try {
                Files.createDirectory(folder);
                try {
                    Path limit = folder.resolve(above.isVersion2() ? "memory.max" : "memory.limit_in_bytes");
                    Files.writeString(limit, Long.toString(limitBytes));
                    return new LimitedGroup(
                            folder, new MemoryGroup(above.root(), above.mountPoint(), folder, above.isVersion2()));
                } catch (IOException e) {
                    Files.delete(folder);
                    throw e;
                }
            } catch (IOException e) {
                refusals += " " + e;
            }
        }
        throw new TestAbortedException("cannot make a control group with a limit of memory:" + refusals);
    }

    /** Returns the folder whose {@code cgroup.procs} lets processes in. */
    public Path folder() {
        return folder;
    }

    /** Returns what the kernel tells of it. */
    public MemoryGroup group() {
        return group;
    }

    /** Removes it when the last process in it has ended. */
    @Override
    public void close() {
        long start = System.nanoTime();
        while (true) {
            try {
                Files.delete(folder);
                return;
            } catch (IOException busy) {
                if (System.nanoTime() - start > CLOSE_LIMIT_NS) {
                    throw new UncheckedIOException(busy);
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
        }
    }
}
