package dev.larder.server.ingest;

import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress.Phase;
import dev.larder.server.residency.Residency;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Parallel;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.Provenance;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.SourceRecord;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the datasets of a load that are resident with the same contents, so that they need no loading: their files look unchanged, or were
 * read again and have the same contents. Not thread-safe.
 */
final class Reuse {
    private static final Logger LOG = LoggerFactory.getLogger(Reuse.class);
    private static final int DIGEST_DIGITS = 12;

    private final Store store;
    private final Residency residency;
    private final LoadOptions options;
    private final int workers;
    private final LoadProgress progress;
    private final Checksums checksums;
    private final Set<String> damaged = new HashSet<>();

    Reuse(Store store, Residency residency, LoadRequest request, LoadProgress progress, BooleanSupplier mayContinue) {
        this.store = store;
        this.residency = residency;
        this.options = request.options();
        this.workers = request.workers();
        this.progress = progress;
        this.checksums = new Checksums(progress::addBytes, mayContinue);
    }

    /** Returns the note for an unchanged dataset; empty if it must be loaded. */
    Optional<String> unchanged(Candidate candidate) {
        Optional<PublishedVersion> found = residency.find(candidate.dataset());
        if (found.isEmpty() || !candidate.isShapedLike(found.get())) {
            return Optional.empty();
        }
        PublishedVersion version = found.get();
        boolean isIdentical = isIdentical(candidate, version);
        if (isIdentical && !options.strict() && !options.evenIfUnchanged()) {
            tryToRecord(candidate, version);
            return Optional.of(note(version, "its sources look unchanged"));
        } else if (!eachIs(candidate, version, version.isInPlace() ? Reuse::isStamped : SourceRecord::looksLike)) {
            return Optional.empty(); // readers of files in place check their stamps
        }
        return hasSameContents(candidate, version)
                ? Optional.of(recordUnchanged(candidate, version))
                : Optional.empty();
    }

    /**
     * Returns the note for an unchanged remote dataset before anything is fetched; empty if it must be fetched.
     *
     * @param look a value that changes whenever the sources do; empty if it is not known
     */
    Optional<String> unchanged(String dataset, List<String> origins, String look) {
        return repeated(dataset, origins)
                .filter(version -> !look.isEmpty()
                        && !version.sources().isEmpty()
                        && version.sources().stream()
                                .allMatch(source -> source.sample().equals(look)))
                .map(version -> note(version, "its sources look unchanged"));
    }

    /**
     * Returns the note for an unchanged dataset from this machine before any file of it is opened; empty if its files must be scanned.
     *
     * @param look returns a value that changes whenever the files do; empty if it is not known
     */
    Optional<String> unchangedHere(String dataset, List<String> origins, Supplier<String> look) {
        return repeated(dataset, origins)
                .filter(version -> !version.provenance().look().isEmpty()
                        && version.provenance().look().equals(look.get()))
                .map(version -> note(version, "its sources look unchanged"));
    }

    /** Returns the resident version if this load names the same sources and options, and may trust the looks of files. */
    private Optional<PublishedVersion> repeated(String dataset, List<String> origins) {
        return residency
                .find(dataset)
                .filter(version -> !options.strict()
                        && !options.evenIfUnchanged()
                        && options.givesSameAs(version.provenance().options())
                        && version.origins().equals(origins));
    }

    /** Returns the note for a dataset that was loaded and turned out to equal the resident version; empty if it must be published. */
    Optional<String> unchanged(Candidate candidate, String digest) {
        return residency
                .find(candidate.dataset())
                .filter(version -> version.digest().equals(digest)
                        && !version.isInPlace()
                        && candidate.isShapedLike(version)
                        && !damaged.contains(candidate.dataset()))
                .map(version -> recordUnchanged(candidate, version));
    }

    private static boolean isIdentical(Candidate candidate, PublishedVersion version) {
        List<SourceRecord> sources = candidate.provenance().sources();
        return candidate.provenance().origins().equals(version.origins())
                && eachIs(candidate, version, SourceRecord::isUnchangedFrom)
                && sources.stream().allMatch(Candidate::isTrusted);
    }

    private static boolean isStamped(SourceRecord now, SourceRecord then) {
        return now.looksLike(then) && now.stamp().equals(then.stamp());
    }

    private static boolean eachIs(
            Candidate candidate, PublishedVersion version, BiPredicate<SourceRecord, SourceRecord> relation) {
        List<SourceRecord> now = candidate.provenance().sources();
        List<SourceRecord> then = version.sources();
        if (now.size() != then.size()) {
            return false;
        }
        for (int i = 0; i < now.size(); i++) {
            if (!relation.test(now.get(i), then.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Compares all sources with the checksums. For a reload, which repairs damage, also compares the resident arrays. */
    private boolean hasSameContents(Candidate candidate, PublishedVersion version) {
        Map<String, ArrayEntry> entries = Candidate.entries(version);
        AtomicBoolean differs = new AtomicBoolean();
        progress.begin(
                Phase.VERIFYING, candidate.dataBytes(), candidate.arrays().size());
        Parallel.forEach(candidate.arrays(), workers, array -> {
            ArrayEntry entry = entries.get(array.name().array());
            if (!differs.get() && (entry == null || checksums.of(array) != entry.crc32c())) {
                differs.set(true);
            }
            progress.addFile();
        });
        if (!differs.get() && options.evenIfUnchanged() && !isWhole(version)) {
            damaged.add(version.dataset());
            return false;
        }
        return !differs.get();
    }

    private boolean isWhole(PublishedVersion version) {
        AtomicBoolean whole = new AtomicBoolean(true);
        progress.begin(Phase.VERIFYING, version.dataBytes(), version.arrays().size());
        boolean leased = store.leases()
                .runLeased(
                        version.folder(),
                        () -> Parallel.forEach(version.arrays(), workers, entry -> {
                            if (whole.get() && !isWhole(version, entry)) {
                                whole.set(false);
                            }
                            progress.addFile();
                        }));
        return leased && whole.get();
    }

    private boolean isWhole(PublishedVersion version, ArrayEntry entry) {
        try {
            return checksums.of(new Extent(version.folder().resolve(entry.file()), entry.offset(), entry.byteSize()))
                    == entry.crc32c();
        } catch (LarderException unreadable) {
            return false;
        }
    }

    /** Records the sources if there is anything new about them, so that the next load is quicker; a full store prevents that. */
    private void tryToRecord(Candidate candidate, PublishedVersion version) {
        try {
            recordChanged(candidate, version);
        } catch (LarderException | UncheckedIOException e) {
            LOG.debug("the looks of files are not recorded: dataset={} reason={}", version.dataset(), Failure.words(e));
        }
    }

    /** Records the sources if there is anything new about them, so that the next load need not read them again. */
    private void recordChanged(Candidate candidate, PublishedVersion version) {
        Provenance now = candidate.provenance();
        Provenance then = version.provenance();
        if (!now.sources().equals(then.sources())
                || !now.origins().equals(then.origins())
                || !now.look().equals(then.look())) {
            residency.recordSources(version, now.withWholeOf(then));
        }
    }

    private String recordUnchanged(Candidate candidate, PublishedVersion version) {
        recordChanged(candidate, version);
        return note(version, "its sources were read again and are unchanged");
    }

    private static String note(PublishedVersion version, String why) {
        return version.dataset() + " is unchanged: version=" + version.version() + " digest="
                + version.digest().substring(0, DIGEST_DIGITS) + "; " + why;
    }
}
