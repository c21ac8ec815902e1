package dev.larder.readers.hdf5;

import io.jhdf.ObjectHeader;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.exceptions.HdfException;
import io.jhdf.object.message.FillValueMessage;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Finds what the elements of a dataset hold that were never written. */
final class FillValues {
    private FillValues() {}

    /** Returns the bytes of an element, as they are in the file; null where they are zeros. */
    static byte @Nullable [] of(DatasetBase dataset) {
        ObjectHeader header = dataset.getHeader();
        if (!header.hasMessageOfType(FillValueMessage.class)) {
            return null;
        }
        FillValueMessage message = header.getMessageOfType(FillValueMessage.class);
        if (!message.isFillValueDefined()) {
            return null;
        }
        ByteBuffer value = message.getFillValue();
        if (!value.hasRemaining()) {
            return null;
        }
        byte[] bytes = new byte[value.remaining()];
        value.duplicate().get(bytes);
        if (bytes.length != dataset.getDataType().getSize()) {
            throw new HdfException("its fill value has " + bytes.length + " bytes, not "
                    + dataset.getDataType().getSize());
        }
        return bytes;
    }
}
