package dev.larder.server.control;

import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Names users without holding up whoever asks: a directory service that hangs must not hang the control plane. A user whose name
 * does not come in time is called by the number, until it comes. Thread-safe.
 */
final class UserNames {
    private final long patienceMs;
    private final Map<Integer, FutureTask<String>> lookups = new ConcurrentHashMap<>();

    /** Waits once for each user, for so long at the most. */
    UserNames(long patienceMs) {
        this.patienceMs = patienceMs;
    }

    /** Returns the name of a user; {@code lookup}, which may hang, runs once, in a thread of its own. */
    String of(int uid, Callable<String> lookup) {
        FutureTask<String> made = new FutureTask<>(lookup);
        FutureTask<String> found = lookups.putIfAbsent(uid, made);
        if (found == null) {
            Thread thread = new Thread(made, "larder-user-name");
            thread.setDaemon(true);
            thread.start();
        }
        return name(uid, found == null ? made : found, found == null ? patienceMs : 0);
    }

    private String name(int uid, Future<String> lookup, long waitMs) {
        try {
            return lookup.get(waitMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return Integer.toString(uid);
        } catch (ExecutionException e) {
            lookups.remove(uid, lookup); // the next connection may be luckier
            return Integer.toString(uid);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Integer.toString(uid);
        }
    }
}
