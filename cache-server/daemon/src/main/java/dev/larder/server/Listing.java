package dev.larder.server;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.NearNames;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.ArrayRow.State;
import dev.larder.npy.Dtype;
import dev.larder.server.ingest.Ingest;
import dev.larder.server.ingest.Loads;
import dev.larder.server.residency.Residency;
import dev.larder.server.source.SourceArray;
import dev.larder.server.store.Store;
import dev.larder.server.store.UnservedStore;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import dev.larder.server.store.version.SourceRecord;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Lists arrays that are resident, loading or retired, one row an array. */
public final class Listing {
    /**
     * The arrays to list.
     *
     * @param dataset selects datasets that may have such arrays
     * @param array selects full names
     */
    private record Selection(Predicate<String> dataset, Predicate<String> array) {
        /** Selects full names that start with a prefix; the empty prefix selects all. */
        static Selection withPrefix(String prefix) {
            String first = Names.datasetIn(prefix);
            return new Selection(
                    first.equals(prefix) ? name -> name.startsWith(prefix) : first::equals,
                    name -> name.startsWith(prefix));
        }

        /** Selects an array, or all arrays of a dataset or below a level. */
        static Selection named(String name) {
            return new Selection(
                    Names.datasetIn(name)::equals, other -> other.equals(name) || other.startsWith(name + "/"));
        }

        private List<PublishedVersion> of(List<PublishedVersion> versions) {
            return versions.stream()
                    .filter(version -> dataset.test(version.dataset()))
                    .toList();
        }
    }

    /**
     * The contents of a store at one moment.
     *
     * @param incoming where members upload, which no row shows
     * @param holders returns the processes that lease versions, by folder
     */
    private record Contents(
            Path incoming,
            List<PublishedVersion> current,
            List<PublishedVersion> unverified,
            List<PublishedVersion> retired,
            List<Registration> registrations,
            List<Ingest> loads,
            Function<List<PublishedVersion>, Map<Path, List<Long>>> holders) {}

    private final Contents contents;

    private Listing(Contents contents) {
        this.contents = contents;
    }

    /** Returns the listing of a daemon at this moment. */
    static Listing of(Store store, Residency residency, Loads loads) {
        return new Listing(new Contents(
                store.layout().incoming(),
                residency.current(),
                residency.unverified().all(),
                residency.retired(),
                residency.registrations(),
                loads.running(),
                store.leases()::holdersOf));
    }

    /** Returns the listing of a store without a daemon. */
    public static Listing of(UnservedStore store) {
        return new Listing(new Contents(
                store.layout().incoming(),
                store.current(),
                store.unverified(),
                store.retired(),
                store.registrations(),
                List.of(),
                versions -> store.holders()));
    }

    /**
     * Returns the rows of all arrays with full names that start with a prefix, sorted by name, retired versions last.
     *
     * @param includeRetired whether to include versions that are visible only to their present readers, and evicted datasets
     * @param mostArrays a version of more arrays is one row, unless it has columns; 0 for no limit
     */
    public List<ArrayRow> rows(String prefix, boolean includeRetired, int mostArrays) {
        return rows(Selection.withPrefix(prefix), includeRetired, mostArrays);
    }

    /** Returns the rows of a dataset or an array by its name, without replaced versions; empty if it is unknown. */
    public List<ArrayRow> rows(String name) {
        return withoutReloads(rows(Selection.named(name), true, 0).stream()
                .filter(row -> row.state() != State.RETIRED)
                .toList());
    }

    /** Returns the error for a name without rows in a store without a daemon; for a damaged dataset the error of its files. */
    public LarderException notFound(UnservedStore store, String name) {
        String dataset = Names.datasetIn(name);
        String array = Names.arrayIn(name);
        Optional<PublishedVersion> version = contents.current.stream()
                .filter(known -> known.dataset().equals(dataset))
                .findFirst();
        if (array != null && version.isPresent()) {
            return version.get().noSuchArray(array);
        }
        LarderException damage = store.unreadable(dataset);
        if (damage != null && rows(dataset).isEmpty()) {
            return damage;
        }
        List<String> known = rows("", true, 1).stream()
                .filter(row -> row.state() != State.RETIRED)
                .map(row -> Names.datasetIn(row.name()))
                .distinct()
                .toList();
        return NearNames.noSuchDataset(store.layout().root(), dataset, known);
    }

    private List<ArrayRow> rows(Selection selection, boolean includeRetired, int mostArrays) {
        Predicate<String> filter = selection.array;
        List<PublishedVersion> current = selection.of(contents.current);
        List<PublishedVersion> retired = includeRetired ? selection.of(contents.retired) : List.of();
        List<PublishedVersion> versions = new ArrayList<>(current);
        versions.addAll(retired);
        Map<Path, List<Long>> holders = contents.holders.apply(versions);
        List<ArrayRow> rows = new ArrayList<>();
        for (PublishedVersion version : current) {
            State state = version.isInPlace() ? State.MAPPED : State.RESIDENT;
            int leases = holders.getOrDefault(version.folder(), List.of()).size();
            if (isOneRow(version, mostArrays)
                    && version.arrays().stream()
                            .allMatch(array -> filter.test(version.dataset() + "/" + array.name()))) {
                rows.add(whole(version, state, leases));
            } else {
                addRows(version, state, leases, filter, rows);
            }
        }
        for (PublishedVersion version : selection.of(contents.unverified)) {
            addRows(version, State.LOADING, 0, filter, rows);
        }
        addLoading(filter, rows);
        addRegistered(filter, includeRetired, rows);
        rows.sort(Comparator.comparing(ArrayRow::name));
        for (PublishedVersion version : retired) {
            addRows(
                    version,
                    State.RETIRED,
                    holders.getOrDefault(version.folder(), List.of()).size(),
                    filter,
                    rows);
        }
        return rows;
    }

