package dev.larder.distributed.rendezvous;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Which process something belongs to, so that its death can be proven: a pid alone is given to others later.
 *
 * @param pid the process
 * @param startTicks when it started, in the kernel's ticks since boot
 * @param pidSpace the space that the pid counts in; containers have their own
 */
record ProcessIdentity(long pid, long startTicks, long pidSpace) {
    private static final Path PROC = Path.of("/proc");
    private static final int STATE_FIELD = 0;
    private static final int START_FIELD = 19;

    /** Returns this process. */
    static ProcessIdentity current() {
        long pid = ProcessHandle.current().pid();
        return new ProcessIdentity(pid, fields(pid).startTicks, ownPidSpace());
    }

    /** Tells whether the process is known to be gone. One in another pid space cannot be seen: that proves nothing. */
    boolean isDead() {
        if (pidSpace != ownPidSpace()) {
            return false;
        }
        if (!Files.exists(PROC.resolve(Long.toString(pid)))) {
            return true;
        }
        try {
            Fields now = fields(pid);
            return now.startTicks != startTicks || now.state == 'Z' || now.state == 'X';
        } catch (UncheckedIOException goneMeanwhile) {
            return true;
        }
    }

    private record Fields(char state, long startTicks) {}

    /** Reads what follows the program's name, which may hold anything. */
    private static Fields fields(long pid) {
        try {
            String line = Files.readString(PROC.resolve(Long.toString(pid)).resolve("stat"));
            String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
            return new Fields(fields[STATE_FIELD].charAt(0), Long.parseLong(fields[START_FIELD]));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long ownPidSpace() {
        try {
            String space = Files.readSymbolicLink(PROC.resolve("self/ns/pid")).toString();
            return Long.parseLong(space.substring(space.indexOf('[') + 1, space.indexOf(']')));
        } catch (IOException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot tell in which pid namespace this process is")
                    .cause(e)
                    .remedy("mount /proc");
        }
    }
}
