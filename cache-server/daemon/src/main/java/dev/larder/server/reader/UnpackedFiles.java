package dev.larder.server.reader;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.npy.NpyHeader;
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
 * What a reader has unpacked of some files, in a file of the store for each, which this daemon then reads like the file itself. Owns the room;
 * what reads it says of which file it was. Thread-safe.
 */
public final class UnpackedFiles implements AutoCloseable {
    private static final String KIND = "packed";
    private static final String FILES = "files";
    private static final String STRETCHES = "stretches";

    private final List<SourceIdentity> packed;
    private final ReaderSource source;
    private final List<SourceIdentity> unpacked = new ArrayList<>();

    private UnpackedFiles(List<SourceIdentity> packed, ReaderSource source) {
        this.packed = List.copyOf(packed);
        this.source = source;
    }

    /** Has files unpacked as a whole, by the ends of their names. The caller closes what is returned. */
    public static UnpackedFiles ofFiles(List<SourceIdentity> files, ScanSettings settings) {
        return unpack(files, FILES, List.of(), settings);
    }

    /**
     * Has stretches of files unpacked, those of each file one after the other. The caller closes what is returned.
     *
     * @param stretches in words, {@code FILE:CODEC:OFFSET:PACKED:BYTES}: the number of the file, how it is packed, where, how long it
     *     is there, and what it becomes
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
        ReaderSource source = ReaderSource.open(reader, files, request, settings);
        UnpackedFiles unpacked = new UnpackedFiles(files, source);
        try {
            unpacked.deliver(settings);
            return unpacked;
        } catch (RuntimeException | Error e) {
            source.close();
            throw e;
        }
    }

    private void deliver(ScanSettings settings) {
        source.requireOffers(packed.size());
        for (int file = 0; file < packed.size(); file++) {
            unpacked.add(SourceIdentity.of(source.deliver(file, settings.scratch()::setAside, bytes -> {})));
        }
    }

    /** Returns the file with what a file unpacks to, as it is now. */
    public SourceIdentity file(int index) {
        return unpacked.get(index);
    }

    /** Returns where in that file it is. */
    public Extent region(int index) {
        NpyHeader header = source.header(index);
        long offset = StoreLayout.header(header).remaining();
        return new Extent(unpacked.get(index).file(), offset, header.byteSize());
    }

    /** Returns data of these files. Releasing it closes the files; its failures name the packed file. */
    public ArrayData owning(ArrayData data, SourceIdentity from) {
        return data instanceof Extents extents ? extents.releasing(this::close) : new Unpacked(data, from.file());
    }

    /** Says of a packed file what was said of what it unpacks to. */
    static LarderException ofPacked(Path file, LarderException failure) {
        return failure.code() == ErrorCode.BAD_INPUT
                ? Failure.of(ErrorCode.BAD_INPUT, "cannot read source file")
                        .with("file", file)
                        .with("reason", "what it unpacks to is malformed (" + failure.getMessage() + ")")
                        .cause(failure)
                        .remedy(Refusal.REPAIR)
                : failure;
    }

    /** Gives the room back. Idempotent. */
    @Override
    public void close() {
        source.close();
    }

    private final class Unpacked implements ArrayData {
        private final ArrayData data;
        private final Path told;

        Unpacked(ArrayData data, Path told) {
            this.data = data;
            this.told = told;
        }

        @Override
        public ReadableByteChannel open() {
            return new Told(data.open(), told);
        }

        @Override
        public ReadableByteChannel openForLastTime() {
            return new Told(data.openForLastTime(), told);
        }

        @Override
        public void release() {
            data.release();
            close();
        }
    }

    /** Reads, and says of the packed file what is wrong. */
    private record Told(ReadableByteChannel channel, Path file) implements ReadableByteChannel {
        @Override
        public int read(ByteBuffer target) throws IOException {
            try {
                return channel.read(target);
            } catch (LarderException e) {
                throw ofPacked(file, e);
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
