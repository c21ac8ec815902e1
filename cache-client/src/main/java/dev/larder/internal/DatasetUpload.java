package dev.larder.internal;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.ColumnBuilder;
import dev.larder.internal.control.BuildTurn;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.control.ProgressListener;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.internal.posix.MemoryNodes;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.Request;
import dev.larder.internal.protocol.Request.NewFile;
import dev.larder.npy.NpyHeader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Builds a version of a dataset, array by array, invisible to readers until {@link #publish}. If it is closed before that, or
 * if its process dies, it leaves nothing behind, and the next process that waits for the dataset builds it.
 *
 * <p>Several threads may add arrays and fill them. One thread publishes when all are done.
 */
public final class DatasetUpload implements AutoCloseable {
    private static final int COPY_STEP_BYTES = 256 << 10;

    private final Posix posix;
    private final String dataset;
    private final BuildTurn turn;
    private final Path folder;
    private final Map<String, ArrayFile> files = new LinkedHashMap<>();
    private final Map<String, ColumnPart> parts = new HashMap<>();
    private final boolean isOurs;
    private final BuildRoom room;
    private final Set<String> announced = new HashSet<>();
    private boolean open = true;

    /**
     * Takes ownership of the turn.
     *
     * @param grantedBytes the space reserved with it
     */
    private DatasetUpload(Posix posix, String dataset, BuildTurn turn, long grantedBytes) {
        this.room = new BuildRoom(turn::makeRoom, grantedBytes);
        this.posix = posix;
        this.dataset = dataset;
        this.turn = turn;
        this.folder = Path.of(turn.folder());
        this.isOurs = Files.isWritable(folder);
    }

    /**
     * Starts a build after all other builds and loads of the dataset have ended. The caller closes it.
     *
     * @return empty if the dataset is resident and the request does not replace it
     */
    public static Optional<DatasetUpload> begin(Path store, Request.Create request) {
        Names.requireDataset(request.name());
        return ControlClient.at(store)
                .create(request, ProgressListener.NONE)
                .map(turn -> new DatasetUpload(Posix.system(), request.name(), turn, request.bytes()));
    }

    /** Returns the name of the dataset. */
    public String name() {
        return dataset;
    }

    /**
     * Returns the folder where other programs may write {@code .npy} files, one per array, with subfolders for the levels of a
     * name. If the store belongs to another user, only this process can add arrays.
     */
    public Path folder() {
        return folder;
    }

    /** Adds an array of zeros. */
    public synchronized ArrayFile array(String array, NpyHeader header) {
        requireOpen();
        String objection = Names.arrayObjection(array);
        if (objection != null) {
            throw Failure.of(ErrorCode.BAD_INPUT, "bad name for an array")
                    .with("array", Names.printable(array))
                    .with("reason", objection)
                    .remedy("use letters, digits, + . _ - = and / between levels");
        }
        if (files.containsKey(array)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "two arrays have the same name")
                    .with("dataset", dataset)
                    .with("array", array)
                    .remedy("give them different names");
        }
        if (!isOurs && !announced.contains(array)) {
            announce(Map.of(array, header), Map.of());
        }
        long fileBytes = ArrayFile.fileBytes(header);
        if (isOurs) { // otherwise the daemon reserved the space with the file
            room.take(fileBytes);
        }
        ArrayFile file = MemoryNodes.placed(turn.memoryPolicy(), () -> ArrayFile.create(posix, folder, array, header));
        room.note(fileBytes, file.storedBytes());
        files.put(array, file);
        return file;
    }

    /**
     * Announces arrays that will be added to a store of another user, which saves a request for each. Does nothing in an own
     * store.
     *
     * @param headers the headers by array name
     * @param sources the origins by array name, for people; computed arrays are omitted
     */
    public synchronized void announce(Map<String, NpyHeader> headers, Map<String, String> sources) {
        requireOpen();
        if (isOurs) {
            return;
        }
        turn.makeFiles(headers.entrySet().stream()
                .map(array -> new NewFile(
                        array.getKey(),
                        ArrayFile.fileBytes(array.getValue()),
                        sources.getOrDefault(array.getKey(), "")))
                .toList());
        announced.addAll(headers.keySet());
    }

    /** Adds the arrays of a column and frees their memory. Nothing can be added to {@code rows} afterwards. */
    public void add(String column, ColumnBuilder rows) {
        for (ColumnArray array : rows.arrays(column)) {
            try (array;
                    ReadableByteChannel data = array.open()) {
                add(array.name(), array.header(), data, ColumnPart.valueOf(array.part()));
            } catch (IOException e) { // the channel reads from memory
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * Adds an array with the data of a channel, which must be exactly as long as the header says. Does not close the channel.
     * If this fails, the whole build is abandoned.
     *
     * @param part its part in a column, if it has one
     */
    public void add(String array, NpyHeader header, ReadableByteChannel data, ColumnPart part) throws IOException {
        ArrayFile file = array(array, header);
        try {
            fill(file, data);
            file.close(); // there may be more arrays than a process can have open files
        } catch (IOException | RuntimeException | Error e) {
            close(); // a partial array must not be published with the others
            throw e;
        }
        if (part != ColumnPart.NONE) {
            addPart(array, part);
        }
    }

    private synchronized void addPart(String array, ColumnPart part) {
        parts.put(array, part);
    }

    private void fill(ArrayFile file, ReadableByteChannel data) throws IOException {
        ByteBuffer step = ByteBuffer.allocateDirect((int) Math.min(COPY_STEP_BYTES, Math.max(1, file.byteSize())));
        long at = 0;
        while (data.read(step.clear()) >= 0) {
            step.flip();
            int length = step.remaining();
            if (length > file.byteSize() - at) {
                throw wrongLength(file, "more than " + file.byteSize());
            }
            file.write(at, step);
            at += length;
        }
        if (at < file.byteSize()) {
            throw wrongLength(file, Long.toString(at));
        }
    }

    private LarderException wrongLength(ArrayFile file, String found) {
        return Failure.of(ErrorCode.BAD_INPUT, "data does not fit its header")
                .with("dataset", dataset)
                .with("array", file.name())
                .with("bytes", found)
                .with("expected", file.byteSize())
                .remedy("check dtype and shape");
    }

    /**
     * Makes everything visible together as the dataset's newest version, and closes this. Nothing can be written any more.
     * Reports progress, and returns the daemon's answer.
     */
    public Done publish(ProgressListener listener) {
        requireOpen();
        try {
            files.values().forEach(ArrayFile::close);
            return turn.publish(parts, listener);
        } finally {
            close();
        }
    }

    private void requireOpen() {
        if (!open) {
            throw new IllegalStateException("builder is closed: dataset=" + dataset);
        }
    }

    /** Abandons the build if it was not published. Idempotent. */
    @Override
    public synchronized void close() {
        if (open) {
            open = false;
            try {
                files.values().forEach(ArrayFile::close);
            } finally {
                turn.close();
            }
        }
    }
}
