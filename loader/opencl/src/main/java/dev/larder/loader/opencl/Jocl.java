package dev.larder.loader.opencl;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jocl.CL;
import org.jocl.CLException;
import org.jocl.NativePointerObject;
import org.jocl.Pointer;
import org.jspecify.annotations.Nullable;

/** Calls JOCL independently of its global switch for exceptions. */
final class Jocl {
    private Jocl() {}

    /** Reads a property of an object: a method of JOCL with this signature, bound to the object. */
    @FunctionalInterface
    interface Query {
        int ask(int name, long byteSize, @Nullable Pointer value, long @Nullable [] neededByteSize);
    }

    /** Returns the code of a call. */
    static int code(IntSupplier call) {
        try {
            return call.getAsInt();
        } catch (CLException e) {
            return e.getStatus();
        }
    }

    /** Returns the object that a call creates. */
    static <T extends NativePointerObject> T create(Health health, String call, Function<int[], T> creation) {
        int[] code = new int[1];
        T created = null;
        try {
            created = creation.apply(code);
        } catch (CLException e) {
            code[0] = e.getStatus();
        }
        if (code[0] != CL.CL_SUCCESS || created == null) {
            throw health.failed(call, code[0]).exception();
        }
        return created;
    }

    static String text(Query query, int name) {
        long[] byteSize = new long[1];
        int code = code(() -> query.ask(name, 0, null, byteSize));
        if (code != CL.CL_SUCCESS) {
            throw Health.failure("clGetInfo", code).with("name", name).exception();
        }
        byte[] bytes = new byte[Math.toIntExact(byteSize[0])];
        if (bytes.length == 0) {
            return "";
        }
        check(code(() -> query.ask(name, bytes.length, Pointer.to(bytes), null)), name);
        return new String(bytes, 0, length(bytes), UTF_8).strip();
    }

    private static int length(byte[] bytes) {
        int length = 0;
        while (length < bytes.length && bytes[length] != 0) {
            length++;
        }
        return length;
    }

    /** Returns a number of 64 bits, or of the size of a pointer. */
    static long number(Query query, int name) {
        long[] value = new long[1];
        check(code(() -> query.ask(name, Long.BYTES, Pointer.to(value), null)), name);
        return value[0];
    }

    /** Returns numbers of the size of a pointer. */
    static long[] numbers(Query query, int name, int count) {
        long[] values = new long[count];
        check(code(() -> query.ask(name, (long) count * Long.BYTES, Pointer.to(values), null)), name);
        return values;
    }

    /** Returns a number of 32 bits. */
    static int shortNumber(Query query, int name) {
        int[] value = new int[1];
        check(code(() -> query.ask(name, Integer.BYTES, Pointer.to(value), null)), name);
        return value[0];
    }

    private static void check(int code, int name) {
        if (code != CL.CL_SUCCESS) {
            throw Health.failure("clGetInfo", code).with("name", name).exception();
        }
    }
}
