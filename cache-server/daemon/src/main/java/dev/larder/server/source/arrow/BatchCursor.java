package dev.larder.server.source.arrow;

import dev.larder.error.LarderException;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.server.source.SourceIdentity;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;

/** Walks through the fields and buffers of one batch, in the order of the schema. Checks that the batch contains each buffer. */
final class BatchCursor {
    /** The bytes of the metadata of a buffer: its offset and its length. */
    private static final int BUFFER_BYTES = 2 * Long.BYTES;

    private final ArrowFile file;
    private final RecordBatch batch;
    private final long bodyOffset;
    private final long bodyBytes;
    private final boolean isVersion4;
    private final @Nullable String codec;
    private final PackedBuffers packed;
    private final ArrowFile data;
    private final FieldNode node = new FieldNode();
    private final Buffer buffer = new Buffer();
    private final int nodeCount;
    private final int bufferCount;
    private int markedNode;
    private int markedBuffer;
    private int markedViews;
    private int nextNode;
    private int nextBuffer;
    private int nextViews;
    private long nodeRows;
    private long nodeNulls;
    private long bufferOffset;
    private long bufferBytes;

    /**
     * Starts at the first field.
     *
     * @param codec the compression of the buffers, or null if they are uncompressed
     * @param packed the decompressed buffers, or those that are collected to be decompressed
     */
    BatchCursor(
            ArrowFile file,
            RecordBatch batch,
            long bodyOffset,
            long bodyBytes,
            boolean isVersion4,
            @Nullable String codec,
            PackedBuffers packed) {
        this.file = file;
        this.batch = batch;
        this.bodyOffset = bodyOffset;
        this.bodyBytes = bodyBytes;
        this.isVersion4 = isVersion4;
        this.codec = codec;
        this.packed = packed;
        this.data = codec == null ? file : packed.file(file);
        this.nodeCount = batch.nodesLength();
        this.bufferCount = batch.buffersLength();
        if (batch.length() < 0) {
            throw file.refusal("a batch has " + batch.length() + " rows");
        } else if (bufferCount > batch.getByteBuffer().limit() / BUFFER_BYTES) {
            throw file.refusal("a batch has " + bufferCount + " buffers, more than fit into its message");
        }
    }

    /** Returns the file that contains the buffers, decompressed. */
    SourceIdentity file() {
        return data.identity();
    }

    /** Returns all of that file, without the bytes that are loaded for headers. */
    BatchBuffer wholeFile() {
        return new BatchBuffer(data, 0, data.byteSize());
    }

    /** Returns the refusal of the message. */
    LarderException refusal(String reason) {
        return file.refusal(reason);
    }

    /** Returns whether buffers can be read: uncompressed, or decompressed by now. */
    boolean isReadable() {
        return codec == null || packed.isComplete();
    }

    /** Returns the rows of the batch. */
    long length() {
        return batch.length();
    }

    /** Marks the next field, and refuses the batch if the field has another number of rows. */
    void begin(long rows) {
        markedNode = nextNode;
        markedBuffer = nextBuffer;
        markedViews = nextViews;
        node(rows);
        nextNode--;
        if (nodeRows != rows) {
            throw refusal("a column of a batch has " + nodeRows + " of " + rows + " rows");
        }
    }

    /** Returns to the marked field. */
    void again() {
        nextNode = markedNode;
        nextBuffer = markedBuffer;
        nextViews = markedViews;
    }

    /** Moves to the next field, and checks that it has at least this many rows. */
    void node(long atLeast) {
        if (nextNode == nodeCount || batch.nodes(node, nextNode) == null) {
            throw refusal("a batch has fewer fields than its schema");
        }
        nextNode++;
        nodeRows = node.length();
        nodeNulls = node.nullCount();
        if (nodeRows < atLeast) {
            throw refusal("a field of a batch has " + nodeRows + " of " + atLeast + " elements");
        } else if (nodeNulls < 0 || nodeNulls > nodeRows) {
            throw refusal("a field of a batch has " + nodeNulls + " nulls among " + nodeRows + " elements");
        }
    }

    private void nextPlace() {
        if (nextBuffer == bufferCount || batch.buffers(buffer, nextBuffer) == null) {
            throw refusal("a batch has fewer buffers than its schema asks for");
        }
        nextBuffer++;
        long offset = buffer.offset();
        bufferBytes = buffer.length();
        if (offset < 0 || bufferBytes < 0 || offset > bodyBytes || bufferBytes > bodyBytes - offset) {
            throw refusal("a buffer is not within its batch");
        }
        bufferOffset = bodyOffset + offset;
    }

    /** Returns the next buffer, and checks that it has at least this many bytes. */
    BatchBuffer buffer(long atLeast) {
        nextPlace();
        BatchBuffer found = codec == null || bufferBytes == 0
                ? new BatchBuffer(data, bufferOffset, bufferBytes)
                : packed.buffer(data, bufferOffset);
        if (found.byteSize() < atLeast) {
            throw refusal("a buffer has " + found.byteSize() + " of " + atLeast + " bytes");
        }
        return found;
    }

    /** Returns the bits of the entered field that are 0 for nulls, or null if it has no nulls. */
    @Nullable
    BatchBuffer bitmap() {
        if (nodeNulls == 0) {
            nextPlace();
            return null;
        }
        return buffer(bytesOfBits(nodeRows));
    }

    static long bytesOfBits(long bits) {
        return bits / Byte.SIZE + (bits % Byte.SIZE > 0 ? 1 : 0);
    }

    /** Returns the offsets of the entered field: one more than it has rows. A field without rows may have none. */
    BatchBuffer offsets(int width) {
        return buffer(nodeRows == 0 ? 0 : Math.multiplyExact(Math.addExact(nodeRows, 1), width));
    }

    /** Returns how many buffers of views follow. */
    int viewBuffers() {
        if (nextViews == batch.variadicBufferCountsLength()) {
            throw refusal("a batch has no number of buffers for its views");
        }
        long count = batch.variadicBufferCounts(nextViews++);
        if (count < 0 || count > bufferCount - nextBuffer) {
            throw refusal("a batch has fewer buffers than its views ask for");
        }
        return (int) count;
    }

    /** Passes a field and its children. */
    void skip(ArrowField field) {
        pass(field, false);
    }

    /** Passes a field and its children, and collects their buffers. */
    void collect(ArrowField field) {
        pass(field, true);
    }

    /** Collects all buffers. */
    void collectAll() {
        pass(bufferCount - nextBuffer, true);
    }

    private void pass(ArrowField field, boolean isCollecting) {
        node(0);
        boolean isCoded = field.encoding() != null;
        pass(isCoded ? 2 : field.kind().buffers(), isCollecting);
        if (isCoded) {
            return;
        } else if (field.kind().isUnion() && isVersion4) {
            pass(1, isCollecting); // of nulls, which later versions left out
        } else if (field.kind().hasMoreBuffers()) {
            pass(viewBuffers(), isCollecting);
        }
        field.children().forEach(child -> pass(child, isCollecting));
    }

    private void pass(int buffers, boolean isCollecting) {
        for (int i = 0; i < buffers; i++) {
            nextPlace();
            if (isCollecting && codec != null) {
                packed.add(file, codec, bufferOffset, bufferBytes);
            }
        }
    }
}
