package dev.larder.launch.process;

import java.util.Map;

/**
 * The cause of the end of a process.
 *
 * <p>The JDK reports a death by a signal as shells do, 128 + signal. A program that ends with such a code, like a shell after the death of
 * its child, looks as if the signal had killed it.
 */
public sealed interface ExitCause {
    /** The exit code of shells for a signal is this plus its number. */
    int SIGNAL_BASE = 128;

    /** Returns whether it ended with exit code 0. */
    default boolean isSuccess() {
        return this instanceof Exited exited && exited.code() == 0;
    }

    /** Returns the exit code of a shell: 128 + signal, 127 for no such program, 126 for one that cannot run. */
    int exitCode();

    /** Returns the cause for people, in a few words. */
    String text();

    /** Returns the cause for an exit code of the JDK. */
    static ExitCause ofCode(int code) {
        return Signals.NAMES.containsKey(code - SIGNAL_BASE) ? new Signalled(code - SIGNAL_BASE) : new Exited(code);
    }

    /** It ended by itself. */
    record Exited(int code) implements ExitCause {
        @Override
        public int exitCode() {
            return code;
        }

        @Override
        public String text() {
            return code == 0 ? "done" : "exit code " + code;
        }
    }

    /** A signal ended it that its launcher did not send. */
    record Signalled(int signal) implements ExitCause {
        /** Returns {@code SIGSEGV}. */
        public String name() {
            return Signals.NAMES.getOrDefault(signal, "signal " + signal);
        }

        @Override
        public int exitCode() {
            return SIGNAL_BASE + signal;
        }

        @Override
        public String text() {
            return "killed by " + name();
        }
    }

    /**
     * The kernel killed it to get memory back.
     *
     * @param scope that ran out of memory
     */
    record OutOfMemory(String scope) implements ExitCause {
        @Override
        public int exitCode() {
            return SIGNAL_BASE + Signals.KILL;
        }

        @Override
        public String text() {
            return "killed by the kernel when the memory " + scope + " ran out";
        }
    }

    /**
     * The process was not started.
     *
     * @param exitCode of a shell: 127 if there is no such program, else 126
     */
    record NotStarted(int exitCode, String reason) implements ExitCause {
        /** The exit code of shells for a missing program. */
        public static final int NO_SUCH_PROGRAM = 127;

        /** The exit code of shells for a program that cannot run. */
        public static final int CANNOT_RUN = 126;

        @Override
        public String text() {
            return "could not be started: " + reason;
        }
    }

    /** Its launcher ended it; it ended with this code. */
    record Ended(EndReason reason, int exitCode) implements ExitCause {
        @Override
        public String text() {
            return "ended: " + reason.text();
        }
    }

    /** The signals of Linux that have one number on all machines that a JVM of today runs on. */
    final class Signals {
        static final int KILL = 9;

        private static final Map<Integer, String> NAMES = Map.ofEntries(
                Map.entry(1, "SIGHUP"),
                Map.entry(2, "SIGINT"),
                Map.entry(3, "SIGQUIT"),
                Map.entry(4, "SIGILL"),
                Map.entry(5, "SIGTRAP"),
                Map.entry(6, "SIGABRT"),
                Map.entry(7, "SIGBUS"),
                Map.entry(8, "SIGFPE"),
                Map.entry(KILL, "SIGKILL"),
                Map.entry(10, "SIGUSR1"),
                Map.entry(11, "SIGSEGV"),
                Map.entry(12, "SIGUSR2"),
                Map.entry(13, "SIGPIPE"),
                Map.entry(14, "SIGALRM"),
                Map.entry(15, "SIGTERM"),
                Map.entry(24, "SIGXCPU"),
                Map.entry(25, "SIGXFSZ"),
                Map.entry(26, "SIGVTALRM"),
                Map.entry(27, "SIGPROF"),
                Map.entry(29, "SIGIO"),
                Map.entry(30, "SIGPWR"),
                Map.entry(31, "SIGSYS"));

        private Signals() {}
    }
}
