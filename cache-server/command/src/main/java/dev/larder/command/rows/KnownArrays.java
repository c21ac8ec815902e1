package dev.larder.command.rows;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.server.Listing;
import dev.larder.server.store.UnservedStore;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The arrays of a store: as its daemon lists them, or as they are in its files if no daemon serves it. Prints a note on standard error in the
 * second case.
 */
public final class KnownArrays {
    private final Path store;
    private final PrintWriter err;
    private @Nullable UnservedStore unserved;

    /** Prepares to list, and reads nothing yet. */
    public KnownArrays(Path store, PrintWriter err) {
        this.store = store;
        this.err = err;
    }

    /** Lists the arrays with full names that start with the prefix; the empty prefix lists all. */
    public List<ArrayRow> list(String prefix, boolean includeRetired) {
        try {
            return ControlClient.at(store).list(prefix, includeRetired);
        } catch (LarderException e) {
            return Listing.of(unserved(e)).rows(prefix, includeRetired, 0);
        }
    }

    /** Lists all arrays; see {@link ControlClient#list(int)}. */
    public List<ArrayRow> list(int mostArrays) {
        try {
            return ControlClient.at(store).list(mostArrays);
        } catch (LarderException e) {
            return Listing.of(unserved(e)).rows("", false, mostArrays);
        }
    }

    /** Describes one array, or all arrays of one dataset; never empty. */
    public List<ArrayRow> info(String name) {
        try {
            return ControlClient.at(store).info(name);
        } catch (LarderException e) {
            UnservedStore read = unserved(e);
            List<ArrayRow> rows = Listing.of(read).rows(name);
            if (rows.isEmpty()) {
                throw Listing.of(read).notFound(read, name);
            }
            return rows;
        }
    }

    private UnservedStore unserved(LarderException failure) {
        UnservedStore known = unserved;
        if (known == null) {
            known = read(store, failure);
            unserved = known;
            err.println("larder: note: " + note(known));
            known.unreadable().forEach(reason -> err.println("larder: note: not listed: " + reason.getMessage()));
        }
        return known;
    }

    /** Reads a store if a failure means that it has no daemon; otherwise throws the failure. */
    public static UnservedStore read(Path store, LarderException failure) {
        if (failure.code() != ErrorCode.NO_DAEMON) {
            throw failure;
        }
        try {
            return UnservedStore.read(store);
        } catch (LarderException e) {
            if (e.code() == ErrorCode.NO_DAEMON) {
                throw failure; // there is no store
            }
            throw e;
        }
    }

    private static String note(UnservedStore read) {
        OptionalLong pid = read.daemonPid();
        Path store = read.layout().root();
        String place = "this is read from the files of the store: store=" + store;
        return pid.isPresent()
                ? "a daemon starts or ends, so " + place + " pid=" + pid.getAsLong() + "; try again for its answer"
                : "no daemon runs, so " + place + "; to serve it: larder serve --detach --store " + store;
    }
}
