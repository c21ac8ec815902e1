package dev.larder.internal.error;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Builds the message of a {@link LarderException}: what failed, its facts as {@code key=value}, and what to do.
 *
 * <pre>{@code
 * throw Failure.of(ErrorCode.BAD_INPUT, "cannot read npy header")
 *         .with("file", path)
 *         .with("offset", offset)
 *         .remedy("save the array again with numpy");
 * }</pre>
 */
public final class Failure {
    private final ErrorCode code;
    private final String summary;
    private final Map<String, String> values = new LinkedHashMap<>();
    private @Nullable Throwable cause;

    private Failure(ErrorCode code, String what) {
        this.code = code;
        this.summary = what;
    }

    /** Starts a failure; {@code what} is a lower-case fragment without values. */
    public static Failure of(ErrorCode code, String what) {
        return new Failure(code, what);
    }

    /** Adds one fact. */
    public Failure with(String key, @Nullable Object value) {
        String text = value instanceof IOException e ? words(e) : String.valueOf(value);
        values.merge(key, text, (first, second) -> first + ", " + second);
        return this;
    }

    /** Says what went wrong as people do, where the exception's class says it and its message is but a path. */
    private static String words(IOException failure) {
        if (failure instanceof NoSuchFileException missing) {
            return missing.getFile() + " does not exist";
        } else if (failure instanceof AccessDeniedException denied) {
            return "permission denied: " + denied.getFile();
        } else if (failure instanceof FileAlreadyExistsException existing) {
            return existing.getFile() + " exists already";
        } else if (failure instanceof FileSystemException named && named.getReason() != null) {
            return String.valueOf(named.getMessage());
        }
        return failure.toString();
    }

    /** Keeps the exception that led here. */
    public Failure cause(Throwable cause) {
        this.cause = cause;
        return this;
    }

    /** Ends the message with what to do about it, and returns the exception to throw. */
    public LarderException remedy(String whatToDo) {
        return new LarderException(code.number(), summary, values, whatToDo, cause);
    }

    /** Returns the exception to throw where nothing can be advised. */
    public LarderException exception() {
        return remedy("");
    }
}
