package dev.larder.server.control;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Elements that wait for their turn. Users take turns, and so do the processes of one user. An element waits once. Not thread-safe. */
final class Turns<T> {
    private final Function<T, Peer> peerOf;

    /** By user and process, each in the order of their next turns. */
    private final Map<Integer, Map<Long, Set<T>>> waiting = new LinkedHashMap<>();

    Turns(Function<T, Peer> peerOf) {
        this.peerOf = peerOf;
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    void clear() {
        waiting.clear();
    }

    boolean contains(T element) {
        Peer peer = peerOf.apply(element);
        return waiting.getOrDefault(peer.uid(), Map.of())
                .getOrDefault(peer.pid(), Set.of())
                .contains(element);
    }

    /** Adds an element as the last of its process, unless it waits already. */
    void add(T element) {
        Peer peer = peerOf.apply(element);
        waiting.computeIfAbsent(peer.uid(), uid -> new LinkedHashMap<>())
                .computeIfAbsent(peer.pid(), pid -> new LinkedHashSet<>())
                .add(element);
    }

    /** Returns the first element that may have its turn, considering only the first of each process; null if there is none. */
    @Nullable
    T first(Predicate<T> mayGo) {
        for (Map<Long, Set<T>> ofUser : waiting.values()) {
            for (Set<T> ofProcess : ofUser.values()) {
                T first = ofProcess.iterator().next();
                if (mayGo.test(first)) {
                    return first;
                }
            }
        }
        return null;
    }

    /** Removes an element without a turn; returns false if it does not wait. */
    boolean remove(T element) {
        Peer peer = peerOf.apply(element);
        Map<Long, Set<T>> ofUser = waiting.getOrDefault(peer.uid(), Map.of());
        Set<T> ofProcess = ofUser.getOrDefault(peer.pid(), Set.of());
        boolean isWaiting = ofProcess.contains(element);
        if (isWaiting) {
            ofProcess.remove(element);
            if (ofProcess.isEmpty()) {
                ofUser.remove(peer.pid());
            }
            if (ofUser.isEmpty()) {
                waiting.remove(peer.uid());
            }
        }
        return isWaiting;
    }

    /** Removes an element for its turn, and moves its process behind the user's others and its user behind all others. */
    void take(T element) {
        remove(element);
        Peer peer = peerOf.apply(element);
        Map<Long, Set<T>> ofUser = waiting.remove(peer.uid());
        if (ofUser != null) {
            Set<T> ofProcess = ofUser.remove(peer.pid());
            if (ofProcess != null) {
                ofUser.put(peer.pid(), ofProcess);
            }
            waiting.put(peer.uid(), ofUser);
        }
    }
}
