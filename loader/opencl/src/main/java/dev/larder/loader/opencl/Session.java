package dev.larder.loader.opencl;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.loader.device.DeviceInfo;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jocl.CL;
import org.jocl.cl_command_queue;
import org.jocl.cl_context;
import org.jocl.cl_context_properties;
import org.jocl.cl_device_id;

/**
 * One device in a context: what the parts of a backend share.
 *
 * @param reserved how many bytes of the device are allocated
 */
record Session(
        cl_context context,
        cl_device_id device,
        DeviceInfo info,
        OpenClOptions options,
        Health health,
        AtomicLong reserved,
        AtomicReference<State> state) {
    /** How far a backend is. */
    enum State {
        OPEN,
        CLOSED,
        /** Closed while the device still has work that does not get done: what it may use is never freed. */
        STUCK
    }

    Session(cl_context context, cl_device_id device, DeviceInfo info, OpenClOptions options) {
        this(context, device, info, options, new Health(), new AtomicLong(), new AtomicReference<>(State.OPEN));
    }

    /** Returns the same with a health of its own: what fails there does not count here. */
    Session apart() {
        return new Session(context, device, info, options, new Health(), reserved, state);
    }

    /** Fails if the backend is closed or the device is lost. */
    void require() {
        if (state.get() != State.OPEN) {
            throw new IllegalStateException("closed: device=" + info);
        }
        health.require();
    }

    /** Creates a queue of which everybody knows who gives it work, or a shared one. */
    @SuppressWarnings("deprecation") // the newer function is not in OpenCL 1.2
    OpenClQueue createQueue(boolean shared) {
        cl_command_queue queue =
                Jocl.create(health, "clCreateCommandQueue", code -> CL.clCreateCommandQueue(context, device, 0, code));
        LiveObjects.added(LiveObjects.Kind.QUEUE);
        return new OpenClQueue(this, queue, shared);
    }

    /** Creates a context with one device in it. */
    static Session create(OpenClDevices.Found found, OpenClOptions options) {
        cl_context_properties properties = new cl_context_properties();
        properties.addProperty(CL.CL_CONTEXT_PLATFORM, found.platform());
        cl_device_id[] devices = {found.device()};
        Health health = new Health();
        cl_context context = Jocl.create(
                health, "clCreateContext", code -> CL.clCreateContext(properties, 1, devices, null, null, code));
        LiveObjects.added(LiveObjects.Kind.CONTEXT);
        return new Session(context, found.device(), OpenClDevices.limit(found.info(), options), options);
    }

    /** Gives up the reference to the context. */
    void release() {
        LiveObjects.removed(LiveObjects.Kind.CONTEXT);
        Jocl.code(() -> CL.clReleaseContext(context));
    }

    /** Counts bytes that are about to be allocated; fails with {@code NO_SPACE} if the device never has as many. */
    void reserve(long byteSize) {
        if (byteSize > info.maxAllocationBytes()) {
            throw noSpace(byteSize).remedy("split it into smaller pieces");
        }
        if (reserved.addAndGet(byteSize) > info.memoryBytes()) {
            reserved.addAndGet(-byteSize);
            throw noSpace(byteSize).remedy("use fewer or smaller batches, or a smaller budget for resident arrays");
        }
    }

    void free(long byteSize) {
        reserved.addAndGet(-byteSize);
    }

    /** Begins the failure of an allocation. */
    Failure noSpace(long byteSize) {
        return Failure.of(ErrorCode.NO_SPACE, "not enough memory on the device")
                .with("device", info)
                .with("needed", byteSize)
                .with("allocated", reserved.get())
                .with("memory", info.memoryBytes())
                .with("maxAllocation", info.maxAllocationBytes());
    }

    /** Tells whether an object of another session can be used here. */
    boolean sharesContextWith(Session other) {
        return context.equals(other.context);
    }
}
