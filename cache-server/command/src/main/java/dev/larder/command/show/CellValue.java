package dev.larder.command.show;

import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import dev.larder.npy.StructField;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One element of an array, or a part of one.
 *
 * @param dtype its type
 * @param bytes its bytes, from 0 to the capacity
 */
record CellValue(Dtype dtype, ByteBuffer bytes) {
    private static final int REPLACEMENT = 0xfffd;

    /** Returns an integer, boolean, date or span of time. A uint64 above {@code Long.MAX_VALUE} is negative. */
    long integer() {
        return Numbers.integerAt(dtype, bytes, 0);
    }

    /** Returns all digits of an integer. */
    String digits() {
        return dtype.kind() == Kind.UINT ? Long.toUnsignedString(integer()) : Long.toString(integer());
    }

    /** Returns a number as a double, rounded if it has more digits. */
    double number() {
        return Numbers.at(dtype, bytes, 0);
    }

    /** Returns the real part of a complex number. */
    CellValue real() {
        return half(0);
    }

    /** Returns the imaginary part of a complex number. */
    CellValue imaginary() {
        return half(dtype.itemSize() / 2);
    }

    private CellValue half(int offset) {
        Dtype part = Dtype.parse(dtype.descr().charAt(0) + "f" + dtype.itemSize() / 2);
        return part(part, offset);
    }

    /** Returns a date as numpy writes it. */
    String date() {
        return TimeText.of(dtype, integer());
    }

    /** Returns bytes as one character each, or the text of UTF-32, without the zeros at the end. */
    String text() {
        int[] points = new int[bytes.capacity() / (dtype.kind() == Kind.UNICODE ? Integer.BYTES : Byte.BYTES)];
        Arrays.setAll(points, i -> dtype.kind() == Kind.UNICODE ? codePoint(i * Integer.BYTES) : bytes.get(i) & 0xff);
        int length = points.length;
        while (length > 0 && points[length - 1] == 0) {
            length--;
        }
        return new String(points, 0, length);
    }

    private int codePoint(int offset) {
        int point = bytes.order(dtype.byteOrder()).getInt(offset);
        return Character.isValidCodePoint(point) ? point : REPLACEMENT;
    }

    /** Returns a copy of the bytes. */
    byte[] raw() {
        byte[] raw = new byte[bytes.capacity()];
        bytes.get(0, raw);
        return raw;
    }

    /** Returns the elements of a field of a structure, in C order. */
    List<CellValue> elements(StructField field) {
        int count = field.subShape().stream().reduce(1, Math::multiplyExact);
        return IntStream.range(0, count)
                .mapToObj(i ->
                        part(field.dtype(), field.offset() + i * field.dtype().itemSize()))
                .toList();
    }

    private CellValue part(Dtype type, int offset) {
        return new CellValue(type, bytes.slice(offset, type.itemSize()));
    }
}
