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
 * OpenCL devices for those who call OpenCL themselves: in a context and with a queue of their own, and what batches are in JOCL's
 * types.
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
     * Takes a device in a context of the consumer's own, who gives its work to {@code queue}. Context and queue stay the consumer's,
     * who releases them when the loader is closed; the loader makes queues for uploads and for its kernels in that context.
     */
    public static OpenClDevice of(cl_context context, cl_device_id device, cl_command_queue queue) {
        return new OpenClDevice(
                "opencl context of the consumer",
                options -> open(context, device, queue, options),
                OpenClOptions.DEFAULT);
    }

    /** Takes one of the devices that {@link OpenClProvider} lists, in a context of its own. */
    public static OpenClDevice of(DeviceInfo device) {
        return new OpenClDevice(
                device.toString(), options -> OpenClProvider.open(device, options), OpenClOptions.DEFAULT);
    }

    /** Returns a device that {@link OpenClProvider} lists as JOCL has it: to make a context of one's own on it. */
    public static cl_device_id id(DeviceInfo device) {
        return OpenClDevices.find(device).device();
    }

    /** Uses the device in another way. */
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
            throw new IllegalArgumentException("the queue is of another context or device: " + holder + " " + wanted);
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

    /** Leaves the choice as it is: no device, no batches. */
    @Override
    public boolean fallsBackToHost() {
        return false;
    }

    /**
     * Makes a fence of an event of the consumer's, passed when the event is over. The event stays the consumer's, who may release it
     * at once; whoever gets the fence closes it.
     */
    public static Fence fence(cl_event event) {
        OpenClLibrary.require();
        cl_context context = new cl_context();
        eventInfo(event, CL.CL_EVENT_CONTEXT, context);
        cl_command_queue queue = new cl_command_queue();
        eventInfo(event, CL.CL_EVENT_COMMAND_QUEUE, queue);
        if (queue.getNativePointer() != 0) {
            // another queue could wait forever for what is not yet on its way
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

    /** Returns a queue as JOCL has it. */
    public static cl_command_queue queue(DeviceQueue queue) {
        if (queue.nativeObject() instanceof cl_command_queue own) {
            return own;
        }
        throw new IllegalArgumentException("not of OpenCL: " + queue);
    }

    /** Returns the memory of an array as JOCL has it, in which its first element is at {@link BatchArray#byteOffset}. */
    public static cl_mem mem(BatchArray array) {
        if (array.nativeObject() instanceof cl_mem own) {
            return own;
        }
        throw new IllegalArgumentException("not of OpenCL: " + array);
    }

    /** Returns memory as JOCL has it. */
    public static cl_mem mem(DeviceMemory memory) {
        if (memory.nativeObject() instanceof cl_mem own) {
            return own;
        }
        throw new IllegalArgumentException("not of OpenCL: " + memory);
    }

    @Override
    public String toString() {
        return description;
    }
}
