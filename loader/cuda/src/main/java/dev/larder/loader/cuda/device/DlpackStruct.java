package dev.larder.loader.cuda.device;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.BatchArray;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The structs of DLPack (dmlc/dlpack, {@code dlpack.h}) on 64-bit machines, each followed by the array's dimensions.
 *
 * <pre>
 * DLManagedTensor             DLManagedTensorVersioned
 *  0 DLTensor                  0 uint32 major, minor
 * 48 void *manager_ctx         8 void *manager_ctx
 * 56 void (*deleter)(self)    16 void (*deleter)(self)
 * 64 shape, strides           24 uint64 flags
 *                             32 DLTensor
 * DLTensor                    80 shape, strides
 *  0 void *data
 *  8 int32 device_type, device_id
 * 16 int32 ndim
 * 20 uint8 code, bits; uint16 lanes
 * 24 int64 *shape
 * 32 int64 *strides
 * 40 uint64 byte_offset
 * </pre>
 */
final class DlpackStruct {
    private static final long DEVICE_TYPE = 8;
    private static final long DEVICE_ID = 12;
    private static final long RANK = 16;
    private static final long TYPE_CODE = 20;
    private static final long TYPE_BITS = 21;
    private static final long TYPE_LANES = 22;
    private static final long SHAPE = 24;
    private static final long STRIDES = 32;
    private static final long BYTE_OFFSET = 40;
    private static final long TENSOR_LENGTH = 48;

    private static final long DELETER = 56;
    private static final long LENGTH = 64;

    private static final long MINOR_VERSION = 4;
    private static final long VERSIONED_DELETER = 16;
    private static final long VERSIONED_TENSOR = 32;
    private static final long VERSIONED_LENGTH = VERSIONED_TENSOR + TENSOR_LENGTH;

    /** The structs that are not deleted, by address. This keeps them and their bytes reachable. */
    private static final Map<Long, DlpackStruct> LIVE = new ConcurrentHashMap<>();

    /** The deleter of all structs. It is never collected, because native code has its address. */
    private static final Deleter DELETE = self -> delete(Pointer.nativeValue(self));

    private final Memory memory;
    private final Runnable deleted;

    /** The host memory of the tensor, which this keeps reachable. */
    @SuppressWarnings("UnusedVariable")
    private final @Nullable ByteBuffer bytes;

    private DlpackStruct(Memory memory, Runnable deleted, @Nullable ByteBuffer bytes) {
        this.memory = memory;
        this.deleted = deleted;
        this.bytes = bytes;
    }

    /** The function that frameworks call after their last use. */
    interface Deleter extends Callback {
        /** Deletes a struct, on any thread. */
        void invoke(Pointer self);
    }

    /**
     * Creates a struct and returns its address.
     *
     * @param bytes the host memory that must stay reachable as long as the struct
     * @param deleted runs after it is deleted
     */
    static long create(
            BatchArray array,
            int deviceType,
            int deviceId,
            boolean versioned,
            @Nullable ByteBuffer bytes,
            Runnable deleted) {
        long code = code(array);
        long[] shape = array.shape();
        long[] strides = array.strides();
        long head = versioned ? VERSIONED_LENGTH : LENGTH;
        Memory memory = new Memory(head + 2L * Long.BYTES * Math.max(1, shape.length));
        memory.clear();
        long address = Pointer.nativeValue(memory);
        if (versioned) {
            memory.setInt(0, 1);
            memory.setInt(MINOR_VERSION, 0);
        }
        memory.setPointer(versioned ? VERSIONED_DELETER : DELETER, CallbackReference.getFunctionPointer(DELETE));
        Pointer tensor = memory.share(versioned ? VERSIONED_TENSOR : 0);
        tensor.setLong(0, array.handle());
        tensor.setInt(DEVICE_TYPE, deviceType);
        tensor.setInt(DEVICE_ID, deviceId);
        tensor.setInt(RANK, shape.length);
        tensor.setByte(TYPE_CODE, (byte) code);
        tensor.setByte(TYPE_BITS, (byte) (Byte.SIZE * array.dtype().itemSize()));
        tensor.setShort(TYPE_LANES, (short) 1);
        tensor.setLong(SHAPE, address + head);
        tensor.setLong(STRIDES, address + head + (long) Long.BYTES * shape.length);
        tensor.setLong(BYTE_OFFSET, array.byteOffset());
        for (int i = 0; i < shape.length; i++) {
            memory.setLong(head + (long) Long.BYTES * i, shape[i]);
            memory.setLong(head + (long) Long.BYTES * (shape.length + i), strides[i]);
        }
        LIVE.put(address, new DlpackStruct(memory, deleted, bytes));
        return address;
    }

    private static long code(BatchArray array) {
        Dtype dtype = array.dtype();
        boolean native_ = dtype.itemSize() == 1 || dtype.byteOrder() == ByteOrder.nativeOrder();
        int code = switch (dtype.kind()) {
            case INT -> 0;
            case UINT -> 1;
            case FLOAT -> 2;
            case COMPLEX -> 5;
            case BOOL -> 6;
            default -> -1;
        };
        if (code < 0 || !native_) {
            throw Failure.of(ErrorCode.BAD_INPUT, "DLPack does not have this type")
                    .with("array", array.name())
                    .with("dtype", dtype)
                    .remedy("cast it: new Transform().cast(\"<f4\"), or omit the array");
        }
        return code;
    }

    /** Frees a struct and releases its memory; does nothing if it was deleted before. */
    static void delete(long address) {
        DlpackStruct struct = LIVE.remove(address);
        if (struct != null) {
            struct.deleted.run();
            struct.memory.close();
        }
    }

    /** Returns the number of live structs. */
    static int live() {
        return LIVE.size();
    }
}
