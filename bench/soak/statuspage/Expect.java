import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BooleanSupplier;

/** Conditions that must hold now or soon. */
final class Expect {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private Expect() {}

    static void require(boolean holds, Object what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    static void requireEqual(Object actual, Object expected, String what) {
        require(actual.equals(expected), what + ": is " + actual + ", expected " + expected);
    }

    static void await(String what, Duration limit, BooleanSupplier condition) throws InterruptedException {
        Instant end = Instant.now().plus(limit);
        while (!condition.getAsBoolean()) {
            require(Instant.now().isBefore(end), "not in " + limit.toMillis() + " ms: " + what);
            Thread.sleep(20); // between two looks
        }
    }

    /** Returns the content of a file, or nothing if it does not exist yet. */
    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return "";
        }
    }
}
