package dev.larder.readers.parquet;

import dev.hardwood.schema.ColumnSchema;
import dev.hardwood.schema.FileSchema;
import dev.hardwood.schema.SchemaNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the columns of one file are called: fields of structs are levels, within lists, too; what lists are wrapped in is left out. */
final class ColumnNames {
    private final FileSchema schema;

    ColumnNames(FileSchema schema) {
        this.schema = schema;
    }

    /** Returns the name of a column; of a part of a map, that of the map. */
    String of(ColumnSchema column) {
        List<String> kept = new ArrayList<>();
        SchemaNode node = schema.getRootNode();
        SchemaNode element = null; // the next node whose fields have names of their own again
        for (String name : column.fieldPath().elements()) {
            SchemaNode above = node;
            if (above instanceof SchemaNode.GroupNode group && group.isMap()) {
                break;
            }
            node = child(above, name);
            if (element == null && above instanceof SchemaNode.GroupNode group && group.isList()) {
                element = group.getListElement();
            }
            if (element == null) {
                kept.add(name);
            } else if (element == node) {
                element = null;
            }
        }
        return String.join("/", kept);
    }

    /** Tells whether a column is a part of a map. */
    boolean isOfMap(ColumnSchema column) {
        SchemaNode node = schema.getRootNode();
        for (String name : column.fieldPath().elements()) {
            if (node instanceof SchemaNode.GroupNode group && group.isMap()) {
                return true;
            }
            node = child(node, name);
        }
        return false;
    }

    private static @Nullable SchemaNode child(@Nullable SchemaNode node, String name) {
        return node instanceof SchemaNode.GroupNode group
                ? group.children().stream()
                        .filter(child -> child.name().equals(name))
                        .findFirst()
                        .orElse(null)
                : null;
    }
}
