package dev.larder.spark.source;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsCatalogOptions;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The data source, which Spark finds by its name. It has a catalog, as Spark asks only catalogs whether a folder exists already. */
public final class LarderSource implements DataSourceRegister, SupportsCatalogOptions {
    static final String NAME = "larder";
    private static final String CATALOG_SETTING = "spark.sql.catalog." + NAME;
    private static final String PATH = "path";

    /** For Spark. */
    public LarderSource() {}

    @Override
    public String shortName() {
        return NAME;
    }

    @Override
    public Identifier extractIdentifier(CaseInsensitiveStringMap options) {
        String path = options.get(PATH);
        if (path == null || path.isBlank()) {
            throw Failure.of(ErrorCode.USAGE, "no folder is named").remedy("name one: save(folder), load(folder)");
        }
        return Identifier.of(new String[0], path);
    }

    @Override
    public String extractCatalog(CaseInsensitiveStringMap options) {
        SparkSession session = SparkSession.active();
        if (session.conf().getOption(CATALOG_SETTING).isEmpty()) {
            session.conf().set(CATALOG_SETTING, FolderCatalog.class.getName());
        }
        return NAME;
    }

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return new FolderTable(extractIdentifier(options).name()).schema();
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new FolderTable(
                extractIdentifier(new CaseInsensitiveStringMap(properties)).name());
    }
}
