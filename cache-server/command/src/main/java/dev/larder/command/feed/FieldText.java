package dev.larder.command.feed;

import dev.larder.client.Column;
import dev.larder.loader.Field;
import dev.larder.loader.transform.Transform;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Parses the steps of a field from a command line: {@code truncate(512),padLeft} for ragged rows, {@code window(1024),random} for a long
 * array, {@code at(row)} for rows that are looked up. They have the names and arguments of {@link Field}; steps of {@link Transform} may follow.
 */
public final class FieldText {
    private static final String WINDOW = "window";
    private static final String PACKED = "packed";

    /** Steps that name the form of the field, so they come first. */
    private static final StepTable<Field> FORMS = new StepTable<Field>()
            .add(WINDOW, (field, step) -> Field.window(step.array(), step.whole(0)), "length")
            .add(PACKED, (field, step) -> Field.packed(step.array()));

    private static final StepTable<Field> STEPS = new StepTable<Field>()
            .add("padded", (field, step) -> field.padded())
            .add("padLeft", (field, step) -> field.padLeft())
            .add("toMultipleOf", (field, step) -> field.toMultipleOf(step.whole(0)), "multiple")
            .add("fillValue", (field, step) -> field.fillValue(step.real(0)), "value")
            .add("truncate", (field, step) -> field.truncate(step.whole(0)), "items")
            .add("at", (field, step) -> field.at(step.text(0)), "rows")
            .add("lookup", (field, step) -> field.lookup(step.text(0), step.text(1)), "keys", "index")
            .add("stride", (field, step) -> field.stride(step.whole(0)), "rows")
            .add("offset", (field, step) -> field.offset(step.whole(0)), "rows")
            .add("random", (field, step) -> field.random())
            .add("within", (field, step) -> field.within(step.text(0)), "offsets");

    private FieldText() {}

    /** Returns the names of all steps. */
    public static List<String> names() {
        return Stream.of(FORMS.names(), STEPS.names(), TransformText.STEPS.names())
                .flatMap(List::stream)
                .toList();
    }

    private static Field plain(String name, Column.@Nullable Kind kind) {
        if (kind == null) {
            return Field.rows(name);
        }
        return switch (kind) {
            case RAGGED -> Field.padded(name);
            case STRINGS -> Field.texts(name);
            case BYTES -> Field.files(name);
            case INDEX -> Field.rows(name); // building the loader refuses it
        };
    }

    /**
     * Returns the field of an array, or of a column of this kind, with these steps, if any: by default ragged rows are padded, texts and files
     * are their bytes back to back. Fails with USAGE, which names the wrong step and argument.
     */
    public static Field parse(String name, Column.@Nullable Kind kind, @Nullable String text) {
        Field field = plain(name, kind);
        if (text == null) {
            return field;
        }
        Transform transform = new Transform();
        List<String> steps = StepTable.split(name, text);
        for (int i = 0; i < steps.size(); i++) {
            String step = steps.get(i);
            String stepName = StepTable.nameOf(step);
            if (FORMS.names().contains(stepName)) {
                if (i > 0) {
                    throw StepTable.wrong("a step has to come first", name, step)
                            .remedy("write " + step + ",…");
                }
                field = FORMS.apply(field, name, step);
            } else if (STEPS.names().contains(stepName)) {
                field = STEPS.apply(field, name, step);
            } else if (TransformText.STEPS.names().contains(stepName)) {
                transform = TransformText.STEPS.apply(transform, name, step);
            } else {
                throw StepTable.unknown(name, step, names());
            }
        }
        return transform.steps().isEmpty() ? field : field.transform(transform);
    }
}
