package dev.larder.distributed.internal.meeting;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A process, identified so that its death can be proven: the kernel gives a pid to later processes.
 *
 * @param pid the process
 * @param startTicks its start, in the kernel's ticks since boot
 * @param pidSpace the namespace of the pid; containers have their own
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

    /** Returns whether the process is gone. A process in another namespace cannot be seen, which proves nothing. */
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

    /** Reads the fields after the program's name, which may contain any character. */
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
            throw Failure.of(ErrorCode.UNEXPECTED, "cannot identify the pid namespace of this process")
                    .cause(e)
                    .remedy("mount /proc");
        }
    }
}
