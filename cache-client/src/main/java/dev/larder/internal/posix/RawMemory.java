package dev.larder.internal.posix;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;

/**
 * Reads, writes and copies memory by address, without any check. Callers have checked bounds and keep the memory mapped.
 *
 * <p>It calls the JVM's {@code Unsafe}: the internal one if this JVM exports it (as Agrona 2 requires), else that of
 * {@code jdk.unsupported}. Constant method handles compile to the same instructions as a direct call. Creating a handle is
 * slow, so those that a reader does not need are created at first use.
 */
public final class RawMemory {
    private static final Object UNSAFE = findUnsafe();
    private static final MethodHandle GET_BYTE = handle("getByte", byte.class, long.class);
    private static final MethodHandle GET_SHORT = handle("getShort", short.class, long.class);
    private static final MethodHandle GET_INT = handle("getInt", int.class, long.class);
    private static final MethodHandle GET_INT_OF = handle("getInt", int.class, Object.class, long.class);
    private static final MethodHandle GET_LONG = handle("getLong", long.class, long.class);
    private static final MethodHandle GET_FLOAT = handle("getFloat", float.class, Object.class, long.class);
    private static final MethodHandle GET_DOUBLE = handle("getDouble", double.class, Object.class, long.class);
    private static final MethodHandle COPY =
            handle("copyMemory", void.class, Object.class, long.class, Object.class, long.class, long.class);

    private RawMemory() {}

