package dev.larder.command.output;

import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.protocol.DaemonStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The lines for an empty command line: the state of the store, and the commands that are useful next. */
public final class FirstCommands {
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final String LOAD = "  larder load mine=/path/to/data                    loads a folder or a file";
    private static final String STOP =
            "  larder stop                                       ends the daemon and removes its data";

    private static final String DOCTOR =
            "  larder doctor                                     finds problems of this machine";

    private static final List<String> WITHOUT_DAEMON = List.of(
            "  larder serve --detach --load mine=/path/to/data   starts a daemon and loads a folder or a file",
            "  larder demo                                       shows how four JVMs share one copy of a small dataset",
            DOCTOR);
    private static final List<String> WITHOUT_ARRAYS = List.of(LOAD, STOP);
    private static final List<String> WITH_ARRAYS = List.of(
            "  larder ls                                         lists the arrays",
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
                    : lines("no daemon serves " + folder, WITHOUT_DAEMON);
        } catch (LarderException e) {
            return lines(String.valueOf(e.getMessage()), List.of(DOCTOR));
        }
    }

    private static List<String> withDaemon(DaemonStatus status) {
        String state = "the daemon of " + status.store() + " has " + status.arrays()
                + (status.arrays() == 1 ? " array, " : " arrays, ") + Units.size(status.usedBytes()) + " of "
                + Units.size(status.capacityBytes()) + " used";
        return lines(state, status.arrays() == 0 ? WITHOUT_ARRAYS : WITH_ARRAYS);
    }

    private static List<String> lines(String state, List<String> commands) {
        return Stream.concat(Stream.of("  " + state), commands.stream()).toList();
    }
}
