package dev.larder.launch.process;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Where the output of a process goes: to files byte for byte, and to a reader in lines.
 *
 * @param isApart whether standard output and error stay apart; merged, they keep their order
 * @param log the file for standard output, or for both where they are merged; appended to; null for none
 * @param errorLog the file for standard error where it stays apart; null for none
 * @param reader gets the lines that were read at once; is called by one thread at a time, and holds the process up while it does not return
 */
public record OutputRedirect(
        boolean isApart, @Nullable Path log, @Nullable Path errorLog, Consumer<List<OutputLine>> reader) {

    /** Throws everything away. */
    public static OutputRedirect discarded() {
        return merged(null, lines -> {});
    }

    /** Merges standard output and error. */
    public static OutputRedirect merged(@Nullable Path log, Consumer<List<OutputLine>> reader) {
        return new OutputRedirect(false, log, null, reader);
    }

    /** Keeps standard output and error apart. */
    public static OutputRedirect apart(@Nullable Path log, @Nullable Path errorLog, Consumer<List<OutputLine>> reader) {
        return new OutputRedirect(true, log, errorLog, reader);
    }
}
