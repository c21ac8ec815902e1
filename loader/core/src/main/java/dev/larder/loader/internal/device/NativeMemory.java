package dev.larder.loader.internal.device;

/** Memory of a native library that kernels use. */
public abstract class NativeMemory implements DeviceMemory {
    private final NativeSession session;
    private final long byteSize;
    private volatile boolean closed;

    /** Creates memory of a device. */
    protected NativeMemory(NativeSession session, long byteSize) {
        this.session = session;
        this.byteSize = byteSize;
    }

    /** Casts memory to a backend's type. Fails if it is closed or belongs to another session. */
    protected static <M extends NativeMemory> M of(DeviceMemory memory, Class<M> type, NativeSession session) {
        if (!type.isInstance(memory) || !((NativeMemory) memory).session.sharesContextWith(session)) {
            throw new IllegalArgumentException("memory belongs to another device: " + memory);
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

    /** Releases the memory. Called once. */
    protected abstract void release();

    @Override
    public String toString() {
        return getClass().getSimpleName() + "{" + session.info() + " byteSize=" + byteSize + "}";
    }
}
