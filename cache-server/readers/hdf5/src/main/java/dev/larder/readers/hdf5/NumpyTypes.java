package dev.larder.readers.hdf5;

import io.jhdf.object.datatype.ArrayDataType;
import io.jhdf.object.datatype.BitField;
import io.jhdf.object.datatype.CompoundDataType;
import io.jhdf.object.datatype.CompoundDataType.CompoundDataMember;
import io.jhdf.object.datatype.DataType;
import io.jhdf.object.datatype.EnumDataType;
import io.jhdf.object.datatype.FixedPoint;
import io.jhdf.object.datatype.FloatingPoint;
import io.jhdf.object.datatype.OpaqueDataType;
import io.jhdf.object.datatype.StringData;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Names the numpy types that have the same bytes as types of HDF5. */
final class NumpyTypes {
    private static final Set<Integer> INTEGER_BYTES = Set.of(1, 2, 4, 8);

    /** The bits of the exponent and of the mantissa, and the bias, by the length. */
    private static final Map<Integer, List<Integer>> FLOATS =
            Map.of(2, List.of(5, 10, 15), 4, List.of(8, 23, 127), 8, List.of(11, 52, 1023));

    static final String OPAQUE = "its type is not one that is read: opaque data";
    static final String COMPOUND = "its type is a compound that numpy has no type for";
    private static final int MOST_FIELDS = 20;
    private static final int INTERLEAVED = 2;

    private NumpyTypes() {}

    /** Returns numpy's description, or null if numpy has no such type. */
    static @Nullable String of(DataType type) {
        if (type instanceof FixedPoint integer) {
            return isPlain(integer) ? order(integer.getByteOrder(), integer.getSize()) + integerKind(integer) : null;
        } else if (type instanceof FloatingPoint number) {
            return isPlain(number) ? order(number.getByteOrder(), number.getSize()) + "f" + number.getSize() : null;
        } else if (type instanceof EnumDataType words) {
            return isBoolean(words) ? "|b1" : of(words.getBaseType());
        } else if (type instanceof BitField bits) { // unsigned, as in h5py
            return isPlain(bits) ? order(bits.getByteOrder(), bits.getSize()) + "u" + bits.getSize() : null;
        } else if (type instanceof StringData text) {
            return text.getSize() > 0 ? "|S" + text.getSize() : null;
        } else if (type instanceof CompoundDataType compound) {
            String complex = complex(compound);
            return complex == null ? structured(compound) : complex;
        }
        return null;
    }

    /** Returns the type of the values in arrays that are elements; the type itself if its elements are no arrays. */
    static DataType element(DataType type) {
        DataType element = type;
        while (element instanceof ArrayDataType array) {
            element = array.getBaseType();
        }
        return element;
    }

    /** Returns the dimensions of arrays that are elements; null if the library has misread them. */
    static @Nullable List<Long> dimensions(DataType type) {
        List<Long> dimensions = new ArrayList<>();
        DataType element = type;
        while (element instanceof ArrayDataType array) {
            DataType base = array.getBaseType();
            long count = base.getSize() == 0 ? 0 : array.getSize() / base.getSize();
            long product = 1;
            for (int dimension : corrected(array, count)) {
                dimensions.add((long) dimension);
                product *= dimension;
            }
            if (product != count || count == 0 || count * base.getSize() != array.getSize()) {
                return null;
            }
            element = base;
        }
        return dimensions;
    }

    /** Corrects the dimensions of the older form. The library takes each second number of them, as if others were between them. */
    private static int[] corrected(ArrayDataType array, long count) {
        int[] dimensions = array.getArrayTypeDimensions();
        if (array.getVersion() != INTERLEAVED || dimensions[0] == 0) {
            return dimensions;
        } else if (dimensions.length == 2) {
            return new int[] {dimensions[0], (int) (count / dimensions[0])};
        } else if (dimensions.length == 3 && dimensions[1] != 0) {
            return new int[] {dimensions[0], (int) (count / dimensions[0] / dimensions[1]), dimensions[1]};
        }
        return dimensions;
    }

    /** Returns the list of the fields of a structured type, with the bytes between them as numpy has them; null if it has no such type. */
    private static @Nullable String structured(CompoundDataType compound) {
        List<CompoundDataMember> members = compound.getMembers().stream()
                .sorted(Comparator.comparingInt(CompoundDataMember::getOffset))
                .toList();
        List<String> fields = new ArrayList<>();
        Set<String> names = new HashSet<>();
        int end = 0;
        for (CompoundDataMember member : members) {
            String field = field(member);
            if (field == null || member.getOffset() < end || !names.add(member.getName())) {
                return null;
            }
            pad(fields, member.getOffset() - end);
            fields.add(field);
            end = member.getOffset() + member.getDataType().getSize();
        }
        if (members.isEmpty() || end > compound.getSize()) {
            return null;
        }
        pad(fields, compound.getSize() - end);
        return "[" + String.join(", ", fields) + "]";
    }

