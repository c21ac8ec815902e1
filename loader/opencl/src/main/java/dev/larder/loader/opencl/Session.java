package dev.larder.loader.opencl;

import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.internal.device.NativeSession;
import org.jocl.CL;
import org.jocl.cl_command_queue;
import org.jocl.cl_context;
import org.jocl.cl_context_properties;
import org.jocl.cl_device_id;

/** One device in a context. */
final class Session extends NativeSession {
    private final cl_context context;
    private final cl_device_id device;
    private final OpenClOptions options;
    private final Health health;

    Session(cl_context context, cl_device_id device, DeviceInfo info, OpenClOptions options) {
        this(context, device, info, options, new Health());
    }

    private Session(cl_context context, cl_device_id device, DeviceInfo info, OpenClOptions options, Health health) {
        super(info, options.patience(), health);
        this.context = context;
        this.device = device;
        this.options = options;
        this.health = health;
    }

    private Session(Session other, Health health) {
        super(other, health);
        this.context = other.context;
        this.device = other.device;
        this.options = other.options;
        this.health = health;
    }

    cl_context context() {
        return context;
    }

    cl_device_id device() {
        return device;
    }

    OpenClOptions options() {
        return options;
    }

    @Override
    public Health health() {
        return health;
    }

    /** Returns the same session with its own health, so that its failures do not affect this one. */
    Session apart() {
        return new Session(this, new Health());
    }

    /** Creates a queue for the loader, or one that the consumer shares. */
    @SuppressWarnings("deprecation") // OpenCL 1.2 lacks the newer function
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
        cl_context context = Jocl.create(
                new Health(), "clCreateContext", code -> CL.clCreateContext(properties, 1, devices, null, null, code));
        LiveObjects.added(LiveObjects.Kind.CONTEXT);
        return new Session(context, found.device(), options.limits().limit(found.info()), options);
    }

    /** Releases the reference to the context. */
    @Override
    protected void release() {
        LiveObjects.removed(LiveObjects.Kind.CONTEXT);
        Jocl.code(() -> CL.clReleaseContext(context));
    }

    @Override
    public boolean sharesContextWith(NativeSession other) {
        return other instanceof Session own && context.equals(own.context);
    }
}
