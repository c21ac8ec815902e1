package dev.larder.readers.tfrecord;

import dev.larder.readers.tfrecord.Example.Kind;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Hands the values of a record to the writers of its features. */
final class RowWriter implements Example.Visitor {
    private final Map<String, FeatureWriter> features;
    private @Nullable FeatureWriter current;

    RowWriter(Map<String, FeatureWriter> features) {
        this.features = features;
    }

    @Override
    public boolean feature(String name, @Nullable Kind kind) {
        current = features.get(name);
        return kind != null && current != null;
    }

    private FeatureWriter current() throws Example.Malformed {
        FeatureWriter writer = current;
        if (writer == null) {
            throw new Example.Malformed("a value without a feature");
        }
        return writer;
    }

    @Override
    public void integer(long value) throws Example.Malformed {
        current().integer(value);
    }

    @Override
    public void floating(int bits) throws Example.Malformed {
        current().floating(bits);
    }

    @Override
    public void bytes(byte[] array, int from, int length) throws Example.Malformed {
        current().bytes(array, from, length);
    }
}
