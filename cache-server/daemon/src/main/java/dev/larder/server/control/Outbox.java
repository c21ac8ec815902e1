package dev.larder.server.control;

import dev.larder.error.ErrorCode;
import dev.larder.internal.protocol.Problem;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Response;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one client is still to hear. Filled by any thread, emptied by the control thread. Bounded whatever the client does:
 * a newer progress replaces an older one that nobody has sent yet, and rows stay in the list they came in.
 */
final class Outbox {
    private static final int MAX_ENTRIES = 64;

    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private boolean ended;

    /** Adds a response; false where the exchange has ended before. */
    synchronized boolean offer(Response response, boolean last) {
        if (ended) {
            return false;
        }
        Entry newest = entries.peekLast();
        if (response instanceof Progress && newest != null && newest.isProgress()) {
            entries.removeLast();
        }
        add(new Entry(List.of(response).iterator(), response instanceof Progress));
        ended |= last;
        return true;
    }

    /** Adds rows; false where the exchange has ended before. */
    synchronized boolean offer(List<? extends Response> rows) {
        if (ended) {
            return false;
        }
        add(new Entry(rows.iterator(), false));
        return true;
    }

    /** Forgets what was not sent, and ends the exchange with this. */
    synchronized void endWith(Response response) {
        entries.clear();
        entries.add(new Entry(List.of(response).iterator(), false));
        ended = true;
    }

    /** Takes the next response, or null. */
    synchronized @Nullable Response poll() {
        while (!entries.isEmpty()) {
            Iterator<? extends Response> responses = entries.getFirst().responses();
            if (responses.hasNext()) {
                return responses.next();
            }
            entries.removeFirst();
        }
        return null;
    }

    /** Ends the exchange without a word. */
    synchronized void abandon() {
        entries.clear();
        ended = true;
    }

    synchronized boolean isEnded() {
        return ended;
    }

    /** Tells whether the exchange has ended and everything was taken. */
    synchronized boolean isDrained() {
        return ended && entries.isEmpty();
    }

    private void add(Entry entry) {
        if (entries.size() < MAX_ENTRIES) {
            entries.add(entry);
        } else {
            endWith(new Problem(ErrorCode.REFUSED.number(), "the client reads its answers too slowly"));
        }
    }

    private record Entry(Iterator<? extends Response> responses, boolean isProgress) {}
}
