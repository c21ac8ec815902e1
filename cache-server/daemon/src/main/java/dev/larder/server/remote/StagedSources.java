package dev.larder.server.remote;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.ShardRows;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.SourceAddress;
import dev.larder.reader.PlaceRequest;
import dev.larder.reader.Target;
import dev.larder.server.reader.PlaceSource;
import dev.larder.server.reader.Readers;
import dev.larder.server.source.Extents;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.scan.ScannedSource;
import dev.larder.server.store.version.SourceRecord;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The sources of a load as files of this machine: remote sources are listed, then fetched into files of the store, and scanned there. Closing it
 * removes the fetched files that have not been moved. Used by one thread.
 */
public final class StagedSources implements AutoCloseable {
    /** The property for the number of connections, for programs that set no environment. */
    public static final String CONNECTIONS_PROPERTY = "larder.connections";

    private static final String CONNECTIONS_VARIABLE = "LARDER_CONNECTIONS";
    private static final int DEFAULT_CONNECTIONS = 16;
    private static final int MOST_CONNECTIONS = 256;
    private static final int FILE_MODE = 0600;

    /** Smaller arrays are copied in any case. */
    private static final long SMALLEST_MOVED_BYTES = 1 << 20;

    private final List<LoadRequest.Source> requested;
    private final SourceOptions options;
    private final ScanSettings settings;
    private final @Nullable ShardRows shard;
    private final Map<LoadRequest.Source, StagedPlace> places = new LinkedHashMap<>();
    private final Map<Path, StagedPlace> placesByFolder = new HashMap<>();
    private final List<Kind> kinds = new ArrayList<>();
    private final Map<String, String> looks = new HashMap<>();

    /** The places of one reader, and the files to fetch. */
    private record Kind(PlaceSource reader, List<StagedPlace> places, List<Target> targets) {}

    private StagedSources(
            List<LoadRequest.Source> requested,
            SourceOptions options,
            ScanSettings settings,
            @Nullable ShardRows shard) {
        this.requested = requested;
        this.options = options;
        this.settings = settings;
        this.shard = shard;
    }

    /**
     * Lists every remote source; does nothing if all sources are on this machine. The caller closes it.
     *
     * @param shard the rows to fetch of {@code .npy} files if their servers send parts of files; null for all
     */
    public static StagedSources list(
            List<LoadRequest.Source> requested,
            SourceOptions options,
            ScanSettings settings,
            @Nullable ShardRows shard) {
        StagedSources staged = new StagedSources(requested, options, settings, shard);
        try {
            staged.listAll();
            return staged;
        } catch (LarderException e) {
            staged.close();
            throw staged.explained(e);
        } catch (RuntimeException | Error e) {
            staged.close();
            throw e;
        }
    }

    /** Refuses an address that a load would refuse without a connection. */
    public static void requireReadable(LoadRequest.Source source) {
        String obstacle =
                Readers.ofScheme(SourceAddress.scheme(source.path())).obstacle().orElse("");
        if (!obstacle.isEmpty()) {
            throw Failure.of(ErrorCode.BAD_INPUT, "source cannot be read")
                    .with("dataset", source.name())
                    .with("path", source.visiblePath())
                    .with("reason", obstacle)
                    .remedy("see larder readers");
        }
    }

    private void listAll() {
        Map<Readers.Known, List<LoadRequest.Source>> byReader = new LinkedHashMap<>();
        for (LoadRequest.Source source : requested) {
            if (source.isRemote()) {
                byReader.computeIfAbsent(
                                Readers.ofScheme(SourceAddress.scheme(source.path())), known -> new ArrayList<>())
                        .add(source);
            }
        }
        byReader.forEach(
                (known, sources) -> list(known, sources.stream().distinct().toList()));
        for (StagedPlace place : places.values()) {
            looks.merge(place.source().name(), PlaceLook.of(place), PlaceLook::both);
        }
    }

    private void list(Readers.Known known, List<LoadRequest.Source> sources) {
        List<String> addresses = sources.stream().map(LoadRequest.Source::path).toList();
        // Known before anything can fail, so that every message is explained.
        sources.forEach(source -> places.put(source, new StagedPlace(source, Path.of("/"), places.size())));
        PlaceSource reader = PlaceSource.open(known, new PlaceRequest(addresses, connections()), settings);
        List<StagedPlace> own = new ArrayList<>();
        kinds.add(new Kind(reader, own, new ArrayList<>()));
        for (LoadRequest.Source source : sources) {
            own.add(new StagedPlace(source, reader.folder(), own.size()));
            places.put(source, own.get(own.size() - 1));
            placesByFolder.put(own.get(own.size() - 1).folder(), own.get(own.size() - 1));
        }
        for (int number = 0; number < reader.objects().size(); number++) {
            own.get(reader.objects().get(number).place())
                    .add(number, reader.objects().get(number));
        }
    }

