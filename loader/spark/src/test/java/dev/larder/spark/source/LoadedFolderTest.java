package dev.larder.spark.source;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.spark.launch.LarderProgram;
import dev.larder.testing.LeavesNothingBehind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loads what Spark wrote with the larder command, by way of {@code launch --data}, and looks at it with numpy. */
@Tag("slow")
class LoadedFolderTest {
    @TempDir
    Path folder;

    @Test
    void aFolderIsOneDatasetWithColumnsOfEveryKind() throws IOException {
        Path train = folder.resolve("train");
        try (SparkSession spark = SparkSession.builder()
                .master("local[2]")
                .config("spark.ui.enabled", "false")
                .config("spark.log.level", "OFF")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .getOrCreate()) {
            spark.range(0, 100, 1, 4)
                    .selectExpr(
                            "id",
                            "cast(id / 2 as float) as half",
                            "id % 2 = 0 as even",
                            "if(id = 7, null, cast(id as int)) as holes",
                            "concat('row ', id) as text",
                            "cast(concat('b', id) as binary) as raw",
                            "array(id, id + 1, id + 2, id + 3) as box",
                            "sequence(0L, id % 3) as list")
                    .write()
                    .format("larder")
                    .option("shape.box", "2,2")
                    .save(train.toString());
        }
        String look = "import larder, numpy as np; d = larder.dataset('train'); n = np.arange(100);"
                + " assert (d['id'] == n).all() and (d['half'] == n / 2).all() and d['half'].dtype == np.float32;"
                + " assert (d['even'] == (n % 2 == 0)).all(); assert list(np.flatnonzero(d['holes.mask'])) == [7];"
                + " assert d['box'].shape == (100, 2, 2) and (d['box'][9] == [[9, 10], [11, 12]]).all();"
                + " assert d.strings('text')[42] == 'row 42' and bytes(d.bytes('raw')[42]) == b'b42';"
                + " assert list(d.ragged('list')[5]) == [0, 1, 2]; print('all', len(d['id']))";

        assertThat(python(train, look)).contains("[0] all 100");
    }

    @Test
    void aFolderThatNobodyHasFinishedIsRefused() throws IOException {
        Path train = Files.createDirectories(folder.resolve("train"));
        Files.writeString(train.resolve("state.json"), "{\"_data_files\": []}");
        Files.writeString(train.resolve("data-00000-of-00001-5-dead.arrow"), "half");

        assertThat(python(train, "pass")).contains("it lists no data files");
    }

    /** Runs what looks at a dataset, and stops the daemon, which after a failure would wait for another try. */
    private String python(Path source, String code) {
        Path store = LeavesNothingBehind.newStore();
        try (LarderProgram launch = LarderProgram.start(
                folder,
                store,
                List.of(
                        "launch",
                        "--data=train=" + source,
                        "--",
                        "env",
                        "PYTHONPATH="
                                + Path.of("../../ops/python").toAbsolutePath().normalize(),
                        "python3",
                        "-c",
                        code))) {
            if (launch.exitCode() != 0) {
                LarderProgram.stopDaemon(folder, store);
            }
            return launch.said();
        }
    }
}
