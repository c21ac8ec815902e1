package dev.larder.readers.hdf5;

import io.jhdf.ObjectHeader;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.exceptions.UnsupportedHdfException;
import io.jhdf.object.datatype.DataType;
import io.jhdf.object.message.DataTypeMessage;
import io.jhdf.storage.HdfBackingStorage;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;

/** Gives datasets the committed datatypes that they refer to: the library takes the reference for a type. */
final class SharedTypes {
    private static final int WITH_HEAPS = 3;
    private static final int IN_HEAP = 1;

    /** Messages up to the filters describe the data; those after it, such as attributes, do not. */
    private static final int LAST_OF_DATA = 11;

    private SharedTypes() {}

    static void resolve(HdfBackingStorage file, DatasetBase dataset) {
        for (RawMessages.Raw message : RawMessages.of(file, dataset.getHeader().getAddress())) {
            if (message.isShared() && message.type() == RawMessages.TYPE) {
                replace(dataset, committed(file, address(file, message.data())));
            } else if (message.isShared() && message.type() <= LAST_OF_DATA) {
                throw new UnsupportedHdfException("a shared message of type " + message.type());
            }
        }
    }

    private static DataType committed(HdfBackingStorage file, long address) {
        boolean isShared = RawMessages.of(file, address).stream()
                .anyMatch(message -> message.isShared() && message.type() == RawMessages.TYPE);
        if (isShared) {
            throw new UnsupportedHdfException("a committed type that refers to another one");
        }
        return ObjectHeader.readObjectHeader(file, address)
                .getMessageOfType(DataTypeMessage.class)
                .getDataType();
    }

    private static long address(HdfBackingStorage file, ByteBuffer reference) {
        int version = reference.get();
        int place = reference.get();
        if (version == WITH_HEAPS && place == IN_HEAP) {
            throw new UnsupportedHdfException("a type in the file's table of shared messages");
        }
        if (version == 1) {
            reference.position(reference.position() + 6); // reserved
        }
        return RawMessages.number(reference, file.getSizeOfOffsets());
    }

    private static void replace(DatasetBase dataset, DataType type) {
        try {
            Field field = DatasetBase.class.getDeclaredField("dataType");
            field.setAccessible(true);
            field.set(dataset, type);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("another version of the library", e);
        }
    }
}
