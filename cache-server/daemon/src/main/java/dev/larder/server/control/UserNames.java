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
 * Looks up names of users with a time limit: a directory service that hangs must not block the control thread. Until a name arrives, the
 * user's number is used instead. Thread-safe.
 */
final class UserNames {
    private final long patienceMs;
    private final Map<Integer, FutureTask<String>> lookups = new ConcurrentHashMap<>();

    /** Waits at most this time for each user, and only at the first call. */
    UserNames(long patienceMs) {
        this.patienceMs = patienceMs;
    }

    /** Returns the name of a user. {@code lookup}, which may hang, runs once, on its own thread. */
    String of(int uid, Callable<String> lookup) {
        FutureTask<String> lookupTask = new FutureTask<>(lookup);
        FutureTask<String> found = lookups.putIfAbsent(uid, lookupTask);
        if (found == null) {
            Thread thread = new Thread(lookupTask, "larder-user-name");
            thread.setDaemon(true);
            thread.start();
        }
        return name(uid, found == null ? lookupTask : found, found == null ? patienceMs : 0);
    }

    private String name(int uid, Future<String> lookup, long waitMs) {
        try {
            return lookup.get(waitMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return Integer.toString(uid);
        } catch (ExecutionException e) {
            lookups.remove(uid, lookup); // the next connection tries again
            return Integer.toString(uid);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Integer.toString(uid);
        }
    }
}
