package dev.larder.command.output;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.server.store.UnservedStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The lines for an empty command line: the state of the store, and the commands that are useful next. */
public final class FirstCommands {
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final String LIST = "  larder ls                                         lists the arrays";
    private static final String LOAD = "  larder load mine=/path/to/data                    loads a folder or a file";
    private static final String STOP =
            "  larder stop                                       ends the daemon and removes its data";

    private static final String DOCTOR =
            "  larder doctor                                     finds problems of this machine";

    private static final List<String> WITHOUT_DAEMON = List.of(
            "  larder serve --detach --load mine=/path/to/data   starts a daemon and loads a folder or a file",
            "  larder demo                                       shows how four JVMs share one copy of a small dataset",
            DOCTOR);
    private static final List<String> WITH_FILES = List.of(
            "  larder serve --detach                             starts a daemon, which takes the arrays over",
            LIST,
            "  larder gc                                         removes what dead daemons left",
            DOCTOR);
    private static final List<String> WITHOUT_ARRAYS = List.of(LOAD, STOP);
    private static final List<String> WITH_ARRAYS = List.of(
            LIST,
            "  larder show mine/ARRAY                            shows values of one",
            "  larder top                                        shows who reads them, live",
            LOAD,
            STOP);

    private FirstCommands() {}

    /** Returns the lines for a store. Looking for it may fail. */
    public static List<String> of(Supplier<Path> store) {
        try {
            Path folder = store.get();
            return StoreLocation.hasDaemon(folder)
                    ? withDaemon(ControlClient.at(folder).patientFor(PATIENCE).status())
                    : withoutDaemon(folder);
        } catch (LarderException e) {
            return lines(String.valueOf(e.getMessage()), List.of(DOCTOR));
        }
    }

    private static List<String> withoutDaemon(Path folder) {
        String state = "no daemon serves " + folder;
        try {
            UnservedStore files = UnservedStore.read(folder);
            long arrays = files.current().stream()
                    .mapToLong(version -> version.arrays().size())
                    .sum();
            return lines(state + ", which has " + counted(arrays), WITH_FILES);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_DAEMON) {
                throw e;
            }
            return lines(state, WITHOUT_DAEMON);
        }
    }

    private static String counted(long arrays) {
        return arrays + (arrays == 1 ? " array" : " arrays");
    }

    private static List<String> withDaemon(DaemonStatus status) {
        String state = "the daemon of " + status.store() + " has " + counted(status.arrays()) + ", "
                + Units.size(status.usedBytes()) + " of " + Units.size(status.capacityBytes()) + " used";
        return lines(state, status.arrays() == 0 ? WITHOUT_ARRAYS : WITH_ARRAYS);
    }

    private static List<String> lines(String state, List<String> commands) {
        return Stream.concat(Stream.of("  " + state), commands.stream()).toList();
    }
}
