package dev.larder.server.member;

import dev.larder.client.Larder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.DatasetUpload;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ByteSums;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.layout.StoreOwner;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress.Phase;
import dev.larder.internal.protocol.Request;
import dev.larder.npy.NpyHeader;
import dev.larder.server.ingest.LoadProgress;
import dev.larder.server.remote.StagedSources;
import dev.larder.server.source.Parallel;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.scan.ScannedSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.function.LongConsumer;

/**
 * A load into the store of another user, by a member of the store's group. This process reads everything with its own rights, and passes it
 * to the daemon as a build, so the daemon opens no file that the caller could not.
 *
 * <p>Datasets are published one after the other. Their sources are recorded as text, for people.
 */
public final class ClientSideLoad {

    private final Larder larder;
    private final LoadRequest request;
    private final int workers;
    private final LoadProgress progress;
    private final ProgressListener listener;
    private final List<String> notes = new ArrayList<>();

    private ClientSideLoad(Larder larder, LoadRequest request, ProgressListener listener) {
        this.larder = larder;
        this.request = request;
        this.workers =
                request.workers() > 0 ? request.workers() : Runtime.getRuntime().availableProcessors();
        this.progress = new LoadProgress(String.join(",", names(request)));
        this.listener = listener;
    }

    /**
     * Loads sources into a store and returns when all are published. Interrupting the thread cancels the rest.
     *
     * @throws LarderException REFUSED for options that only the owner's daemon can serve
     */
    public static Done load(Path store, LoadRequest request, ProgressListener listener) {
        requirePossible(store, request);
        try (Larder larder = Larder.connect(store)) {
            ClientSideLoad load = new ClientSideLoad(larder, request, listener);
            Runnable noProgress = load.progress.listen(listener);
            try {
                return load.loadAll();
            } finally {
                noProgress.run();
            }
        } catch (CancellationException e) {
            throw interrupted(e);
        } catch (LarderException e) {
            throw Thread.interrupted() ? interrupted(e) : e;
        }
    }

    private static void requirePossible(Path store, LoadRequest request) {
        LoadOptions options = request.options();
        String what = options.inPlace()
                ? "--in-place"
                : request.registerOnly()
                        ? "register"
                        : options.packBelowBytes() != LoadOptions.PACK_AUTO ? "--pack-below" : "";
        if (!what.isEmpty()) {
            StoreOwner owner = StoreOwner.of(store);
            throw Failure.of(ErrorCode.REFUSED, "only the owner of the store may do that")
                    .with("option", what)
                    .with("user", StoreLocation.userName())
                    .with("owner", owner.user())
                    .remedy(
                            "remove it: your own process copies the data into the store, which has no source for it then");
        }
    }

    private static LarderException interrupted(RuntimeException cause) {
        return Failure.of(ErrorCode.INTERRUPTED, "load was interrupted")
                .cause(cause)
                .exception();
    }

    private static List<String> names(LoadRequest request) {
        return request.sources().stream()
                .map(LoadRequest.Source::name)
                .distinct()
                .toList();
    }

    private Done loadAll() {
        List<SourceArray> found = new ArrayList<>();
        ScanSettings settings =
                new ScanSettings(workers, false, () -> Thread.currentThread().isInterrupted(), progress::addFiles);
        SourceOptions options = SourceOptions.of(request.options());
        try (StagedSources sources = StagedSources.list(request.sources(), options, settings, null)) {
            return loadAll(found, sources);
        } finally {
            found.forEach(SourceArray::release);
        }
    }

    private Done loadAll(List<SourceArray> found, StagedSources sources) {
        try {
            sources.fetch(
                    dataset -> true, (bytes, files) -> progress.begin(Phase.LOADING, bytes, files), progress::addBytes);
            scan(found, sources);
            long bytes = ByteSums.sum(found.stream().mapToLong(SourceArray::byteSize));
            progress.begin(Phase.LOADING, bytes, found.size());
            for (String dataset : names(request)) {
                load(
                        dataset,
                        found.stream()
                                .filter(array -> array.name().dataset().equals(dataset))
                                .toList(),
                        sources);
            }
            return Done.of(SourceArray.fileCount(found), bytes, String.join("\n", notes));
        } catch (LarderException e) {
            throw sources.explained(e);
        }
    }

    private void scan(List<SourceArray> found, StagedSources sources) {
        Map<String, SourceArray> names = new HashMap<>();
        List<ScannedSource> scanned = sources.scan(dataset -> true);
        scanned.forEach(source -> found.addAll(source.arrays()));
        notes.addAll(ScannedSource.notes(scanned));
        for (SourceArray array : found) {
            SourceArray other = names.putIfAbsent(array.name().toString(), array);
            if (other != null) {
                throw Failure.of(ErrorCode.BAD_INPUT, "two sources have the same name")
                        .with("array", array.name())
                        .with("files", List.of(other.file(), array.file()))
                        .remedy("load them under different names");
            }
        }
    }

    private void load(String dataset, List<SourceArray> arrays, StagedSources from) {
        long stored = ByteSums.sum(arrays.stream().mapToLong(array -> storedBytes(array.byteSize())));
        Request.Create create = new Request.Create(dataset, Larder.DEFAULT_TIMEOUT, stored, true, request.retention());
        try (DatasetUpload builder = DatasetUpload.begin(larder.store(), create).orElseThrow()) {
            Map<String, NpyHeader> headers = new TreeMap<>();
            Map<String, String> sources = new HashMap<>();
            for (SourceArray array : arrays) {
                headers.put(array.name().array(), array.header());
                sources.put(array.name().array(), from.visible(array.file()));
            }
            builder.announce(headers, sources);
            Parallel.forEach(arrays, workers, array -> copy(array, builder));
            Done done = builder.publish(listener);
            List<String> said = done.message().lines().toList();
            notes.add(dataset + " " + said.get(0) + " is yours");
            notes.addAll(said.subList(1, said.size()));
        }
    }

    /** Adds the header, which takes more than a page, and the rest of the last page. */
    private static long storedBytes(long byteSize) {
        return ByteSums.multiply(byteSize / PageSize.BYTES + 4, PageSize.BYTES);
    }

    private void copy(SourceArray array, DatasetUpload builder) {
        try (ReadableByteChannel data = new Counted(array.open(), progress::addBytes)) {
            builder.add(array.name().array(), array.header(), data, array.part());
        } catch (IOException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot read file")
                    .with("file", array.file())
                    .with("reason", e)
                    .cause(e)
                    .remedy("check the file and its disk");
        }
        array.files().forEach(SourceIdentity::requireUnchanged);
        progress.addFile();
    }

    /** Reports the bytes that are read. */
    private record Counted(ReadableByteChannel data, LongConsumer onBytes) implements ReadableByteChannel {
        @Override
        public int read(ByteBuffer target) throws IOException {
            int count = data.read(target);
            if (count > 0) {
                onBytes.accept(count);
            }
            return count;
        }

        @Override
        public boolean isOpen() {
            return data.isOpen();
        }

        @Override
        public void close() throws IOException {
            data.close();
        }
    }
}
