package dev.larder.server;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.ArrayRow.State;
import dev.larder.npy.Dtype;
import dev.larder.server.ingest.Ingest;
import dev.larder.server.ingest.Loads;
import dev.larder.server.residency.Residency;
import dev.larder.server.source.SourceArray;
import dev.larder.server.store.Store;
import dev.larder.server.store.version.PublishedVersion;
import dev.larder.server.store.version.Registration;
import dev.larder.server.store.version.SourceRecord;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Lists arrays that are resident, loading or retired, one row an array. */
final class Listing {
    /**
     * The arrays to list.
     *
     * @param dataset selects datasets that may have such arrays
     * @param array selects full names
     */
    record Selection(Predicate<String> dataset, Predicate<String> array) {
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

    private final Store store;
    private final Residency residency;
    private final Loads loads;

    Listing(Store store, Residency residency, Loads loads) {
        this.store = store;
        this.residency = residency;
        this.loads = loads;
    }

    /**
     * Returns the rows of all arrays with a matching full name, sorted by name, retired versions last.
     *
     * @param includeRetired whether to include versions that are visible only to their present readers, and evicted datasets
     * @param mostArrays a version of more arrays is one row, unless it has columns; 0 for no limit
     */
    List<ArrayRow> rows(Selection selection, boolean includeRetired, int mostArrays) {
        Predicate<String> filter = selection.array;
        List<PublishedVersion> current = selection.of(residency.current());
        List<PublishedVersion> retired = includeRetired ? selection.of(residency.retired()) : List.of();
        List<PublishedVersion> versions = new ArrayList<>(current);
        versions.addAll(retired);
        Map<Path, List<Long>> holders = store.leases().holdersOf(versions);
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
        for (PublishedVersion version : selection.of(residency.unverified().all())) {
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
    static List<ArrayRow> withoutReloads(List<ArrayRow> rows) {
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
        for (Ingest load : loads.running()) {
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
        return array.file().startsWith(store.layout().incoming())
                ? ""
                : array.file().toString();
    }

    /** Adds one row for each registered dataset, because its arrays are not loaded. The usual listing omits evicted datasets. */
    private void addRegistered(Predicate<String> filter, boolean includeEvicted, List<ArrayRow> rows) {
        for (Registration known : residency.registrations()) {
            String name = known.dataset();
            boolean isListed = includeEvicted || known.version() == 0;
            if (isListed && filter.test(name) && loads.find(name).isEmpty()) {
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
