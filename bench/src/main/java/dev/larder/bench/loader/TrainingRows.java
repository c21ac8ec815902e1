package dev.larder.bench.loader;

import java.nio.ByteBuffer;

/** Images with labels, however they came into this process. */
interface TrainingRows extends AutoCloseable {
    /** The array of images in the benchmark's dataset: bytes, one image a row. */
    String IMAGES = "images";

    /** The array of their labels: 64-bit integers. */
    String LABELS = "labels";

    long rows();

    int imageByteSize();

    /** Copies images to the target, one after the other from its beginning on, without moving its position. */
    void gather(long[] rows, ByteBuffer target);

    long label(long row);

    @Override
    void close();
}
