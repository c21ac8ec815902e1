package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The limits of a reader.
 *
 * @param heap the size of its heap, as a flag of the JVM: {@code 512m}
 * @param patience the longest time without progress
 */
record ReaderLimits(String heap, Duration patience) {
    /** Names the limits, for programs that set no environment. */
    static final String HEAP_PROPERTY = "larder.reader.heap";

    static final String PATIENCE_PROPERTY = "larder.reader.patience";

    static final String HEAP_VARIABLE = "LARDER_READER_HEAP";
    static final String PATIENCE_VARIABLE = "LARDER_READER_PATIENCE";
    private static final Pattern HEAP = Pattern.compile("[1-9][0-9]*[kKmMgG]");
    private static final Pattern PATIENCE = Pattern.compile("([1-9][0-9]{0,5})s?");
    private static final String DEFAULT_PATIENCE = "60s";
    private static final long SMALLEST_MIB = 512;

    /** Returns those of this process; fails with {@link ErrorCode#USAGE} if they are malformed. */
    static ReaderLimits now() {
        String heap = value(HEAP_PROPERTY, HEAP_VARIABLE, defaultHeap());
        String patience = value(PATIENCE_PROPERTY, PATIENCE_VARIABLE, DEFAULT_PATIENCE);
        Matcher seconds = PATIENCE.matcher(patience);
        if (!HEAP.matcher(heap).matches()) {
            throw bad(HEAP_VARIABLE, heap, "a size such as 2g");
        } else if (!seconds.matches()) {
            throw bad(PATIENCE_VARIABLE, patience, "seconds such as 60s");
        }
        return new ReaderLimits(heap, Duration.ofSeconds(Long.parseLong(seconds.group(1))));
    }

    /** The daemon's own heap is an eighth of the memory. */
    private static String defaultHeap() {
        return Math.max(SMALLEST_MIB, Runtime.getRuntime().maxMemory() >> 20) + "m";
    }

    private static String value(String property, String variable, String otherwise) {
        String named = System.getProperty(property, System.getenv(variable));
        return named == null || named.isEmpty() ? otherwise : named;
    }

    private static RuntimeException bad(String variable, String value, String wanted) {
        return Failure.of(ErrorCode.USAGE, "bad " + variable)
                .with("value", value)
                .remedy("give " + wanted);
    }
}
