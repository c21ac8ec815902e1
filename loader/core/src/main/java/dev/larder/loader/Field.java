package dev.larder.loader;

import dev.larder.loader.sample.Philox;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Describes one part of every sample, and how batches hold it. Immutable: every method returns another field.
 *
 * <pre>{@code
 * Field.rows("images")                                       // rows of an array, as they are
 * Field.rows("scene_feat").lookup("scene_id", "scene")      // the row of the sample's scene, found by its key
 * Field.padded("obj_feat").toMultipleOf(8)                   // ragged rows, equally long; obj_feat.mask says what is padding
 * Field.packed("tokens")                                     // ragged rows back to back; tokens.offsets says where each begins
 * Field.rows("images").transform(Transforms.toFloat())       // changed on their way into the batch
 * Field.rows("masks").transform(crop).together("crop")       // the same random crop as all fields of this group
 * Field.texts("caption")                                     // UTF-8 back to back; batch.text("caption", i)
 * }</pre>
 */
public final class Field {
    /** How batches hold a field. */
    enum Form {
        ROWS,
        PADDED,
        PACKED,
        TEXTS,
        FILES
    }

    /** Where the row of a field is found: in an array of rows, or by keys in an index. */
    record Lookup(String keys, @Nullable String index) {}

    private final String column;
    private final Form form;
    private final String name;
    private final boolean paddedLeft;
    private final long multiple;
    private final long atMost;
    private final double fillValue;
    private final @Nullable Lookup lookup;
    private final @Nullable Transform transform;
    private final String group;

    private Field(Draft draft) {
        this.column = draft.column;
        this.form = draft.form;
        this.name = draft.name;
        this.paddedLeft = draft.paddedLeft;
        this.multiple = draft.multiple;
        this.atMost = draft.atMost;
        this.fillValue = draft.fillValue;
        this.lookup = draft.lookup;
        this.transform = draft.transform;
        this.group = draft.group;
    }

    private static Field of(String column, Form form) {
        return new Field(new Draft(column, form));
    }

    /** Takes the rows of an array; batches have them one after the other, {@code [batch, …]}. */
    public static Field rows(String array) {
        return of(array, Form.ROWS);
    }

    /**
     * Takes the rows of a ragged column and pads them at the end of their first dimension, to the longest of the batch:
     * {@code [batch, longest, …]}. {@code NAME.mask}, of {@code |b1}, is true where there is no padding.
     */
    public static Field padded(String column) {
        return of(column, Form.PADDED);
    }

    /**
     * Takes the rows of a ragged column back to back, {@code [sum of lengths, …]}. {@code NAME.offsets}, of {@code <i8} and one
     * longer than the batch, says where each begins along the first dimension, and where the last one ends.
     */
    public static Field packed(String column) {
        return of(column, Form.PACKED);
    }

    /** Takes texts: their UTF-8 back to back, and {@code NAME.offsets} in bytes; see {@link Batch#text}. */
    public static Field texts(String column) {
        return of(column, Form.TEXTS);
    }

    /** Takes the raw bytes of a column of files back to back, and {@code NAME.offsets} in bytes. */
    public static Field files(String column) {
        return of(column, Form.FILES);
    }

    /** Names the field in batches; without it, it has the name of its array or column. */
    public Field as(String newName) {
        return with(draft -> draft.name = newName);
    }

    /** Pads at the start of the first dimension. */
    public Field padLeft() {
        requirePadded("padLeft");
        return with(draft -> draft.paddedLeft = true);
    }

    /** Pads to a length that is a multiple of this. */
    public Field toMultipleOf(int newMultiple) {
        requirePadded("toMultipleOf");
        if (newMultiple < 1) {
            throw new IllegalArgumentException("multiple must be at least 1: multiple=" + newMultiple);
        }
        return with(draft -> draft.multiple = newMultiple);
    }

    /** Pads with this number instead of zero. */
    public Field fillValue(double newFillValue) {
        requirePadded("fillValue");
        return with(draft -> draft.fillValue = newFillValue);
    }

