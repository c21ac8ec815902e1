package dev.larder.server.metrics;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Samples the use of versions for the counters. Clients open resident versions without the daemon, so it has to check their leases from
 * time to time. Thread-safe.
 */
public final class UsageSampler {
    private final Counters counters;
    private final Supplier<List<VersionUse>> versions;
    private Set<Reading> before = Set.of();

    /** A process that reads a version. */
    private record Reading(long pid, String dataset, long version) {}

    /** Creates a sampler; {@code versions} reads the use of every version that has files. */
    public UsageSampler(Counters counters, Supplier<List<VersionUse>> versions) {
        this.counters = counters;
        this.versions = versions;
    }

    /** Takes a sample, updates the counters, and returns the sample. */
    public synchronized List<VersionUse> sample() {
        List<VersionUse> uses = List.copyOf(versions.get());
        counters.set(Counter.RESIDENT_BYTES, bytes(uses, use -> !use.isRetired()));
        counters.set(Counter.RETIRED_BYTES, bytes(uses, VersionUse::isRetired));
        counters.set(Counter.PINNED_BYTES, bytes(uses, VersionUse::isPinned));
        counters.set(Counter.LEASED_BYTES, bytes(uses, VersionUse::isLeased));
        Set<Reading> now = new HashSet<>();
        Set<Long> clients = new HashSet<>();
        for (VersionUse use : uses) {
            clients.addAll(use.pids());
            use.pids().forEach(pid -> now.add(new Reading(pid, use.dataset(), use.version())));
        }
        counters.set(Counter.CLIENTS, clients.size());
        counters.add(
                Counter.SAMPLED_OPENS,
                now.stream().filter(reading -> !before.contains(reading)).count());
        before = now;
        return uses;
    }

    private static long bytes(List<VersionUse> uses, Predicate<VersionUse> filter) {
        return uses.stream().filter(filter).mapToLong(VersionUse::storedBytes).sum();
    }
}
