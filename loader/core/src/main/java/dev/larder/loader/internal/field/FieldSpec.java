package dev.larder.loader.internal.field;

import dev.larder.loader.internal.sample.Philox;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Describes one field of every sample to its reader.
 *
 * @param name its name in batches
 * @param padding the padding of rows of different lengths; null if they are packed
 * @param truncateAt maximum number of items to take from a ragged row
 * @param transform the steps, or none
 * @param group the name of the group that shares random draws; empty if the field draws separately
 * @param kept the name of the kept results of the steps before the first random step, if they are kept
 * @param dataset the name of one of several datasets side by side; null if only one of them has the column
 */
public record FieldSpec(
        String column,
        Form form,
        String name,
        @Nullable Padding padding,
        long truncateAt,
        @Nullable Lookup lookup,
        Transform transform,
        String group,
        @Nullable Kept kept,
        @Nullable Window window,
        @Nullable String dataset) {
    /** The layout of a field in batches. */
    public enum Form {
        ROWS,
        WINDOWS,
        PADDED,
        PACKED,
        TEXTS,
        FILES
    }

    /** The padding of ragged rows: the end to pad, the multiple to pad to, and the fill value. */
    public record Padding(boolean left, long multiple, double fillValue) {
        public static final Padding DEFAULT = new Padding(false, 1, 0);
    }

    /**
     * The windows to take from an array.
     *
     * @param length the number of rows in each
     * @param stride the number of rows from one window to the next
     * @param offset the distance from the place of the window to its first row, in rows
     * @param random whether each epoch draws new places for the windows
     * @param borders the array with the offsets of documents, which no window crosses; null if windows may cross documents
     */
    public record Window(
            long length,
            long stride,
            long offset,
            boolean random,
            @Nullable String borders) {
        /** Returns the distance from the place of the window to its end, in rows. */
        long end() {
            return Math.addExact(offset, length);
        }

        /** Describes the settings that windows of one loader must share. */
        String places() {
            return "stride=" + stride + (random ? " random" : "") + (borders == null ? "" : " within=" + borders);
        }
    }

    /** The source of a field's row numbers: an array of rows, or keys in an index. */
    public record Lookup(String keys, @Nullable String index) {}

    /**
     * The name and version of computed rows, and the patience for them.
     *
     * @param version the version of the user's code in their steps; empty if there is none
     * @param patience time limit for a row that another process computes; null to derive it from the loader's timeout
     */
    public record Kept(
            String name, String version, @Nullable Duration patience) {}

    /** The parts of a field that {@link #with} may change. */
    public static final class Draft {
        public String name;
        public @Nullable Padding padding;
        public long truncateAt = Long.MAX_VALUE;
        public @Nullable Lookup lookup;
        public Transform transform = new Transform();
        public String group = "";
        public @Nullable Kept kept;
        public @Nullable Window window;
        public @Nullable String dataset;

        private Draft(String name) {
            this.name = name;
        }

        private FieldSpec field(String column, Form form) {
            return new FieldSpec(
                    column, form, name, padding, truncateAt, lookup, transform, group, kept, window, dataset);
        }
    }

    /** Returns the default description of a field. */
    public static FieldSpec of(String column, Form form) {
        Draft draft = new Draft(column);
        draft.padding = form == Form.PADDED ? Padding.DEFAULT : null;
        return draft.field(column, form);
    }

    /** Returns a changed copy. */
    public FieldSpec with(Consumer<Draft> change) {
        Draft draft = new Draft(name);
        draft.padding = padding;
        draft.truncateAt = truncateAt;
        draft.lookup = lookup;
        draft.transform = transform;
        draft.group = group;
        draft.kept = kept;
        draft.window = window;
        draft.dataset = dataset;
        change.accept(draft);
        return draft.field(column, form);
    }

    /** Returns the span of a window of these fields in rows. */
    static long span(List<FieldSpec> fields) {
        return fields.stream()
                .filter(FieldSpec::hasPlacedWindows)
                .map(FieldSpec::window)
                .filter(Objects::nonNull)
                .mapToLong(Window::end)
                .max()
                .orElse(0);
    }

    /** Describes the windows that are a loader's samples. Returns an empty text if the samples are rows. */
    public static String windows(List<FieldSpec> fields) {
        List<Window> windows = fields.stream()
                .filter(FieldSpec::hasPlacedWindows)
                .map(FieldSpec::window)
                .filter(Objects::nonNull)
                .toList();
        return windows.isEmpty()
                ? ""
                : " of windows(span=" + span(fields) + " " + windows.get(0).places() + ")";
    }

    /** Returns whether its samples are windows at places that the loader chooses, not an array of the dataset. */
    boolean hasPlacedWindows() {
        return window != null && lookup == null;
    }

    /** Returns whether batches consist of stored rows of an array and of steps that a device may do. */
    public boolean isStored() {
        return form == Form.ROWS && kept == null && !makesRows();
    }

    /** Returns whether a step makes rows from bytes of any length. */
    public boolean makesRows() {
        return RowSteps.of(transform).maker() != null;
    }

    /** Returns the number of steps before the first random one. */
    int stepsToKeep() {
        List<Step> steps = transform.steps();
        int count = 0;
        while (count < steps.size() && !steps.get(count).isRandom()) {
            count++;
        }
        return count;
    }

    /** Returns the random crops and flips in the order of the transform. */
    List<Step> randomMoves() {
        return transform.steps().stream()
                .filter(step -> step instanceof Step.RandomCrop
                        || step instanceof Step.RandomFlip
                        || step instanceof Step.RandomResizedCrop)
                .toList();
    }

    /** Returns the source of random draws, derived from the loader's seed. */
    long transformSeed(long seed) {
        return Philox.seedFor(seed, group.isEmpty() ? "field " + name : "group " + group);
    }
}
