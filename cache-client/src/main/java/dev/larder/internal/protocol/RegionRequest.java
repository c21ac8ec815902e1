package dev.larder.internal.protocol;

/** What a client asks about regions: memory that processes write together. */
public sealed interface RegionRequest extends Request
        permits RegionRequest.Create, RegionRequest.ListAll, RegionRequest.Remove {
    /**
     * Makes a region of zeros, unless one of this name is there: answered with its row either way.
     *
     * @param sealed whether to make it of sealed memory without a file
     */
    record Create(String name, String kind, long byteSize, boolean sealed) implements RegionRequest {}

    /** Asks for the row of one region, or for those of all; the empty name means all. */
    record ListAll(String name) implements RegionRequest {}

    /**
     * Takes a region's name away: nobody else can open it, those who have it go on.
     *
     * @param id 0 for whatever has that name
     */
    record Remove(String name, long id) implements RegionRequest {}
}