    private static int connections() {
        String wanted = System.getProperty(CONNECTIONS_PROPERTY, System.getenv(CONNECTIONS_VARIABLE));
        if (wanted == null || wanted.isEmpty()) {
            return DEFAULT_CONNECTIONS;
        }
        try {
            int connections = Integer.parseInt(wanted);
            if (connections > 0 && connections <= MOST_CONNECTIONS) {
                return connections;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw Failure.of(ErrorCode.USAGE, "bad " + CONNECTIONS_VARIABLE)
                .with("value", wanted)
                .remedy("give a number from 1 to " + MOST_CONNECTIONS);
    }

    /** Returns a hash that differs after any change of the sources of a dataset; empty if some of them are on this machine. */
    public String look(String dataset) {
        boolean isElsewhere = requested.stream()
                .filter(source -> source.name().equals(dataset))
                .allMatch(LoadRequest.Source::isRemote);
        return isElsewhere ? looks.getOrDefault(dataset, "") : "";
    }

    /** Returns the same for a dataset that comes from this machine alone, otherwise an empty text. Lists its sources, and opens no file. */
    public String lookHere(String dataset) {
        StringBuilder looks = new StringBuilder();
        for (LoadRequest.Source source : requested) {
            if (source.name().equals(dataset)) {
                String look = source.isRemote() ? "" : ScannedSource.look(source.file(), options, settings);
                if (look.isEmpty()) {
                    return "";
                }
                looks.append(look);
            }
        }
        return looks.toString();
    }

    /** Returns the objects of a remote source by name, each with its length and its tag or time. */
    public Map<String, String> listed(LoadRequest.Source source) {
        Map<String, String> listed = new TreeMap<>();
        StagedPlace place = places.get(source);
        if (place != null) {
            place.objects()
                    .forEach((name, object) -> listed.put(
                            name,
                            object.listed().byteSize()
                                    + (object.listed().tag().isEmpty()
                                            ? ",modified:" + object.listed().modifiedNanos()
                                            : ",tag:" + object.listed().tag())));
        }
        return listed;
    }

    /**
     * Fetches the remote files that the load of some datasets reads. No other process can write to them afterwards. Does nothing if all sources are
     * on this machine.
     *
     * @param onBegin takes the number of bytes and of files, before the first is fetched
     * @param onBytes takes the number of bytes of each step
     */
    public void fetch(Predicate<String> isWanted, BiConsumer<Long, Long> onBegin, LongConsumer onBytes) {
        if (places.isEmpty()) {
            return;
        }
        long byteSize = 0;
        long storedBytes = 0;
        for (Kind kind : kinds) {
            choose(kind, isWanted);
            byteSize = ByteSums.add(byteSize, bytes(kind));
            for (Target target : kind.targets) {
                storedBytes = ByteSums.add(storedBytes, storedBytes(target));
            }
        }
        settings.scratch().setAside(storedBytes);
        onBegin.accept(
                byteSize, kinds.stream().mapToLong(kind -> kind.targets.size()).sum());
        kinds.forEach(kind -> fetch(kind, onBytes));
        places.values().forEach(place -> place.shifted().forEach(NpyAlignment::complete));
    }

    private void choose(Kind kind, Predicate<String> isWanted) {
        for (StagedPlace place : kind.places) {
            if (isWanted.test(place.source().name())) {
                place.makeFiles();
                choose(place, kind.targets);
            }
        }
        if (shard != null && options.as() == LoadOptions.As.ARRAYS) {
            cut(kind, shard);
        }
    }

    private static long storedBytes(Target target) {
        long pagesBytes = ByteSums.roundUp(ByteSums.add(target.offset(), target.byteSize()), PageSize.BYTES);
        boolean isWhole = target.start() == 0;
        return isWhole
                ? pagesBytes
                : ByteSums.add(pagesBytes, NpyRows.HEAD_BYTES + PageSize.BYTES); // rows begin within a page
    }

    private static long bytes(Kind kind) {
        return ByteSums.sum(kind.targets.stream().mapToLong(Target::byteSize));
    }

    /** Chooses, by names alone, the files that a load of a place would open. */
    private void choose(StagedPlace place, List<Target> targets) {
        Set<Path> opened =
                place.isAlone() ? Set.of(place.root()) : ScannedSource.opened(place.root(), options, settings);
        place.objects().forEach((name, object) -> {
            Path file = place.file(name);
            long byteSize = object.listed().byteSize();
            if (opened.contains(file) && byteSize > 0) {
                boolean isShifted = shard == null && options.as() == LoadOptions.As.ARRAYS && name.endsWith(".npy");
                if (isShifted) {
                    place.noteShifted(file);
                }
                targets.add(new Target(object.number(), file, isShifted ? NpyAlignment.SHIFT : 0, byteSize));
            }
        });
    }

    /** Narrows the targets of arrays down to the rows of the shard, by their headers. */
    private void cut(Kind kind, ShardRows rows) {
        List<Target> heads = new ArrayList<>();
        for (Target target : kind.targets) {
            boolean hasRanges = kind.reader.objects().get(target.offer()).hasRanges();
            if (hasRanges && target.path().toString().endsWith(".npy") && target.byteSize() > NpyRows.HEAD_BYTES) {
                resize(target);
                heads.add(new Target(target.offer(), target.path(), 0, NpyRows.HEAD_BYTES));
            }
        }
        if (heads.isEmpty()) {
            return;
        }
        kind.reader.peek(heads, heads.size() * (long) NpyRows.HEAD_BYTES, bytes -> {});
        Set<Path> known = heads.stream().map(Target::path).collect(Collectors.toSet());
        kind.targets.replaceAll(target -> known.contains(target.path()) ? NpyRows.of(target, rows) : target);
    }

    private static void fetch(Kind kind, LongConsumer onBytes) {
        List<Target> whole =
                kind.targets.stream().filter(target -> target.start() == 0).toList();
        whole.forEach(StagedSources::resize);
        if (!kind.targets.isEmpty()) {
            PagesAhead.during(whole, () -> kind.reader.fetch(kind.targets, bytes(kind), onBytes));
        }
    }

    /** Sets the length of a file, so that a part that does not arrive is found to be missing before it is read. */
    private static void resize(Target target) {
        int descriptor = Posix.system().openOrCreate(target.path(), FILE_MODE);
        try {
            BulkIo.system().resize(descriptor, target.offset() + target.byteSize());
        } finally {
            Posix.system().close(descriptor);
        }
    }

    /** Finds the arrays of some datasets. Lists all bad files of all sources together. */
    public List<ScannedSource> scan(Predicate<String> isWanted) {
        List<LoadRequest.Source> local = new ArrayList<>();
        for (LoadRequest.Source source : requested) {
            if (isWanted.test(source.name())) {
                StagedPlace place = places.get(source);
                String path = place == null ? source.path() : place.root().toString();
                local.add(new LoadRequest.Source(source.name(), path));
            }
        }
        return ScannedSource.scanAll(local, options, settings);
    }

    /** Finds the place that a file was fetched from by its folder, so that very many places and files cost no more each. */
    private Optional<StagedPlace> placeOf(Path file) {
        for (Kind kind : kinds) {
            Path folder = kind.reader.folder();
            if (file.startsWith(folder) && file.getNameCount() > folder.getNameCount()) {
                return Optional.ofNullable(placesByFolder.get(folder.resolve(file.getName(folder.getNameCount()))));
            }
        }
        return Optional.empty();
    }

    /** Returns the same arrays. The store may take the files whose data is at the offset of a stored array. */
    public List<SourceArray> movable(List<SourceArray> arrays) {
        return arrays.stream()
                .map(array -> isMovable(array) && array.data() instanceof Extents data ? movable(array, data) : array)
                .toList();
    }

    private boolean isMovable(SourceArray array) {
        return array.extents().size() == 1
                && StoreLayout.isDataStart(array.extents().get(0).offset())
                && array.byteSize() >= SMALLEST_MOVED_BYTES
                && placeOf(array.file())
                        .filter(place -> place.shifted().contains(array.file()))
                        .isPresent();
    }

    private SourceArray movable(SourceArray array, Extents data) {
        settings.scratch().setAside(-array.byteSize()); // it takes its room as an array, not twice
        return array.withData(array.header(), data.own());
    }

    /** Returns the record of a file; for a fetched file, that of its object. */
    public SourceRecord noted(SourceRecord record, String dataset) {
        Optional<StagedPlace> fetchedFrom = placeOf(Path.of(record.path()));
        if (fetchedFrom.isPresent()) {
            StagedPlace place = fetchedFrom.get();
            StagedPlace.Numbered object = place.objects().get(place.name(record.path()));
            return new SourceRecord(
                    record.array(),
                    place.visible(record.path()),
                    object == null ? record.bytes() : object.listed().byteSize(),
                    object == null ? 0 : object.listed().modifiedNanos(),
                    0,
                    object == null ? 0 : PlaceLook.number(object.listed()),
                    looks.getOrDefault(dataset, ""));
        }
        return record;
    }

    /** Returns the origin of a file, for people. */
    public String visible(Path file) {
        return placeOf(file.toAbsolutePath())
                .map(place -> place.visible(file.toString()))
                .orElse(file.toString());
    }

    /** Returns the same failure with addresses in place of paths, and without secrets. */
    public LarderException explained(LarderException failure) {
        String message = String.valueOf(failure.getMessage());
        String explained = message;
        for (StagedPlace place : places.values()) {
            explained = place.explained(explained);
        }
        return explained.equals(message) ? failure : new LarderException(failure.rawCode(), explained, null);
    }

    @Override
    public void close() {
        kinds.forEach(kind -> kind.reader.close());
    }
}
