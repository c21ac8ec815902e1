package dev.larder.readers.parquet;

import dev.hardwood.schema.ColumnSchema;
import dev.hardwood.schema.FileSchema;
import dev.hardwood.schema.SchemaNode;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** The names of the columns of one file: fields of structs are levels, in lists as well; the groups that wrap elements of lists are left out. */
final class ColumnNames {
    private final String[] names;
    private final BitSet ofMaps = new BitSet();

    ColumnNames(FileSchema schema) {
        this.names = new String[schema.getColumnCount()];
        visit(schema.getRootNode(), "", null, false);
    }

    /**
     * Names all columns below a node.
     *
     * @param element the next node below whose fields have names of their own again, null if these have
     */
    private void visit(SchemaNode node, String name, @Nullable SchemaNode element, boolean isOfMap) {
        switch (node) {
            case SchemaNode.PrimitiveNode leaf -> {
                names[leaf.columnIndex()] = name;
                ofMaps.set(leaf.columnIndex(), isOfMap);
            }
            case SchemaNode.GroupNode group -> {
                SchemaNode unnamed = element == null && group.isList() ? group.getListElement() : element;
                boolean areOfMap = isOfMap || group.isMap();
                for (SchemaNode child : group.children()) {
                    boolean isNamed = unnamed == null && !areOfMap;
                    String path = isNamed ? (name.isEmpty() ? "" : name + "/") + child.name() : name;
                    visit(child, path, child == unnamed ? null : unnamed, areOfMap);
                }
            }
        }
    }

    /** Returns the name of a column; of a part of a map, that of the map. */
    String of(ColumnSchema column) {
        return names[column.columnIndex()];
    }

    /** Returns whether a column is a part of a map. */
    boolean isOfMap(ColumnSchema column) {
        return ofMaps.get(column.columnIndex());
    }
}
