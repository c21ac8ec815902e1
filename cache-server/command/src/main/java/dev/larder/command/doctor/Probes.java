package dev.larder.command.doctor;

import dev.larder.posix.FileSystemSpace;
import dev.larder.server.store.StoreReport;
import java.nio.file.Path;
import java.util.List;

/** What checks learn other than by reading files. */
public interface Probes {
    /** Returns what a file system has and has left. */
    FileSystemSpace space(Path path);

    /** Tells whether the dynamic linker finds a library. */
    boolean hasLibrary(String name);

    /** Returns an environment variable; empty where it is not set. */
    String variable(String name);

    /** Tells whether the JDK has a module. */
    boolean hasModule(String name);

    /** Returns what lies about that may be the store of a dead daemon. */
    List<StoreReport> leftovers();

    /** Asks the daemon of a store; fails where it cannot be asked, or says no. */
    DaemonAnswer daemon(Path store);

    /**
     * What a daemon says, or why none does.
     *
     * @param state whether there is one
     * @param version its release, or the reason
     */
    record DaemonAnswer(State state, String version) {
        /** Whether there is a daemon. */
        public enum State {
            NONE,
            RUNNING,
            SILENT
        }
    }
}
