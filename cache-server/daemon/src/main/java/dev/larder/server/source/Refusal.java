package dev.larder.server.source;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.NearNames;
import dev.larder.internal.layout.StoreLocation;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.zip.ZipException;

/** Words the refusals of files: the file, the byte, the reason, and the remedy. */
public final class Refusal {
    /** If there are more bad files than this, only the first few are listed. */
    private static final int MOST_LISTED = 60;

    private static final int FIRST_LISTED = 10;

    private static final int MOST_NAMES = 20;
    private static final int MOST_SUGGESTED = 3;
    private static final String NAME_COLUMNS = "name columns that it has, or load all without --columns";

    /** The remedy for a damaged file. */
    public static final String REPAIR =
            "restore the file or write it again, or leave it out of its folder with --exclude";

    private Refusal() {}

    public static LarderException of(Path file, long offset, String reason) {
        return start(file, offset, reason).remedy(REPAIR);
    }

    /** Returns the refusal of a file as a whole. */
    public static LarderException unfit(Path file, String reason, String remedy) {
        return start(file, reason).remedy(remedy);
    }

    /** Returns the refusal of a source without some wanted columns. */
    public static LarderException noColumns(Path source, Collection<String> missing) {
        return unfit(source, "it has no columns " + missing, NAME_COLUMNS);
    }

    /** Returns the refusal of a file without some wanted columns, with the columns that it has. */
    public static LarderException noColumns(Path file, Collection<String> missing, Collection<String> present) {
        String near = missing.stream()
                .flatMap(name -> NearNames.of(name, present).stream().limit(1))
                .distinct()
                .limit(MOST_SUGGESTED)
                .collect(Collectors.joining(", "));
        return unfit(
                file,
                "it has no columns " + missing + ", but " + shown(present),
                (near.isEmpty() ? "" : "did you mean " + near + "? ") + NAME_COLUMNS);
    }

    /** Returns names for people: all, or the first and how many more there are. */
    public static String shown(Collection<String> names) {
        List<String> first =
                names.stream().limit(MOST_NAMES).map(Names::printable).toList();
        return names.size() <= MOST_NAMES ? first.toString() : first + " and " + (names.size() - MOST_NAMES) + " more";
    }

    /** Adds to the refusal of one array of a file that the others can be loaded without it. */
    public static LarderException orOthers(LarderException refusal) {
        return refusal.code() == ErrorCode.BAD_INPUT
                ? new LarderException(
                        refusal.rawCode(),
                        refusal.getMessage() + ", or choose other arrays of the file with --columns",
                        refusal.getCause())
                : refusal;
    }

    /** Returns the refusal of a file that was written to while it was loaded. */
    public static LarderException changed(Path file) {
        return unfit(file, "it changed while it was read", "load it again when no process writes to it");
    }

    /** Turns a failure to read into words; being interrupted is not the file's fault. */
    public static LarderException unreadable(Path file, long offset, IOException cause) {
        return unreadable(file, offset, "", cause);
    }

    /** Returns the same for a part of a file. The reason begins with {@code what}. */
    public static LarderException unreadable(Path file, long offset, String what, IOException cause) {
        if (cause instanceof AsynchronousCloseException) {
            return Failure.of(ErrorCode.INTERRUPTED, "interrupted while reading source")
                    .with("file", file)
                    .cause(cause)
                    .exception();
        }
        boolean isWithin = !(cause instanceof FileSystemException);
        String reason = what + reason(file, cause);
        return (isWithin ? start(file, offset, reason) : start(file, reason))
                .cause(cause)
                .remedy(isDamage(cause) ? REPAIR : "check that the file is there and readable");
    }

    /** Returns the refusal of a line of a text file. */
    public static LarderException atLine(Path file, long line, String reason, String remedy) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot read source file")
                .with("file", file)
                .with("line", line)
                .with("reason", reason)
                .remedy(remedy);
    }

    /** Returns one failure with all refusals, so that a user can repair all files together. */
    public static LarderException all(String name, Path path, List<LarderException> refusals) {
        if (refusals.size() == 1) {
            return refusals.get(0);
        }
        StringBuilder lines = new StringBuilder();
        int listed = refusals.size() <= MOST_LISTED ? refusals.size() : FIRST_LISTED;
        refusals.subList(0, listed).forEach(refusal -> lines.append("\n  ").append(entry(refusal)));
        if (listed < refusals.size()) {
            lines.append("\n  and ").append(refusals.size() - listed).append(" more");
        }
        return Failure.of(ErrorCode.BAD_INPUT, "cannot read source")
                .with("name", name)
                .with("path", path)
                .with("badFiles", refusals.size() + lines.toString())
                .cause(refusals.get(0))
                .exception();
    }

    /** Returns the message of a failure as an entry of a list; its further lines do not look like entries. */
    public static String entry(LarderException failure) {
        return String.valueOf(failure.getMessage()).replace("\n", "\n    ");
    }

    /** Returns the message of a failure, or words for its class if it has none. */
    public static String words(Throwable failure) {
        String message = failure.getMessage();
        if (message != null && !message.isBlank()) {
            return message;
        }
        return failure instanceof EOFException
                ? "it ends too early"
                : failure.getClass().getSimpleName();
    }

    private static Failure start(Path file, String reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot read source file")
                .with("file", file)
                .with("reason", reason);
    }

    private static Failure start(Path file, long offset, String reason) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot read source file")
                .with("file", file)
                .with("offset", offset)
                .with("reason", reason);
    }

    private static boolean isDamage(IOException cause) {
        return cause instanceof EOFException || cause instanceof ZipException;
    }

    private static String reason(Path file, IOException cause) {
        if (cause instanceof NoSuchFileException) {
            return Files.isSymbolicLink(file) ? "it is a dangling link" : "it does not exist";
        } else if (cause instanceof AccessDeniedException) {
            return "permission denied to the user " + StoreLocation.userName();
        } else if (cause instanceof FileSystemLoopException) {
            return "the folder contains itself, through a link";
        } else if (cause instanceof EOFException) {
            return "it ends too early";
        } else if (cause instanceof ZipException) {
            return "its compressed data is corrupt (" + words(cause) + ")";
        } else if (cause instanceof FileSystemException failure && failure.getReason() != null) {
            return failure.getReason();
        }
        return words(cause);
    }
}
