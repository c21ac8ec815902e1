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
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The sources of a load as files of this machine: those that lie elsewhere are listed, then fetched into files of the store, and read from
 * there as a user's files are. Closing it removes what was fetched and has not been moved. Used by one thread.
 */
public final class StagedSources implements AutoCloseable {
    /** How many requests are made at once, for programs that set no environment. */
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
    private final Map<LoadRequest.Source, StagedPlace> places = new LinkedHashMap<>();
    private final Map<Path, StagedPlace> placesByFolder = new HashMap<>();
    private final List<Kind> kinds = new ArrayList<>();
    private final Map<String, String> looks = new HashMap<>();

    /** The places that one reader reads, and what it is to fetch. */
    private record Kind(PlaceSource reader, List<StagedPlace> places, List<Target> targets) {}

    private @Nullable ShardRows shard;

    private StagedSources(List<LoadRequest.Source> requested, SourceOptions options, ScanSettings settings) {
        this.requested = requested;
        this.options = options;
        this.settings = settings;
    }

    /** Lists every source that lies elsewhere; where none does this does nothing. The caller closes it. */
    public static StagedSources list(List<LoadRequest.Source> requested, SourceOptions options, ScanSettings settings) {
        StagedSources staged = new StagedSources(requested, options, settings);
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

    /** Refuses an address that a load would refuse at once; nothing is asked over the network. */
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

    /** Returns what changes whenever anything changes that a dataset is loaded from; empty where some of it lies on this machine. */
    public String look(String dataset) {
        boolean isElsewhere = requested.stream()
                .filter(source -> source.name().equals(dataset))
                .allMatch(LoadRequest.Source::isRemote);
        return isElsewhere ? looks.getOrDefault(dataset, "") : "";
    }

    /** Returns what was listed of a source that lies elsewhere: the objects by name, and what each is known by. */
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

    /** Tells whether anything lies elsewhere. */
    public boolean isEmpty() {
        return places.isEmpty();
    }

    /**
     * Prepares to fetch what the load of some datasets reads, and sets space aside for that.
     *
     * @return how many bytes that is
     */
    public long prepare(Predicate<String> isWanted) {
        long byteSize = 0;
        long storedBytes = 0;
        for (Kind kind : kinds) {
            for (StagedPlace place : kind.places) {
                if (isWanted.test(place.source().name())) {
                    place.makeFiles();
                    choose(place, kind.targets);
                }
            }
            ShardRows rows = shard;
            if (rows != null && options.as() == LoadOptions.As.ARRAYS) {
                cut(kind, rows);
            }
            byteSize = ByteSums.add(byteSize, bytes(kind));
            for (Target target : kind.targets) {
                long pagesBytes = ByteSums.roundUp(ByteSums.add(target.offset(), target.byteSize()), PageSize.BYTES);
                long besideBytes = target.start() == 0
                        ? 0
                        : NpyRows.HEAD_BYTES + PageSize.BYTES; // the head; rows begin within a page
                storedBytes = ByteSums.add(storedBytes, ByteSums.add(pagesBytes, besideBytes));
            }
        }
        settings.scratch().setAside(storedBytes);
        return byteSize;
    }

    private static long bytes(Kind kind) {
        return ByteSums.sum(kind.targets.stream().mapToLong(Target::byteSize));
    }

    /** Chooses, by names alone, what a load of a place would open. */
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

    /** Has only those rows fetched that a shard has, of arrays that tell at their beginning where these are. */
    public void cutTo(ShardRows wanted) {
        shard = wanted;
    }

    /** Narrows what is fetched of arrays down to their rows of the shard, once their headers are there. */
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

    /** Returns how many objects are to be fetched. */
    public long files() {
        return kinds.stream().mapToLong(kind -> kind.targets.size()).sum();
    }

    /** Fetches it; nobody can write to the files after. */
    public void fetch(LongConsumer onBytes) {
        for (Kind kind : kinds) {
            List<Target> whole =
                    kind.targets.stream().filter(target -> target.start() == 0).toList();
            whole.forEach(StagedSources::resize);
            if (!kind.targets.isEmpty()) {
                PagesAhead.during(whole, () -> kind.reader.fetch(kind.targets, bytes(kind), onBytes));
            }
        }
        places.values().forEach(place -> place.shifted().forEach(NpyAlignment::complete));
    }

    /** Gives a file its length, so that what is cut off is zeros, and is found to be missing before it is read. */
    private static void resize(Target target) {
        int descriptor = Posix.system().openOrCreate(target.path(), FILE_MODE);
        try {
            BulkIo.system().resize(descriptor, target.offset() + target.byteSize());
        } finally {
            Posix.system().close(descriptor);
        }
    }

    /** Returns the sources of some datasets, those from elsewhere as they lie on this machine now. */
    public List<LoadRequest.Source> local(Predicate<String> isWanted) {
        List<LoadRequest.Source> local = new ArrayList<>();
        for (LoadRequest.Source source : requested) {
            StagedPlace place = places.get(source);
            if (isWanted.test(source.name())) {
                local.add(
                        place == null
                                ? source
                                : new LoadRequest.Source(
                                        source.name(), place.root().toString()));
            }
        }
        return local;
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

    /** Returns the same array, as one whose file is moved into the store where it was fetched so that it can be. */
    public SourceArray movable(SourceArray array) {
        boolean isMovable = array.extents().size() == 1
                && StoreLayout.isDataStart(array.extents().get(0).offset())
                && array.byteSize() >= SMALLEST_MOVED_BYTES
                && placeOf(array.file())
                        .filter(place -> place.shifted().contains(array.file()))
                        .isPresent();
        if (!isMovable || !(array.data() instanceof Extents data)) {
            return array;
        }
        settings.scratch().setAside(-array.byteSize()); // it takes its room as an array, not twice
        return new SourceArray(
                array.name(),
                array.header(),
                new StagedData(data, array.byteSize(), array.files().get(0)),
                array.files(),
                array.part());
    }

    /** Returns what is noted of a file: of one that was fetched, where it came from and what it was there. */
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

    /** Returns where a file comes from, for people. */
    public String visible(Path file) {
        return placeOf(file.toAbsolutePath())
                .map(place -> place.visible(file.toString()))
                .orElse(file.toString());
    }

    /** Returns the same failure, which names files by where they come from, and says nothing that nobody may see. */
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
