package dev.larder.junit;

import dev.larder.client.ArrayWriter;
import dev.larder.npy.Dtype;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A Java array of any number of dimensions, with rows of equal lengths. */
final class NestedArray {
    private static final Map<Class<?>, String> DTYPES =
            Map.of(byte.class, "|u1", int.class, "<i4", long.class, "<i8", float.class, "<f4", double.class, "<f8");

    private final String name;
    private final Object values;
    private final Dtype dtype;
    private final long[] shape;

    private NestedArray(String name, Object values, Dtype dtype, long[] shape) {
        this.name = name;
        this.values = values;
        this.dtype = dtype;
        this.shape = shape;
    }

    /** Takes the shape from the first rows. */
    static NestedArray of(String name, Object values) {
        List<Long> shape = new ArrayList<>();
        Class<?> type = values.getClass();
        Object first = values;
        while (type.isArray()) {
            shape.add(first == null ? 0L : Array.getLength(first));
            type = type.getComponentType();
            first = first == null || Array.getLength(first) == 0 || type.isPrimitive() ? null : Array.get(first, 0);
        }
        String dtype = DTYPES.get(type);
        if (dtype == null || shape.isEmpty()) {
            throw new IllegalArgumentException("no array of numbers: name=" + name + " type="
                    + values.getClass().getTypeName()
                    + "; give nested arrays of byte, int, long, float or double, or a String[]");
        }
        return new NestedArray(
                name,
                values,
                Dtype.parse(dtype),
                shape.stream().mapToLong(Long::longValue).toArray());
    }

    Dtype dtype() {
        return dtype;
    }

    long[] shape() {
        return shape.clone();
    }

    /** Writes all elements in C order. */
    void write(ArrayWriter target) {
        write(target, values, 0, 0);
    }

    private long write(ArrayWriter target, Object part, int axis, long first) {
        if (part == null || Array.getLength(part) != shape[axis]) {
            throw new IllegalArgumentException(
                    "rows of an array differ in length: name=" + name + " axis=" + axis + " expected="
                            + shape[axis] + " found=" + (part == null ? "null" : Array.getLength(part))
                            + "; a ragged column is made with DatasetBuilder.ragged");
        }
        if (axis == shape.length - 1) {
            writeRow(target, part, first);
            return first + shape[axis];
        }
        long next = first;
        for (int i = 0; i < shape[axis]; i++) {
            next = write(target, Array.get(part, i), axis + 1, next);
        }
        return next;
    }

    private static void writeRow(ArrayWriter target, Object row, long first) {
        if (row instanceof byte[] bytes) {
            target.write(first, bytes);
        } else if (row instanceof int[] ints) {
            target.write(first, ints);
        } else if (row instanceof long[] longs) {
            target.write(first, longs);
        } else if (row instanceof float[] floats) {
            target.write(first, floats);
        } else {
            target.write(first, (double[]) row);
        }
    }
}
