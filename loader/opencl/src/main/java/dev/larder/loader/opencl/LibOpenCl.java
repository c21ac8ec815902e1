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
 * OpenCL functions by their names in C, with the handles of JOCL's objects. JOCL's own methods for them start a thread that waits, or
 * allocate at every call.
 */
@SuppressWarnings("checkstyle:MethodName")
final class LibOpenCl {
    static final String FILE_NAME = "libOpenCL.so.1";

    static {
        Posix.system(); // sets JNA's folder for its own library
        Native.register(
                LibOpenCl.class, NativeLibrary.getInstance(FILE_NAME, Map.of(Library.OPTION_ALLOW_OBJECTS, false)));
    }

    private LibOpenCl() {}

    /** Returns the address of a direct buffer, independent of its position. */
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
