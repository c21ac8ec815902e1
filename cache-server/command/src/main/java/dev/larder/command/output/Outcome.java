package dev.larder.command.output;

import dev.larder.internal.protocol.Done;
import dev.larder.server.store.CleanUp;
import dev.larder.server.store.StoreReport;
import java.io.PrintWriter;
import java.util.stream.Collectors;

/** Formats the result of a command in one line. */
public final class Outcome {
    private Outcome() {}

    /** Returns the number of files and bytes. */
    public static String counted(Done done) {
        return counted(done.files(), done.bytes());
    }

    /** Returns the bytes that were freed, and those that are freed when their readers end. */
    public static String freed(Done done) {
        return freed(done.files(), done.bytes(), done.heldBytes(), done.holders());
    }

    /** Returns the bytes that were freed, and those that are freed when their readers end. */
    public static String freed(CleanUp cleanUp) {
        String holders = cleanUp.holders().stream().map(String::valueOf).collect(Collectors.joining(","));
        return freed(cleanUp.files(), cleanUp.bytes(), cleanUp.heldUntilExitBytes(), holders);
    }

    /** Returns the bytes of a store, or those that were freed and those that are freed when their readers end. */
    public static String freed(StoreReport report) {
        String holders = report.holders().stream().map(String::valueOf).collect(Collectors.joining(","));
        return freed(report.files(), report.bytes(), report.heldUntilExitBytes(), holders);
    }

    /** Prints the notes of the daemon. */
    public static void note(Done done, PrintWriter err) {
        done.message().lines().forEach(line -> err.println("larder: " + line));
    }

    private static String freed(long files, long bytes, long held, String holders) {
        String freed = counted(files, bytes - held);
        if (held == 0) {
            return freed;
        }
        return freed + "; freed when their readers end: heldUntilExit=" + held + inUnits(held) + " pids="
                + (holders.isEmpty() ? "unknown" : holders);
    }

    /** Returns the number of files and bytes. */
    public static String counted(long files, long bytes) {
        return "files=" + files + " bytes=" + bytes + inUnits(bytes);
    }

    private static String inUnits(long bytes) {
        return bytes < 1024 ? "" : " (" + Units.size(bytes) + ")";
    }
}
