package dev.larder.loader.internal.device;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Records whether a device is still usable. After some failures the driver rejects all later calls or returns wrong results. The
 * first such failure is kept; every later call fails immediately and names it.
 */
public abstract class DeviceHealth {
    private final String remedy;
    private final AtomicReference<@Nullable String> death = new AtomicReference<>();

    /** Creates a usable device; {@code remedy} goes into the failures of a lost device. */
    protected DeviceHealth(String remedy) {
        this.remedy = remedy;
    }

    /** Fails if the device is lost. */
    public final void require() {
        String first = death.get();
        if (first != null) {
            throw Failure.of(ErrorCode.UNEXPECTED, "device is unusable in this process")
                    .with("since", first)
                    .remedy(remedy);
        }
    }

    /** Returns whether the device is lost. */
    public final boolean isLost() {
        return death.get() != null;
    }

    /** Builds the failure of a call. Keeps the code if it means that the device is lost. */
    public final Failure failed(String call, int code) {
        keep(call, code);
        return describe(call, code);
    }

    /** Returns the failure of work submitted earlier. Keeps the code if it means that the device is lost. */
    public final LarderException workFailed(Object fence, int code) {
        keep("work", code);
        return Failure.of(ErrorCode.UNEXPECTED, "work of the device failed")
                .with("code", nameOf(code))
                .with("fence", fence)
                .exception();
    }

    private void keep(String what, int code) {
        seen(code);
        if (isFinal(code)) {
            death.compareAndSet(null, what + " " + nameOf(code));
        }
    }

    /** Called with the code of every failure. */
    protected void seen(int code) {}

    /** Builds the failure of a call. */
    protected abstract Failure describe(String call, int code);

    /** Returns the name of a code in the library's headers. */
    protected abstract String nameOf(int code);

    /** Returns whether this code means that the device is lost. */
    protected abstract boolean isFinal(int code);
}
