package dev.larder.internal.protocol;

import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.message.OptionalField;
import java.util.Objects;
import java.util.regex.Pattern;

/** Requests about regions, which are memory that several processes write. */
public sealed interface RegionRequest extends Request
        permits RegionRequest.Create, RegionRequest.ListAll, RegionRequest.Remove {
    /**
     * Creates a region of zeros, unless one with this name exists. The answer is its row in both cases.
     *
     * @param bytes length of its data
     */
    record Create(String name, String kind, long bytes) implements RegionRequest, Request.Named {
        private static final Pattern KIND = Pattern.compile("[a-z0-9-]{1," + (RegionDescriptor.KIND_LENGTH - 1) + "}");

        /** More than any machine has, and small enough that sums do not overflow. */
        private static final long MOST_BYTES = 1L << 60;

        /** Refuses an invalid kind or size. */
        public Create {
            if (!KIND.matcher(kind).matches()) {
                throw new IllegalArgumentException("kind is not 1 to 31 of a-z, 0-9 and -: " + kind);
            } else if (bytes <= 0 || bytes > MOST_BYTES) {
                throw new IllegalArgumentException("bytes is not from 1 to " + MOST_BYTES + ": " + bytes);
            }
        }
    }

    /** Requests the row of one region. The empty name means all regions. */
    record ListAll(@OptionalField String name) implements RegionRequest, Request.Named {
        /** Replaces absent values by their defaults. */
        public ListAll {
            name = Objects.requireNonNullElse(name, "");
        }
    }

    /**
     * Removes a region's name, so that no other process can open it. Processes that have it open keep it.
     *
     * @param id the id of the region; 0 means any
     */
    record Remove(String name, @OptionalField long id) implements RegionRequest, Request.Named {}
}
