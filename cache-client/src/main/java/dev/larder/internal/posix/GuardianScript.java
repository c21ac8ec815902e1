package dev.larder.internal.posix;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * The text of a small shell script that outlives its starter and kills a family of processes if the starter is killed. Its
 * first argument is the token that all of them have in their environment. Its standard input names the leader of their session,
 * then {@code done} when nothing is left to guard. If the input ends without {@code done}, the starter was killed.
 */
public final class GuardianScript {
    private static final String TEXT = read();

    private GuardianScript() {}

    /** Returns the script for {@code sh -c}. */
    public static String text() {
        return TEXT;
    }

    private static String read() {
        try (InputStream in = GuardianScript.class.getResourceAsStream("guardian.sh")) {
            if (in == null) {
                throw new IllegalStateException("guardian.sh is missing from the class path");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("guardian.sh cannot be read", e);
        }
    }
}
