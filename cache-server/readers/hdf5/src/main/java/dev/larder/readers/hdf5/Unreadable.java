package dev.larder.readers.hdf5;

import dev.larder.reader.BadSource;
import io.jhdf.object.datatype.OpaqueDataType;
import java.util.Arrays;

/** Words what the library says of what it cannot read. */
final class Unreadable {
    private static final String NEWER_TYPE = "Unrecognized datatype version";

    private Unreadable() {}

    static BadSource of(int file, String column, Throwable failure) {
        Throwable thrown = failure;
        for (int depth = 0; thrown != null && depth < 10; depth++) {
            if (String.valueOf(thrown.getMessage()).startsWith(NEWER_TYPE)) {
                return BadSource.unknown(file, column, failure);
            } else if (!column.isEmpty() && isOfOpaque(thrown)) {
                return new BadSource(
                        file, BadSource.NOWHERE, column, "its type is not one that numpy has: opaque data", "");
            }
            thrown = thrown.getCause();
        }
        return BadSource.unreadable(file, column, failure);
    }

    /** Tells whether the library fell over an opaque type: it cannot read one without a tag, which is what h5py writes. */
    private static boolean isOfOpaque(Throwable thrown) {
        return Arrays.stream(thrown.getStackTrace())
                .limit(5)
                .anyMatch(frame -> frame.getClassName().equals(OpaqueDataType.class.getName()));
    }
}
