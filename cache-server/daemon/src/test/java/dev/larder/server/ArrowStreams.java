package dev.larder.server;

import com.google.flatbuffers.FlatBufferBuilder;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Type;

/** Writes parts of Arrow streams, also such as no library would. */
final class ArrowStreams {
    private static final int CONTINUATION = -1;
    private static final int ALIGNMENT = 8;

    private ArrowStreams() {}

    /** Writes a schema of columns of bytes. */
    static void schema(OutputStream out, int columns) throws IOException {
        FlatBufferBuilder builder = new FlatBufferBuilder();
        int[] fields = new int[columns];
        for (int i = 0; i < columns; i++) {
            int name = builder.createString("column" + i);
            int type = Int.createInt(builder, Byte.SIZE, true);
            int children = Field.createChildrenVector(builder, new int[0]);
            fields[i] = Field.createField(builder, name, true, Type.Int, type, 0, children, 0);
        }
        int schema = Schema.createSchema(builder, Endianness.Little, Schema.createFieldsVector(builder, fields), 0, 0);
        write(out, builder, MessageHeader.Schema, schema, new byte[0]);
    }

    /** Writes a batch whose columns of bytes all lie in one body, upon each other, and claim so many rows. */
    static void batch(OutputStream out, int columns, long rows, byte[] body) throws IOException {
        batch(out, columns, rows, body, body.length, 0);
    }

    /** Writes a batch whose columns of bytes lie one after the other. */
    static void batch(OutputStream out, int columns, byte[] body) throws IOException {
        batch(out, columns, body.length / columns, body, body.length / columns, body.length / columns);
    }

    private static void batch(OutputStream out, int columns, long rows, byte[] body, int columnBytes, int distance)
            throws IOException {
        FlatBufferBuilder builder = new FlatBufferBuilder();
        RecordBatch.startBuffersVector(builder, 2 * columns);
        for (int i = columns - 1; i >= 0; i--) { // a vector is built from its end
            Buffer.createBuffer(builder, (long) i * distance, columnBytes);
            Buffer.createBuffer(builder, 0, 0);
        }
        int buffers = builder.endVector();
        RecordBatch.startNodesVector(builder, columns);
        for (int i = 0; i < columns; i++) {
            FieldNode.createFieldNode(builder, rows, 0);
        }
        int nodes = builder.endVector();
        int batch = RecordBatch.createRecordBatch(builder, rows, nodes, buffers, 0, 0);
        write(out, builder, MessageHeader.RecordBatch, batch, body);
    }

    static void end(OutputStream out) throws IOException {
        out.write(ByteBuffer.allocate(2 * Integer.BYTES).putInt(CONTINUATION).array());
    }

    private static void write(OutputStream out, FlatBufferBuilder builder, byte kind, int header, byte[] body)
            throws IOException {
        builder.finish(Message.createMessage(builder, MetadataVersion.V5, kind, header, body.length, 0));
        byte[] metadata = builder.sizedByteArray();
        int length = (metadata.length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        out.write(ByteBuffer.allocate(2 * Integer.BYTES + length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(CONTINUATION)
                .putInt(length)
                .put(metadata)
                .array());
        out.write(body);
    }
}
