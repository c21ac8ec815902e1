package dev.larder.spark.source;

import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;

/** Reads the parts of a folder, a task each, in their order. */
record FolderScan(String path, StructType types) implements Scan, Batch {
    /** A file to read. */
    record PartFile(String path, String name, SerializableConfiguration configuration) implements InputPartition {
        private static final long serialVersionUID = 1;
    }

    /** Makes readers in executors. */
    record Readers() implements PartitionReaderFactory {
        private static final long serialVersionUID = 1;

        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            return new PartReader((PartFile) partition);
        }
    }

    @Override
    public StructType readSchema() {
        return types;
    }

    @Override
    public Batch toBatch() {
        return this;
    }

    @Override
    public InputPartition[] planInputPartitions() {
        SerializableConfiguration configuration = new SerializableConfiguration(
                SparkSession.active().sparkContext().hadoopConfiguration());
        List<SavedFolder.Part> parts = SavedFolder.at(path).parts();
        return parts.stream()
                .map(part -> new PartFile(path, part.name(), configuration))
                .toArray(InputPartition[]::new);
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new Readers();
    }
}
