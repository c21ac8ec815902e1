package dev.larder.internal.protocol;

import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.message.OptionalField;
import java.util.Objects;
import java.util.regex.Pattern;

/** What a client asks about regions: memory that processes write together. */
public sealed interface RegionRequest extends Request
        permits RegionRequest.Create, RegionRequest.ListAll, RegionRequest.Remove {
    /**
     * Makes a region of zeros, unless one of this name is there: answered with its row either way.
     *
     * @param bytes of its data
     * @param withoutFile whether to make it of sealed memory without a file
     */
    record Create(
            String name,
            String kind,
            long bytes,
            @OptionalField boolean withoutFile) implements RegionRequest, Request.Named {
        private static final Pattern KIND = Pattern.compile("[a-z0-9-]{1," + (RegionDescriptor.KIND_LENGTH - 1) + "}");

        /** No machine has more, and sums of a few such do not overflow. */
        private static final long MOST_BYTES = 1L << 60;

        /** Refuses a kind or size that no region can have. */
        public Create {
            if (!KIND.matcher(kind).matches()) {
                throw new IllegalArgumentException("kind is not 1 to 31 of a-z, 0-9 and -: " + kind);
            } else if (bytes <= 0 || bytes > MOST_BYTES) {
                throw new IllegalArgumentException("bytes is not from 1 to " + MOST_BYTES + ": " + bytes);
            }
        }
    }

    /** Asks for the row of one region, or for those of all; the empty name means all. */
    record ListAll(@OptionalField String name) implements RegionRequest, Request.Named {
        /** Replaces absent values by their defaults. */
        public ListAll {
            name = Objects.requireNonNullElse(name, "");
        }
    }

    /**
     * Takes a region's name away: nobody else can open it, those who have it go on.
     *
     * @param id 0 for whatever has that name
     */
    record Remove(String name, @OptionalField long id) implements RegionRequest, Request.Named {}
}
