package dev.larder.command;

import dev.larder.command.output.Units;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.protocol.DaemonStatus;
import java.util.List;
import java.util.stream.Stream;

/** The lines for an empty command line: the state of the store, and the commands that are useful next. */
final class FirstCommands {
    private static final String LOAD = "  larder load mine=/path/to/data                    loads a folder or a file";
    private static final String STOP = "  larder stop                                       ends the daemon and removes its data";

    private static final List<String> WITHOUT_DAEMON = List.of(
            "  larder serve --detach --load mine=/path/to/data   starts a daemon and loads a folder or a file",
            "  larder doctor                                     finds problems of this machine");
    private static final List<String> WITHOUT_ARRAYS = List.of(LOAD, STOP);
    private static final List<String> WITH_ARRAYS = List.of(
            "  larder ls                                         lists the arrays",
            "  larder show mine/ARRAY                            shows values of one",
            "  larder top                                        shows who reads them, live",
            LOAD,
            STOP);

    private FirstCommands() {}

    /** Returns the lines for the store that the command line and the environment name. */
    static List<String> of(LarderCommand larder) {
        try {
            DaemonStatus status = larder.client().status();
            String state = "the daemon of " + status.store() + " has " + status.arrays()
                    + (status.arrays() == 1 ? " array, " : " arrays, ") + Units.size(status.usedBytes()) + " of "
                    + Units.size(status.capacityBytes()) + " used";
            return lines(state, status.arrays() == 0 ? WITHOUT_ARRAYS : WITH_ARRAYS);
        } catch (LarderException e) {
            return e.code() == ErrorCode.NO_DAEMON
                    ? lines("no daemon serves " + larder.store(), WITHOUT_DAEMON)
                    : lines(e.getMessage(), WITHOUT_DAEMON.subList(1, 2));
        }
    }

    private static List<String> lines(String state, List<String> commands) {
        return Stream.concat(Stream.of("  " + state), commands.stream()).toList();
    }
}
