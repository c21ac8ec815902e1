package dev.larder.readers.hdf5;

import dev.larder.reader.BadSource;
import io.jhdf.object.datatype.CompoundDataType;
import io.jhdf.object.datatype.DataType;
import io.jhdf.object.datatype.OpaqueDataType;
import java.util.Arrays;

/** Turns exceptions of the library into messages. */
final class Unreadable {
    private static final String NEWER_TYPE = "Unrecognized datatype version";
    private static final String VIRTUAL = "Virtual storage is not supported";
    private static final String EXTERNAL = "Encountered External Data Files Message";
    private static final String COPY = "copy it into a plain dataset (in h5py: out[NAME] = file[NAME][...])";

    private Unreadable() {}

    static BadSource of(int file, String column, Throwable failure) {
        Throwable thrown = failure;
        for (int depth = 0; thrown != null && depth < 10; depth++) {
            String message = String.valueOf(thrown.getMessage());
            if (message.startsWith(NEWER_TYPE)) {
                return BadSource.unknown(file, column, failure);
            } else if (message.startsWith(VIRTUAL)) {
                return elsewhere(file, column, "it is virtual: its data is in other datasets", failure);
            } else if (message.startsWith(EXTERNAL)) {
                return elsewhere(file, column, "its data is in external files", failure);
            } else if (!column.isEmpty() && isOf(thrown, OpaqueDataType.class)) {
                return unfit(file, column, NumpyTypes.OPAQUE);
            } else if (!column.isEmpty() && isOf(thrown, CompoundDataType.class)) {
                return unfit(file, column, NumpyTypes.COMPOUND);
            }
            thrown = thrown.getCause();
        }
        return BadSource.unreadable(file, column, failure);
    }

    private static BadSource elsewhere(int file, String column, String reason, Throwable failure) {
        BadSource bad = new BadSource(file, BadSource.NOWHERE, column, reason, COPY);
        bad.initCause(failure);
        return bad;
    }

    private static BadSource unfit(int file, String column, String reason) {
        return new BadSource(file, BadSource.NOWHERE, column, reason, "");
    }

    /** Returns whether the library failed in a type: it cannot read all compounds, nor opaque types without a tag, as h5py writes them. */
    private static boolean isOf(Throwable thrown, Class<? extends DataType> type) {
        return Arrays.stream(thrown.getStackTrace())
                .limit(5)
                .anyMatch(frame -> frame.getClassName().equals(type.getName()));
    }
}
