package dev.larder.server.source.arrow;

import dev.larder.reader.Selection;
import dev.larder.reader.arrow.ArrowField;
import dev.larder.reader.arrow.ArrowField.Kind;
import dev.larder.server.source.ColumnArrays;
import java.util.List;

/** Tells which fields of a schema are wanted; of a struct some parts may be. */
final class FieldChoice {
    private final Selection.Table search;

    FieldChoice(Selection.Table search) {
        this.search = search;
    }

    /** Returns whether a field is wanted, or a part of it. */
    boolean takes(String name, ArrowField field) {
        if (search.wants(name)) {
            return true;
        }
        List<ArrowField> parts = parts(field);
        for (int i = 0; i < parts.size(); i++) {
            if (takes(nameOf(name, field, i), parts.get(i))) {
                return true;
            }
        }
        return false;
    }

    /** Takes note of what a field is called, and all that it is made of. */
    void note(String name, ArrowField field) {
        if (search.isForAll()) {
            return;
        }
        search.note(name);
        List<ArrowField> parts = parts(field);
        for (int i = 0; i < parts.size(); i++) {
            note(nameOf(name, field, i), parts.get(i));
        }
    }

    /** Returns the fields that become columns of their own. */
    private static List<ArrowField> parts(ArrowField field) {
        if (field.encoding() != null) {
            return List.of();
        }
        return switch (field.kind()) {
            case STRUCTS -> FilesColumn.isSuch(field) ? List.of() : field.children();
            case LISTS, FIXED_LISTS -> field.isListOfNumbers() ? List.of() : field.children();
            default -> List.of();
        };
    }

    /** Returns what a part of a field is called. */
    static String nameOf(String name, ArrowField field, int part) {
        return field.kind() == Kind.STRUCTS
                ? name + "/" + ColumnArrays.cleanName(field.children().get(part).name(), "field" + part)
                : name + ItemsColumn.ITEMS;
    }
}
