package dev.larder.readers.zarr;

import dev.larder.reader.BadSource;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
        ShardFiles shards = array.shards();
        Integer number = files.find(array.keys().of(shards == null ? index : shards.file(index)));
        if (number == null) {
            return null;
        }
        return read(number, index, channel -> {
            if (shards == null) {
                return array.codecs().undo(stored(channel, 0, channel.size()));
            }
            ByteBuffer entries = entries(channel, number, shards);
            int entry = shards.entry(index);
            long offset = entries.getLong(entry);
            long length = entries.getLong(entry + Long.BYTES);
            boolean isMissing = offset == ShardFiles.MISSING && length == ShardFiles.MISSING;
            return isMissing ? null : array.codecs().undo(stored(channel, offset, length));
        });
    }

    /** Reads from the file of a chunk. */
    private interface Reading {
        byte @Nullable [] from(FileChannel channel) throws IOException;
    }

    private byte @Nullable [] read(int number, long[] index, Reading reading) throws BadSource {
        try (FileChannel channel = open(number)) {
            return reading.from(channel);
        } catch (BadSource e) {
            throw e;
        } catch (OutOfMemoryError e) {
            throw place.in(number).unreadable(e);
        } catch (IOException | RuntimeException e) {
            BadSource bad = place.in(number)
                    .damaged(
                            "its chunk " + Arrays.toString(index) + " cannot be unpacked (" + BadSource.words(e) + ")");
            bad.initCause(e);
            throw bad;
        }
    }

    /** Visits elements of any length. */
    @FunctionalInterface
    interface TextVisitor {
        /** Takes the bytes of an element. */
        void take(byte[] bytes, int from, int length);
    }

    /** Visits the first elements of a chunk: it has their number, then each behind its length. */
    void visitTexts(int number, long place, int count, TextVisitor visitor) throws BadSource {
        var unused = read(number, new long[] {place}, channel -> {
            int most =
                    (int) Math.min(Integer.MAX_VALUE / 2, Runtime.getRuntime().maxMemory() / HEAP_PARTS);
            if (channel.size() > most) {
                throw new IOException("it has " + channel.size() + " bytes, more than the heap allows: " + most);
            }
            byte[] bytes = array.codecs().unpack(read(channel, 0, (int) channel.size()), most);
            ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            int found = in.getInt();
            if (found < count) {
                throw new IOException("it has " + found + " elements, not " + count);
            }
            for (int i = 0; i < count; i++) {
                int length = in.getInt();
                if (length < 0 || length > in.remaining()) {
                    throw new IOException("an element has " + Integer.toUnsignedString(length) + " bytes");
                }
                visitor.take(bytes, in.position(), length);
                in.position(in.position() + length);
            }
            return bytes;
        });
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

    private byte[] stored(FileChannel channel, long offset, long length) throws IOException {
        long most =
                Math.min(Integer.MAX_VALUE - SLACK_BYTES, 2L * array.codecs().chunkBytes() + SLACK_BYTES);
        if (length < 0 || length > most) {
            throw new IOException(
                    "it has " + Long.toUnsignedString(length) + " bytes, and can have " + most + " at most");
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