    /** Takes at most so many items of a row of a ragged column, from its start. */
    public Field truncate(long items) {
        if (form != Form.PADDED && form != Form.PACKED) {
            throw new IllegalStateException("only ragged rows can be cut: field=" + name);
        }
        if (items < 1) {
            throw new IllegalArgumentException("at least one item must be left: items=" + items);
        }
        return with(draft -> draft.atMost = items);
    }

    /** Takes, for each sample, the row that an array of whole numbers says; that array has a number for each sample. */
    public Field at(String rows) {
        return with(draft -> draft.lookup = new Lookup(rows, null));
    }

    /**
     * Takes, for each sample, the row that an index has for its key. {@code keys} is a column of texts or an array of whole
     * numbers, with a key for each sample; one that the index does not have fails the batch with {@code NOT_FOUND}.
     */
    public Field lookup(String keys, String index) {
        return with(draft -> draft.lookup = new Lookup(keys, index));
    }

    /**
     * Transforms rows on their way into the batch. For ragged rows, steps must change elements one by one, all in the same way.
     */
    public Field transform(Transform newTransform) {
        if (form == Form.TEXTS || form == Form.FILES) {
            throw new IllegalStateException("texts and files cannot be transformed: field=" + name);
        }
        return with(draft -> draft.transform = newTransform);
    }

    /**
     * Has the random steps of this field's transform draw the same numbers as those of all fields with this group's name: the crop
     * of an image and that of its mask. By default each field draws for itself, by its name in batches, so that two views of one
     * array differ. The n-th random crop or flip of each field draws alike, whatever other steps stand between them. All fields of a
     * group must have the same random crops and flips in the same order, else {@code build()} throws IllegalArgumentException. The
     * n-th function given to {@code map} draws alike, too, but fields may have different ones.
     */
    public Field together(String newGroup) {
        if (newGroup.isEmpty()) {
            throw new IllegalArgumentException("a group needs a name: field=" + name);
        }
        return with(draft -> draft.group = newGroup);
    }

    private void requirePadded(String what) {
        if (form != Form.PADDED) {
            throw new IllegalStateException(what + " is for padded fields: field=" + name);
        }
    }

    private Field with(java.util.function.Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return new Field(draft);
    }

    String column() {
        return column;
    }

    Form form() {
        return form;
    }

    String name() {
        return name;
    }

    boolean isPaddedLeft() {
        return paddedLeft;
    }

    long multiple() {
        return multiple;
    }

    long atMost() {
        return atMost;
    }

    double fillValue() {
        return fillValue;
    }

    @Nullable
    Lookup lookup() {
        return lookup;
    }

    @Nullable
    Transform transform() {
        return transform;
    }

    /** Returns the name of the group that draws together; empty where the field draws for itself. */
    String group() {
        return group;
    }

    /** Returns the random crops and flips in the order of the transform. */
    List<Step> randomMoves() {
        return transform == null
                ? List.of()
                : transform.steps().stream()
                        .filter(step -> step instanceof Step.RandomCrop || step instanceof Step.RandomFlip)
                        .toList();
    }

    /** Returns what random steps draw from, by the loader's seed. */
    long transformSeed(long seed) {
        return Philox.seedFor(seed, group.isEmpty() ? "field " + name : "group " + group);
    }

    @Override
    public String toString() {
        return "Field{" + name + " " + form + "}";
    }

    private static final class Draft {
        final String column;
        final Form form;
        String name;
        boolean paddedLeft;
        long multiple = 1;
        long atMost = Long.MAX_VALUE;
        double fillValue;

        @Nullable
        Lookup lookup;

        @Nullable
        Transform transform;

        String group = "";

        Draft(String column, Form form) {
            this.column = column;
            this.form = form;
            this.name = column;
        }

        Draft(Field field) {
            this(field.column, field.form);
            this.name = field.name;
            this.paddedLeft = field.paddedLeft;
            this.multiple = field.multiple;
            this.atMost = field.atMost;
            this.fillValue = field.fillValue;
            this.lookup = field.lookup;
            this.transform = field.transform;
            this.group = field.group;
        }
    }
}
