package dev.larder.loader.internal.device;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Whether a device can still be used. After some failures drivers refuse, or get wrong, all that follows: the first of these is
 * kept, and every later call fails immediately and names it.
 */
public abstract class DeviceHealth {
    private final String remedy;
    private final AtomicReference<@Nullable String> death = new AtomicReference<>();

    /** Takes the remedy for a device that is lost. */
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

    /** Begins the failure of a call, and keeps it if the device is lost by it. */
    public final Failure failed(String call, int code) {
        keep(call, code);
        return describe(call, code);
    }

    /** Returns the failure of work that the device was given before. */
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

    /** Records the code of a failure. */
    protected void seen(int code) {}

    /** Begins the failure of a call. */
    protected abstract Failure describe(String call, int code);

    /** Returns a code as the headers of the library name it. */
    protected abstract String nameOf(int code);

    /** Returns whether a device is lost after this code. */
    protected abstract boolean isFinal(int code);
}
