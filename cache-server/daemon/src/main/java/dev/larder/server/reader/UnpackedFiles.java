package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.reader.InputFile;
import dev.larder.reader.ReadRequest;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Extents;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceIdentity;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Files that a reader has unpacked into the store, so that this daemon can read them like the originals. Closing it removes them. Failures name the
 * packed files. Thread-safe.
 */
public final class UnpackedFiles implements AutoCloseable {
    private static final String KIND = "packed";
    private static final String FILES = "files";
    private static final String STRETCHES = "stretches";

    private final ReaderSource source;
    private final List<SourceIdentity> unpacked = new ArrayList<>();

    private UnpackedFiles(ReaderSource source) {
        this.source = source;
    }

    /** Unpacks whole files, by the ends of their names. The caller closes the result. */
    public static UnpackedFiles ofFiles(List<SourceIdentity> files, ScanSettings settings) {
        return unpack(files, FILES, List.of(), settings);
    }

    /**
     * Unpacks stretches of files, those of each file one after the other. The caller closes the result.
     *
     * @param stretches as {@code FILE:CODEC:OFFSET:PACKED:BYTES}: the number of the file, the codec, the place, and the length before and after
     *     unpacking
     */
    public static UnpackedFiles ofStretches(List<SourceIdentity> files, List<String> stretches, ScanSettings settings) {
        return unpack(files, STRETCHES, stretches, settings);
    }

    private static UnpackedFiles unpack(
            List<SourceIdentity> files, String as, List<String> stretches, ScanSettings settings) {
        Readers.Known reader = Readers.all().stream()
                .filter(known -> known.spec().kind().equals(KIND))
                .findFirst()
                .orElseThrow();
        List<InputFile> inputs =
                files.stream().map(file -> new InputFile(file.file(), "")).toList();
        ReadRequest request = new ReadRequest(inputs, as, stretches, Math.max(1, settings.workers()));
        UnpackedFiles unpacked = new UnpackedFiles(ReaderSource.open(reader, files, request, settings));
        try {
            unpacked.source.requireOffers(files.size());
            for (int file = 0; file < files.size(); file++) {
                ReaderData data = new ReaderData(unpacked.source, file);
                unpacked.unpacked.add(data.deliver(settings.scratch()::setAside, bytes -> {}));
            }
            return unpacked;
        } catch (RuntimeException | Error e) {
            unpacked.close();
            throw e;
        }
    }

    /** Returns the unpacked file of a packed one. */
    public SourceIdentity file(int index) {
        return unpacked.get(index);
    }

    /** Returns the place of the unpacked bytes in that file. */
    public Extent region(int index) {
        return new ReaderData(source, index).region(unpacked.get(index));
    }

    /** Returns data of these files. Releasing it removes the files; its failures name the packed file. */
    public ArrayData owning(ArrayData data, SourceIdentity from) {
        ArrayData owned = data.releasing(this::close);
        return owned instanceof Extents ? owned : owned.changed(channel -> new OfPacked(channel, from.file()));
    }

    /** Removes the unpacked files. Idempotent. */
    @Override
    public void close() {
        source.close();
    }

    /** Reads unpacked data. Its failures name the packed file. */
    private record OfPacked(ReadableByteChannel channel, Path packed) implements ReadableByteChannel {
        @Override
        public int read(ByteBuffer target) throws IOException {
            try {
                return channel.read(target);
            } catch (LarderException e) {
                throw e.code() == ErrorCode.BAD_INPUT
                        ? Refusal.unfit(
                                packed, "what it unpacks to is malformed (" + e.getMessage() + ")", Refusal.REPAIR)
                        : e;
            }
        }

        @Override
        public boolean isOpen() {
            return channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
