package dev.larder.internal.posix;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * The text of a small shell that outlives whoever starts it when that is killed, and then kills a family of processes. Its first argument
 * is the token that all of them carry in their environment; its standard input names the process that leads their session, and then
 * says {@code done} where nothing is left to guard. The end of its input without that word is the end of its starter.
 */
public final class GuardianScript {
    private static final String TEXT = read();

    private GuardianScript() {}

    /** Returns it, to be given to {@code sh -c}. */
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
