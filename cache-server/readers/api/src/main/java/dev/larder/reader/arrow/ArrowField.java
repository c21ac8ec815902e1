package dev.larder.reader.arrow;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A field of a schema.
 *
 * @param name as in the file; it may be anything
 * @param form the form of its elements
 * @param children what its elements are made of
 * @param encoding how the elements are numbered; null if they stand for themselves
 * @param extension the name of its extension type, and its parameters; empty if it has none
 */
public record ArrowField(
        String name,
        Form form,
        List<ArrowField> children,
        @Nullable Encoding encoding,
        Extension extension) {
    private static final String DOUBLES = "<f8";

    /** Keeps its own copy. */
    public ArrowField {
        children = List.copyOf(children);
    }

    /**
     * The form of elements in a file.
     *
     * @param type numpy's word for the elements if they have one, else a word for people
     * @param size the bytes of an element in the file, or of an offset; the elements of each list of fixed size
     * @param digits those behind the point of a decimal; 0 for all else
     */
    public record Form(Kind kind, String type, int size, int digits) {
        Form(Kind kind, String type, int size) {
            this(kind, type, size, 0);
        }
    }

    /** Returns the kind of its elements. */
    public Kind kind() {
        return form.kind;
    }

    /** Returns the type of its elements, as {@link Form} describes it. */
    public String type() {
        return form.type;
    }

    /** Returns the size of its elements, as {@link Form} describes it. */
    public int size() {
        return form.size;
    }

    /** Returns the same field with decimals as the nearest doubles. */
    public ArrowField withDoubles() {
        Form its = kind() == Kind.DECIMALS ? new Form(Kind.DECIMALS, DOUBLES, size(), form.digits) : form;
        return new ArrowField(
                name, its, children.stream().map(ArrowField::withDoubles).toList(), encoding, extension);
    }

    /** Returns whether its numbers are decimals without their point. */
    public boolean isScaled() {
        return kind() == Kind.DECIMALS && !type().equals(DOUBLES);
    }

    /** The kinds of elements. */
    public enum Kind {
        /** Without anything. */
        NULLS(0),
        /** As in numpy's array. */
        FIXED(2),
        /** Whole numbers of four bytes that numpy has in eight. */
        NARROW(2),
        /** Integers of 4, 8, 16 or 32 bytes that numpy has in eight. */
        DECIMALS(2),
        BITS(2),
        /** So many bytes each. */
        FIXED_BYTES(2),
        /** Of fixed length, but nothing that numpy has. */
        OPAQUE(2),
        TEXTS(3),
        BYTES(3),
        TEXT_VIEWS(2),
        BYTES_VIEWS(2),
        LISTS(2),
        LIST_VIEWS(3),
        FIXED_LISTS(1),
        STRUCTS(1),
        SPARSE_UNIONS(1),
        DENSE_UNIONS(2),
        RUNS(0);

        private final int buffers;

        Kind(int buffers) {
            this.buffers = buffers;
        }

        /** Returns how many buffers a field has besides those of its children. */
        public int buffers() {
            return buffers;
        }

        /** Returns whether a message contains the number of its buffers. */
        public boolean hasMoreBuffers() {
            return this == TEXT_VIEWS || this == BYTES_VIEWS;
        }

        public boolean isUnion() {
            return this == SPARSE_UNIONS || this == DENSE_UNIONS;
        }

        /** Returns whether an element is a scalar of an array. */
        public boolean isScalar() {
            return this == FIXED || this == NARROW || this == BITS || this == DECIMALS;
        }
    }

    /** Numbers that stand for the elements of a dictionary. */
    public record Encoding(long id, String type, int size) {}

    /** An extension type. */
    public record Extension(String name, String parameters) {
        /** Stands for no extension. */
        public static final Extension NONE = new Extension("", "");
    }

    /** Returns whether columns of both fields can follow each other; which dictionary they use does not matter. */
    public boolean fits(ArrowField other) {
        if (!form.equals(other.form)
                || children.size() != other.children.size()
                || !codeType().equals(other.codeType())
                || !TensorType.isSame(TensorType.of(this), TensorType.of(other))) {
            return false;
        }
        for (int i = 0; i < children.size(); i++) {
            ArrowField child = children.get(i);
            ArrowField its = other.children.get(i);
            if (!child.fits(its) || (kind() == Kind.STRUCTS && !child.name.equals(its.name))) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether this is a list, in any depth, of numbers. */
    public boolean isListOfNumbers() {
        ArrowField inner = this;
        while (inner.isPlainList()) {
            inner = inner.children.get(0);
        }
        return inner.encoding == null && inner.kind().isScalar();
    }

    /** Returns whether it is a list without a dictionary. */
    public boolean isPlainList() {
        return encoding == null && (kind() == Kind.LISTS || kind() == Kind.FIXED_LISTS);
    }

    private String codeType() {
        return encoding == null ? "" : encoding.type;
    }

    /** Returns the type in words. */
    public String words() {
        String its = kind() == Kind.DECIMALS ? "decimal with " + form.digits + " digits behind the point" : type();
        return encoding == null ? its : "dictionary of " + its;
    }
}
