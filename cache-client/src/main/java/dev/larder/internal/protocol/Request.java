package dev.larder.internal.protocol;

import java.time.Duration;

/** What a client sends: {@link Hello} first, then one of the others. */
public sealed interface Request
        permits LoadRequest,
                PublishRequest,
                NewFilesRequest,
                Request.Create,
                Request.MakeRoom,
                Request.Hello,
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

    /** Opens every connection. The process id is for people: the kernel's word on the peer is what counts. */
    record Hello(int protocolMajor, int protocolMinor, long pid, String clientVersion) implements Request {}

    /**
     * Waits until a dataset or an array is resident.
     *
     * @param evenIfUnknown whether to wait also for what nobody has loaded yet, instead of failing at once
     */
    record Wait(String name, Duration timeout, boolean evenIfUnknown) implements Request {
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
     * @param retention how long it is wanted
     */
    record Create(String name, Duration timeout, long bytes, boolean evenIfResident, Retention retention)
            implements Request {
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
     * Asks for space for a build before it is written; what may leave for it does.
     *
     * @param token from {@link Build}
     * @param bytes how much it takes in all, with what was asked for before
     */
    record MakeRoom(long token, long bytes) implements Request {}

    /** Asks for one row per array whose full name starts with the prefix; the empty prefix means all. */
    record ListArrays(String prefix, boolean includeRetired) implements Request {}

    /** Asks for the row of one array, or for those of all arrays of one dataset. */
    record Info(String name) implements Request {}

    /**
     * Removes the newest version of a dataset.
     *
     * @param forget whether to forget its source too, so that it does not come back when somebody asks for it
     */
    record Evict(String name, boolean forget) implements Request {}

    /** Keeps a dataset resident, or no longer. */
    record Pin(String name, boolean pinned) implements Request {}

    /**
     * Notes what a resident shard is a part of, once all nodes have compared theirs.
     *
     * @param digest that of the shard; another version that has its name by now is left alone
     * @param of the digest that the whole dataset would have
     */
    record NoteWhole(String name, String digest, String of) implements Request {}

    /** Asks for the errors that the daemon has met. */
    record Errors() implements Request {}

    /**
     * Computes the checksums of a dataset or an array again; the empty name means everything.
     *
     * @param againstSources whether to read the sources too, and compare with them
     */
    record Verify(String name, boolean againstSources) implements Request {}

    /** Loads a dataset again, from where and in the way it was loaded. */
    record Reload(String name) implements Request {}

    /** Asks for totals. */
    record Status() implements Request {}

    /** Asks how far each load and build is that is under way: one {@link Progress} each, named by its datasets. */
    record Loads() implements Request {}

    /** Stops the daemon, which removes its store unless it is told to keep it. */
    record Stop(boolean keep) implements Request {}
}
