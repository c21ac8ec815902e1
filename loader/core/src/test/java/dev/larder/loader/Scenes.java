package dev.larder.loader;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.internal.column.ColumnArray;
import dev.larder.internal.column.RaggedBuilder;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.internal.column.TextIndexBuilder;
import dev.larder.npy.Dtype;
import dev.larder.testing.FixtureArray;
import dev.larder.testing.StoreFixture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A store with a dataset of 100 samples, each a question about one of 7 scenes; opened, for a test of fields.
 *
 * <p>{@code labels}: the row. {@code words}: ragged int32, row r has r % 5 numbers r, r + 1, …. {@code boxes}: ragged float32
 * [r % 3 + 1, 2]. {@code question}: text "question r é". {@code scene}: text, the name of the scene r % 7. {@code scenes}: an
 * index from those names to rows of {@code feat}, int32 [7, 3] of 10 × scene. {@code feat_row}: int64, the same rows.
 */
final class Scenes implements AutoCloseable {
    static final int ROWS = 100;
    static final int SCENES = 7;

    private final StoreFixture store = StoreFixture.create();
    private final Larder larder;
    final Dataset dataset;

    private Scenes(int indexed) {
        store.publish("scenes", arrays(indexed));
        larder = Larder.connect(store.store());
        dataset = larder.dataset("scenes");
    }

    static Scenes open() {
        return new Scenes(SCENES);
    }

    /** Leaves scenes out of the index from a number on. */
    static Scenes indexedBelow(int scene) {
        return new Scenes(scene);
    }

    static Map<String, FixtureArray> arrays(int indexed) {
        Map<String, FixtureArray> arrays = new LinkedHashMap<>();
        arrays.put("labels", Shelf.labels(ROWS));
        arrays.put(
                "feat",
                FixtureArray.ints(
                        IntStream.range(0, SCENES * 3).map(i -> i / 3 * 10).toArray(), SCENES, 3));
        arrays.put(
                "feat_row",
                FixtureArray.longs(
                        IntStream.range(0, ROWS).mapToLong(r -> r % SCENES).toArray(), ROWS));
        addAll(arrays, words());
        addAll(arrays, boxes());
        addAll(arrays, texts("question", "question %d é"));
        addAll(arrays, sceneNames());
        addAll(arrays, index(indexed));
        return arrays;
    }

    private static void addAll(Map<String, FixtureArray> arrays, List<ColumnArray> column) {
        column.forEach(array -> arrays.put(array.name(), FixtureArray.of(array)));
    }

    private static List<ColumnArray> words() {
        RaggedBuilder words = new RaggedBuilder(Dtype.parse("<i4"), 1);
        for (int row = 0; row < ROWS; row++) {
            ByteBuffer numbers =
                    ByteBuffer.allocateDirect(row % 5 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < row % 5; i++) {
                numbers.putInt(row + i);
            }
            words.add(numbers.flip(), row % 5);
        }
        return words.arrays("words");
    }

    private static List<ColumnArray> boxes() {
        RaggedBuilder boxes = new RaggedBuilder(Dtype.parse("<f4"), 2);
        for (int row = 0; row < ROWS; row++) {
            int count = row % 3 + 1;
            ByteBuffer numbers =
                    ByteBuffer.allocateDirect(count * 2 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            while (numbers.hasRemaining()) {
                numbers.putFloat(row + 0.5f);
            }
            boxes.add(numbers.flip(), count, 2);
        }
        return boxes.arrays("boxes");
    }

    private static List<ColumnArray> texts(String column, String format) {
        StringsBuilder texts = new StringsBuilder();
        for (int row = 0; row < ROWS; row++) {
            texts.add(String.format(format, row));
        }
        return texts.arrays(column);
    }

    private static List<ColumnArray> sceneNames() {
        StringsBuilder names = new StringsBuilder();
        for (int row = 0; row < ROWS; row++) {
            names.add("scene" + row % SCENES);
        }
        return names.arrays("scene");
    }

    private static List<ColumnArray> index(int indexed) {
        TextIndexBuilder index = new TextIndexBuilder();
        for (int scene = 0; scene < indexed; scene++) {
            index.add("scene" + scene, scene);
        }
        return index.arrays("scenes");
    }

    @Override
    public void close() {
        dataset.close();
        larder.close();
        store.close();
    }
}
