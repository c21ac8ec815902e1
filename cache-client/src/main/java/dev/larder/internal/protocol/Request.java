package dev.larder.internal.protocol;

import dev.larder.internal.layout.ColumnPart;
import dev.larder.message.FieldName;
import dev.larder.message.OptionalField;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * The calls of the control plane, with their parameters; {@link Protocol#METHODS} names their methods. They come over a connection one at a
 * time.
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

    /** Asks a service for its name and its interfaces. */
    record GetInfo() implements Request {}

    /** Asks for the text that describes an interface. */
    record GetInterfaceDescription(@FieldName("interface") String interfaceName) implements Request {}

    /** Adds sources to the next load of this connection. */
    record Sources(List<LoadRequest.Source> sources) implements Request {}

    /**
     * Waits until a dataset or an array is resident.
     *
     * @param evenIfUnknown whether to wait also for what nobody has loaded yet, instead of failing at once
     */
    record Wait(
            String name, Duration timeout, @OptionalField boolean evenIfUnknown) implements Request, Named {
        /** Waits for what is known. */
        public Wait(String name, Duration timeout) {
            this(name, timeout, false);
        }
    }

    /**
     * Asks for the right to build a dataset; one caller at a time has it.
     *
     * @param timeout how long to wait while somebody else builds or loads it
     * @param bytes how much space to set aside; 0 where that is unknown
     * @param evenIfResident whether to build a new version of what is resident, instead of being done at once
     * @param retention how long it stays
     */
    record Create(
            String name,
            Duration timeout,
            @OptionalField long bytes,
            @OptionalField boolean evenIfResident,
            @OptionalField Retention retention)
            implements Request, Named {
        /** Fills in what is absent. */
        public Create {
            retention = Objects.requireNonNullElse(retention, Retention.NORMAL);
            requireSize(bytes);
        }

        /** Asks for what stays as long as there is room. */
        public Create(String name, Duration timeout, long bytes, boolean evenIfResident) {
            this(name, timeout, bytes, evenIfResident, Retention.NORMAL);
        }

        /** Returns the same with another time to wait. */
        public Create within(Duration timeLeft) {
            return new Create(name, timeLeft, bytes, evenIfResident, retention);
        }
    }

    /**
     * Asks for space for the build of this connection before it is written; what may leave for it does.
     *
     * @param bytes how much it takes in all, with what was asked for before
     */
    record Room(long bytes) implements Request {
        /** Refuses a negative size. */
        public Room {
            requireSize(bytes);
        }
    }

    /** Has files made for the build of this connection, in a store of another user, where a client may put none itself. */
    record Files(List<NewFile> files) implements Request {}

    /**
     * The file of one array.
     *
     * @param array its name within the dataset
     * @param bytes the length of the {@code .npy} file, header included
     * @param source where its data comes from, for people; empty for what is computed
     */
    record NewFile(String array, long bytes, @OptionalField String source) {
        /** Fills in what is absent. */
        public NewFile {
            source = Objects.requireNonNullElse(source, "");
            requireSize(bytes);
            requireLength("array", array, Protocol.MAX_NAME_LENGTH);
            requireLength("source", source, Protocol.MAX_PATH_LENGTH);
        }
    }

    /** Notes which arrays of the build of this connection are parts of columns; several such calls add up. */
    record Part(List<PartOfColumn> parts) implements Request {}

    /** An array, and the part that it plays in a column. */
    record PartOfColumn(String array, ColumnPart part) {
        /** Refuses a name that no array can have. */
        public PartOfColumn {
            requireLength("array", array, Protocol.MAX_NAME_LENGTH);
        }
    }

    /** Publishes the build of this connection. No file of it may be open for writing any more. */
    record Publish() implements Request {}

    /** Asks for one row per array whose full name starts with the prefix; the empty prefix means all. */
    record ListArrays(
            @OptionalField String prefix, @OptionalField boolean includeRetired) implements Request {
        /** Fills in what is absent. */
        public ListArrays {
            prefix = Objects.requireNonNullElse(prefix, "");
        }
    }

    /** Asks for the row of one array, or for those of all arrays of one dataset. */
    record Info(String name) implements Request, Named {}

    /**
     * Removes the newest version of a dataset.
     *
     * @param forget whether to forget its source too, so that it does not come back when somebody asks for it
     */
    record Evict(String name, @OptionalField boolean forget) implements Request, Named {}

    /** Keeps a dataset resident, or no longer. */
    record Pin(String name, boolean pinned) implements Request, Named {}

    /**
     * Notes what a resident shard is a part of, once all nodes have compared theirs.
     *
     * @param digest that of the shard; another version that has its name by now is left alone
     * @param of the digest that the whole dataset would have
     */
    record NoteWhole(String name, String digest, String of) implements Request, Named {
        private static final int MOST_OF_DIGEST = 128;

        /** Refuses what no digest can be. */
        public NoteWhole {
            requireLength("digest", digest, MOST_OF_DIGEST);
            requireLength("of", of, MOST_OF_DIGEST);
        }
    }

    /** Asks for the errors that the daemon has met. */
    record Errors() implements Request {}

    /**
     * Computes the checksums of a dataset or an array again; the empty name means everything.
     *
     * @param againstSources whether to read the sources too, and compare with them
     */
    record Verify(@OptionalField String name, @OptionalField boolean againstSources) implements Request, Named {
        /** Fills in what is absent. */
        public Verify {
            name = Objects.requireNonNullElse(name, "");
        }
    }

    /** Loads a dataset again, from where and in the way it was loaded. */
    record Reload(String name) implements Request, Named {}

    /** Asks for totals. */
    record Status() implements Request {}

    /** Asks how far each load and build is that is under way: one {@link Progress} each, named by its datasets. */
    record Loads() implements Request {}

    /** Stops the daemon, which removes its store unless it is told to keep it. */
    record Stop(@OptionalField boolean keep) implements Request {}
}
