package dev.larder.readers.tfrecord;

import dev.larder.reader.BadSource;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import dev.larder.readers.tfrecord.Example.Kind;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The features of one file, found by reading all its records. */
final class FileFeatures implements Example.Visitor {
    private final int file;
    private final ReadRequest request;
    private final Map<String, Feature> features = new TreeMap<>();
    private final Set<String> seen = new HashSet<>();
    private long rows;
    private long bytes;
    private @Nullable Feature current;
    private long count;
    private long byteCount;

    FileFeatures(int file, ReadRequest request) {
        this.file = file;
        this.request = request;
    }

    /** Reads the whole file. */
    void read(boolean asBytes, ReadProgress progress) throws IOException {
        try (Records records = Records.open(file, request.files().get(file).path())) {
            while (records.next()) {
                if (!asBytes) {
                    seen.clear();
                    visit(records, this, file);
                    end();
                }
                rows++;
                bytes += records.length();
                progress.looked(records.length() + 1L);
            }
        }
        features.values().forEach(feature -> feature.addMissing(rows - feature.records()));
    }

    /** Visits a record. Refuses one that is not an Example, with its number and offset. */
    static void visit(Records records, Example.Visitor visitor, int file) throws BadSource {
        try {
            Example.visit(records.data(), records.length(), visitor);
        } catch (Example.Malformed e) {
            throw new BadSource(
                    file,
                    records.offset(),
                    "",
                    "record " + records.number() + " is no tf.train.Example (" + BadSource.words(e) + ")",
                    "load its records as they are with --as bytes, or write them as tf.train.Example");
        }
    }

    @Override
    public boolean feature(String name, @Nullable Kind kind) throws Example.Malformed {
        end();
        if (!request.wants(file, name)) {
            return false;
        }
        if (!seen.add(name)) {
            throw new Example.Malformed("feature " + name + " is there twice");
        }
        Feature feature = features.computeIfAbsent(name, unused -> new Feature());
        if (kind == null) {
            return false; // even without any value it is a column
        } else if (!feature.isOfKind(kind)) {
            throw new Example.Malformed("feature " + name + " is " + kind + ", and was " + feature.kind() + " before");
        }
        current = feature;
        return true;
    }

    private void end() {
        Feature ended = current;
        if (ended != null) {
            ended.add(count, byteCount);
        }
        current = null;
        count = 0;
        byteCount = 0;
    }

    @Override
    public void integer(long value) {
        count++;
    }

    @Override
    public void floating(int bits) {
        count++;
    }

    @Override
    public void bytes(byte[] array, int from, int length) {
        count++;
        byteCount += length;
    }

    int file() {
        return file;
    }

    long rows() {
        return rows;
    }

    /** Returns the length of all records together. */
    long byteCount() {
        return bytes;
    }

    Map<String, Feature> features() {
        return features;
    }
}
