package dev.larder.readers.tfrecord;

import dev.larder.readers.tfrecord.Example.Kind;
import org.jspecify.annotations.Nullable;

/** The kind of one feature in one file, and the number of values in its records. */
final class Feature {
    private @Nullable Kind kind;
    private long shortest = Long.MAX_VALUE;
    private long longest;
    private long values;
    private long bytes;
    private long records;

    /** Takes the kind in a record; returns false if an earlier record has another kind. */
    boolean isOfKind(Kind found) {
        if (kind == null) {
            kind = found;
        }
        return kind == found;
    }

    /** Counts a record that has the feature. */
    void add(long count, long byteCount) {
        shortest = Math.min(shortest, count);
        longest = Math.max(longest, count);
        values += count;
        bytes += byteCount;
        records++;
    }

    /** Counts records that lack it. */
    void addMissing(long count) {
        if (count > 0) {
            shortest = 0;
        }
    }

    /** Adds the counts of another file; returns false if the kinds differ. */
    boolean merge(Feature other) {
        Kind theirs = other.kind;
        if (theirs != null && !isOfKind(theirs)) {
            return false;
        }
        shortest = Math.min(shortest, other.shortest);
        longest = Math.max(longest, other.longest);
        values += other.values;
        bytes += other.bytes;
        records += other.records;
        return true;
    }

    @Nullable
    Kind kind() {
        return kind;
    }

    boolean isFixed() {
        return shortest == longest;
    }

    long longest() {
        return longest;
    }

    long values() {
        return values;
    }

    long byteCount() {
        return bytes;
    }

    /** Returns how many records have it. */
    long records() {
        return records;
    }
}
