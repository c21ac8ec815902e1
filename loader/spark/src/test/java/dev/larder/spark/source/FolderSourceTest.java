package dev.larder.spark.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Date;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Writes folders by Spark and reads them back. */
@Tag("slow")
class FolderSourceTest {
    private static final DataType FLOATS = DataTypes.createArrayType(DataTypes.FloatType);

    private static SparkSession spark;

    @TempDir
    Path parent;

    private Path folder;

    @BeforeAll
    static void startSpark() {
        spark = SparkSession.builder()
                .master("local[2]")
                .config("spark.ui.enabled", "false")
                .config("spark.log.level", "OFF")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.sql.session.timeZone", "UTC")
                .getOrCreate();
    }

    @AfterAll
    static void stopSpark() {
        spark.stop();
    }

    @BeforeEach
    void nameFolder() {
        folder = parent.resolve("train");
    }

    private static Dataset<Row> frame(StructType types, Row... rows) {
        return spark.createDataFrame(List.of(rows), types);
    }

    private static Dataset<Row> numbers(int count) {
        return spark.range(0, count, 1, 3).toDF("x");
    }

    private Dataset<Row> saved() {
        return spark.read().format("larder").load(folder.toString());
    }

    private List<String> names() throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }

    private List<Long> column() {
        return saved().as(Encoders.LONG()).collectAsList();
    }

    @Test
    void everyTypeComesBackAsItWas() {
        StructType types = new StructType()
                .add("flag", DataTypes.BooleanType)
                .add("i1", DataTypes.ByteType)
                .add("i2", DataTypes.ShortType)
                .add("i4", DataTypes.IntegerType)
                .add("i8", DataTypes.LongType)
                .add("f4", DataTypes.FloatType)
                .add("f8", DataTypes.DoubleType)
                .add("day", DataTypes.DateType)
                .add("time", DataTypes.TimestampType)
                .add("text", DataTypes.StringType)
                .add("raw", DataTypes.BinaryType)
                .add("ids", DataTypes.createArrayType(DataTypes.LongType))
                .add("words", DataTypes.createArrayType(DataTypes.StringType));
        Row[] rows = {
            RowFactory.create(
                    true,
                    (byte) -1,
                    (short) 300,
                    7,
                    1L << 40,
                    0.5f,
                    -2.25,
                    Date.valueOf("2026-11-23"),
                    Timestamp.valueOf("2026-11-23 12:00:00.123456"),
                    "größe 😀",
                    new byte[] {1, 0, -1},
                    List.of(1L, 2L, 3L),
                    List.of("a", "")),
            RowFactory.create(
                    false,
                    (byte) 1,
                    (short) -300,
                    -7,
                    -1L,
                    Float.NaN,
                    1e300,
                    Date.valueOf("1969-12-31"),
                    Timestamp.valueOf("1900-01-01 00:00:00"),
                    "",
                    new byte[0],
                    List.of(),
                    List.of("b")),
        };

        frame(types, rows).coalesce(1).write().format("larder").save(folder.toString());

        List<Row> back = saved().collectAsList();
        assertThat(saved().schema().fieldNames()).containsExactly(types.fieldNames());
        assertThat(back.stream().map(FolderSourceTest::text)).containsExactly(text(rows[0]), text(rows[1]));
    }

    private static String text(Row row) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < row.size(); i++) {
            Object value = row.get(i);
            texts.add(
                    value instanceof byte[] bytes
                            ? Arrays.toString(bytes)
                            : value instanceof scala.collection.Iterable<?> list
                                    ? list.mkString("[", ", ", "]")
                                    : String.valueOf(value));
        }
        return texts.toString();
    }

    @Test
    void rowsKeepTheirOrderAcrossParts() {
        numbers(1000).write().format("larder").save(folder.toString());

        assertThat(column())
                .isEqualTo(IntStream.range(0, 1000).mapToObj(i -> (long) i).toList());
    }

    @Test
    void arraysOfOneShapeAreBoxesAndOthersAreRefusedByTheirColumn() throws IOException {
        StructType types = new StructType().add("image", FLOATS);
        Dataset<Row> even =
                frame(types, RowFactory.create(List.of(1f, 2f, 3f, 4f)), RowFactory.create(List.of(5f, 6f, 7f, 8f)));
        even.write().format("larder").option("shape.image", "2,2").save(folder.toString());
        Dataset<Row> odd = frame(types, RowFactory.create(List.of(1f, 2f, 3f)));

        assertThat(saved().collectAsList().stream().map(row -> row.<Float>getList(0)))
                .containsExactlyInAnyOrder(List.of(1f, 2f, 3f, 4f), List.of(5f, 6f, 7f, 8f));
        Path other = parent.resolve("odd");
        assertThatThrownBy(() -> odd.write()
                        .format("larder")
                        .option("shape.image", "2,2")
                        .save(other.toString()))
                .hasStackTraceContaining("a row has not the shape of its column: column=image elements=3 wanted=4");
        assertThatThrownBy(() -> frame(types, RowFactory.create((Object) null))
                        .write()
                        .format("larder")
                        .option("shape.image", "2,2")
                        .save(other.toString()))
                .hasStackTraceContaining("a null is in a column that has a shape: column=image");
        assertThat(other).doesNotExist();
    }

    @Test
    void nullRowsComeBackAndNullsInsideRowsAreRefusedByTheirColumn() {
        StructType types = new StructType().add("x", DataTypes.IntegerType).add("v", FLOATS);
        frame(types, RowFactory.create(null, List.of(1f)), RowFactory.create(4, null))
                .coalesce(1)
                .write()
                .format("larder")
                .save(folder.toString());

        assertThat(saved().collectAsList().stream().map(FolderSourceTest::text))
                .containsExactly("[null, [1.0]]", "[4, null]");
        assertThatThrownBy(() -> frame(types, RowFactory.create(1, Arrays.asList(1f, null)))
                        .write()
                        .format("larder")
                        .save(parent.resolve("nulls").toString()))
                .hasStackTraceContaining("a null is inside an array: column=v element=1");
        assertThat(parent.resolve("nulls")).doesNotExist();
    }

    @Test
    void typesThatADatasetHasNotAreRefusedBeforeAnythingIsWritten() {
        Dataset<Row> maps = spark.sql("select 1 as a, map('k', 1) as m, cast(1 as decimal(5, 2)) as d");

        assertThatThrownBy(() -> maps.write().format("larder").save(folder.toString()))
                .hasStackTraceContaining("a column cannot be written for Larder: column=m type=map<string,int>");
        assertThat(folder).doesNotExist();
    }

    @Test
    void aWriteThatFailsLeavesNothing() {
        Dataset<Long> failing = numbers(300)
                .as(Encoders.LONG())
                .map((MapFunction<Long, Long>) FolderSourceTest::failAt250, Encoders.LONG());

        assertThatThrownBy(() -> failing.write().format("larder").save(folder.toString()))
                .hasStackTraceContaining("no row 250");
        assertThat(folder).doesNotExist();
    }

    private static Long failAt250(Long x) {
        if (x == 250) {
            throw new IllegalStateException("no row 250");
        }
        return x;
    }

    @Test
    void aFolderThatIsThereIsNotMixedWithUnlessSomebodySaysSo() throws IOException {
        numbers(10).write().format("larder").save(folder.toString());

        assertThatThrownBy(() -> numbers(5).write().format("larder").save(folder.toString()))
                .hasMessageContaining("already exists");
        numbers(5).write().format("larder").mode(SaveMode.Append).save(folder.toString());
        assertThat(column()).hasSize(15);
        numbers(7).write().format("larder").mode(SaveMode.Overwrite).save(folder.toString());
        assertThat(column()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L);
        assertThat(names()).hasSize(3 + 2); // parts; what they are, and which
        assertThatThrownBy(() -> spark.range(3)
                        .toDF("y")
                        .write()
                        .format("larder")
                        .mode("append")
                        .save(folder.toString()))
                .hasStackTraceContaining("these columns are not those of the folder");
    }

    @Test
    void aFailedOverwriteLeavesWhatWasThere() {
        numbers(10).write().format("larder").save(folder.toString());
        Dataset<Long> failing = numbers(300)
                .as(Encoders.LONG())
                .map((MapFunction<Long, Long>) FolderSourceTest::failAt250, Encoders.LONG());

        assertThatThrownBy(() -> failing.toDF("x")
                        .write()
                        .format("larder")
                        .mode("overwrite")
                        .save(folder.toString()))
                .hasStackTraceContaining("no row 250");
        assertThat(column()).hasSize(10);
    }

    @Test
    void whatAWriteThatDiedHasLeftIsNoDatasetAndTheNextWriteRemovesIt() throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("state.json"), "{\"_data_files\": []}");
        Files.writeString(folder.resolve("data-00000-of-00002-5-dead.arrow"), "half");

        assertThatThrownBy(() -> saved().collectAsList()).hasStackTraceContaining("no dataset is in this folder");
        numbers(4).write().format("larder").save(folder.toString());

        assertThat(column()).hasSize(4);
        assertThat(names()).noneMatch(name -> name.contains("dead"));
    }

    @Test
    void aFolderThatIsNotThereIsSaidSo() {
        assertThatThrownBy(() -> saved().collectAsList())
                .hasStackTraceContaining("no dataset is in this folder: folder=file:" + folder);
    }

    @Test
    void appendAndOverwriteMakeAFolderThatIsNotThere() {
        numbers(4).write().format("larder").mode(SaveMode.Append).save(folder.toString());
        assertThat(column()).hasSize(4);

        folder = parent.resolve("other");
        numbers(5).write().format("larder").mode(SaveMode.Overwrite).save(folder.toString());
        assertThat(column()).hasSize(5);
    }

    @Test
    void appendIsRefusedWhereOthersHaveFiles() throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("notes.txt"), "mine");

        assertThatThrownBy(() -> numbers(4)
                        .write()
                        .format("larder")
                        .mode(SaveMode.Append)
                        .save(folder.toString()))
                .hasStackTraceContaining("files of others are in this folder");
        assertThat(names()).containsExactly("notes.txt");
    }

    @Test
    void aFrameWithoutRowsKeepsItsColumns() throws IOException {
        numbers(0).write().format("larder").save(folder.toString());

        assertThat(saved().schema().fieldNames()).containsExactly("x");
        assertThat(column()).isEmpty();
        assertThat(new String(Files.readAllBytes(folder.resolve("state.json")), StandardCharsets.UTF_8))
                .contains("data-00000-of-");
    }
}
