package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.error.Failure;
import dev.larder.reader.Selection;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Collects the arrays and refusals of a scan, and the names of {@code --columns} that no format has found yet. Closing it releases the
 * arrays, unless {@link #source} has handed them out. Not thread-safe.
 */
final class Findings implements AutoCloseable {
    /** The most files of arrays that are compared with a listing; a load of more of them opens each, as always. */
    private static final int MOST_COMPARED = 100_000;

    private final String dataset;
    private final @Nullable Findings whole;
    private final FileListing listing;
    private final SourceOptions options;
    private final ScanSettings settings;
    private final List<SourceArray> arrays = new ArrayList<>();
    private final List<LarderException> refusals = new Refusals();
    private final List<LarderException> objections = new ArrayList<>();
    private @Nullable LarderException incomplete;
    private final Set<String> missing;
    private final Set<String> present = new TreeSet<>();
    private final List<String> notes = new ArrayList<>();
    private int read;
    private boolean isHandedOut;

    Findings(String dataset, FileListing listing, SourceOptions options, ScanSettings settings) {
        this(dataset, null, listing, options, settings);
    }

    private Findings(
            String dataset,
            @Nullable Findings whole,
            FileListing listing,
            SourceOptions options,
            ScanSettings settings) {
        this.dataset = dataset;
        this.whole = whole;
        this.listing = listing;
        this.options = options;
        this.settings = settings;
        this.missing = new LinkedHashSet<>(options.keys());
    }

    String dataset() {
        return dataset;
    }

    FileListing listing() {
        return listing;
    }

    SourceOptions options() {
        return options;
    }

    ScanSettings settings() {
        return settings;
    }

    ColumnMemory memory() {
        return settings.memory();
    }

    List<SourceArray> arrays() {
        return arrays;
    }

    /** Returns the reasons to refuse the source. Formats add theirs. */
    List<LarderException> refusals() {
        return refusals;
    }

    /** Returns whether nothing was refused, so that the load can continue. */
    boolean isSound() {
        return refusals.isEmpty() && (whole == null || whole.isSound());
    }

    void add(SourceArray array) {
        arrays.add(array);
    }

    void addAll(List<SourceArray> more) {
        arrays.addAll(more);
    }

    /** Replaces the arrays with others, which use or release the data of the former. */
    void replaceAll(List<SourceArray> others) {
        arrays.clear();
        arrays.addAll(others);
    }

    void note(String note) {
        notes.add(note);
    }

    /** Runs a step; a refusal of it becomes one of the source. */
    void refusing(Runnable step) {
        try {
            step.run();
        } catch (LarderException e) {
            if (e.code() != ErrorCode.BAD_INPUT) {
                throw e;
            }
            refusals.add(e);
        }
    }

    /** Returns the names that no array or column has so far. */
    Set<String> missing() {
        return missing;
    }

    /** Returns the names of arrays that files have in place of the missing ones, for errors. */
    Set<String> present() {
        return present;
    }

    /**
     * Takes the names that a search has found out of those that are missing; objects if it has not found all, and refuses tables without a name
     * that others have.
     *
     * @param firstFiles of each table
     */
    void retainMissing(Selection search, List<Path> firstFiles) {
        for (int i = 0; i < firstFiles.size(); i++) {
            Selection.Table table = search.tables().get(i);
            if (!table.lacking().isEmpty()) {
                refusals.add(Refusal.noColumns(firstFiles.get(i), table.lacking(), table.columns()));
                return;
            }
        }
        missing.retainAll(search.missing());
        if (!missing.isEmpty()) {
            object(Refusal.noColumns(listing.root(), missing, search.present()));
        }
    }

    /** Notes a reason to refuse the source if names are missing in the end: a format without them, or one that cannot be read. */
    void object(LarderException reason) {
        objections.add(reason);
    }

    /** Notes a reason to refuse the source if names are missing in the end and no other format objects. */
    void noteIncomplete(LarderException reason) {
        incomplete = reason;
    }

    /** Returns the best reason to refuse the source because of missing names; null if no format has given one. */
    @Nullable
    LarderException objection() {
        return objections.isEmpty() ? incomplete : objections.get(0);
    }

    /** Counts files of the listing that a format has read; all others count as skipped. */
    void read(int files) {
        read += files;
    }

    /**
     * Has a format look at its files, for the missing names if there are any.
     *
     * @param isFinal whether its refusals are those of the source; else other formats may have the names, and they are objections
     */
    void look(Format format, FileTable files, boolean isFinal) {
        try (Findings part = new Findings(dataset, this, listing, options.withKeys(List.copyOf(missing)), settings)) {
            for (FileListing.Unreadable file : listing.unreadable()) {
                if (format.reads(file.name(), listing)) {
                    part.refusals.add(file.refusal());
                }
            }
            part.refusing(() -> format.look(files, part));
            if (part.refusals.isEmpty()) {
                keep(part);
            } else if (isFinal) {
                refusals.addAll(part.refusals);
            } else {
                object(Refusal.all(dataset, listing.root(), part.refusals));
            }
        }
    }

    private void keep(Findings part) {
        part.isHandedOut = true;
        arrays.addAll(part.arrays);
        objections.addAll(part.objections);
        incomplete = incomplete == null ? part.incomplete : incomplete;
        missing.retainAll(part.missing);
        present.addAll(part.present);
        notes.addAll(part.notes);
        read += part.read;
    }

    /** Returns the failure of a source without arrays. */
    LarderException nothing(String remedy) {
        return Failure.of(ErrorCode.BAD_INPUT, "source has nothing to load")
                .with("path", listing.root())
                .with("skippedFiles", skipped())
                .with("hiddenFiles", listing.hidden())
                .remedy(remedy);
    }

    /** Returns how many files no format has read. */
    int skipped() {
        return listing.files().size() + listing.unreadable().size() - read;
    }

    /** Returns the arrays, sorted by name; fails with all that was refused. */
    ScannedSource source(Map<String, Integer> passedOver, List<String> firstUnknown) {
        ScannedSource.refuseClashes(arrays, refusals);
        if (!refusals.isEmpty()) {
            throw Refusal.all(dataset, listing.root(), refusals);
        }
        arrays.sort(Comparator.comparing(array -> array.name().array()));
        isHandedOut = true;
        return new ScannedSource(
                dataset, listing.root(), arrays, skipped(), listing.hidden(), passedOver, firstUnknown, notes, look());
    }

    /** Returns the look of the listing if every array comes from listed files, and no file was skipped. */
    private String look() {
        boolean isAll = settings.samples() != null && skipped() == 0 && listing.hidden() == 0 && notes.isEmpty();
        String look = isAll ? listing.look(FileListing.SETTLED_NANOS) : "";
        List<Path> files = new ArrayList<>();
        for (SourceArray array : look.isEmpty() ? List.<SourceArray>of() : arrays) {
            if (!(array.files() instanceof FileTable)) {
                array.files().forEach(file -> files.add(file.file()));
            }
        }
        return files.size() <= MOST_COMPARED && listsAll(files) ? look : "";
    }

    /** Returns whether the listing has all these files. Keeps no objects for others: there may be millions. */
    private boolean listsAll(List<Path> files) {
        Set<Path> missing = new HashSet<>(files);
        for (int i = 0; i < listing.files().size() && !missing.isEmpty(); i++) {
            missing.remove(listing.files().path(i));
        }
        return missing.isEmpty();
    }

    @Override
    public void close() {
        if (!isHandedOut) {
            arrays.forEach(SourceArray::release);
        }
    }
}
