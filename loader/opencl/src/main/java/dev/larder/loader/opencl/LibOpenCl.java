package dev.larder.loader.opencl;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import dev.larder.internal.posix.Posix;
import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The OpenCL functions for which JOCL would start a thread that waits, or allocate on every look, named as in C and called with
 * the handles that JOCL's objects have.
 */
@SuppressWarnings("checkstyle:MethodName")
final class LibOpenCl {
    static final String FILE_NAME = "libOpenCL.so.1";

    static {
        Posix.system(); // says where JNA puts its own library
        Native.register(
                LibOpenCl.class, NativeLibrary.getInstance(FILE_NAME, Map.of(Library.OPTION_ALLOW_OBJECTS, false)));
    }

    private LibOpenCl() {}

    /** Returns where a direct buffer begins, whatever its position. */
    static long address(ByteBuffer direct) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
    }

    @SuppressWarnings("checkstyle:ParameterNumber") // as in C
    static native int clEnqueueWriteBuffer(
            long queue,
            long memory,
            int blocking,
            long offset,
            long byteSize,
            long address,
            int waitCount,
            long @Nullable [] waitList,
            long[] event);

    @SuppressWarnings("checkstyle:ParameterNumber") // as in C
    static native int clEnqueueReadBuffer(
            long queue,
            long memory,
            int blocking,
            long offset,
            long byteSize,
            long address,
            int waitCount,
            long @Nullable [] waitList,
            long[] event);

    static native int clEnqueueUnmapMemObject(
            long queue, long memory, long address, int waitCount, long waitList, long event);

    static native int clGetEventInfo(long event, int name, long byteSize, int[] value, long neededByteSize);

    static native int clRetainEvent(long event);

    static native int clReleaseEvent(long event);
}