    /** Returns the length of a page of this kernel, in bytes. */
    static int pageSize() {
        try {
            return (int) handle("pageSize", int.class).invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns the place of a field in objects of a class, for {@link #getInt(Object, long)}, even if the JDK does not export the class. */
    public static long fieldOffset(String className, String field) throws ReflectiveOperationException {
        Field found = Class.forName(className).getDeclaredField(field);
        try {
            return (long) handle("objectFieldOffset", long.class, Field.class).invokeExact(found);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

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

    /** Returns four bytes in native byte order; see {@link #putInt}. */
    public static int getInt(@Nullable Object array, long offset) {
        try {
            return (int) GET_INT_OF.invokeExact(array, offset);
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

    /** Returns the float at an address, in native byte order. */
    public static float getFloat(long address) {
        try {
            return (float) GET_FLOAT.invokeExact((Object) null, address);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns the double at an address, in native byte order. */
    public static double getDouble(long address) {
        try {
            return (double) GET_DOUBLE.invokeExact((Object) null, address);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Copies bytes from an address.
     *
     * @param target a {@code byte[]}, or null for memory outside the heap
     * @param targetOffset an offset in {@code target} as of Agrona's {@code addressOffset}, or an address
     */
    public static void copy(long address, byte @Nullable [] target, long targetOffset, long byteSize) {
        try {
            COPY.invokeExact((Object) null, address, (Object) target, targetOffset, byteSize);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Copies bytes between primitive arrays, or memory outside the heap if an array is null. Offsets are as in {@link #putInt}. */
    public static void copy(
            @Nullable Object source, long sourceOffset, @Nullable Object target, long targetOffset, long byteSize) {
        try {
            COPY.invokeExact(source, sourceOffset, target, targetOffset, byteSize);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes one byte; see {@link #putInt}. */
    public static void putByte(@Nullable Object array, long offset, byte value) {
        try {
            Writes.PUT_BYTE.invokeExact(array, offset, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes two bytes in native byte order; see {@link #putInt}. */
    public static void putShort(@Nullable Object array, long offset, short value) {
        try {
            Writes.PUT_SHORT.invokeExact(array, offset, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * Writes four bytes in native byte order.
     *
     * @param array a primitive array, or null for memory outside the heap
     * @param offset {@link #arrayOffset} plus the offset in the array in bytes, or an address
     */
    public static void putInt(@Nullable Object array, long offset, int value) {
        try {
            Writes.PUT_INT.invokeExact(array, offset, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes four bytes at an address in native byte order. Faster than the method that accepts an array. */
    public static void putInt(long address, int value) {
        try {
            Writes.PUT_INT.invokeExact((Object) null, address, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes eight bytes in native byte order; see {@link #putInt}. */
    public static void putLong(@Nullable Object array, long offset, long value) {
        try {
            Writes.PUT_LONG.invokeExact(array, offset, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes a float at an address in native byte order. */
    public static void putFloat(long address, float value) {
        try {
            Writes.PUT_FLOAT.invokeExact((Object) null, address, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes a double at an address in native byte order. */
    public static void putDouble(long address, double value) {
        try {
            Writes.PUT_DOUBLE.invokeExact((Object) null, address, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes the same byte to many addresses. */
    public static void fill(long address, long byteSize, byte value) {
        try {
            Writes.FILL.invokeExact(address, byteSize, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Reads four aligned bytes at an address like a volatile field. */
    public static int getIntVolatile(long address) {
        try {
            return (int) Atomics.GET_INT_VOLATILE.invokeExact((Object) null, address);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes four aligned bytes at an address like a volatile field. */
    public static void putIntVolatile(long address, int value) {
        try {
            Atomics.PUT_INT_VOLATILE.invokeExact((Object) null, address, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Reads eight aligned bytes at an address like a volatile field. */
    public static long getLongVolatile(long address) {
        try {
            return (long) Atomics.GET_LONG_VOLATILE.invokeExact((Object) null, address);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes eight aligned bytes at an address like a volatile field. */
    public static void putLongVolatile(long address, long value) {
        try {
            Atomics.PUT_LONG_VOLATILE.invokeExact((Object) null, address, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Atomically replaces four aligned bytes at an address if they equal {@code expected}. Returns whether they did. */
    public static boolean compareAndSetInt(long address, int expected, int value) {
        try {
            return (boolean) Atomics.CHANGE_INT.invokeExact((Object) null, address, expected, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Atomically replaces eight aligned bytes at an address if they equal {@code expected}. Returns whether they did. */
    public static boolean compareAndSetLong(long address, long expected, long value) {
        try {
            return (boolean) Atomics.CHANGE_LONG.invokeExact((Object) null, address, expected, value);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Atomically adds to four aligned bytes at an address. Returns their previous value. */
    public static int getAndAddInt(long address, int delta) {
        try {
            return (int) Atomics.ADD_INT.invokeExact((Object) null, address, delta);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Atomically adds to eight aligned bytes at an address. Returns their previous value. */
    public static long getAndAddLong(long address, long delta) {
        try {
            return (long) Atomics.ADD_LONG.invokeExact((Object) null, address, delta);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns the offset of the first element in arrays of a type such as {@code byte[].class}. */
    public static long arrayOffset(Class<?> arrayType) {
        try {
            Object offset =
                    UNSAFE.getClass().getMethod("arrayBaseOffset", Class.class).invoke(UNSAFE, arrayType);
            return ((Number) offset).longValue(); // an int or a long, depending on the JVM
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
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

    /** Returns the name of the method, which differs between the two classes. */
    private static String compareAndSet(String type) {
        boolean isInternal = UNSAFE.getClass().getName().startsWith("jdk.internal.");
        return (isInternal ? "compareAndSet" : "compareAndSwap") + type;
    }

    private static MethodHandle handle(String name, Class<?> result, Class<?>... parameters) {
        try {
            return MethodHandles.lookup() // the internal class may be exported to this module only
                    .findVirtual(UNSAFE.getClass(), name, MethodType.methodType(result, parameters))
                    .bindTo(UNSAFE);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Rethrows an error from memory access, such as that of a truncated file, or wraps an exception of the JVM. */
    private static RuntimeException unexpected(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException exception ? exception : new IllegalStateException(failure);
    }

    private static final class Writes {
        static final MethodHandle PUT_BYTE = handle("putByte", void.class, Object.class, long.class, byte.class);
        static final MethodHandle PUT_SHORT = handle("putShort", void.class, Object.class, long.class, short.class);
        static final MethodHandle PUT_INT = handle("putInt", void.class, Object.class, long.class, int.class);
        static final MethodHandle PUT_LONG = handle("putLong", void.class, Object.class, long.class, long.class);
        static final MethodHandle PUT_FLOAT = handle("putFloat", void.class, Object.class, long.class, float.class);
        static final MethodHandle PUT_DOUBLE = handle("putDouble", void.class, Object.class, long.class, double.class);
        static final MethodHandle FILL = handle("setMemory", void.class, long.class, long.class, byte.class);

        private Writes() {}
    }

    private static final class Atomics {
        static final MethodHandle GET_INT_VOLATILE = handle("getIntVolatile", int.class, Object.class, long.class);
        static final MethodHandle PUT_INT_VOLATILE =
                handle("putIntVolatile", void.class, Object.class, long.class, int.class);
        static final MethodHandle GET_LONG_VOLATILE = handle("getLongVolatile", long.class, Object.class, long.class);
        static final MethodHandle PUT_LONG_VOLATILE =
                handle("putLongVolatile", void.class, Object.class, long.class, long.class);
        static final MethodHandle CHANGE_INT =
                handle(compareAndSet("Int"), boolean.class, Object.class, long.class, int.class, int.class);
        static final MethodHandle CHANGE_LONG =
                handle(compareAndSet("Long"), boolean.class, Object.class, long.class, long.class, long.class);
        static final MethodHandle ADD_INT = handle("getAndAddInt", int.class, Object.class, long.class, int.class);
        static final MethodHandle ADD_LONG = handle("getAndAddLong", long.class, Object.class, long.class, long.class);

        private Atomics() {}
    }
}
