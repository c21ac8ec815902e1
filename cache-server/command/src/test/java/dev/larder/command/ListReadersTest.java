package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.testing.InstalledReaders;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ListReadersTest {
    @RegisterExtension
    final InstalledReaders readers =
            new InstalledReaders().with("hdf5", List.of()).with("own", List.of("suffixes=.own", "java=99"));

    @Test
    void kindsAreListedWithWhatServesThemAndWhatToDoWhereNothingDoes() {
        Answer answer = Answer.of("readers");

        assertThat(answer.code()).isZero();
        assertThat(answer.out().lines())
                .anySatisfy(line -> assertThat(line).matches("files +daemon +ready +\\.npy, .*"))
                .anySatisfy(line -> assertThat(line).matches("hdf5 +hdf5 +ready +\\.h5, .*"))
                .anySatisfy(line -> assertThat(line).matches("parquet +parquet +missing +\\.parquet, .*"))
                .anySatisfy(line -> assertThat(line).matches("own +own +not usable +\\.own"));
        assertThat(answer.err().lines())
                .satisfiesExactly(
                        own -> assertThat(own)
                                .contains("a reader needs a newer Java: kind=own needs=99", "LARDER_READER_JAVA=DIR"),
                        others -> assertThat(others)
                                .startsWith("larder: readers are missing; install the archive with readers"));
    }

    @Test
    void programsReadTheSameAsJson() {
        JsonObject own = StreamSupport.stream(
                        JsonParser.parseString(Answer.of("readers", "--json").out())
                                .getAsJsonArray()
                                .spliterator(),
                        false)
                .map(JsonElement::getAsJsonObject)
                .filter(row -> row.get("kind").getAsString().equals("own"))
                .findFirst()
                .orElseThrow();

        assertThat(own.get("state").getAsString()).isEqualTo("not usable");
        assertThat(own.get("java").getAsInt()).isEqualTo(99);
        assertThat(own.get("folder").getAsString())
                .isEqualTo(readers.folder("own").toString());
        assertThat(own.get("obstacle").getAsString()).contains("newer Java");
    }
}
