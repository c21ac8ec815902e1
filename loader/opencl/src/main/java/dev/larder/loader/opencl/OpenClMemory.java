package dev.larder.loader.opencl;

import dev.larder.error.LarderException;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.NativeMemory;
import java.nio.ByteBuffer;
import org.jocl.CL;
import org.jocl.Pointer;
import org.jocl.cl_mem;
import org.jspecify.annotations.Nullable;

/** A buffer of a device. Owns one reference to it. */
final class OpenClMemory extends NativeMemory {
    private static final byte POISON = (byte) 0xA5;

    private final Session session;
    private final cl_mem buffer;

    /** The pages of the host that the buffer uses; null if the memory was allocated. */
    private final @Nullable ByteBuffer pages;

    OpenClMemory(Session session, cl_mem buffer, long byteSize, @Nullable ByteBuffer pages) {
        super(session, byteSize);
        this.session = session;
        this.buffer = buffer;
        this.pages = pages;
        LiveObjects.added(LiveObjects.Kind.MEMORY);
    }

    /** Allocates memory and writes to all of it, because drivers allocate at the first use. */
    static OpenClMemory allocate(Session session, long byteSize) {
        session.reserve(byteSize);
        Session apart = session.apart();
        OpenClMemory memory;
        try {
            cl_mem buffer = create(apart, CL.CL_MEM_READ_WRITE, byteSize, null);
            memory = new OpenClMemory(session, buffer, byteSize, null);
        } catch (LarderException e) {
            session.free(byteSize);
            throw outOfMemory(apart, byteSize, e);
        }
        try (OpenClQueue queue = apart.createQueue(false)) {
            queue.fill(memory, session.options().poisoned() ? POISON : 0);
            return memory;
        } catch (LarderException e) {
            memory.close();
            throw outOfMemory(apart, byteSize, e);
        }
    }

    /** Uses pages of the host, from the position of a buffer to its limit, as memory that kernels read. */
    static OpenClMemory share(Session session, ByteBuffer pages) {
        long byteSize = pages.remaining();
        if (byteSize > session.info().maxAllocationBytes()) {
            throw session.noSpace(byteSize).remedy("share it in smaller pieces");
        }
        ByteBuffer exact = pages.slice(); // JOCL ignores positions
        cl_mem buffer =
                create(session.apart(), CL.CL_MEM_READ_ONLY | CL.CL_MEM_USE_HOST_PTR, byteSize, Pointer.to(exact));
        return new OpenClMemory(session, buffer, byteSize, exact);
    }

    static cl_mem create(Session session, long flags, long byteSize, @Nullable Pointer host) {
        return Jocl.create(
                session.health(),
                "clCreateBuffer",
                code -> CL.clCreateBuffer(session.context(), flags, byteSize, host, code));
    }

    private static LarderException outOfMemory(Session apart, long byteSize, LarderException e) {
        return apart.health().isOutOfMemory()
                ? apart.noSpace(byteSize)
                        .cause(e)
                        .remedy("check what else uses the device, or use fewer or smaller batches")
                : e;
    }

    /** Casts memory; fails unless it is open and of this session. */
    static OpenClMemory of(DeviceMemory memory, Session session) {
        return of(memory, OpenClMemory.class, session);
    }

    @Override
    public long handle() {
        return buffer.getNativePointer();
    }

    @Override
    public cl_mem nativeObject() {
        return buffer;
    }

    @Override
    protected void release() {
        LiveObjects.removed(LiveObjects.Kind.MEMORY);
        Jocl.code(() -> CL.clReleaseMemObject(buffer));
        if (pages == null) {
            session.free(byteSize());
        }
    }
}
