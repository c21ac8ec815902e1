package dev.larder.server;

import dev.larder.internal.posix.Posix;
import dev.larder.internal.time.Backoff;
import dev.larder.server.ingest.Loads;
import dev.larder.server.residency.Residency;
import dev.larder.server.store.StorePages;
import dev.larder.server.store.version.PublishedVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Moves what lies on small pages to huge ones, in the background: what an earlier daemon left, what clients wrote, and what was loaded
 * when the kernel had no huge page to spare. Waits while anything is loaded and while memory is short. Knows how much is on huge
 * pages. Works on one thread, which it is given.
 */
final class PageCollapse {
    private static final Path MEMORY = Path.of("/proc/meminfo");
    private static final Pattern MEMORY_LINE =
            Pattern.compile("(?<name>MemTotal|MemAvailable): +(?<kilobytes>\\d+) kB");

    /** Memory is short where less than one part in this many is available: what is left is others' to use. */
    private static final int SHORTAGE = 16;

    private static final long POSTPONED_MS = 1_000;

    /** How long to leave the kernel alone when it had no huge page: memory is put in order slowly. */
    private static final Duration FIRST_RETRY = Duration.ofMinutes(1);

    private static final Duration LONGEST_RETRY = Duration.ofHours(1);

    private final Residency residency;
    private final Loads loads;
    private final StorePages pages;
    private final boolean collapses;
    private final ScheduledExecutorService thread;
    private final BooleanSupplier isStopping;
    private final Consumer<Throwable> onFailure;
    private final AtomicBoolean isComing = new AtomicBoolean();

    /** What is on huge pages, by the folder of each version, which no other version ever has. */
    private final ConcurrentMap<Path, Long> hugeBytes = new ConcurrentHashMap<>();

    private Backoff retries = newRetries();
    private boolean isNice;

    /** @param collapses whether to move anything; else this only counts */
    PageCollapse(
            Residency residency,
            Loads loads,
            StorePages pages,
            boolean collapses,
            ScheduledExecutorService thread,
            BooleanSupplier isStopping,
            Consumer<Throwable> onFailure) {
        this.residency = residency;
        this.loads = loads;
        this.pages = pages;
        this.collapses = collapses;
        this.thread = thread;
        this.isStopping = isStopping;
        this.onFailure = onFailure;
    }

    private static Backoff newRetries() {
        return new Backoff(FIRST_RETRY, LONGEST_RETRY);
    }

    /** Returns how many bytes of all versions are on huge pages, as far as they have been looked at. */
    long hugeBytes() {
        return residency.all().stream()
                .mapToLong(version -> hugeBytes.getOrDefault(version.folder(), 0L))
                .sum();
    }

    /** Looks as soon as the thread can. */
    void soon() {
        if (isComing.compareAndSet(false, true)) {
            schedule(0);
        }
    }

    private void schedule(long delayMs) {
        try {
            var unused = thread.schedule(Guarded.of(this::look, onFailure), delayMs, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException stopped) {
            return; // nobody reads what goes away
        }
    }

    private void look() {
        isComing.set(false);
        if (!isNice) {
            Posix.system().yieldToOthers();
            isNice = true;
        }
        List<PublishedVersion> all = residency.all();
        hugeBytes.keySet().retainAll(all.stream().map(PublishedVersion::folder).toList());
        boolean isNew = false;
        for (PublishedVersion version : all) {
            isNew |= !hugeBytes.containsKey(version.folder());
            hugeBytes.computeIfAbsent(version.folder(), folder -> pages.hugeBytes(version));
        }
        if (isNew) {
            retries = newRetries();
        }
        if (collapses && all.stream().anyMatch(this::isOnSmallPages)) {
            boolean isDone = all.stream().filter(this::isOnSmallPages).allMatch(this::collapse);
            schedule(isDone ? retries.nextMillis() : POSTPONED_MS);
        }
    }

    private boolean isOnSmallPages(PublishedVersion version) {
        return hugeBytes.getOrDefault(version.folder(), 0L) < StorePages.wholePieces(version);
    }

    /** Returns false where it has to wait. */
    private boolean collapse(PublishedVersion version) {
        boolean isDone = pages.collapse(version, this::mayGoOn);
        hugeBytes.replace(version.folder(), pages.hugeBytes(version));
        return isDone;
    }

    private boolean mayGoOn() {
        return !isStopping.getAsBoolean() && loads.running().isEmpty() && !isMemoryShort();
    }

    private static boolean isMemoryShort() {
        long total = 0;
        long available = Long.MAX_VALUE;
        try (Stream<String> lines = Files.lines(MEMORY)) {
            for (String line : (Iterable<String>) lines::iterator) {
                Matcher found = MEMORY_LINE.matcher(line);
                if (found.matches()) {
                    long kilobytes = Long.parseLong(found.group("kilobytes"));
                    if (found.group("name").equals("MemTotal")) {
                        total = kilobytes;
                    } else {
                        available = kilobytes;
                    }
                }
            }
        } catch (IOException e) {
            return false; // then nothing says so
        }
        return available < total / SHORTAGE;
    }
}
