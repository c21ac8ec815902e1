package dev.larder.internal.protocol;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.message.FieldName;
import dev.larder.message.OptionalField;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * The calls of the control plane with their parameters; {@link Protocol#METHODS} names their methods. A connection has one call
 * at a time.
 */
public sealed interface Request
        permits LoadRequest,
                Request.Sources,
                Request.Create,
                Request.Room,
                Request.Files,
                Request.Part,
                Request.Publish,
                Request.GetInfo,
                Request.GetInterfaceDescription,
                Request.Wait,
                Request.ListArrays,
                Request.Info,
                Request.Evict,
                Request.Verify,
                Request.Status,
                Request.Loads,
                Request.Stop,
                Request.Reload,
                Request.Pin,
                Request.NoteWhole,
                RegionRequest,
                Request.Errors {

    private static void requireSize(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("bytes is negative: " + bytes);
        }
    }

    private static void requireLength(String field, String text, int most) {
        if (text.length() > most) {
            throw new IllegalArgumentException(field + " is longer than " + most + " characters");
        }
    }

    /** A request about a dataset, an array or a region. */
    interface Named {
        /** Returns the name. */
        String name();
    }

    /** Requests the name of the service and its interfaces. */
    record GetInfo() implements Request {}

    /** Requests the text that describes an interface. */
    record GetInterfaceDescription(@FieldName("interface") String interfaceName) implements Request {}

    /** Adds sources to the next load of this connection. */
    record Sources(List<LoadRequest.Source> sources) implements Request {}

    /**
     * Waits until a dataset or an array is resident.
     *
     * @param evenIfUnknown whether to wait even if no load of it has begun, instead of failing immediately
     */
    record Wait(
            String name, Duration timeout, @OptionalField boolean evenIfUnknown) implements Request, Named {
        /** Waits for a known dataset. */
        public Wait(String name, Duration timeout) {
            this(name, timeout, false);
        }
    }

    /**
     * Requests the turn to build a dataset; one caller at a time has it.
     *
     * @param timeout the longest time to wait while another client builds or loads it
     * @param bytes the space to reserve; 0 if it is unknown
     * @param evenIfResident whether to build a new version even if the dataset is resident
     * @param retention how long it stays
     */
    record Create(
            String name,
            Duration timeout,
            @OptionalField long bytes,
            @OptionalField boolean evenIfResident,
            @OptionalField Retention retention)
            implements Request, Named {
        /** Replaces absent values by their defaults. */
        public Create {
            retention = Objects.requireNonNullElse(retention, Retention.NORMAL);
            requireSize(bytes);
        }

        /** Requests a turn for a dataset that stays as long as there is room. */
        public Create(String name, Duration timeout, long bytes, boolean evenIfResident) {
            this(name, timeout, bytes, evenIfResident, Retention.NORMAL);
        }

        /** Returns the same request with another time limit. */
        public Create within(Duration timeLeft) {
            return new Create(name, timeLeft, bytes, evenIfResident, retention);
        }
    }

    /**
     * Reserves space for the build of this connection before the client writes it, and evicts datasets if needed.
     *
     * @param bytes the whole space, including earlier calls
     */
    record Room(long bytes) implements Request {
        /** Refuses a negative size. */
        public Room {
            requireSize(bytes);
        }
    }

    /** Makes files for the build of this connection in the store of another user, in which clients cannot make files. */
    record Files(List<NewFile> files) implements Request {}

    /**
     * The file of one array.
     *
     * @param array its name within the dataset
     * @param bytes the length of the {@code .npy} file, header included
     * @param source the origin of its data, for people; empty if it is computed
     */
    record NewFile(String array, long bytes, @OptionalField String source) {
        /** Replaces absent values by their defaults. */
        public NewFile {
            source = Objects.requireNonNullElse(source, "");
            requireSize(bytes);
            requireLength("array", array, Protocol.MAX_NAME_LENGTH);
            requireLength("source", source, Protocol.MAX_PATH_LENGTH);
        }
    }

    /** Records which arrays of the build of this connection are parts of columns. Several such calls add up. */
    record Part(List<PartOfColumn> parts) implements Request {}

    /** An array and its part in a column. */
    record PartOfColumn(String array, ColumnPart part) {
        /** Refuses a name that no array can have. */
        public PartOfColumn {
            requireLength("array", array, Protocol.MAX_NAME_LENGTH);
        }
    }

    /** Publishes the build of this connection. No file of it may still be open for writing. */
    record Publish() implements Request {}

    /**
     * Lists the arrays whose full name starts with the prefix; the empty prefix means all.
     *
     * @param mostArrays a version with more arrays is one row, {@link ArrayRow#isWholeVersion}, unless it has columns; 0 for no limit
     */
    record ListArrays(
            @OptionalField String prefix,
            @OptionalField boolean includeRetired,
            @OptionalField int mostArrays) implements Request {
        /** Replaces absent values by their defaults. */
        public ListArrays {
            prefix = Objects.requireNonNullElse(prefix, "");
        }

        /** Requests a row for each array. */
        public ListArrays(String prefix, boolean includeRetired) {
            this(prefix, includeRetired, 0);
        }
    }

    /** Describes one array, or all arrays of one dataset. */
    record Info(String name) implements Request, Named {}

    /**
     * Removes the newest version of a dataset.
     *
     * @param forget whether to forget its source as well, so that no request loads it again
     */
    record Evict(String name, @OptionalField boolean forget) implements Request, Named {}

    /** Keeps a dataset resident, or ends that. */
    record Pin(String name, boolean pinned) implements Request, Named {}

    /**
     * Records the whole dataset that a resident shard belongs to, after all nodes have compared theirs.
     *
     * @param digest the digest of the shard; a newer version with its name is left alone
     * @param of the digest of the whole dataset
     */
    record NoteWhole(String name, String digest, String of) implements Request, Named {
        private static final int MOST_OF_DIGEST = 128;

        /** Refuses texts that are longer than any digest. */
        public NoteWhole {
            requireLength("digest", digest, MOST_OF_DIGEST);
            requireLength("of", of, MOST_OF_DIGEST);
        }
    }

    /** Lists the errors of the daemon. */
    record Errors() implements Request {}

    /**
     * Computes the checksums of a dataset or an array again; the empty name means everything.
     *
     * @param againstSources whether to read the sources as well and compare
     */
    record Verify(@OptionalField String name, @OptionalField boolean againstSources) implements Request, Named {
        /** Replaces absent values by their defaults. */
        public Verify {
            name = Objects.requireNonNullElse(name, "");
        }
    }

    /** Loads a dataset again from the same sources with the same options. */
    record Reload(String name) implements Request, Named {}

    /** Requests totals. */
    record Status() implements Request {}

    /** Lists the progress of each load and build, named by its datasets. */
    record Loads() implements Request {}

    /** Stops the daemon, and removes its store unless the request keeps it. */
    record Stop(@OptionalField boolean keep) implements Request {}
}
