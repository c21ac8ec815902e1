package dev.larder.command.program;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import org.jspecify.annotations.Nullable;

/** The script that started this JVM. Commands start other JVMs with it. */
public final class LarderScript {
    private LarderScript() {}

    /** Returns the script of this command, or the one that its caller names; null if neither is known. */
    public static @Nullable String path() {
        String script = System.getProperty("larder.program");
        return script == null ? System.getenv("LARDER_COMMAND") : script;
    }

    /** Returns the script, or fails with {@link ErrorCode#NOT_FOUND}. */
    public static String require() {
        String script = path();
        if (script == null) {
            throw Failure.of(ErrorCode.NOT_FOUND, "the start script of larder is not known")
                    .with("LARDER_COMMAND", "unset")
                    .remedy("start this command by bin/larder, or name the script with LARDER_COMMAND");
        }
        return script;
    }
}
