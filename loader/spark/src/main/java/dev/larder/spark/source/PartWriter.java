package dev.larder.spark.source;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Writes the rows of one task as an Arrow stream, in batches that are large, as what a daemon copies in one piece is. */
final class PartWriter implements DataWriter<InternalRow> {
    private static final int MOST_ROWS = 1 << 20;
    private static final long MOST_BYTES = 32 << 20;

    private final FileSystem files;
    private final Path file;
    private final StructField[] fields;
    private final RootAllocator memory = new RootAllocator();
    private final VectorSchemaRoot root;
    private final OutputStream out;
    private final ArrowStreamWriter writer;
    private int rowsOfBatch;
    private long bytesOfBatch;
    private long rows;
    private boolean isClosed;

    PartWriter(FileSystem files, Path file, Schema schema, StructType types) throws IOException {
        this.files = files;
        this.file = file;
        this.fields = types.fields();
        this.out = files.create(file, false);
        this.root = VectorSchemaRoot.create(schema, memory);
        this.writer = new ArrowStreamWriter(root, null, Channels.newChannel(out));
        writer.start();
    }

    @Override
    public void write(InternalRow row) throws IOException {
        for (int column = 0; column < fields.length; column++) {
            StructField field = fields[column];
            bytesOfBatch +=
                    ArrowColumn.write(root.getVector(column), rowsOfBatch, row, column, field.dataType(), field.name());
        }
        rowsOfBatch++;
        if (rowsOfBatch == MOST_ROWS || bytesOfBatch >= MOST_BYTES) {
            flush();
        }
    }

    private void flush() throws IOException {
        if (rowsOfBatch == 0) {
            return;
        }
        root.setRowCount(rowsOfBatch);
        writer.writeBatch();
        rows += rowsOfBatch;
        rowsOfBatch = 0;
        bytesOfBatch = 0;
        root.getFieldVectors().forEach(vector -> vector.reset());
    }

    @Override
    public WriterCommitMessage commit() throws IOException {
        flush();
        writer.end();
        out.close(); // on some places the file is there only now
        return new FolderWrite.PartDone(file.getName(), rows);
    }

    @Override
    public void abort() throws IOException {
        close();
        files.delete(file, false);
    }

    @Override
    public void close() throws IOException {
        if (isClosed) {
            return;
        }
        isClosed = true;
        try (memory;
                root;
                out) {
            rowsOfBatch = 0;
        }
    }
}
