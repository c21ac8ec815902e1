package dev.larder.loader.opencl;

import dev.larder.loader.device.DeviceInfo;
import org.jocl.CL;
import org.jocl.cl_command_queue;
import org.jocl.cl_context;
import org.jocl.cl_context_properties;
import org.jocl.cl_device_id;

/** A context and a queue of a consumer, made with JOCL alone. */
record Own(cl_context context, cl_device_id device, cl_command_queue queue) implements AutoCloseable {
    static Own of(DeviceInfo info) {
        cl_device_id device = OpenClDevices.list().get(info.index()).device();
        cl_context context =
                CL.clCreateContext(new cl_context_properties(), 1, new cl_device_id[] {device}, null, null, null);
        return new Own(context, device, CL.clCreateCommandQueueWithProperties(context, device, null, null));
    }

    @Override
    public void close() {
        CL.clReleaseCommandQueue(queue);
        CL.clReleaseContext(context);
    }
}
