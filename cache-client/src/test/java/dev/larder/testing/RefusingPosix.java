package dev.larder.testing;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.Posix;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;

/** The system, with calls that fail or come too late. */
public final class RefusingPosix {
    private RefusingPosix() {}

    /** Returns the system whose one call fails for want of room as often as {@code refusals} says. */
    public static Posix refusing(String call, AtomicInteger refusals) {
        return before(call, () -> refuse(refusals));
    }

    /** Returns the system, which runs an action before each call of this name. */
    public static Posix before(String call, Runnable action) {
        return (Posix) Proxy.newProxyInstance(
                Posix.class.getClassLoader(), new Class<?>[] {Posix.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(call)) {
                        action.run();
                    }
                    try {
                        return method.invoke(Posix.system(), arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** Fails as often as {@code refusals} says. */
    public static void refuse(AtomicInteger refusals) {
        if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            throw Failure.of(ErrorCode.NO_SPACE, "no room").exception();
        }
    }
}
