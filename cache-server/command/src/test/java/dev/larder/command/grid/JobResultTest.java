package dev.larder.command.grid;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobResultTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "{\"loss\": 0.30, \"net\": \"a\"} | {\"loss\":0.30,\"net\":\"a\"}",
                "{\"loss\": NaN}                  | {\"loss\":\"NaN\"}",
                "loss 0.3                         | \"loss 0.3\"",
                "{not an object                   | \"{not an object\"",
                "[1]                              | \"[1]\"",
                "''                               | null"
            })
    void anObjectIsReadAndAnythingElseIsText(String text, String json) {
        assertThat(JobResult.parse(text)).hasToString(json);
    }

    @Test
    void theFileCountsBeforeTheLastLine() throws IOException {
        Path file = folder.resolve("result");

        assertThat(JobResult.read(file, "last")).hasToString("\"last\"");
        Files.writeString(file, " \n");
        assertThat(JobResult.read(file, "last")).hasToString("\"last\"");
        Files.writeString(file, "{\n  \"a\": 1\n}\n");
        assertThat(JobResult.read(file, "last")).hasToString("{\"a\":1}");
    }

    @Test
    void aHugeFileIsCut() throws IOException {
        Path file = Files.writeString(folder.resolve("result"), "{\"a\": \"" + "x".repeat(1 << 20) + "\"}");

        assertThat(JobResult.read(file, "").getAsString()).hasSize(64 << 10);
    }

    @Test
    void whatColoursAndMovesOnTerminalsIsTakenOut() {
        assertThat(JobResult.plain("\u001b[31mred\u001b[0m\tand\u001b[2K \u0007bell"))
                .isEqualTo("red and bell");
    }
}
