package dev.larder.loader.internal.device;

/** Memory of a native library that kernels use. */
public abstract class NativeMemory implements DeviceMemory {
    private final NativeSession session;
    private final long byteSize;
    private volatile boolean closed;

    /** Takes the device of the memory. */
    protected NativeMemory(NativeSession session, long byteSize) {
        this.session = session;
        this.byteSize = byteSize;
    }

    /** Returns memory as one of a backend and a session, and open. */
    protected static <M extends NativeMemory> M of(DeviceMemory memory, Class<M> type, NativeSession session) {
        if (!type.isInstance(memory) || !((NativeMemory) memory).session.sharesContextWith(session)) {
            throw new IllegalArgumentException("memory of another device: " + memory);
        }
        M own = type.cast(memory);
        own.requireOpen();
        return own;
    }

    final void requireOpen() {
        if (closed) {
            throw new IllegalStateException("closed: " + this);
        }
    }

    @Override
    public final long byteSize() {
        return byteSize;
    }

    @Override
    public final synchronized void close() {
        if (!closed) {
            closed = true;
            release();
        }
    }

    /** Gives the memory back, once. */
    protected abstract void release();

    @Override
    public String toString() {
        return getClass().getSimpleName() + "{" + session.info() + " byteSize=" + byteSize + "}";
    }
}
