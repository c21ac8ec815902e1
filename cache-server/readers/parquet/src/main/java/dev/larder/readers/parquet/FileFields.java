package dev.larder.readers.parquet;

import dev.hardwood.metadata.RepetitionType;
import dev.hardwood.schema.ColumnSchema;
import dev.hardwood.schema.FileSchema;
import dev.hardwood.schema.SchemaNode;
import dev.larder.reader.BadSource;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowSchema;
import dev.larder.reader.arrow.TensorType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the arrays of each column of one file, as the daemon does for the same fields of an Arrow file: a list of numbers is an array or a ragged
 * column, any other list has its items in a column of their own; fields of structs are levels of names. Parquet lacks some of Arrow's
 * types. Writers store the nearest one it has, and in the metadata the Arrow schema of the table, a FlatBuffers message in Base64.
 */
final class FileFields {
    /** Follows the name of a list in the name of its items. */
    static final String ITEMS = ".items";

    private static final String BYTES = "bytes";
    private static final String PATH = "path";
    private static final String NAMES = "/names";
    private static final String ARROW = "ARROW:schema";

    private final FileSchema schema;
    private final List<Leaf> leaves = new ArrayList<>();

    /**
     * A column of the file.
     *
     * @param name its name; a level for each struct, {@link #ITEMS} for each list of elements that are not numbers
     * @param lists the names of these lists, from the outer one on
     * @param kind its arrays; null if there are none
     * @param objection why it has none, if the column itself does not show it; else empty
     * @param areNames whether its texts are the names of a column of bytes: there are no names if all are null, and no mask
     */
    record Leaf(
            ColumnSchema schema,
            String name,
            List<String> lists,
            @Nullable ColumnKind kind,
            String objection,
            boolean areNames) {}

    private FileFields(FileSchema schema) {
        this.schema = schema;
    }

    /** Returns all columns of a file, in their order. */
    static List<Leaf> of(int file, FileSchema schema, Map<String, String> metadata) throws BadSource {
        FileFields fields = new FileFields(schema);
        fields.children(schema.getRootNode(), "", List.of(), arrowFields(file, metadata));
        return fields.leaves;
    }

    private static List<ArrowField> arrowFields(int file, Map<String, String> metadata) throws BadSource {
        String text = metadata.get(ARROW);
        if (text == null) {
            return List.of();
        }
        try {
            byte[] message = Base64.getDecoder().decode(text);
            return ArrowSchema.ofPrefixedMessage(ByteBuffer.wrap(message)).fields();
        } catch (IOException | IndexOutOfBoundsException | IllegalArgumentException | ArithmeticException e) {
            throw BadSource.damaged(
                    file,
                    BadSource.NOWHERE,
                    "",
                    "the Arrow schema in its metadata is malformed (" + BadSource.words(e) + ")");
        }
    }

    private void children(SchemaNode.GroupNode group, String name, List<String> lists, List<ArrowField> fields) {
        Map<String, ArrowField> byName = new HashMap<>();
        Map<String, Integer> times = new HashMap<>();
        for (ArrowField field : fields) {
            byName.put(field.name(), field);
            times.merge(field.name(), 1, Integer::sum);
        }
        boolean isOfFiles = !name.isEmpty() && isOfFiles(group);
        for (SchemaNode child : group.children()) {
            if (isOfFiles) {
                boolean areNames = child.name().equals(PATH);
                ColumnSchema column = schema.getColumn(((SchemaNode.PrimitiveNode) child).columnIndex());
                String its = areNames ? name + NAMES : name;
                leaves.add(new Leaf(column, its, lists, ColumnKind.of(column, null), "", areNames));
                continue;
            }
            String its = (name.isEmpty() ? "" : name + "/") + child.name();
            boolean isOne = times.getOrDefault(child.name(), 0) == 1;
            visit(child, its, lists, isOne ? byName.get(child.name()) : null, false);
        }
    }

    /** Returns whether a struct has bytes and a path, as images and sounds of Hugging Face: a column of bytes; its names are the paths. */
    private boolean isOfFiles(SchemaNode.GroupNode group) {
        return group.children().size() == 2
                && isOf(group, BYTES, ColumnKind.Form.BYTES)
                && isOf(group, PATH, ColumnKind.Form.STRINGS);
    }

    private boolean isOf(SchemaNode.GroupNode group, String name, ColumnKind.Form form) {
        for (SchemaNode child : group.children()) {
            if (child.name().equals(name)
                    && child.repetitionType() != RepetitionType.REPEATED
                    && child instanceof SchemaNode.PrimitiveNode leaf) {
                ColumnKind kind = ColumnKind.of(schema.getColumn(leaf.columnIndex()), null);
                return kind != null && kind.form() == form;
            }
        }
        return false;
    }

