package dev.larder.readers.zarr;

import dev.larder.reader.BadSource;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.MemoryLimitException;

/** Reads the chunks of an array, one after the other, and keeps the indexes of the last shards. Used by one thread. */
final class ChunkReader {
    private static final int KEPT_INDEXES = 16;

    /** A chunk of texts is there packed, unpacked, and once more for each thread. */
    private static final int HEAP_PARTS = 8;

    /** Packed data may be longer than the chunk by this much, if it cannot be packed any further. */
    private static final long SLACK_BYTES = 1 << 20;

    private final ArrayMetadata array;
    private final ChunkFiles files;
    private final Place place;

    private final Map<Integer, ByteBuffer> indexes = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, ByteBuffer> eldest) {
            return size() > KEPT_INDEXES;
        }
    };

    ChunkReader(ArrayMetadata array, ChunkFiles files, Place place) {
        this.array = array;
        this.files = files;
        this.place = place;
    }

    /** Returns the elements of a chunk; null if it was never written. */
    byte @Nullable [] read(long[] origin) throws IOException {
        int[] chunk = array.codecs().chunk();
        long[] index = new long[chunk.length];
        for (int axis = 0; axis < chunk.length; axis++) {
            index[axis] = origin[axis] / chunk[axis];
        }
        long most =
                Math.min(Integer.MAX_VALUE - SLACK_BYTES, 2L * array.codecs().chunkBytes() + SLACK_BYTES);
        return read(index, most, array.codecs()::undo);
    }

    /** Returns the first elements of a chunk of texts, or of bytes of any length; null if it was never written. */
    @Nullable
    PackedTexts readTexts(long[] index, int count) throws BadSource {
        int most = mostTextBytes();
        return read(index, most, stored -> PackedTexts.of(array.codecs().unpack(stored, most), count));
    }

    /** Returns how long a chunk of texts may be. */
    static int mostTextBytes() {
        return (int) Math.min(Integer.MAX_VALUE / 2, Runtime.getRuntime().maxMemory() / HEAP_PARTS);
    }

    /** Unpacks a stored chunk. */
    private interface Unpacking<T> {
        T of(byte[] stored) throws IOException;
    }

    private <T> @Nullable T read(long[] index, long most, Unpacking<T> unpacking) throws BadSource {
        ShardFiles shards = array.shards();
        Integer number = files.find(array.keys().of(shards == null ? index : shards.file(index)));
        if (number == null) {
            return null;
        }
        try (FileChannel channel = open(number)) {
            long offset = 0;
            long length = channel.size();
            if (shards != null) {
                ByteBuffer entries = entries(channel, number, shards);
                int entry = shards.entry(index);
                offset = entries.getLong(entry);
                length = entries.getLong(entry + Long.BYTES);
            }
            boolean isMissing = offset == ShardFiles.MISSING && length == ShardFiles.MISSING;
            return isMissing ? null : unpacking.of(stored(channel, offset, length, most));
        } catch (BadSource e) {
            throw e;
        } catch (OutOfMemoryError e) {
            throw place.in(number).unreadable(e);
        } catch (IOException | RuntimeException e) {
            if (e instanceof MemoryLimitException
                    || (e instanceof TooLong && array.element().hasAnyLength())) {
                throw place.in(number).unreadable(new OutOfMemoryError(e.getMessage()));
            }
            BadSource bad = place.in(number)
                    .damaged(
                            "its chunk " + Arrays.toString(index) + " cannot be unpacked (" + BadSource.words(e) + ")");
            bad.initCause(e);
            throw bad;
        }
    }

    private FileChannel open(int number) throws BadSource {
        try {
            return FileChannel.open(files.path(number));
        } catch (IOException e) {
            throw place.in(number).unreadable(e);
        }
    }

    private ByteBuffer entries(FileChannel channel, int number, ShardFiles shards) throws IOException {
        ByteBuffer known = indexes.get(number);
        if (known == null) {
            long offset = shards.indexOffset(channel.size());
            known = shards.entries(read(channel, offset, shards.storedIndexBytes()));
            indexes.put(number, known);
        }
        return known;
    }

    private static byte[] stored(FileChannel channel, long offset, long length, long most) throws IOException {
        if (length < 0 || length > most) {
            throw new TooLong("it has " + Long.toUnsignedString(length) + " bytes, and can have " + most + " at most");
        } else if (offset < 0 || offset > channel.size() - length) {
            throw new IOException(
                    "it is outside of its file: offset=" + Long.toUnsignedString(offset) + " bytes=" + length);
        }
        return read(channel, offset, (int) length);
    }

    private static byte[] read(FileChannel channel, long offset, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, offset + bytes.position()) < 0) {
                throw new EOFException();
            }
        }
        return bytes.array();
    }
}
