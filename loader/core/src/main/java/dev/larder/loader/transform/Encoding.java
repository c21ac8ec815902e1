package dev.larder.loader.transform;

import dev.larder.npy.Dtype;
import java.nio.ByteOrder;

/**
 * How numbers lie in memory.
 *
 * @param swapped whether their bytes are not in the order of this machine
 */
record Encoding(NumberType type, boolean swapped) {
    static Encoding of(Dtype dtype) {
        return new Encoding(NumberType.of(dtype), dtype.itemSize() > 1 && dtype.byteOrder() != ByteOrder.nativeOrder());
    }

    int byteSize() {
        return type.byteSize();
    }
}
