package dev.larder.reader;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;

/** Reports a file that cannot be read, the place in it and the reason. */
public final class BadSource extends IOException {
    private static final long serialVersionUID = 1;

    /** Stands for no place in the file. */
    public static final long NOWHERE = -1;

    /** The remedy for a damaged file. */
    public static final String REPAIR =
            "restore the file or write it again, or leave it out of its folder with --exclude";

    /** The remedy if a file may be whole but uses a feature that the library of a reader lacks. */
    private static final String WRITE_OTHERWISE = "write it again without that (for HDF5: without libver=\"latest\");"
            + " if its writer does not use that, the file is damaged";

    /** The remedy for a file that may not be read. */
    private static final String CHECK = "check that the file is there and readable";

    private static final String GIVE_MEMORY =
            "give it more: LARDER_READER_HEAP=SIZE; if the file is small, it is damaged";

    private static final String CHANGED = "load it again when no process writes to it";

    private final int file;
    private final long offset;
    private final String column;
    private final String remedy;

    /**
     * Describes a bad file.
     *
     * @param file the number of the file in the request
     * @param offset the byte, or {@link #NOWHERE}
     * @param column the array or column; empty for the file as a whole
     * @param reason the end of the sentence "cannot read source file: …"
     * @param remedy the advice to the user
     */
    public BadSource(int file, long offset, String column, String reason, String remedy) {
        super(reason);
        this.file = file;
        this.offset = offset;
        this.column = column;
        this.remedy = remedy;
    }

    /** Returns the refusal of a damaged file. */
    public static BadSource damaged(int file, long offset, String column, String reason) {
        return new BadSource(file, offset, column, reason, REPAIR);
    }

    /** Returns the refusal of an object that changed after it was listed. */
    public static BadSource changed(int number, String reason) {
        return new BadSource(number, NOWHERE, "", "it changed while it was read: " + reason, CHANGED);
    }

    /** Returns the refusal of a file that a library could not read: it lacks the permission, the memory or the feature, or the file is damaged. */
    public static BadSource unreadable(int file, String column, @Nullable Throwable cause) {
        Throwable first = deepest(cause);
        BadSource bad;
        if (first instanceof AccessDeniedException) {
            bad = new BadSource(file, NOWHERE, column, "permission denied", CHECK);
        } else if (first instanceof NoSuchFileException) {
            bad = new BadSource(file, NOWHERE, column, "it does not exist", CHECK);
        } else if (first instanceof OutOfMemoryError) {
            bad = new BadSource(
                    file,
                    NOWHERE,
                    column,
                    "it takes more memory than the reader has (" + words(first) + ")",
                    GIVE_MEMORY);
        } else if (isUnsupported(cause)) {
            return unknown(file, column, cause);
        } else {
            bad = damaged(file, NOWHERE, column, "it cannot be read (" + words(first) + ")");
        }
        bad.initCause(cause);
        return bad;
    }

    /** Returns the refusal of a file with a feature that the library of a reader lacks. */
    public static BadSource unknown(int file, String column, @Nullable Throwable cause) {
        BadSource bad = new BadSource(
                file,
                NOWHERE,
                column,
                "it uses a feature that the reader lacks (" + words(deepest(cause)) + ")",
                WRITE_OTHERWISE);
        bad.initCause(cause);
        return bad;
    }

    private static @Nullable Throwable deepest(@Nullable Throwable cause) {
        Throwable first = cause;
        while (first != null && first.getCause() != null && first.getCause() != first) {
            first = first.getCause();
        }
        return first;
    }

    /** Returns the message of a failure, or words for its class if it has none. */
    public static String words(@Nullable Throwable first) {
        if (first == null) {
            return "unknown";
        } else if (first.getMessage() != null) {
            return first.getMessage();
        }
        return first instanceof EOFException
                ? "it ends too early"
                : first.getClass().getSimpleName();
    }

    /** Returns whether the failure of a library means a missing feature, by the name of its class; else the file is damaged. */
    private static boolean isUnsupported(@Nullable Throwable cause) {
        Throwable thrown = cause;
        for (int depth = 0; thrown != null && depth < 10; depth++) {
            if (thrown.getClass().getSimpleName().startsWith("Unsupported")) {
                return true;
            }
            thrown = thrown.getCause();
        }
        return false;
    }

    /** Returns the number of the file. */
    public int file() {
        return file;
    }

    /** Returns the byte, or {@link #NOWHERE}. */
    public long offset() {
        return offset;
    }

    /** Returns the array or column; empty for the file as a whole. */
    public String column() {
        return column;
    }

    /** Returns the advice to the user. */
    public String remedy() {
        return remedy;
    }
}
