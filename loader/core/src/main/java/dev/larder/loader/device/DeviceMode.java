package dev.larder.loader.device;

/** The ways to transfer rows to a device. */
public enum DeviceMode {
    /** Rows are gathered on the host, batch by batch, and uploaded as they are stored; kernels transform them. */
    STREAM,
    /** Arrays are uploaded once; each batch uploads row numbers only, and kernels gather. */
    RESIDENT,
    /** {@link #RESIDENT} if all arrays of rows fit into the budget or the device uses the host's memory; otherwise {@link #STREAM}. */
    AUTO
}
