package dev.larder.spark.source;

import java.util.List;
import java.util.Set;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;

/** One folder, to be read or written. It has no columns where there is no dataset: Spark asks for them before it writes one, too. */
final class FolderTable implements SupportsRead, SupportsWrite {
    private final String path;
    private @Nullable StructType schema;

    FolderTable(String path) {
        this.path = path;
    }

    @Override
    public String name() {
        return path;
    }

    @Override
    @SuppressWarnings("deprecation") // columns() of Spark 4 comes from it
    public synchronized StructType schema() {
        StructType known = schema;
        if (known == null) {
            SavedFolder folder = SavedFolder.at(path);
            Schema saved = folder.parts().isEmpty() ? new Schema(List.of()) : folder.schema();
            known = ArrowColumn.sparkSchema(saved);
            schema = known;
        }
        return known;
    }

    @Override
    public Set<TableCapability> capabilities() {
        return Set.of(
                TableCapability.BATCH_READ,
                TableCapability.BATCH_WRITE,
                TableCapability.TRUNCATE,
                TableCapability.ACCEPT_ANY_SCHEMA);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        if (SavedFolder.at(path).parts().isEmpty()) {
            throw SavedFolder.at(path).noDataset();
        }
        StructType read = schema();
        return () -> new FolderScan(path, read);
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        return new FolderWrite(path, info);
    }
}
