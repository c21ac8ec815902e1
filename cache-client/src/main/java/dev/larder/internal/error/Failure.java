package dev.larder.internal.error;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Builds the message of a {@link LarderException}: the failure, its facts as {@code key=value}, and the remedy.
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

    private Failure(ErrorCode code, String summary) {
        this.code = code;
        this.summary = summary;
    }

    /** Starts a failure. {@code summary} is a lower-case phrase without values. */
    public static Failure of(ErrorCode code, String summary) {
        return new Failure(code, summary);
    }

    /** Adds one fact. For an exception it adds {@link #words}. */
    public Failure with(String key, @Nullable Object value) {
        String text = value instanceof Throwable failure ? words(failure) : String.valueOf(value);
        values.merge(key, text, (first, second) -> first + ", " + second);
        return this;
    }

    /**
     * Returns a description of an exception, never null or empty: its message if that is a sentence, otherwise words for its
     * class, because many messages are only a path or a name. Names the class of an unexpected exception.
     */
    public static String words(Throwable failure) {
        if (failure instanceof UncheckedIOException && failure.getCause() instanceof IOException cause) {
            return words(cause);
        } else if (failure instanceof FileSystemException file) {
            return words(file);
        } else if (failure instanceof UnknownHostException) {
            return "unknown host " + failure.getMessage();
        } else if (failure instanceof ClosedChannelException) {
            return "it was closed";
        }
        String message = failure.getMessage();
        boolean isEmpty = message == null || message.isBlank();
        if (isEmpty && failure instanceof EOFException) {
            return "it ended too early";
        } else if (isEmpty && failure instanceof SocketTimeoutException) {
            return "it took too long";
        }
        return message != null && !isEmpty && isSentence(failure) ? message : failure.toString();
    }

    private static boolean isSentence(Throwable failure) {
        String packageName = failure.getClass().getPackageName();
        return failure instanceof LarderException
                || (failure instanceof IOException
                        && (packageName.equals("java.io")
                                || packageName.equals("java.net")
                                || packageName.startsWith("dev.larder")));
    }

    private static String words(FileSystemException failure) {
        String file = failure.getFile();
        if (failure instanceof NoSuchFileException) {
            return file + " does not exist";
        } else if (failure instanceof AccessDeniedException) {
            return "permission denied: " + file;
        } else if (failure instanceof FileAlreadyExistsException) {
            return file + " exists already";
        } else if (failure instanceof NotDirectoryException) {
            return file + " is not a folder";
        } else if (failure instanceof DirectoryNotEmptyException) {
            return file + " is not empty";
        }
        return failure.getReason() == null ? failure.toString() : String.valueOf(failure.getMessage());
    }

    /** Sets the cause of the exception. */
    public Failure cause(Throwable cause) {
        this.cause = cause;
        return this;
    }

    /** Adds the remedy, and returns the exception to throw. */
    public LarderException remedy(String whatToDo) {
        return new LarderException(code.number(), summary, values, whatToDo, cause);
    }

    /** Returns the exception to throw, without a remedy. */
    public LarderException exception() {
        return remedy("");
    }
}
