package dev.larder.readers.hdf5;

import io.jhdf.exceptions.HdfException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the value of elements that were never written. */
final class FillValues {
    private static final int VERSION_3_HAS_VALUE = 1 << 5;

    private FillValues() {}

    /** Returns the bytes of an element, as they are in the file; null for zeros. */
    static byte @Nullable [] of(List<RawMessages.Raw> header, int itemBytes) {
        byte[] value = null;
        boolean isNew = false;
        for (RawMessages.Raw message : header) {
            if (message.type() == RawMessages.FILL_VALUE) {
                value = value(message.data().duplicate().order(message.data().order()));
                isNew = true;
            } else if (message.type() == RawMessages.OLD_FILL_VALUE && !isNew) {
                value = sized(message.data().duplicate().order(message.data().order()));
            }
        }
        if (value != null && value.length != itemBytes) {
            throw new HdfException("its fill value has " + value.length + " bytes, not " + itemBytes);
        }
        return value;
    }

    private static byte @Nullable [] value(ByteBuffer in) {
        int version = in.get();
        if (version == 3) {
            return (in.get() & VERSION_3_HAS_VALUE) == 0 ? null : sized(in);
        }
        in.position(in.position() + 2); // when space is allocated, when the value is written
        boolean isDefined = in.get() != 0;
        return version == 1 || isDefined ? sized(in) : null;
    }

    private static byte @Nullable [] sized(ByteBuffer in) {
        int bytes = in.getInt();
        if (bytes <= 0) { // -1 is an undefined value
            return null;
        } else if (bytes > in.remaining()) {
            throw new HdfException("its fill value is longer than its message: bytes=" + bytes);
        }
        byte[] value = new byte[bytes];
        in.get(value);
        return value;
    }
}
