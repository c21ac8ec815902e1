package dev.larder.spark.source;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Has each folder as a table, by its path; keeps nothing. */
public final class FolderCatalog implements TableCatalog {
    /** For Spark. */
    public FolderCatalog() {}

    @Override
    public void initialize(String name, CaseInsensitiveStringMap options) {}

    @Override
    public String name() {
        return LarderSource.NAME;
    }

    @Override
    public Identifier[] listTables(String[] namespace) {
        return new Identifier[0];
    }

    @Override
    public boolean tableExists(Identifier folder) {
        return SavedFolder.at(folder.name()).isOccupied();
    }

    @Override
    public Table loadTable(Identifier folder) {
        return new FolderTable(folder.name());
    }

    @Override
    public Table createTable(Identifier folder, TableInfo info) {
        if (info.partitions().length > 0) {
            throw Failure.of(ErrorCode.USAGE, "a dataset has no partitions")
                    .with("folder", folder.name())
                    .remedy("leave partitionBy out, or write a folder for each value");
        }
        return new FolderTable(folder.name());
    }

    @Override
    public Table alterTable(Identifier folder, TableChange... changes) {
        throw new UnsupportedOperationException("what is written stays as it is");
    }

    /** Spark asks for it where a write failed, which has removed what it wrote by then. */
    @Override
    public boolean dropTable(Identifier folder) {
        return true;
    }

    @Override
    public void renameTable(Identifier from, Identifier to) {
        throw new UnsupportedOperationException("a folder is renamed by its file system");
    }
}
