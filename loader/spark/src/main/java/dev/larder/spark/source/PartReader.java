package dev.larder.spark.source;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.jspecify.annotations.Nullable;

/** Reads the rows of one part. */
final class PartReader implements PartitionReader<InternalRow> {
    private final FolderScan.PartFile part;
    private final RootAllocator memory = new RootAllocator();
    private @Nullable ArrowStreamReader reader;
    private int row = -1;
    private int rows;

    PartReader(FolderScan.PartFile part) {
        this.part = part;
    }

    @Override
    public boolean next() throws IOException {
        ArrowStreamReader open = open();
        row++;
        while (row >= rows) {
            if (!open.loadNextBatch()) {
                return false;
            }
            rows = open.getVectorSchemaRoot().getRowCount();
            row = 0;
        }
        return true;
    }

    private ArrowStreamReader open() throws IOException {
        ArrowStreamReader open = reader;
        if (open == null) {
            SavedFolder folder =
                    SavedFolder.at(part.path(), part.configuration().value());
            open = new ArrowStreamReader(folder.files().open(folder.file(part.name())), memory);
            reader = open;
        }
        return open;
    }

    @Override
    public InternalRow get() {
        try {
            VectorSchemaRoot root = open().getVectorSchemaRoot();
            List<FieldVector> vectors = root.getFieldVectors();
            @Nullable Object[] values = new Object[vectors.size()];
            for (int column = 0; column < values.length; column++) {
                values[column] = ArrowColumn.read(vectors.get(column), row);
            }
            return new GenericInternalRow(values);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        ArrowStreamReader open = reader;
        if (open != null) {
            open.close();
        }
        memory.close();
    }
}
