package dev.larder.server.control;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.Posix;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The process that opened a connection, watched through a descriptor, because its pid may be used again. Owned by the connection. */
final class PeerProcess implements AutoCloseable {
    private final int descriptor;

    private PeerProcess(int descriptor) {
        this.descriptor = descriptor;
    }

    /** Returns the process with this pid; null if it cannot be watched, such as in another pid namespace. */
    static @Nullable PeerProcess of(long pid) {
        try {
            int descriptor = pid <= 0 ? Posix.NOT_SUPPORTED : Posix.system().openProcess(pid);
            return descriptor == Posix.NOT_SUPPORTED ? null : new PeerProcess(descriptor);
        } catch (LarderException e) {
            return null; // no descriptor is left, or the kernel forbids it: only the socket counts
        }
    }

    /** Returns whether the process has ended. Its sockets may still be open in a child. */
    boolean hasEnded() {
        return descriptor == Posix.NO_PROCESS || Posix.system().awaitEnd(descriptor, Duration.ZERO);
    }

    @Override
    public void close() {
        if (descriptor >= 0) {
            Posix.system().close(descriptor);
        }
    }
}
