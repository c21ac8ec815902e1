package dev.larder.command.doctor;

import dev.larder.internal.posix.FileSystemSpace;
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

    /** Tells whether the kernel puts files of a tmpfs on huge pages on request, whatever the mount says. */
    boolean givesHugePages();

    /** Returns for how much of a store the kernel refused huge pages when its daemon last asked; 0 where no daemon says so. */
    long refusedHugeBytes(Path store);

    /** Tells whether the JDK has a module. */
    boolean hasModule(String name);

    /** Returns what may be the store of a dead daemon: what is named as stores are, and this store whatever its name is. */
    List<StoreReport> leftovers(Path store);

    /** Asks the daemon of a store; fails where it cannot be asked, or says no. */
    DaemonAnswer daemon(Path store);

    /** Asks the drivers of devices, in a way that outlives their failures. */
    DeviceAnswer devices();

    /**
     * What the drivers of devices say.
     *
     * @param ending whether they said anything
     * @param devices their devices, each with its memory and limits
     * @param reason why they did not
     */
    record DeviceAnswer(Ending ending, List<String> devices, String reason) {
        /** How asking ended. */
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

        /** Returns a list. */
        public static DeviceAnswer listed(List<String> devices) {
            return new DeviceAnswer(Ending.LISTED, devices, "");
        }

        /** Returns the absence of a list. */
        public static DeviceAnswer without(Ending ending, String reason) {
            return new DeviceAnswer(ending, List.of(), reason);
        }
    }

    /**
     * What a daemon says, or why none does.
     *
     * @param state whether there is one
     * @param version its release, or the reason; with the stack traces of its threads if it hangs
     * @param remedy the advice for a daemon that is silent
     */
    record DaemonAnswer(State state, String version, String remedy) {
        /** Whether there is a daemon. */
        public enum State {
            NONE,
            RUNNING,
            HANGING,
            SILENT
        }
    }
}
