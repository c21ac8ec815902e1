package dev.larder.loader.internal.device;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A kernel of a native library, bound to its memory. */
public abstract class NativeCall<M extends NativeMemory> implements DeviceKernel.Call {
    private final NativeSession session;
    private final Arguments<M> arguments;
    private boolean closed;

    /**
     * The checked memory of a kernel.
     *
     * @param maxSamples the number of samples that fit
     */
    public record Arguments<M extends NativeMemory>(
            @Nullable M control, M target, List<M> sources, long maxSamples) {
        /** Checks that the memory belongs to this device, and computes how many samples fit. */
        public static <M extends NativeMemory> Arguments<M> of(
                NativeSession session,
                Class<M> type,
                KernelSource kernel,
                @Nullable DeviceMemory control,
                DeviceMemory target,
                List<DeviceMemory> sources) {
            session.requireOpen();
            KernelSource.Rows rows = kernel.rows();
            if (sources.size() != rows.shards()) {
                throw new IllegalArgumentException("shards=" + rows.shards() + " sources=" + sources.size());
            }
            if ((control == null) != (kernel.controlInts() == 0)) {
                throw new IllegalArgumentException("controlInts=" + kernel.controlInts() + " control=" + control);
            }
            long samples = target.byteSize() / kernel.rowByteSize();
            if (control != null) {
                samples = Math.min(samples, control.byteSize() / ((long) kernel.controlInts() * Integer.BYTES));
            }
            if (!rows.located()) {
                samples = Math.min(samples, sources.get(0).byteSize() / kernel.storedByteSize());
            }
            List<M> own = new ArrayList<>();
            for (DeviceMemory source : sources) {
                own.add(NativeMemory.of(source, type, session));
            }
            return new Arguments<>(
                    control == null ? null : NativeMemory.of(control, type, session),
                    NativeMemory.of(target, type, session),
                    own,
                    samples);
        }
    }

    /** Binds a kernel to checked arguments. */
    protected NativeCall(NativeSession session, Arguments<M> arguments) {
        this.session = session;
        this.arguments = arguments;
    }

    /** Returns the memory that the kernel is bound to. */
    protected final Arguments<M> arguments() {
        return arguments;
    }

    /** Fails if the kernel cannot run for {@code samples} samples in a queue of this session. The caller holds the lock. */
    protected final void require(NativeSession queueSession, int samples) {
        if (closed) {
            throw new IllegalStateException("closed: kernel of device=" + session.info());
        }
        if (!session.sharesContextWith(queueSession)) {
            throw new IllegalArgumentException("kernel belongs to another device: " + session.info());
        }
        if (samples < 0 || samples > arguments.maxSamples()) {
            throw new IndexOutOfBoundsException("samples=" + samples + " room=" + arguments.maxSamples());
        }
        if (arguments.control() != null) {
            arguments.control().requireOpen();
        }
        arguments.target().requireOpen();
        List<M> sources = arguments.sources();
        for (int i = 0; i < sources.size(); i++) { // runs for every batch: no iterator
            sources.get(i).requireOpen();
        }
    }

    @Override
    public final synchronized void close() {
        if (!closed) {
            closed = true;
            release();
        }
    }

    /** Releases the native objects. Called once. */
    protected abstract void release();
}