    /** Goes through a node; a repeated one is a list, unless it is an element of a list already. */
    private void visit(
            SchemaNode node, String name, List<String> lists, @Nullable ArrowField field, boolean isElement) {
        List<ListLevel> levels = new ArrayList<>();
        SchemaNode.PrimitiveNode number = numberOf(node, field, isElement, levels);
        SchemaNode element = levels.isEmpty() ? null : levels.get(0).element;
        if (element == null) {
            if (node instanceof SchemaNode.PrimitiveNode leaf) { // a switch over types takes 20 ms to link
                add(leaf, name, lists, field, List.of());
            } else if (node instanceof SchemaNode.GroupNode group) {
                children(group, name, lists, childrenOf(field));
            }
        } else if (number != null) {
            add(number, name, lists, levels.get(levels.size() - 1).elementField, levels);
        } else {
            List<String> more = new ArrayList<>(lists);
            more.add(name);
            visit(element, name + ITEMS, List.copyOf(more), levels.get(0).elementField, true);
        }
    }

    /**
     * A list.
     *
     * @param field the list in the Arrow schema; null if it is not there, or no list
     * @param elementField its element in the Arrow schema; null if that is not there
     */
    private record ListLevel(
            SchemaNode element,
            @Nullable ArrowField field,
            @Nullable ArrowField elementField) {
        int length() {
            return field != null && field.kind() == ArrowField.Kind.FIXED_LISTS ? field.size() : ColumnKind.ANY_LENGTH;
        }
    }

    /** Goes down the lists that begin at a node; returns the leaf at the end of them if it is a number. */
    private SchemaNode.@Nullable PrimitiveNode numberOf(
            SchemaNode node, @Nullable ArrowField field, boolean isElement, List<ListLevel> levels) {
        SchemaNode inner = node;
        ArrowField its = field;
        SchemaNode element = elementOf(inner, isElement);
        while (element != null) {
            ArrowField list =
                    its != null && its.encoding() == null && its.children().size() == 1 ? its : null;
            its = list == null ? null : list.children().get(0);
            levels.add(new ListLevel(element, list, its));
            inner = element;
            element = elementOf(inner, true);
        }
        if (!(inner instanceof SchemaNode.PrimitiveNode leaf)) {
            return null;
        }
        ColumnKind kind = ColumnKind.of(schema.getColumn(leaf.columnIndex()), its);
        return kind != null && kind.isScalar() ? leaf : null;
    }

    private static @Nullable SchemaNode elementOf(SchemaNode node, boolean isElement) {
        if (!isElement && node.repetitionType() == RepetitionType.REPEATED) {
            return node;
        }
        if (!(node instanceof SchemaNode.GroupNode group)) {
            return null;
        }
        if (group.isList()) {
            return group.getListElement();
        }
        boolean isMap = group.isMap()
                && group.children().size() == 1
                && group.children().get(0).repetitionType() == RepetitionType.REPEATED;
        return isMap ? group.children().get(0) : null;
    }

    private static List<ArrowField> childrenOf(@Nullable ArrowField field) {
        if (field == null || field.encoding() != null || field.kind() != ArrowField.Kind.STRUCTS) {
            return List.of();
        }
        return field.children();
    }

    private void add(
            SchemaNode.PrimitiveNode node,
            String name,
            List<String> lists,
            @Nullable ArrowField field,
            List<ListLevel> levels) {
        ColumnSchema column = schema.getColumn(node.columnIndex());
        ColumnKind kind = ColumnKind.of(column, field);
        String objection = "";
        if (lists.size() + levels.size() != column.maxRepetitionLevel()) {
            kind = null;
            objection = "lists of a form that Parquet does not have";
        } else if (kind != null && !levels.isEmpty()) {
            List<Integer> lengths = levels.stream().map(ListLevel::length).toList();
            List<Long> shape = lengths.stream().map(Integer::longValue).toList();
            ArrowField outer = levels.get(0).field;
            TensorType tensor = outer == null ? null : TensorType.of(outer);
            if (tensor != null && tensor.isTransposed()) {
                kind = null;
                objection = tensor.words();
            } else {
                kind = kind.inLists(lengths, tensor == null || levels.size() > 1 ? shape : tensor.shape());
            }
        }
        leaves.add(new Leaf(column, name, lists, kind, objection, false));
    }
}
