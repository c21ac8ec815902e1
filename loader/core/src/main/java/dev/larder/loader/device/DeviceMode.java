package dev.larder.loader.device;

/** How rows get to a device. */
public enum DeviceMode {
    /** Rows are gathered on the host, batch by batch, and uploaded as they are stored; kernels transform them. */
    STREAM,
    /** Arrays are uploaded once; batches bring row numbers only, and kernels gather. */
    RESIDENT,
    /** {@link #RESIDENT} where all arrays of rows fit into the budget, or the device works in the host's memory; else {@link #STREAM}. */
    AUTO
}
