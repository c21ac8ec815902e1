package dev.larder.loader.internal.field;

import dev.larder.loader.internal.sample.Philox;
import dev.larder.loader.internal.slot.Collation;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.SlotArray;
import dev.larder.loader.internal.transform.StepRandom;
import dev.larder.loader.transform.BatchFunction;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Runs the user's code on batches that all fields have filled. Like a field, it makes room for its declared arrays. One thread collates
 * a batch, after the last sample.
 */
public final class Collator extends FieldReader {
    private final BatchFunction function;
    private final long seed;

    Collator(Collation collation, long seed, Place place) {
        super("collate", List.of(), collation.outputs(), place);
        this.function = collation.function();
        this.seed = Philox.seedFor(seed, "collate");
    }

    /** Changes a batch. */
    public void collate(HostSlot slot, @Nullable Object scratch) {
        if (slot.size > 0) {
            Room room = Objects.requireNonNull((Room) scratch);
            room.slot = slot;
            room.random.begin(seed, slot.epoch, slot.positions[0], 0);
            function.apply(room, room.random);
        }
    }

    @Override
    public boolean runsUserCode() {
        return true;
    }

    @Override
    public boolean isTransforming() {
        return true;
    }

    @Override
    public @Nullable String decoder() {
        return null;
    }

    @Override
    public long sampleByteSize() {
        return 0;
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    void prepareRows(HostSlot slot, long[] rows) {
        for (int i = 0; i < outputs().size(); i++) {
            SlotArray array = array(slot, i);
            array.resize(slot.size);
            array.filled.setMemory(
                    0, array.filled.capacity(), (byte) 0); // elements that the function does not write are 0
        }
    }

    @Override
    public void fill(HostSlot slot, int first, int count, @Nullable Object scratch) {}

    @Override
    public Object newScratch() {
        return new Room();
    }

    /** The arrays that one thread passes to the function. */
    private static final class Room implements BatchFunction.Arrays {
        private final StepRandom random = new StepRandom();
        private @Nullable HostSlot slot;

        private HostSlot slot() {
            return Objects.requireNonNull(slot);
        }

        @Override
        public int size() {
            return slot().size;
        }

        @Override
        public long row(int sample) {
            return slot().rows[Objects.checkIndex(sample, size())];
        }

        @Override
        public ByteBuffer array(String name) {
            return find(name).filledBytes();
        }

        @Override
        public long dimension(String name, int number) {
            return find(name).shape[number];
        }

        private SlotArray find(String name) {
            SlotArray[] arrays = slot().arrays;
            for (SlotArray array : arrays) {
                if (array.description().name().equals(name)) {
                    return array;
                }
            }
            throw new IllegalArgumentException("batch has no such array: name=" + name + " names="
                    + Arrays.stream(arrays).map(SlotArray::description).toList());
        }
    }
}
