package dev.larder.reader.arrow;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A field of a schema.
 *
 * @param name as in the file; it may be anything
 * @param type numpy's word for the elements if they have one, else a word for people
 * @param size the bytes of an element in the file, or of an offset; the elements of each list of fixed size
 * @param children what its elements are made of
 * @param encoding how the elements are numbered; null if they stand for themselves
 * @param extension the name of its extension type, and its parameters; empty if it has none
 */
public record ArrowField(
        String name,
        Kind kind,
        String type,
        int size,
        List<ArrowField> children,
        @Nullable Encoding encoding,
        Extension extension) {
    /** Keeps its own copy. */
    public ArrowField {
        children = List.copyOf(children);
    }

    /** The form of elements in a file. */
    public enum Kind {
        /** Without anything. */
        NULLS(0),
        /** As in numpy's array. */
        FIXED(2),
        /** Whole numbers of four bytes that numpy has in eight. */
        NARROW(2),
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
            return this == FIXED || this == NARROW || this == BITS;
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
        if (kind != other.kind
                || size != other.size
                || !type.equals(other.type)
                || children.size() != other.children.size()
                || !codeType().equals(other.codeType())
                || !TensorType.isSame(TensorType.of(this), TensorType.of(other))) {
            return false;
        }
        for (int i = 0; i < children.size(); i++) {
            ArrowField child = children.get(i);
            ArrowField its = other.children.get(i);
            if (!child.fits(its) || (kind == Kind.STRUCTS && !child.name.equals(its.name))) {
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
        return inner.encoding == null && inner.kind.isScalar();
    }

    /** Returns whether it is a list without a dictionary. */
    public boolean isPlainList() {
        return encoding == null && (kind == Kind.LISTS || kind == Kind.FIXED_LISTS);
    }

    private String codeType() {
        return encoding == null ? "" : encoding.type;
    }

    /** Returns the type in words. */
    public String words() {
        return encoding == null ? type : "dictionary of " + type;
    }
}
