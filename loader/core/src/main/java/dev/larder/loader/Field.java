package dev.larder.loader;

import dev.larder.loader.internal.field.FieldSpec;
import dev.larder.loader.internal.field.FieldSpec.Draft;
import dev.larder.loader.internal.field.FieldSpec.Form;
import dev.larder.loader.internal.field.FieldSpec.Lookup;
import dev.larder.loader.internal.field.FieldSpec.Padding;
import dev.larder.loader.internal.field.FieldSpec.Window;
import dev.larder.loader.transform.Colours;
import dev.larder.loader.transform.RaggedFunction;
import dev.larder.loader.transform.RowFunction;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Describes one part of every sample, and how batches hold it. Immutable: every method returns another field.
 *
 * <pre>{@code
 * Field.rows("images")                                       // rows of an array, as they are
 * Field.rows("scene_feat").lookup("scene_id", "scene")      // the row of the sample's scene, found by its key
 * Field.window("tokens", 1024).stride(512)                   // 1,024 neighbouring rows, from every 512th row on
 * Field.padded("obj_feat").toMultipleOf(8)                   // ragged rows, equally long; obj_feat.mask says what is padding
 * Field.packed("tokens")                                     // ragged rows back to back; tokens.offsets says where each begins
 * Field.rows("images").transform(new Transform().toFloat())       // changed on their way into the batch
 * Field.rows("masks").transform(crop).together("crop")       // the same random crop as all fields of this group
 * Field.rows("images").transform(decode).computed("decoded", "1")    // computed once, for all processes and later runs
 * Field.texts("caption")                                     // UTF-8 back to back; batch.text("caption", i)
 * Field.texts("caption").padded()                            // … or padded to the longest, with caption.mask
 * Field.files("doc").map(dtype, shape, (bytes, row) -> …)    // your own code from the bytes of a row to a row
 * Field.images("image").transform(new Transform().randomResizedCrop(224, 224).randomFlip(0.5f).toFloat())
 * }</pre>
 */
public final class Field {
    private final FieldSpec spec;

    private Field(FieldSpec spec) {
        this.spec = spec;
    }

    private Field with(Consumer<Draft> change) {
        return new Field(spec.with(change));
    }

    private static Field of(String column, Form form) {
        return new Field(FieldSpec.of(column, form));
    }

    /** Takes the rows of an array; batches have them one after the other, {@code [batch, …]}. */
    public static Field rows(String array) {
        return of(array, Form.ROWS);
    }

