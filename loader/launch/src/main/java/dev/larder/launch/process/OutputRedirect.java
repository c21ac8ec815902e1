package dev.larder.launch.process;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The destinations of the output of a process: to files byte for byte, and to a reader in lines.
 *
 * @param isApart whether standard output and error are separate; merged, they keep their order
 * @param log the file for standard output, or for both if they are merged; the output is appended; null for none
 * @param errorLog the file for standard error if it is separate; null for none
 * @param reader gets the lines of one read, from one thread at a time; the process waits until it returns
 */
public record OutputRedirect(
        boolean isApart, @Nullable Path log, @Nullable Path errorLog, Consumer<List<OutputLine>> reader) {

    /** Discards the output. */
    public static OutputRedirect discarded() {
        return merged(null, lines -> {});
    }

    /** Merges standard output and error. */
    public static OutputRedirect merged(@Nullable Path log, Consumer<List<OutputLine>> reader) {
        return new OutputRedirect(false, log, null, reader);
    }

    /** Separates standard output and error. */
    public static OutputRedirect apart(@Nullable Path log, @Nullable Path errorLog, Consumer<List<OutputLine>> reader) {
        return new OutputRedirect(true, log, errorLog, reader);
    }
}
