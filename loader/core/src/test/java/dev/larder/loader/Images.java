package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.column.BytesBuilder;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A store with a dataset of image files, in the order of their names; opened. {@code image}: their bytes. {@code
 * labels}: the row.
 */
public final class Images implements AutoCloseable {
    /** All that can be decoded, by either decoder. */
    static final List<String> GOOD = List.of(
            "photo.jpg",
            "progressive.jpg",
            "grey.jpg",
            "turned.jpg",
            "one.jpg",
            "large.jpg",
            "photo.png",
            "palette.png",
            "grey.png",
            "grey16.png",
            "alpha.png");

    private final StoreFixture store = StoreFixture.create();
    private final Larder larder;
    final Dataset dataset;

    private Images(List<String> names) {
        Map<String, FixtureArray> arrays = new HashMap<>();
        try (BytesBuilder files = new BytesBuilder()) {
            for (String name : names) {
                byte[] content = resource(name);
                files.add(
                        name,
                        ByteBuffer.allocateDirect(content.length).put(content).flip());
            }
            files.arrays("image").forEach(array -> arrays.put(array.name(), FixtureArray.of(array)));
        }
        arrays.put("labels", Shelf.labels(names.size()));
        store.publish("images", arrays);
        larder = Larder.connect(store.store());
        dataset = larder.dataset("images");
    }

    /** Returns the folder of the store. */
    Path folder() {
        return store.store();
    }

    static Images of(List<String> names) {
        return new Images(names);
    }

    /** Returns a file of the folder of images, whose make.py says what it is. */
    public static byte[] resource(String name) {
        try (InputStream file = Images.class.getResourceAsStream("/images/" + name)) {
            return Objects.requireNonNull(file, name).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        dataset.close();
        larder.close();
        store.close();
    }
}
