package dev.larder.spark.source;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.SmallIntVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/** Moves the values of a column between Spark's rows and Arrow's vectors. */
final class ArrowColumn {
    private static final String ELEMENT = "item";
    private static final String UTC = "UTC";

    /** Types that have one Arrow type each. */
    private static final Map<DataType, ArrowType> PLAIN = Map.ofEntries(
            Map.entry(DataTypes.BooleanType, ArrowType.Bool.INSTANCE),
            Map.entry(DataTypes.ByteType, new ArrowType.Int(8, true)),
            Map.entry(DataTypes.ShortType, new ArrowType.Int(16, true)),
            Map.entry(DataTypes.IntegerType, new ArrowType.Int(32, true)),
            Map.entry(DataTypes.LongType, new ArrowType.Int(64, true)),
            Map.entry(DataTypes.FloatType, new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE)),
            Map.entry(DataTypes.DoubleType, new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE)),
            Map.entry(DataTypes.DateType, new ArrowType.Date(DateUnit.DAY)),
            Map.entry(DataTypes.TimestampType, new ArrowType.Timestamp(TimeUnit.MICROSECOND, UTC)),
            Map.entry(DataTypes.TimestampNTZType, new ArrowType.Timestamp(TimeUnit.MICROSECOND, null)),
            Map.entry(DataTypes.StringType, ArrowType.Utf8.INSTANCE),
            Map.entry(DataTypes.BinaryType, ArrowType.Binary.INSTANCE));

    private ArrowColumn() {}

    /**
     * Describes a column that is to be written.
     *
     * @param shape of each row where all rows have one; empty for rows of any length
     * @throws dev.larder.error.LarderException BAD_INPUT where its type has no place in a dataset
     */
    static Field field(StructField column, List<Integer> shape) {
        DataType type = column.dataType();
        if (shape.isEmpty()) {
            return field(column.name(), type, column.name(), true);
        }
        if (!(type instanceof ArrayType array) || !PLAIN.containsKey(array.elementType())) {
            throw refused(column.name(), type, "only arrays of numbers, booleans and the like have a shape");
        }
        Field elements = field(ELEMENT, array.elementType(), column.name(), false);
        for (int dimension = shape.size() - 1; dimension >= 0; dimension--) {
            elements = new Field(
                    dimension == 0 ? column.name() : ELEMENT,
                    new FieldType(dimension == 0, new ArrowType.FixedSizeList(shape.get(dimension)), null),
                    List.of(elements));
        }
        return elements;
    }

    private static Field field(String name, DataType type, String column, boolean isNullable) {
        ArrowType plain = PLAIN.get(type);
        if (plain != null) {
            return new Field(name, new FieldType(isNullable, plain, null), null);
        }
        if (type instanceof ArrayType array) {
            return new Field(
                    name,
                    new FieldType(isNullable, ArrowType.List.INSTANCE, null),
                    List.of(field(ELEMENT, array.elementType(), column, false)));
        }
        throw refused(column, type, "cast it to a number, a string or an array, or select the fields of a struct");
    }

    private static RuntimeException refused(String column, DataType type, String remedy) {
        return Failure.of(ErrorCode.BAD_INPUT, "a column cannot be written for Larder")
                .with("column", column)
                .with("type", type.catalogString())
                .remedy(remedy);
    }

    /** Returns the types that Spark has for what was saved. */
    static StructType sparkSchema(Schema schema) {
        return new StructType(schema.getFields().stream()
                .map(field -> new StructField(
                        field.getName(), sparkType(field, field.getName()), field.isNullable(), Metadata.empty()))
                .toArray(StructField[]::new));
    }

    private static DataType sparkType(Field field, String column) {
        ArrowType type = field.getType();
        if (type instanceof ArrowType.FixedSizeList || type instanceof ArrowType.List) {
            DataType element = sparkType(field.getChildren().get(0), column);
            boolean isBox = type instanceof ArrowType.FixedSizeList && element instanceof ArrayType;
            return isBox ? element : new ArrayType(element, false); // a box is one list, in C order
        }
        return PLAIN.entrySet().stream()
                .filter(entry -> entry.getValue().equals(type))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseThrow(() -> Failure.of(ErrorCode.BAD_INPUT, "Spark cannot read a column of this folder")
                        .with("column", column)
                        .with("type", type)
                        .remedy("load it with larder load, or leave it out where it is written"));
    }

    /** Writes a value, and returns about how many bytes it takes. */
    static long write(
            FieldVector vector, int index, SpecializedGetters row, int ordinal, DataType type, String column) {
        if (row.isNullAt(ordinal)) {
            if (vector instanceof FixedSizeListVector) {
                throw Failure.of(ErrorCode.BAD_INPUT, "a null is in a column that has a shape")
                        .with("column", column)
                        .remedy("leave such rows out, as in filter(" + column + " is not null)");
            }
            vector.setNull(index);
            return 1;
        }
        if (vector instanceof ListVector list) {
            return writeList(list, index, row.getArray(ordinal), ((ArrayType) type).elementType(), column);
        } else if (vector instanceof FixedSizeListVector list) {
            return writeBox(list, index, row.getArray(ordinal), ((ArrayType) type).elementType(), column);
        } else if (vector instanceof VarCharVector texts) {
            byte[] text = row.getUTF8String(ordinal).getBytes();
            texts.setSafe(index, text);
            return text.length;
        } else if (vector instanceof VarBinaryVector binary) {
            byte[] bytes = row.getBinary(ordinal);
            binary.setSafe(index, bytes);
            return bytes.length;
        }
        writeNumber(vector, index, row, ordinal);
        return Long.BYTES;
    }

    private static void writeNumber(FieldVector vector, int index, SpecializedGetters row, int ordinal) {
        if (vector instanceof BitVector bits) {
            bits.setSafe(index, row.getBoolean(ordinal) ? 1 : 0);
        } else if (vector instanceof TinyIntVector numbers) {
            numbers.setSafe(index, row.getByte(ordinal));
        } else if (vector instanceof SmallIntVector numbers) {
            numbers.setSafe(index, row.getShort(ordinal));
        } else if (vector instanceof IntVector numbers) {
            numbers.setSafe(index, row.getInt(ordinal));
        } else if (vector instanceof BigIntVector numbers) {
            numbers.setSafe(index, row.getLong(ordinal));
        } else if (vector instanceof Float4Vector numbers) {
            numbers.setSafe(index, row.getFloat(ordinal));
        } else if (vector instanceof Float8Vector numbers) {
            numbers.setSafe(index, row.getDouble(ordinal));
        } else if (vector instanceof DateDayVector days) {
            days.setSafe(index, row.getInt(ordinal));
        } else {
            ((TimeStampVector) vector).setSafe(index, row.getLong(ordinal));
        }
    }

    private static long writeList(ListVector list, int index, ArrayData values, DataType element, String column) {
        int begin = list.startNewValue(index);
        long bytes = Integer.BYTES;
        for (int i = 0; i < values.numElements(); i++) {
            requireElement(values, i, column);
            bytes += write(list.getDataVector(), begin + i, values, i, element, column);
        }
        list.endValue(index, values.numElements());
        return bytes;
    }

    private static long writeBox(
            FixedSizeListVector box, int index, ArrayData values, DataType element, String column) {
        int first = index;
        int count = 1;
        FieldVector inner = box;
        while (inner instanceof FixedSizeListVector list) {
            int size = list.getListSize();
            IntStream.range(first, first + count).forEach(list::setNotNull);
            first *= size;
            count *= size;
            inner = list.getDataVector();
        }
        if (values.numElements() != count) {
            throw Failure.of(ErrorCode.BAD_INPUT, "a row has not the shape of its column")
                    .with("column", column)
                    .with("elements", values.numElements())
                    .with("wanted", count)
                    .remedy("make all rows equally long, or leave out the option shape." + column);
        }
        for (int i = 0; i < count; i++) {
            requireElement(values, i, column);
            Object unused = write(inner, first + i, values, i, element, column);
        }
        return (long) count * Long.BYTES;
    }

    private static void requireElement(ArrayData values, int index, String column) {
        if (values.isNullAt(index)) {
            throw Failure.of(ErrorCode.BAD_INPUT, "a null is inside an array")
                    .with("column", column)
                    .with("element", index)
                    .remedy("leave such elements out, as in filter(" + column + ", e -> e is not null)");
        }
    }

    /** Reads a value as Spark has it inside a row. */
    static @Nullable Object read(FieldVector vector, int index) {
        if (vector.isNull(index)) {
            return null;
        } else if (vector instanceof VarCharVector texts) {
            return UTF8String.fromBytes(texts.get(index));
        } else if (vector instanceof VarBinaryVector binary) {
            return binary.get(index);
        } else if (vector instanceof BitVector bits) {
            return bits.get(index) != 0;
        } else if (vector instanceof ListVector list) {
            int begin = list.getElementStartIndex(index);
            return elements(list.getDataVector(), begin, list.getElementEndIndex(index) - begin);
        } else if (vector instanceof FixedSizeListVector) {
            return box(vector, index);
        } else if (vector instanceof TimeStampVector times) {
            return times.get(index);
        }
        return vector.getObject(index) instanceof Number number ? number : ((DateDayVector) vector).get(index);
    }

    private static ArrayData box(FieldVector vector, int index) {
        int first = index;
        int count = 1;
        FieldVector inner = vector;
        while (inner instanceof FixedSizeListVector list) {
            first *= list.getListSize();
            count *= list.getListSize();
            inner = list.getDataVector();
        }
        return elements(inner, first, count);
    }

    private static ArrayData elements(FieldVector values, int begin, int count) {
        @Nullable Object[] read = new Object[count];
        for (int i = 0; i < count; i++) {
            read[i] = read(values, begin + i);
        }
        return new GenericArrayData(read);
    }
}