    /**
     * Takes windows of so many neighbouring rows of an array of any number of dimensions: tokens, a time series, sound. Batches
     * have them one after the other, {@code [batch, length, …]}. The windows are the loader's samples: window {@code i} begins at row
     * {@code i * stride} ({@link #stride}, by default {@code length}), or anywhere ({@link #random}). All fields of windows begin at the same
     * places, so that they go together: their arrays have equally many rows, and {@link #offset} shifts one against the others. A window
     * whose fields would reach beyond the last row is left out. With {@link #at}, an array of the dataset says where each begins.
     */
    public static Field window(String array, long length) {
        if (length < 1) {
            throw new IllegalArgumentException("a window has at least one row: length=" + length);
        }
        return of(array, Form.WINDOWS).with(draft -> draft.window = new Window(length, length, 0, false, null));
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

    /**
     * Takes encoded images of a column of files: JPEG, PNG and what else the JDK's ImageIO reads. {@link #transform}
     * says what becomes of them; {@link Transform#decode(dev.larder.loader.transform.Colours)} as RGB is its first step
     * where it does not begin with that. EXIF rotation is ignored. An image that cannot be
     * decoded fails its batch, or is left out: {@link FailurePolicy}.
     */
    public static Field images(String column) {
        return files(column).transform(new Transform().decode(Colours.RGB));
    }

    /** Names the field in batches; without it, it has the name of its array or column. */
    public Field as(String newName) {
        return with(draft -> draft.name = newName);
    }

    /**
     * Pads rows of different lengths to the longest of the batch, as {@link #padded(String)} does: texts and files byte
     * by byte, or what {@link #mapRagged} makes. Of a field whose rows are of one length it is refused when the loader is
     * built.
     */
    public Field padded() {
        if (spec.form() == Form.PACKED) {
            throw new IllegalStateException("use Field.padded(column) instead of packed: field=" + name());
        }
        return with(draft -> draft.padding = Objects.requireNonNullElse(draft.padding, Padding.DEFAULT));
    }

    /** Reads the field from one of several datasets side by side ({@link Sources#zip}), by its name; needed where several have it. */
    public Field from(String dataset) {
        return with(draft -> draft.dataset = dataset);
    }

    /** Pads at the start of the first dimension. */
    public Field padLeft() {
        Padding padding = requirePadded("padLeft");
        return with(draft -> draft.padding = new Padding(true, padding.multiple(), padding.fillValue()));
    }

    /** Pads to a length that is a multiple of this. */
    public Field toMultipleOf(int newMultiple) {
        Padding padding = requirePadded("toMultipleOf");
        if (newMultiple < 1) {
            throw new IllegalArgumentException("multiple must be at least 1: multiple=" + newMultiple);
        }
        return with(draft -> draft.padding = new Padding(padding.left(), newMultiple, padding.fillValue()));
    }

    /** Pads with this number instead of zero. */
    public Field fillValue(double newFillValue) {
        Padding padding = requirePadded("fillValue");
        return with(draft -> draft.padding = new Padding(padding.left(), padding.multiple(), newFillValue));
    }

    /** Lets a window begin so many rows after the one before. */
    public Field stride(long rows) {
        Window window = requireWindow("stride");
        if (rows < 1) {
            throw new IllegalArgumentException("stride must be at least 1: stride=" + rows);
        }
        return with(draft ->
                draft.window = new Window(window.length(), rows, window.offset(), window.random(), window.borders()));
    }

    /**
     * Takes windows from anywhere: as many as there would be otherwise, each place as likely as any other, drawn by (seed, epoch,
     * place in the epoch) with the loader's seed. All fields of windows are drawn together.
     */
    public Field random() {
        Window window = requireWindow("random");
        return with(draft ->
                draft.window = new Window(window.length(), window.stride(), window.offset(), true, window.borders()));
    }

    /** Takes each window from so many rows after its place on: targets that are one token ahead of the inputs have an offset of 1. */
    public Field offset(long rows) {
        Window window = requireWindow("offset");
        if (rows < 0) {
            throw new IllegalArgumentException("offset must be at least 0: offset=" + rows);
        }
        return with(draft ->
                draft.window = new Window(window.length(), window.stride(), rows, window.random(), window.borders()));
    }

    /**
     * Takes windows that lie within one document each: {@code offsets} is an array of whole numbers that says at which row each document
     * begins, and where the last one ends; that of a ragged column is {@code COLUMN/offsets}. What a document has no room for at its end,
     * and documents that are too short, are left out. Takes 16 bytes of heap a document, and the same again for random windows.
     */
    public Field within(String offsets) {
        Window window = requireWindow("within");
        return with(draft ->
                draft.window = new Window(window.length(), window.stride(), window.offset(), window.random(), offsets));
    }

    /**
     * Takes at most so many items of a row of a ragged column, from its start; bytes of a text, which may part a
     * character, or of a file.
     */
    public Field truncate(long items) {
        if (spec.form() == Form.ROWS) {
            throw new IllegalStateException("only ragged rows can be cut: field=" + name());
        }
        if (items < 1) {
            throw new IllegalArgumentException("at least one item must be left: items=" + items);
        }
        return with(draft -> draft.truncateAt = items);
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
     * Transforms rows on their way into the batch: adds these steps to those that were declared before. For ragged rows, steps must change
     * elements one by one, all in the same way, until one makes rows of one shape of them: {@link #map}. Texts and
     * files need such a step first.
     */
    public Field transform(Transform newTransform) {
        boolean replaces = isImages(spec) && beginsWithDecode(newTransform);
        Transform all = replaces ? newTransform : spec.transform().then(newTransform);
        boolean bytes = spec.form() == Form.TEXTS || spec.form() == Form.FILES;
        boolean mapped = !all.steps().isEmpty()
                && (all.steps().get(0) instanceof Step.MapRow || all.steps().get(0) instanceof Step.Decode);
        if (bytes && !mapped) {
            throw new IllegalStateException("texts and files cannot be transformed: field=" + name()
                    + "; map(dtype, shape, function) or decode(colours) first makes rows of one shape of them");
        }
        return with(draft -> draft.transform = all);
    }

    /** Tells whether nothing but decoding was declared. */
    private static boolean isImages(FieldSpec spec) {
        return spec.transform().steps().size() == 1 && beginsWithDecode(spec.transform());
    }

    private static boolean beginsWithDecode(Transform transform) {
        return !transform.steps().isEmpty() && transform.steps().get(0) instanceof Step.Decode;
    }

    /**
     * Makes rows of this type and shape of the bytes of rows, whatever their length, by the user's code: see {@link
     * RowFunction}. Runs in the loader's threads; steps declared after it change what comes out. Batches have {@code
     * [batch, shape…]}.
     */
    public Field map(Dtype dtype, long[] shape, RowFunction function) {
        return transform(new Transform().mapRow(dtype, shape, function));
    }

    /** Does the same as {@link #map(Dtype, long[], RowFunction)} with a function that draws random numbers. */
    public Field map(Dtype dtype, long[] shape, RowFunction.Random function) {
        return transform(new Transform().mapRow(dtype, shape, function));
    }

    /**
     * Makes rows of the bytes of rows whose first dimension the user's code says, at most that of {@code most}. Batches
     * have them packed, with {@code NAME.offsets}, or, of padded fields, as long as the longest, with {@code
     * NAME.mask}. Slots have room for the most.
     */
    public Field mapRagged(Dtype dtype, long[] most, RaggedFunction function) {
        return transform(new Transform().mapRagged(dtype, most, function));
    }

    /** Does the same as {@link #mapRagged(Dtype, long[], RaggedFunction)} with a function that draws random numbers. */
    public Field mapRagged(Dtype dtype, long[] most, RaggedFunction.Random function) {
        return transform(new Transform().mapRagged(dtype, most, function));
    }

    /**
     * Keeps the rows as they are before the first random step in the store, under this name: whoever comes first computes a row, and
     * all others read it, in whatever process, now and in later runs; see {@link dev.larder.client.ComputedRows}. Batches are the same
     * bytes with it and without. It needs room for all rows, on which the daemon decides when the loader is built, and a daemon only
     * then. Rows of another version of the dataset, of other steps, or of another image decoder, are others, kept beside these. Texts,
     * files, images and ragged rows need a step first that makes rows of one shape of them, such as {@code decode} with {@code resize},
     * and it may not be random. Not with {@code map} before the first random step: see {@link #computed(String, String)}.
     */
    public Field computed(String newName) {
        return computed(newName, "");
    }

    /**
     * Keeps rows as {@link #computed(String)} does, where functions given to {@code map} are among the steps before the first random one.
     * Nothing can be seen of what such code does, so {@code version} says it: give another one when the code computes other rows. These
     * functions may not draw random numbers.
     */
    public Field computed(String newName, String version) {
        return computed(new FieldSpec.Kept(newName, version, null));
    }

    /**
     * Keeps rows as {@link #computed(String, String)} does, and says how long to wait for a row that another process computes, before it
     * is computed for this one alone; without it 10 s, or a third of the loader's timeout where that is shorter. Give more where a row
     * takes longer, and the loader a longer timeout then. {@code version} may be empty where no user code is among the steps.
     */
    public Field computed(String newName, String version, Duration patience) {
        if (patience.isNegative()) {
            throw new IllegalArgumentException("patience is negative: patience=" + patience);
        }
        return computed(new FieldSpec.Kept(newName, version, patience));
    }

    private Field computed(FieldSpec.Kept kept) {
        if (spec.window() != null || (spec.form() != Form.ROWS && !spec.makesRows())) {
            throw new IllegalStateException("only rows of one length can be kept: field=" + name()
                    + "; declare map(dtype, shape, function) or decode(…) before computed(…)");
        }
        return with(draft -> draft.kept = kept);
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
            throw new IllegalArgumentException("a group needs a name: field=" + name());
        }
        return with(draft -> draft.group = newGroup);
    }

    private Window requireWindow(String what) {
        Window window = spec.window();
        if (window == null) {
            throw new IllegalStateException(what + " is for windows: field=" + name());
        }
        return window;
    }

    private Padding requirePadded(String what) {
        Padding padding = spec.padding();
        if (padding == null) {
            throw new IllegalStateException(what + " is for padded fields: field=" + name());
        }
        return padding;
    }

    /** Returns how batches call it. */
    String name() {
        return spec.name();
    }

    /** Returns what its reader has to know. */
    FieldSpec spec() {
        return spec;
    }

    @Override
    public String toString() {
        return "Field{" + name() + " " + spec.form() + "}";
    }
}