    private static void pad(List<String> fields, int bytes) {
        if (bytes > 0) {
            fields.add("('', '|V" + bytes + "')");
        }
    }

    private static @Nullable String field(CompoundDataMember member) {
        String name = member.getName();
        String type = of(element(member.getDataType()));
        boolean isPlain = name.chars().allMatch(c -> c >= ' ' && c != '\'' && c != '\\');
        boolean isOldArray = member.getDimensionSize() != null && member.getDimensionSize().length > 0;
        List<Long> dimensions = dimensions(member.getDataType());
        if (type == null || dimensions == null || name.isEmpty() || !isPlain || isOldArray) {
            return null;
        }
        String shape = dimensions.stream().map(String::valueOf).collect(Collectors.joining(", "));
        return "('" + name + "', " + (type.startsWith("[") ? type : "'" + type + "'")
                + (dimensions.isEmpty() ? "" : dimensions.size() == 1 ? ", (" + shape + ",)" : ", (" + shape + ")")
                + ")";
    }

    /** Returns why a type has no description. */
    static String objection(DataType type) {
        if (type instanceof CompoundDataType compound) {
            List<String> fields = compound.getMembers().stream()
                    .filter(member -> field(member) == null)
                    .map(CompoundDataMember::getName)
                    .toList();
            String more = fields.size() > MOST_FIELDS ? ", …" : "";
            return fields.isEmpty()
                    ? COMPOUND
                    : COMPOUND + ": fields="
                            + String.join(",", fields.subList(0, Math.min(MOST_FIELDS, fields.size()))) + more;
        }
        return type instanceof OpaqueDataType
                ? OPAQUE
                : "its type is not one that is read: " + type.getClass().getSimpleName() + " of " + type.getSize()
                        + " bytes";
    }

    private static boolean isPlain(BitField bits) {
        return INTEGER_BYTES.contains(bits.getSize())
                && bits.getBitOffset() == 0
                && bits.getBitPrecision() == bits.getSize() * Byte.SIZE;
    }

    private static String order(ByteOrder order, int bytes) {
        return bytes == 1 ? "|" : order == ByteOrder.BIG_ENDIAN ? ">" : "<";
    }

    private static String integerKind(FixedPoint integer) {
        return (integer.isSigned() ? "i" : "u") + integer.getSize();
    }

    private static boolean isPlain(FixedPoint integer) {
        return INTEGER_BYTES.contains(integer.getSize())
                && integer.getBitOffset() == 0
                && integer.getBitPrecision() == integer.getSize() * Byte.SIZE;
    }

    private static boolean isPlain(FloatingPoint number) {
        List<Integer> bits = FLOATS.get(number.getSize());
        return bits != null
                && number.getBitOffset() == 0
                && number.getBitPrecision() == number.getSize() * Byte.SIZE
                && number.getExponentSize() == bits.get(0)
                && number.getMantissaSize() == bits.get(1)
                && number.getExponentBias() == bits.get(2);
    }

    /** Returns whether it is the type that h5py writes for booleans. */
    private static boolean isBoolean(EnumDataType words) {
        return words.getBaseType().getSize() == 1
                && new TreeMap<>(words.getEnumMapping()).equals(Map.of(0, "FALSE", 1, "TRUE"));
    }

    /** Returns the type of complex numbers as h5py writes them, or null. */
    private static @Nullable String complex(CompoundDataType compound) {
        List<CompoundDataMember> members = compound.getMembers();
        if (members.size() != 2
                || !members.get(0).getName().equals("r")
                || !members.get(1).getName().equals("i")) {
            return null;
        }
        String real = of(members.get(0).getDataType());
        String imaginary = of(members.get(1).getDataType());
        int bytes = members.get(0).getDataType().getSize();
        boolean isTight = members.get(0).getOffset() == 0
                && members.get(1).getOffset() == bytes
                && compound.getSize() == 2 * bytes;
        return real != null && real.equals(imaginary) && isTight && bytes >= 4 && real.charAt(1) == 'f'
                ? real.charAt(0) + "c" + 2 * bytes
                : null;
    }
}
