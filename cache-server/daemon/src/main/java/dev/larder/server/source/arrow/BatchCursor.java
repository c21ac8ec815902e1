package dev.larder.server.source.arrow;

import dev.larder.reader.arrow.ArrowField;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;

/** Goes through the fields and buffers of one batch, in the order in which a schema lists them. Every place is proved to lie in the file. */
final class BatchCursor {
    private final ArrowFile file;
    private final RecordBatch batch;
    private final long bodyOffset;
    private final long bodyBytes;
    private final boolean isVersion4;
    private final @Nullable String codec;
    private final @Nullable UnpackedBuffers unpacked;
    private final FieldNode node = new FieldNode();
    private final Buffer buffer = new Buffer();
    private final int nodeCount;
    private final int bufferCount;
    private int nextNode;
    private int nextBuffer;
    private int nextMore;
    private long rows;
    private long nulls;
    private long bufferOffset;
    private long bufferBytes;

    /** Starts at the first field; {@code codec} says how the buffers are packed, null where they are not. */
    BatchCursor(
            ArrowFile file,
            RecordBatch batch,
            long bodyOffset,
            long bodyBytes,
            boolean isVersion4,
            @Nullable String codec) {
        this.file = file;
        this.codec = codec;
        this.unpacked = codec == null ? null : file.unpacked();
        this.batch = batch;
        this.bodyOffset = bodyOffset;
        this.bodyBytes = bodyBytes;
        this.isVersion4 = isVersion4;
        this.nodeCount = batch.nodesLength();
        this.bufferCount = batch.buffersLength();
        if (batch.length() < 0) {
            throw file.refusal("a batch has " + batch.length() + " rows");
        }
    }

    /** Returns the file that buffers are in: of packed ones, where they are unpacked. */
    ArrowFile file() {
        return unpacked == null ? file : unpacked.file(file);
    }

    /** Returns how buffers are packed that nobody has unpacked; null where they can be read. */
    @Nullable
    String codec() {
        return unpacked == null ? codec : null;
    }

    /** Returns another that stands at the beginning. */
    BatchCursor again() {
        return new BatchCursor(file, batch, bodyOffset, bodyBytes, isVersion4, codec);
    }

    /** Returns how many rows the batch has. */
    long length() {
        return batch.length();
    }

    /** Fails unless the next field has exactly so many rows. */
    void requireNextRows(long expected) {
        nextNode(expected);
        nextNode--;
        if (rows != expected) {
            throw file.refusal("a column of a batch has " + rows + " of " + expected + " rows");
        }
    }

    /** Enters the next field, which has to have at least so many rows. */
    void nextNode(long atLeast) {
        if (nextNode == nodeCount || batch.nodes(node, nextNode) == null) {
            throw file.refusal("a batch has fewer fields than its schema");
        }
        nextNode++;
        rows = node.length();
        nulls = node.nullCount();
        if (rows < atLeast) {
            throw file.refusal("a field of a batch has " + rows + " of " + atLeast + " elements");
        } else if (nulls < 0 || nulls > rows) {
            throw file.refusal("a field of a batch has " + nulls + " nulls among " + rows + " elements");
        }
    }

    /** Returns the elements of the field that was entered last. */
    long rows() {
        return rows;
    }

    /** Returns how many of them are null. */
    long nulls() {
        return nulls;
    }

    private void nextPlace() {
        if (nextBuffer == bufferCount || batch.buffers(buffer, nextBuffer) == null) {
            throw file.refusal("a batch has fewer buffers than its schema asks for");
        }
        nextBuffer++;
        long offset = buffer.offset();
        bufferBytes = buffer.length();
        if (offset < 0 || bufferBytes < 0 || offset > bodyBytes || bufferBytes > bodyBytes - offset) {
            throw file.refusal("a buffer would not lie within its batch");
        }
        bufferOffset = bodyOffset + offset;
    }

    /** Takes the next buffer, which has to have at least so many bytes; of a packed one what it unpacks to. */
    void nextBuffer(long atLeast) {
        nextPlace();
        if (unpacked != null && bufferBytes > 0) {
            int place = unpacked.find(bufferOffset);
            bufferOffset = unpacked.offset(place);
            bufferBytes = unpacked.byteSize(place);
        }
        if (bufferBytes < atLeast) {
            throw file.refusal("a buffer has " + bufferBytes + " of " + atLeast + " bytes");
        }
    }

    /** Takes where buffers are. */
    interface BufferVisitor {
        /** Takes one, as it is in the file. */
        void take(long offset, long byteSize);
    }

    /** Goes through all buffers of the batch. */
    void visitAll(BufferVisitor visitor) {
        while (nextBuffer < bufferCount) {
            nextPlace();
            visitor.take(bufferOffset, bufferBytes);
        }
    }

    /** Returns where in the file the buffer begins that was taken last. */
    long bufferOffset() {
        return bufferOffset;
    }

    /** Returns how long that is. */
    long bufferBytes() {
        return bufferBytes;
    }

    /** Takes the offsets of the field that was entered last: one more than it has elements. A field without elements may have none. */
    void nextOffsets(int width) {
        nextBuffer(rows == 0 ? 0 : Math.multiplyExact(Math.addExact(rows, 1), width));
    }

    /** Returns how many more buffers the field has that was entered last. */
    int moreBuffers() {
        if (nextMore == batch.variadicBufferCountsLength()) {
            throw file.refusal("a batch does not say how many buffers its views have");
        }
        long count = batch.variadicBufferCounts(nextMore++);
        if (count < 0 || count > bufferCount - nextBuffer) {
            throw file.refusal("a batch has fewer buffers than its views ask for");
        }
        return (int) count;
    }

    /** Passes a field over, and all that it is made of. */
    void skip(ArrowField field) {
        visit(field, (offset, byteSize) -> {});
    }

    /** Goes through the buffers of a field, and of all that it is made of. */
    void visit(ArrowField field, BufferVisitor visitor) {
        nextNode(0);
        int buffers = field.encoding() != null ? 2 : field.kind().buffers();
        if (field.encoding() == null && field.kind().isUnion() && isVersion4) {
            buffers++; // of nulls, which later versions left out
        }
        for (int i = 0; i < buffers; i++) {
            nextPlace();
            visitor.take(bufferOffset, bufferBytes);
        }
        if (field.encoding() != null) {
            return;
        }
        if (field.kind().hasMoreBuffers()) {
            for (int i = moreBuffers(); i > 0; i--) {
                nextPlace();
                visitor.take(bufferOffset, bufferBytes);
            }
        }
        field.children().forEach(child -> visit(child, visitor));
    }
}
