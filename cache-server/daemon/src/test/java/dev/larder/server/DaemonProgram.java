package dev.larder.server;

import dev.larder.error.LarderException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/** A daemon in a process of its own, without the command around it. */
final class DaemonProgram {
    static final String READY = "ready";
    static final String STOPPED = "stopped";
    static final String REFUSED = "refused ";

    private DaemonProgram() {}

    /** Takes the store, the capacity in bytes if there is one, and the group and its quota if there are. */
    public static void main(String[] arguments) {
        OptionalLong capacity =
                arguments.length > 1 ? OptionalLong.of(Long.parseLong(arguments[1])) : OptionalLong.empty();
        Sharing sharing = arguments.length > 3
                ? new Sharing(Optional.of(arguments[2]), OptionalLong.of(Long.parseLong(arguments[3])))
                : Sharing.NONE;
        try (Daemon daemon =
                Daemon.start(new DaemonConfig(Path.of(arguments[0]), capacity, 2, sharing, () -> false, true))) {
            System.out.println(READY);
            daemon.awaitStop();
            System.out.println(STOPPED);
        } catch (LarderException e) {
            System.out.println(REFUSED + e.code() + " " + e.getMessage());
        }
    }
}
