package dev.larder.bench.loader;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Images and labels of a store. Owns its connection. */
final class LarderRows implements TrainingRows {
    private static final String DATASET = "training";

    private final Larder larder;
    private final Dataset dataset;
    private final ArrayView images;
    private final ArrayView labels;

    private LarderRows(Larder larder) {
        this.larder = larder;
        this.dataset = larder.dataset(DATASET);
        this.images = dataset.array(IMAGES);
        this.labels = dataset.array(LABELS);
    }

    /** Opens the benchmark's dataset in a store. */
    static LarderRows open(Path store) {
        Larder larder = Larder.connect(store);
        try {
            return new LarderRows(larder);
        } catch (RuntimeException e) {
            larder.close();
            throw e;
        }
    }

    @Override
    public long rows() {
        return images.rows();
    }

    @Override
    public int imageByteSize() {
        return Math.toIntExact(images.rowByteSize());
    }

    @Override
    public void gather(long[] rows, ByteBuffer target) {
        images.copyRows(rows, target, 0);
    }

    @Override
    public long label(long row) {
        return labels.getLong(row);
    }

    @Override
    public void close() {
        dataset.close();
        larder.close();
    }
}
