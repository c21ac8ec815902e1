package dev.larder.reader;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;

/** Says why a file cannot be read, and where in it. */
public final class BadSource extends IOException {
    private static final long serialVersionUID = 1;

    /** Stands for no place in the file. */
    public static final long NOWHERE = -1;

    /** What the daemon advises where a reader does not. */
    public static final String REPAIR =
            "restore the file or write it again, or leave it out of its folder with --exclude";

    /** The remedy if a file may be whole but uses a feature that the library of a reader lacks. */
    private static final String WRITE_OTHERWISE = "write it again without that (for HDF5: without libver=\"latest\");"
            + " if its writer does not use that, the file is damaged";

    /** What is advised as the daemon does for the files that it reads itself. */
    private static final String CHECK = "check that the file is there and readable";

    private static final String GIVE_MEMORY =
            "give it more: LARDER_READER_HEAP=SIZE; if the file is small, it is damaged";

    private static final String CHANGED = "load it again when nobody writes to it";

    private final int file;
    private final long offset;
    private final String column;
    private final String remedy;

    /**
     * Describes what is wrong.
     *
     * @param file the number of the file in the request
     * @param offset the byte, {@link #NOWHERE} where it is not known
     * @param column the array or column; empty where it is the file as a whole
     * @param reason what is wrong, as the end of the sentence "cannot read source file: …"
     * @param remedy what to do about it
     */
    public BadSource(int file, long offset, String column, String reason, String remedy) {
        super(reason);
        this.file = file;
        this.offset = offset;
        this.column = column;
        this.remedy = remedy;
    }

    /** Says that a file is damaged. */
    public static BadSource damaged(int file, long offset, String column, String reason) {
        return new BadSource(file, offset, column, reason, REPAIR);
    }

    /** Says that an object of a place is not what was listed. */
    public static BadSource changed(int number, String reason) {
        return new BadSource(number, NOWHERE, "", "it changed while it was read: " + reason, CHANGED);
    }

    /** Says that a library could not read a file: because it may not, has no memory for it, does not know it, or finds it damaged. */
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

    /** Says that a file uses what the library of a reader does not know. */
    public static BadSource unknown(int file, String column, @Nullable Throwable cause) {
        BadSource bad = new BadSource(
                file,
                NOWHERE,
                column,
                "it uses what the reader does not know (" + words(deepest(cause)) + ")",
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

    /** Tells whether a library says that it cannot do something, rather than that a file is damaged: by the name of what it throws. */
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

    /** Returns what to do. */
    public String remedy() {
        return remedy;
    }
}
