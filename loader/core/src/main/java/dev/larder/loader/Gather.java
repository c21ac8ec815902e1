package dev.larder.loader;

import dev.larder.client.ArrayView;
import dev.larder.error.Failure;
import dev.larder.error.LarderException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Does the tasks that the ring hands out: looks up a batch's rows, or copies rows into a slot. */
final class Gather {
    private final Source source;

    Gather(Source source) {
        this.source = source;
    }

    /** Does a task, and tells the ring how it went. */
    void run(Task task, Ring ring) {
        Slot slot = Objects.requireNonNull(task.slot);
        try {
            if (task.planning) {
                plan(slot);
                slot.planned = true;
                if (task.count < slot.size) {
                    ring.planned(slot);
                }
            }
            copy(slot, task.first, task.count);
            ring.gathered(slot);
        } catch (LarderException failure) {
            ring.failed(slot, failure);
        }
    }

    private void plan(Slot slot) {
        Plan plan = slot.plan();
        long position = plan.position(slot.batch);
        try {
            for (int i = 0; i < slot.size; i++) {
                slot.rows[i] = plan.order().row(position + i);
            }
        } catch (Throwable e) {
            throw failure(slot, Stage.PLAN, e, "sampler failed")
                    .with("position", position)
                    .exception();
        }
        for (int i = 0; i < slot.size; i++) {
            if (slot.rows[i] < 0 || slot.rows[i] >= source.rows()) {
                throw failure(slot, Stage.PLAN, null, "sampler gave a row that does not exist")
                        .with("position", position + i)
                        .with("row", slot.rows[i])
                        .with("rows", source.rows())
                        .exception();
            }
        }
    }

    private void copy(Slot slot, int first, int count) {
        for (int i = 0; i < slot.memory.length; i++) {
            ArrayView array = source.arrays().get(i);
            try {
                array.copyRows(slot.rows, first, count, slot.memory[i], slot.offset(i, first));
            } catch (Throwable e) {
                throw copyFailure(slot, i, first, count, e);
            }
        }
    }

    /** Names the row that cannot be read: copies one by one until one fails. */
    private LarderException copyFailure(Slot slot, int column, int first, int count, Throwable cause) {
        ArrayView array = source.arrays().get(column);
        Failure failure =
                failure(slot, Stage.GATHER, cause, "cannot gather rows").with("array", array.name());
        if (!array.isOpen()) {
            return failure.remedy("the dataset was closed under the loader: close the loader first");
        }
        for (int i = first; i < first + count; i++) {
            try {
                array.copyRows(slot.rows, i, 1, slot.memory[column], slot.offset(column, i));
            } catch (Throwable e) {
                return failure.with("row", slot.rows[i]).exception();
            }
        }
        return failure.with("firstRow", slot.rows[first]).with("count", count).exception();
    }

    private Failure failure(Slot slot, Stage stage, @Nullable Throwable cause, String what) {
        return source.failure(what, stage, cause)
                .with("epoch", slot.plan().epoch())
                .with("batch", slot.batch);
    }
}
