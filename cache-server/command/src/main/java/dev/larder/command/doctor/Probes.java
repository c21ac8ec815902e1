package dev.larder.command.doctor;

import dev.larder.internal.posix.FileSystemSpace;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.server.store.StoreReport;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The parts of checks that do more than read files. */
public interface Probes {
    /** Returns the total and the free space of a file system. */
    FileSystemSpace space(Path path);

    /** Returns why commands use a store, as {@code StoreLocation.reason}. */
    String reason(Path store);

    /** Returns the sizes if the store is on a disk because shared memory is small, as {@code StoreLocation.smallMemory}. */
    Optional<String> smallMemory(Path store);

    /** Returns whether the dynamic linker finds a library. */
    boolean hasLibrary(String name);

    /** Returns an environment variable; empty if it is not set. */
    String variable(String name);

    /** Returns whether the kernel puts files of a tmpfs on huge pages on request, even if the mount option does not. */
    boolean givesHugePages();

    /** Returns the totals of a store; empty if its daemon does not respond, which another check reports. */
    Optional<DaemonStatus> status(Path store);

    /** Returns whether the JDK has a module. */
    boolean hasModule(String name);

    /** Returns possible stores of dead daemons: all with default names, and this store. */
    List<StoreReport> leftovers(Path store);

    /** Calls the daemon of a store; fails if it cannot be called, or refuses. */
    DaemonAnswer daemon(Path store);

    /** Lists devices, in a way that survives crashes of drivers. */
    DeviceAnswer devices();

    /**
     * The devices that the drivers list.
     *
     * @param ending how the listing ended
     * @param devices their devices, each with its memory and limits
     * @param reason why there is no list
     */
    record DeviceAnswer(Ending ending, List<String> devices, String reason) {
        /** How the listing ended. */
        public enum Ending {
            LISTED,
            REFUSED,
            DIED,
            SILENT
        }

        /** Copies the list. */
        public DeviceAnswer {
            devices = List.copyOf(devices);
        }

        /** Returns the answer for devices that were listed. */
        public static DeviceAnswer listed(List<String> devices) {
            return new DeviceAnswer(Ending.LISTED, devices, "");
        }

        /** Returns the answer for a listing that failed. */
        public static DeviceAnswer without(Ending ending, String reason) {
            return new DeviceAnswer(ending, List.of(), reason);
        }
    }

    /**
     * The release of a daemon, or why there is none.
     *
     * @param state whether one runs
     * @param version its release, or the reason; with the stack traces of its threads if it hangs
     * @param remedy the advice for a daemon that is silent
     */
    record DaemonAnswer(State state, String version, String remedy) {
        /** Whether a daemon runs. */
        public enum State {
            NONE,
            RUNNING,
            HANGING,
            SILENT
        }
    }
}
