package dev.larder.loader.opencl;

import dev.larder.loader.BatchArray;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.device.DeviceQueue;
import dev.larder.loader.device.Fence;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.DeviceMemory;
import dev.larder.loader.internal.device.OpenableDevice;
import java.util.Optional;
import java.util.function.Function;
import org.jocl.CL;
import org.jocl.NativePointerObject;
import org.jocl.Pointer;
import org.jocl.Sizeof;
import org.jocl.cl_command_queue;
import org.jocl.cl_context;
import org.jocl.cl_device_id;
import org.jocl.cl_event;
import org.jocl.cl_mem;

/**
 * OpenCL devices for programs that call OpenCL themselves: with their own context and queue, and with batches as objects of JOCL.
 *
 * <pre>{@code
 * Device device = OpenClDevice.of(context, deviceId, queue);   // for LoaderBuilder.device
 * cl_mem images = OpenClDevice.mem(batch.array("images")); // an argument of the consumer's kernel
 * batch.release(OpenClDevice.fence(event));                    // when the event is over
 * }</pre>
 */
public final class OpenClDevice implements OpenableDevice {
    private final String description;
    private final Function<OpenClOptions, DeviceBackend> opening;
    private final OpenClOptions options;

    private OpenClDevice(String description, Function<OpenClOptions, DeviceBackend> opening, OpenClOptions options) {
        this.description = description;
        this.opening = opening;
        this.options = options;
    }

    /**
     * Selects a device in a context of the caller, who works in {@code queue}. The caller owns context and queue, and releases them after
     * the loader is closed; the loader creates queues for uploads and for its kernels in that context.
     */
    public static OpenClDevice of(cl_context context, cl_device_id device, cl_command_queue queue) {
        return new OpenClDevice(
                "opencl context of the consumer",
                options -> open(context, device, queue, options),
                OpenClOptions.DEFAULT);
    }

    /** Selects one of the devices that {@link OpenClProvider} lists, in a new context. */
    public static OpenClDevice of(DeviceInfo device) {
        return new OpenClDevice(
                device.toString(), options -> OpenClProvider.open(device, options), OpenClOptions.DEFAULT);
    }

    /** Returns JOCL's id of a device that {@link OpenClProvider} lists, to create your own context. */
    public static cl_device_id id(DeviceInfo device) {
        return OpenClDevices.find(device).device();
    }

    /** Returns the same device with other options. */
    public OpenClDevice with(OpenClOptions newOptions) {
        return new OpenClDevice(description, opening, newOptions);
    }

    @Override
    public DeviceBackend open() {
        OpenClLibrary.require();
        return opening.apply(options);
    }

    private static DeviceBackend open(
            cl_context context, cl_device_id device, cl_command_queue queue, OpenClOptions options) {
        requireSame(queue, CL.CL_QUEUE_CONTEXT, new cl_context(), context);
        requireSame(queue, CL.CL_QUEUE_DEVICE, new cl_device_id(), device);
        requireInOrder(queue);
        DeviceInfo info = OpenClDevices.list().stream()
                .filter(found -> found.device().equals(device))
                .findFirst()
                .map(OpenClDevices.Found::info)
                .orElseGet(() -> OpenClDevices.describe(device, 0));
        retain("clRetainContext", Jocl.code(() -> CL.clRetainContext(context)));
        LiveObjects.added(LiveObjects.Kind.CONTEXT);
        Session session = new Session(context, device, options.limits().limit(info), options);
        try {
            retain("clRetainCommandQueue", Jocl.code(() -> CL.clRetainCommandQueue(queue)));
        } catch (Throwable e) {
            session.release();
            throw e;
        }
        LiveObjects.added(LiveObjects.Kind.QUEUE);
        return OpenClBackend.open(session, Optional.of(new OpenClQueue(session, queue, true)));
    }

    private static <T extends NativePointerObject> void requireSame(
            cl_command_queue queue, int name, T holder, T wanted) {
        int code = Jocl.code(() -> CL.clGetCommandQueueInfo(queue, name, Sizeof.POINTER, Pointer.to(holder), null));
        retain("clGetCommandQueueInfo", code);
        if (!holder.equals(wanted)) {
            throw new IllegalArgumentException(
                    "the queue belongs to another context or device: " + holder + " " + wanted);
        }
    }

    private static void requireInOrder(cl_command_queue queue) {
        long[] properties = new long[1];
        int code = Jocl.code(() ->
                CL.clGetCommandQueueInfo(queue, CL.CL_QUEUE_PROPERTIES, Sizeof.cl_long, Pointer.to(properties), null));
        retain("clGetCommandQueueInfo", code);
        if ((properties[0] & CL.CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
            throw new IllegalArgumentException("the queue must be an in-order queue: " + queue);
        }
    }

    private static void retain(String call, int code) {
        if (code != CL.CL_SUCCESS) {
            throw Health.failure(call, code).exception();
        }
    }

    /** Returns false: without the device there are no batches. */
    @Override
    public boolean fallsBackToHost() {
        return false;
    }

    /**
     * Creates a fence that is signalled when an event of the caller ends. The caller owns the event, and may release it immediately; the
     * caller closes the fence.
     */
    public static Fence fence(cl_event event) {
        OpenClLibrary.require();
        cl_context context = new cl_context();
        eventInfo(event, CL.CL_EVENT_CONTEXT, context);
        cl_command_queue queue = new cl_command_queue();
        eventInfo(event, CL.CL_EVENT_COMMAND_QUEUE, queue);
        if (queue.getNativePointer() != 0) {
            // else another queue could wait forever for work that was not sent to the device
            retain("clFlush", Jocl.code(() -> CL.clFlush(queue)));
        }
        Events.retain(event);
        return new OpenClFence(context, new Health(), event);
    }

    private static void eventInfo(cl_event event, int name, NativePointerObject value) {
        retain(
                "clGetEventInfo",
                Jocl.code(() -> CL.clGetEventInfo(event, name, Sizeof.POINTER, Pointer.to(value), null)));
    }

    /** Returns JOCL's object of a queue. */
    public static cl_command_queue queue(DeviceQueue queue) {
        if (queue.nativeObject() instanceof cl_command_queue own) {
            return own;
        }
        throw new IllegalArgumentException("queue does not belong to OpenCL: queue=" + queue);
    }

    /** Returns JOCL's object of the memory of an array; its first element is at {@link BatchArray#byteOffset}. */
    public static cl_mem mem(BatchArray array) {
        if (array.nativeObject() instanceof cl_mem own) {
            return own;
        }
        throw new IllegalArgumentException("array does not belong to OpenCL: array=" + array);
    }

    /** Returns JOCL's object of device memory. */
    public static cl_mem mem(DeviceMemory memory) {
        if (memory.nativeObject() instanceof cl_mem own) {
            return own;
        }
        throw new IllegalArgumentException("memory does not belong to OpenCL: memory=" + memory);
    }

    @Override
    public String toString() {
        return description;
    }
}
