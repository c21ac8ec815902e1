package dev.larder.reader;

import dev.larder.message.OptionalField;
import java.util.List;

/** A message of a reader to the daemon: an object with one member, named like the record, such as {@code {"finished":{}}}. */
public sealed interface Answer {
    /** Arrays of the source. */
    record Offered(List<Offer> offers) implements Answer {}

    /** Objects of places. */
    record Listed(List<ListedObject> objects) implements Answer {}

    /** The reader has looked at, or written, this many bytes more. */
    record Progressed(long bytes) implements Answer {}

    /** The reader has completed the request of the daemon. */
    record Finished() implements Answer {}

    /** The source cannot be read; see {@link BadSource}. */
    record Refused(
            int file,
            @OptionalField(orElse = BadSource.NOWHERE) long offset,
            String column,
            String reason,
            String remedy)
            implements Answer {
        /** Cuts long texts. */
        public Refused {
            column = WireLimits.cut(column);
            reason = WireLimits.cut(reason);
            remedy = WireLimits.cut(remedy);
        }
    }

    /** The reader itself has failed. */
    record Failed(String reason) implements Answer {
        /** Cuts a long text. */
        public Failed {
            reason = WireLimits.cut(reason);
        }
    }

    /**
     * An object of a place; see {@link PlaceObject}.
     *
     * @param place the index of its address in the request
     */
    record ListedObject(
            int place,
            String name,
            @OptionalField boolean isAlone,
            long byteSize,
            @OptionalField long modifiedNanos,
            String tag,
            @OptionalField boolean hasRanges) {
        /** Refuses long texts. */
        public ListedObject {
            WireLimits.requireShort(name);
            WireLimits.requireShort(tag);
        }
    }
}
