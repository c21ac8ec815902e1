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
 * One part of every sample, and its form in batches. Immutable: every method returns another field.
 *
 * <pre>{@code
 * Field.rows("images")                                       // rows of an array, unchanged
 * Field.rows("scene_feat").lookup("scene_id", "scene")      // the row of the sample's scene, found by its key
 * Field.window("tokens", 1024).stride(512)                   // 1,024 neighbouring rows, from every 512th row on
 * Field.padded("obj_feat").toMultipleOf(8)                   // ragged rows, padded to one length; obj_feat.mask marks padding
 * Field.packed("tokens")                                     // ragged rows back to back, with their starts in tokens.offsets
 * Field.rows("images").transform(new Transform().toFloat())       // transformed on the way into the batch
 * Field.rows("masks").transform(crop).together("crop")       // the same random crop as all fields of this group
 * Field.rows("images").transform(decode).computed("decoded", "1")    // computed once, for all processes and later runs
 * Field.texts("caption")                                     // UTF-8 back to back; batch.text("caption", i)
 * Field.texts("caption").padded()                            // … or padded to the longest, with caption.mask
 * Field.files("doc").map(dtype, shape, (bytes, row) -> …)    // your own code turns the bytes of a row into a row
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

    /** Reads the rows of an array, {@code [batch, …]}. */
    public static Field rows(String array) {
        return of(array, Form.ROWS);
    }

    /**
     * Reads windows of {@code length} consecutive rows of an array: tokens, a time series, sound; {@code [batch, length, …]}. The windows
     * are the samples: window {@code i} begins at row {@code i * stride} ({@link #stride}, by default {@code length}), or anywhere ({@link
     * #random}). All fields of windows begin at the same rows, so their arrays must have the same number of rows; {@link #offset} shifts
     * a field. A window that reaches beyond the last row is omitted. With {@link #at}, an array of the dataset has the starts.
     */
    public static Field window(String array, long length) {
        if (length < 1) {
            throw new IllegalArgumentException("a window has at least one row: length=" + length);
        }
        return of(array, Form.WINDOWS).with(draft -> draft.window = new Window(length, length, 0, false, null));
    }

    /**
     * Reads the rows of a ragged column, padded at the end of their first dimension to the longest of the batch: {@code [batch, longest,
     * …]}. {@code NAME.mask}, of {@code |b1}, is true where there is no padding.
     */
    public static Field padded(String column) {
        return of(column, Form.PADDED);
    }

    /**
     * Reads the rows of a ragged column back to back, {@code [sum of lengths, …]}. {@code NAME.offsets}, of {@code <i8}, has the start of
     * each row along the first dimension, and the end of the last one.
     */
    public static Field packed(String column) {
        return of(column, Form.PACKED);
    }

    /** Reads texts: their UTF-8 back to back, and {@code NAME.offsets} in bytes; see {@link Batch#text}. */
    public static Field texts(String column) {
        return of(column, Form.TEXTS);
    }

    /** Reads the raw bytes of a column of files back to back, and {@code NAME.offsets} in bytes. */
    public static Field files(String column) {
        return of(column, Form.FILES);
    }

    /**
     * Reads encoded images of a column of files: JPEG, PNG and the other formats of the JDK's ImageIO. Declare steps with {@link
     * #transform}; the first is {@link Transform#decode(dev.larder.loader.transform.Colours)} as RGB unless another one is declared. EXIF
     * rotation is ignored. An image that cannot be decoded fails its batch, or is skipped: {@link FailurePolicy}.
     */
    public static Field images(String column) {
        return files(column).transform(new Transform().decode(Colours.RGB));
    }

    /** Names the field in batches; by default, it has the name of its array or column. */
    public Field as(String newName) {
        return with(draft -> draft.name = newName);
    }

    /**
     * Pads rows of different lengths to the longest of the batch, as {@link #padded(String)} does: bytes of texts and files, or results of
     * {@link #mapRagged}. If the rows have one length, building the loader fails.
     */
    public Field padded() {
        if (spec.form() == Form.PACKED) {
            throw new IllegalStateException("use Field.padded(column) instead of packed: field=" + name());
        }
        return with(draft -> draft.padding = Objects.requireNonNullElse(draft.padding, Padding.DEFAULT));
    }

    /** Reads the field from one of several zipped datasets ({@link Sources#zip}), by its name; needed if several have it. */
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

    /** Sets the rows between the starts of consecutive windows. */
    public Field stride(long rows) {
        Window window = requireWindow("stride");
        if (rows < 1) {
            throw new IllegalArgumentException("stride must be at least 1: stride=" + rows);
        }
        return with(draft ->
                draft.window = new Window(window.length(), rows, window.offset(), window.random(), window.borders()));
    }

    /**
     * Reads windows from random rows: the same number of windows, with uniform starts from (seed, epoch, position in the epoch) and the
     * loader's seed. All fields of windows have the same starts.
     */
    public Field random() {
        Window window = requireWindow("random");
        return with(draft ->
                draft.window = new Window(window.length(), window.stride(), window.offset(), true, window.borders()));
    }

    /** Shifts each window by this number of rows: targets that are one token ahead of the inputs have an offset of 1. */
    public Field offset(long rows) {
        Window window = requireWindow("offset");
        if (rows < 0) {
            throw new IllegalArgumentException("offset must be at least 0: offset=" + rows);
        }
        return with(draft ->
                draft.window = new Window(window.length(), window.stride(), rows, window.random(), window.borders()));
    }

    /**
     * Reads only windows within one document: {@code offsets} is an array of integers with the first row of each document, and the end of
     * the last one; that of a ragged column is {@code COLUMN/offsets}. Rows at the end of a document that do not fill a window, and short
     * documents, are omitted. Takes 16 bytes of heap for each document, twice as much for random windows.
     */
    public Field within(String offsets) {
        Window window = requireWindow("within");
        return with(draft ->
                draft.window = new Window(window.length(), window.stride(), window.offset(), window.random(), offsets));
    }

    /**
     * Reads at most {@code items} items of each ragged row, from its start: bytes of a file, or of a text, which may cut a character.
     */
    public Field truncate(long items) {
        if (spec.form() == Form.ROWS) {
            throw new IllegalStateException("only ragged rows can be cut: field=" + name());
        }
        if (items < 1) {
            throw new IllegalArgumentException("at least one item must remain: items=" + items);
        }
        return with(draft -> draft.truncateAt = items);
    }

    /** Reads, for each sample, the row with the number in an array of integers, which has one for each sample. */
    public Field at(String rows) {
        return with(draft -> draft.lookup = new Lookup(rows, null));
    }

    /**
     * Reads, for each sample, the row that an index has for its key. {@code keys} is a column of texts or an array of integers, with a key
     * for each sample; a key that the index does not have fails the batch with {@code NOT_FOUND}.
     */
    public Field lookup(String keys, String index) {
        return with(draft -> draft.lookup = new Lookup(keys, index));
    }

    /**
     * Transforms rows on the way into the batch; appends the steps to earlier ones. Steps of ragged rows must change each element in the
     * same way, until {@link #map} makes rows of one shape. Texts and files need such a step first.
     */
    public Field transform(Transform newTransform) {
        boolean replaces = isImages(spec) && beginsWithDecode(newTransform);
        Transform all = replaces ? newTransform : spec.transform().then(newTransform);
        boolean bytes = spec.form() == Form.TEXTS || spec.form() == Form.FILES;
        boolean mapped = !all.steps().isEmpty()
                && (all.steps().get(0) instanceof Step.MapRow || all.steps().get(0) instanceof Step.Decode);
        if (bytes && !mapped) {
            throw new IllegalStateException("texts and files cannot be transformed: field=" + name()
                    + "; first turn them into rows of one shape with map(dtype, shape, function) or decode(colours)");
        }
        return with(draft -> draft.transform = all);
    }

    /** Returns whether decoding is the only declared step. */
    private static boolean isImages(FieldSpec spec) {
        return spec.transform().steps().size() == 1 && beginsWithDecode(spec.transform());
    }

    private static boolean beginsWithDecode(Transform transform) {
        return !transform.steps().isEmpty() && transform.steps().get(0) instanceof Step.Decode;
    }

    /**
     * Computes rows of this dtype and shape from the bytes of rows of any length with your code: see {@link RowFunction}. It runs on the
     * loader's threads; later steps change its results. Batches have {@code [batch, shape…]}.
     */
    public Field map(Dtype dtype, long[] shape, RowFunction function) {
        return transform(new Transform().mapRow(dtype, shape, function));
    }

    /** Does the same as {@link #map(Dtype, long[], RowFunction)} with a function that uses random numbers. */
    public Field map(Dtype dtype, long[] shape, RowFunction.Random function) {
        return transform(new Transform().mapRow(dtype, shape, function));
    }

    /**
     * Computes rows from the bytes of rows. Your code chooses their first dimension, at most that of {@code most}. Batches have them
     * packed, with {@code NAME.offsets}, or, for padded fields, padded to the longest, with {@code NAME.mask}. Slots have room for rows of
     * the shape {@code most}.
     */
    public Field mapRagged(Dtype dtype, long[] most, RaggedFunction function) {
        return transform(new Transform().mapRagged(dtype, most, function));
    }

    /** Does the same as {@link #mapRagged(Dtype, long[], RaggedFunction)} with a function that uses random numbers. */
    public Field mapRagged(Dtype dtype, long[] most, RaggedFunction.Random function) {
        return transform(new Transform().mapRagged(dtype, most, function));
    }

    /**
     * Stores the rows before the first random step in the store under this name. The first process that needs a row computes it; all
     * processes and later runs read it: see {@link dev.larder.client.ComputedRows}. Batches have the same bytes with and without it. It
     * needs a daemon, and memory for all rows, when the loader is built. Rows of another version of the dataset, of other steps, or of
     * another image decoder are stored separately. Texts, files, images and ragged rows first need a step that turns them into rows of
     * one shape, such as {@code decode} with {@code resize}, and is not random. If there is a {@code map} before the first random step, use
     * {@link #computed(String, String)}.
     */
    public Field computed(String newName) {
        return computed(newName, "");
    }

    /**
     * Stores rows as {@link #computed(String)} does, if functions of {@code map} are among the steps before the first random one. Larder
     * cannot compare such code, so change {@code version} when the code computes other rows. These functions must not use random numbers.
     */
    public Field computed(String newName, String version) {
        return computed(new FieldSpec.Kept(newName, version, null));
    }

    /**
     * Stores rows as {@link #computed(String, String)} does. {@code patience} is the wait for a row that another process computes, before
     * this process computes its own; by default 10 s, or a third of the loader's timeout if that is shorter. If a row takes longer, raise
     * it and the loader's timeout. {@code version} may be empty if no user code is among the steps.
     */
    public Field computed(String newName, String version, Duration patience) {
        if (patience.isNegative()) {
            throw new IllegalArgumentException("patience is negative: patience=" + patience);
        }
        return computed(new FieldSpec.Kept(newName, version, patience));
    }

    private Field computed(FieldSpec.Kept kept) {
        if (spec.window() != null || (spec.form() != Form.ROWS && !spec.makesRows())) {
            throw new IllegalStateException("only rows of one length can be stored: field=" + name()
                    + "; declare map(dtype, shape, function) or decode(…) before computed(…)");
        }
        return with(draft -> draft.kept = kept);
    }

    /**
     * Lets the random steps of this field use the same numbers as those of all fields in this group: the crop of an image and that of its
     * mask. By default, the numbers depend on the name of the field in batches, so that two views of one array differ. The n-th random
     * crop or flip of each field is the same, independent of other steps. All fields of a group must have the same random crops and flips
     * in the same order, else {@code build()} throws IllegalArgumentException. The n-th functions of {@code map} get the same numbers,
     * too, but may differ.
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

    /** Returns its name in batches. */
    String name() {
        return spec.name();
    }

    /** Returns the specification for its reader. */
    FieldSpec spec() {
        return spec;
    }

    @Override
    public String toString() {
        return "Field{" + name() + " " + spec.form() + "}";
    }
}
