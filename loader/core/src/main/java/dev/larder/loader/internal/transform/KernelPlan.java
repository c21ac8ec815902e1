package dev.larder.loader.internal.transform;

import dev.larder.npy.Dtype;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The work of a kernel on a sample: optionally creates vectors of class numbers or moves elements, then changes each element.
 *
 * @param oneHot creates the elements, if present
 * @param mover moves the elements, if present
 * @param arithmetic changes the elements, if present
 * @param border the border around moved pictures, if it differs from the result for zeros
 * @param count the number of output elements
 * @param storedItemSize the bytes of an element before it is changed
 * @param itemSize the bytes of an output element
 */
record KernelPlan(
        Pass.@Nullable OneHot oneHot,
        @Nullable Mover mover,
        @Nullable Arithmetic arithmetic,
        @Nullable Border border,
        int count,
        int storedItemSize,
        int itemSize) {
    /** The numbers of more channels would not fit into the constant memory that every device must have. */
    private static final int MAX_CONSTANTS = 4096;

    /** Creates a plan for one pass, optionally after class numbers; returns null if one kernel cannot do it. */
    static @Nullable KernelPlan of(CompiledTransform program) {
        List<Pass> passes = program.passes();
        Pass first = passes.get(0);
        KernelPlan plan = null;
        if (first instanceof Pass.OneHot oneHot) {
            plan = ofVectors(oneHot, passes);
        } else if (passes.size() == 1) {
            plan = ofPicked(first, program.stored(), program.dtype());
        }
        return plan == null || plan.itemSize * plan.count == 0 || plan.constants() > MAX_CONSTANTS ? null : plan;
    }

    private static @Nullable KernelPlan ofVectors(Pass.OneHot oneHot, List<Pass> passes) {
        int count = oneHot.count() * oneHot.classes();
        if (passes.size() == 1) {
            return new KernelPlan(oneHot, null, null, null, count, Float.BYTES, Float.BYTES);
        }
        Pass.Picked picked = passes.size() == 2 ? picked(passes.get(1)) : null;
        if (picked == null || moves(picked.mover())) {
            return null;
        }
        Arithmetic arithmetic = arithmetic(picked.elements());
        int itemSize = arithmetic == null ? Float.BYTES : arithmetic.result().byteSize();
        return new KernelPlan(oneHot, null, arithmetic, null, count, Float.BYTES, itemSize);
    }

    private static @Nullable KernelPlan ofPicked(Pass pass, Dtype stored, Dtype result) {
        Pass.Picked picked = picked(pass);
        if (picked == null) {
            return null;
        }
        Mover mover = moves(picked.mover()) ? picked.mover() : null;
        if (mover != null && mover.from().planar()) {
            return null; // elements that an earlier pass moved
        }
        Arithmetic arithmetic = arithmetic(picked.elements());
        return new KernelPlan(
                null, mover, arithmetic, picked.border(), picked.count(), stored.itemSize(), result.itemSize());
    }

    private static Pass.@Nullable Picked picked(Pass pass) {
        if (pass instanceof Pass.Looked looked) {
            return looked.plain();
        }
        return pass instanceof Pass.Picked picked ? picked : null;
    }

    private static boolean moves(@Nullable Mover mover) {
        return mover != null
                && (!mover.moves().isEmpty()
                        || mover.from().planar() != mover.to().planar());
    }

    private static @Nullable Arithmetic arithmetic(ElementOperation elements) {
        if (elements instanceof ElementOperation.LookedUp lookedUp) {
            return lookedUp.arithmetic();
        }
        return elements instanceof ElementOperation.Computed computed ? computed.arithmetic() : null;
    }

    private int constants() {
        int constants = border == null ? 0 : border.values().length;
        if (arithmetic != null) {
            for (Arithmetic.Operation operation : arithmetic.operations()) {
                constants += operation instanceof Arithmetic.Operation.Center center ? center.means().length : 0;
            }
        }
        return constants;
    }

    /** Returns whether the placement differs from sample to sample. */
    boolean isDrawn() {
        return mover != null && mover.moves().stream().anyMatch(move -> move instanceof Move.Drawn);
    }

    /** Returns whether there may be a border. */
    boolean isBordered() {
        return mover != null
                && mover.moves().stream()
                        .anyMatch(move -> move instanceof Move.RandomCrop crop
                                && crop.step().padding() > 0);
    }

    boolean computes() {
        return arithmetic != null && !arithmetic.operations().isEmpty();
    }

    boolean needsDoubles() {
        return arithmetic != null
                && arithmetic.operations().stream()
                        .anyMatch(operation -> operation instanceof Arithmetic.Operation.Convert convert
                                && (convert.from() == NumberType.FLOAT64 || convert.to() == NumberType.FLOAT64));
    }
}
