package dev.larder.posix;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;

/**
 * Reads and copies memory by address, without any check: callers have checked bounds and keep the memory mapped.
 *
 * <p>The gate to the JVM's {@code Unsafe}: the internal one where this JVM exports it (as Agrona 2 asks for), else the one of
 * {@code jdk.unsupported}. Bound as constant method handles, which compile to the same instructions as a direct call.
 */
public final class RawMemory {
    private static final Object UNSAFE = findUnsafe();
    private static final MethodHandle GET_BYTE = handle("getByte", byte.class, long.class);
    private static final MethodHandle GET_SHORT = handle("getShort", short.class, long.class);
    private static final MethodHandle GET_INT = handle("getInt", int.class, long.class);
    private static final MethodHandle GET_LONG = handle("getLong", long.class, long.class);
    private static final MethodHandle COPY =
            handle("copyMemory", void.class, Object.class, long.class, Object.class, long.class, long.class);

    private RawMemory() {}

    /** Returns the byte at an address. */
    public static byte getByte(long address) {
        try {
            return (byte) GET_BYTE.invokeExact(address);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns the two bytes at an address, in native byte order. */
    public static short getShort(long address) {
        try {
            return (short) GET_SHORT.invokeExact(address);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns the four bytes at an address, in native byte order. */
    public static int getInt(long address) {
        try {
            return (int) GET_INT.invokeExact(address);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns the eight bytes at an address, in native byte order. */
    public static long getLong(long address) {
        try {
            return (long) GET_LONG.invokeExact(address);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Copies bytes from an address.
     *
     * @param target a {@code byte[]}, or null for memory outside the heap
     * @param targetOffset within {@code target} as Agrona's {@code addressOffset} counts, or an address
     */
    public static void copy(long address, byte @Nullable [] target, long targetOffset, long byteSize) {
        try {
            COPY.invokeExact((Object) null, address, (Object) target, targetOffset, byteSize);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static Object findUnsafe() {
        try {
            Class<?> internal = Class.forName("jdk.internal.misc.Unsafe");
            return internal.getMethod("getUnsafe").invoke(null);
        } catch (ReflectiveOperationException notExported) {
            return findUnsupportedUnsafe();
        }
    }

    private static Object findUnsupportedUnsafe() {
        try {
            Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static MethodHandle handle(String name, Class<?> result, Class<?>... parameters) {
        try {
            return MethodHandles.lookup()
                    .findVirtual(UNSAFE.getClass(), name, MethodType.methodType(result, parameters))
                    .bindTo(UNSAFE);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Passes on what a read can raise: errors such as that of a truncated file, and refusals of the JVM. */
    private static RuntimeException unexpected(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException exception ? exception : new IllegalStateException(failure);
    }
}
