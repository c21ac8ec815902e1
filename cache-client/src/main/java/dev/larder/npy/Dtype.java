package dev.larder.npy;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.text.PythonText;
import java.nio.ByteOrder;
import java.util.List;

/**
 * The type of the elements of an array: any numpy type of a fixed size, including structured ones.
 *
 * <p>Two types are equal if they have the same kind, size, byte order, fields and padding, in any spelling. Immutable.
 */
public final class Dtype {
    private static final String REMEDY =
            "give numpy's dtype.str, as <f4 for float32 and |u1 for uint8, or the list of a structured dtype";

    private final Kind kind;
    private final int itemSize;
    private final boolean littleEndian;
    private final String descr;
    private final List<StructField> fields;

    private Dtype(Kind kind, int itemSize, boolean littleEndian, String descr, List<StructField> fields) {
        this.kind = kind;
        this.itemSize = itemSize;
        this.littleEndian = littleEndian;
        this.descr = descr;
        this.fields = fields;
    }

    static Dtype simple(Kind kind, int itemSize, boolean littleEndian, String descr) {
        return new Dtype(kind, itemSize, littleEndian, descr, List.of());
    }

    static Dtype structured(List<StructField> fields, int itemSize) {
        String descr = DescrText.python(fields, itemSize);
        return new Dtype(Kind.STRUCT, itemSize, true, descr, List.copyOf(fields));
    }

    /**
     * Parses a type in the form of numpy's headers: {@code <f4}, or a list such as {@code [('a', '<f4'), ('b', '<i2', (3,))]}.
     * Fails with {@link ErrorCode#BAD_INPUT} for any other text and for object types.
     */
    public static Dtype parse(String descr) {
        try {
            return descr.startsWith("[")
                    ? new DtypeParser().parse(LiteralParser.parse(descr))
                    : new DtypeParser().parse(new Literal.Text(0, descr));
        } catch (LiteralFault fault) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot read dtype")
                    .with("dtype", PythonText.shown(descr))
                    .with("position", fault.position())
                    .with("reason", fault.reason())
                    .remedy(fault.remedy().equals(LiteralFault.SAVE_AGAIN) ? REMEDY : fault.remedy());
        }
    }

    /** Returns the kind of the elements. */
    public Kind kind() {
        return kind;
    }

    /** Returns the number of bytes of an element, which may be 0. */
    public int itemSize() {
        return itemSize;
    }

    /** Returns the order of bytes within an element, or little-endian if the type has none. */
    public ByteOrder byteOrder() {
        return littleEndian ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
    }

    /** Returns whether the byte order is little-endian or does not matter. */
    public boolean isLittleEndian() {
        return littleEndian;
    }

    /** Returns the fields of a structured type by offset, without padding. Empty for all other types. */
    public List<StructField> fields() {
        return fields;
    }

    /** Returns numpy's text for the type: {@code <f4} without quotes, or the list of a structured type. */
    public String descr() {
        return descr;
    }

    /** Returns numpy's text as a JSON value: {@code "<f4"}, or an array for a structured type. */
    public String descrJson() {
        return kind == Kind.STRUCT ? DescrText.json(fields, itemSize) : '"' + descr + '"';
    }

    /** Returns the Python literal of the type in a header. */
    String literal() {
        return kind == Kind.STRUCT ? descr : PythonText.quoted(descr);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Dtype that && kind == that.kind && descr.equals(that.descr);
    }

    @Override
    public int hashCode() {
        return descr.hashCode();
    }

    @Override
    public String toString() {
        return descr;
    }
}