    private static boolean isOneRow(PublishedVersion version, int mostArrays) {
        return mostArrays > 0
                && version.arrays().size() > mostArrays
                && version.arrays().stream().allMatch(array -> array.part() == ColumnPart.NONE);
    }

    private static ArrayRow whole(PublishedVersion version, State state, int leases) {
        Set<String> dtypes = version.arrays().stream().map(ArrayEntry::dtype).collect(Collectors.toSet());
        return new ArrayRow(
                version.dataset() + "/",
                dtypes.size() == 1
                        ? ArrayRow.dtypeText(Dtype.parse(dtypes.iterator().next()))
                        : "",
                List.of((long) version.arrays().size()),
                'C',
                version.dataBytes(),
                version.version(),
                version.digest(),
                state,
                isPinned(version),
                leases,
                "",
                0,
                "",
                String.join(" ", version.origins()),
                ColumnPart.NONE);
    }

    private static boolean isPinned(PublishedVersion version) {
        return Files.exists(version.folder().resolve(StoreLayout.PINNED));
    }

    /** Omits loading arrays that can already be read, so that a name has one row. */
    private static List<ArrayRow> withoutReloads(List<ArrayRow> rows) {
        Set<String> readable = rows.stream()
                .filter(row -> row.state() != State.LOADING)
                .map(ArrayRow::name)
                .collect(Collectors.toSet());
        return rows.stream()
                .filter(row -> row.state() != State.LOADING || !readable.contains(row.name()))
                .toList();
    }

    private void addRows(
            PublishedVersion version, State state, int leases, Predicate<String> filter, List<ArrayRow> rows) {
        Map<String, String> sources = version.sources().stream()
                .collect(Collectors.toMap(SourceRecord::array, SourceRecord::path, (first, second) -> first));
        Map<String, String> claimed = version.provenance().publisher().claimedSources();
        boolean pinned = isPinned(version);
        for (ArrayEntry array : version.arrays()) {
            String name = version.dataset() + "/" + array.name();
            if (filter.test(name)) {
                rows.add(new ArrayRow(
                        ArrayRow.nameText(name),
                        ArrayRow.dtypeText(Dtype.parse(array.dtype())),
                        LongStream.of(array.shape()).boxed().toList(),
                        array.order(),
                        array.byteSize(),
                        version.version(),
                        version.digest(),
                        state,
                        pinned,
                        leases,
                        state == State.LOADING
                                ? ""
                                : version.folder().resolve(array.file()).toString(),
                        array.offset(),
                        array.crc32cHex(),
                        sources.getOrDefault(array.name(), claimed.getOrDefault(array.name(), "")),
                        array.part()));
            }
        }
    }

    private void addLoading(Predicate<String> filter, List<ArrayRow> rows) {
        for (Ingest load : contents.loads) {
            for (SourceArray array : load.arrays()) {
                if (filter.test(array.name().toString())) {
                    rows.add(new ArrayRow(
                            ArrayRow.nameText(array.name().toString()),
                            ArrayRow.dtypeText(array.dtype()),
                            LongStream.of(array.shape()).boxed().toList(),
                            array.order().name().charAt(0),
                            array.byteSize(),
                            0,
                            "",
                            State.LOADING,
                            false,
                            0,
                            "",
                            0,
                            "",
                            source(array),
                            array.part()));
                }
            }
        }
    }

    /** Returns the source, unless it is an upload of a member: another member that has its path could write there. */
    private String source(SourceArray array) {
        return array.file().startsWith(contents.incoming) ? "" : array.file().toString();
    }

    /** Adds one row for each registered dataset, because its arrays are not loaded. The usual listing omits evicted datasets. */
    private void addRegistered(Predicate<String> filter, boolean includeEvicted, List<ArrayRow> rows) {
        for (Registration known : contents.registrations) {
            String name = known.dataset();
            boolean isListed = includeEvicted || known.version() == 0;
            if (isListed
                    && filter.test(name)
                    && contents.loads.stream().noneMatch(load -> load.datasets().contains(name))) {
                rows.add(new ArrayRow(
                        name,
                        "",
                        List.of(),
                        'C',
                        known.dataBytes(),
                        known.version(),
                        known.digest(),
                        State.REGISTERED,
                        false,
                        0,
                        "",
                        0,
                        "",
                        String.join(" ", known.provenance().origins()),
                        ColumnPart.NONE));
            }
        }
    }
}
