package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.column.BytesBuilder;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.loader.transform.RowFunction;
import dev.larder.npy.Dtype;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Failures of samples name their own file, or none: of a dataset whose row 2 fails. */
class RowOriginTest {
    private static final RowFunction FAILING_AT_2 = (row, result) -> {
        if (row.getByte(0) == 2) {
            throw new IllegalArgumentException("two");
        }
    };

    private final StoreFixture store = StoreFixture.create();

    @AfterEach
    void close() {
        store.close();
    }

    /** Publishes files whose only byte is their number, numbers, and a column of texts next to them. */
    private void publish(String dataset, String texts, List<String> names) {
        Map<String, FixtureArray> arrays = new TreeMap<>();
        try (BytesBuilder files = new BytesBuilder();
                StringsBuilder own = new StringsBuilder()) {
            for (int i = 0; i < names.size(); i++) {
                files.add(ByteBuffer.allocateDirect(1).put((byte) i).flip());
                own.add(names.get(i));
            }
            Stream.concat(files.arrays("image").stream(), own.arrays(texts).stream())
                    .forEach(array -> arrays.put(array.name(), FixtureArray.of(array)));
        }
        arrays.put("label", Shelf.labels(names.size()));
        store.publish(dataset, arrays);
    }

    /** Writes the sources of arrays as a daemon does. */
    private void loadedFrom(String dataset, Map<String, List<String>> sources) throws IOException {
        String lines = sources.entrySet().stream()
                .flatMap(array -> array.getValue().stream()
                        .map(path -> "{\"array\":\"" + array.getKey() + "\",\"path\":\"" + path + "\",\"bytes\":1}"))
                .collect(Collectors.joining(",\n"));
        Files.writeString(
                store.layout().version(dataset, 1).resolve(StoreLayout.MANIFEST),
                "{\"formatVersion\": 1,\n\"origins\": [\"/data/pets\"],\n\"sources\": [\n" + lines
                        + "],\n\"ttlMs\": 0}\n");
    }

    private AbstractThrowableAssert<?, ? extends Throwable> assertThatFails(Field field, String... datasets) {
        try (Larder larder = Larder.connect(store.store())) {
            Dataset[] opened = Stream.of(datasets).map(larder::dataset).toArray(Dataset[]::new);
            try (Loader loader = Loader.over(Sources.zip(opened))
                    .fields(field.map(Dtype.parse("|u1"), new long[] {1}, FAILING_AT_2))
                    .batchSize(4)
                    .build()) {
                return assertThatThrownBy(() -> loader.epoch(0).forEach(batch -> {}))
                        .hasMessageContaining("sample=2 position=2");
            }
        }
    }

    @Test
    void aFileOfAFolderIsNamedAlsoForTheLabelNextToIt() throws IOException {
        List<String> paths = List.of("cat/1.jpg", "cat/2.jpg", "dog/1.jpg");
        List<String> files = paths.stream().map(path -> "/data/pets/" + path).toList();
        publish("pets", "path", paths);
        loadedFrom(
                "pets",
                Map.of("image/values", files, "image/offsets", files.subList(0, 1), "label", files.subList(0, 1)));

        assertThatFails(Field.files("image"), "pets")
                .hasMessageContaining("file=dog/1.jpg source=/data/pets/dog/1.jpg; check the sample");
        assertThatFails(Field.rows("label"), "pets")
                .hasMessageContaining("file=dog/1.jpg source=/data/pets/dog/1.jpg; check the sample");
    }

    @Test
    void aSampleOfSeveralArchivesIsNamedByItsKeyAndTheirFolder() throws IOException {
        publish("pets", "keys", List.of("000", "001", "002"));
        loadedFrom("pets", Map.of("image/values", List.of("/data/pets/0.tar", "/data/pets/1.tar")));

        assertThatFails(Field.files("image"), "pets")
                .hasMessageContaining("key=002 source=/data/pets; check the sample");
    }

    @Test
    void aSampleOfOneFileIsNamedByThatFileWhateverItsPathIsSpelledWith() throws IOException {
        publish("pets", "keys", List.of("000", "001", "002"));
        loadedFrom(
                "pets",
                Map.of("image/values", List.of("/data/a\\\\b \\\"c\\u003d.tar"), "label", List.of("/data/other.npy")));

        assertThatFails(Field.files("image"), "pets")
                .hasMessageContaining("key=002 source=/data/a\\b \"c=.tar; check the sample");
    }

    @Test
    void ofDatasetsSideBySideTheOneThatHasTheFieldIsNamed() throws IOException {
        publish("other", "name", List.of("x", "y", "z"));
        loadedFrom("other", Map.of("label", List.of("/data/wrong.npy")));
        publish("pets", "keys", List.of("000", "001", "002"));
        loadedFrom("pets", Map.of("label", List.of("/data/right.npy")));

        assertThatFails(Field.rows("label").from("pets").as("l"), "other", "pets")
                .hasMessageContaining("key=002 source=/data/right.npy; check the sample");
    }

    @Test
    void withoutAManifestNoFileIsNamed() {
        publish("pets", "name", List.of("x", "y", "z"));

        assertThatFails(Field.files("image"), "pets")
                .hasMessageContaining("sample=2 position=2; check the sample")
                .hasMessageNotContainingAny("source=", "file=");
    }
}
