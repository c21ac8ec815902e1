package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.transform.SampleKernel;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.npy.Dtype;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Prepares rows for a kernel: as they are stored, unless the device has them all, and what the kernel is told of each sample.
 *
 * <p>Its arrays are not those of batches, but what is uploaded for them.
 */
public sealed class DeviceReader extends FieldReader permits MadeDeviceReader {
    private static final Dtype INT32 = Dtype.parse("<i4");

    private final String name;
    private final @Nullable ArrayView array;
    private final SampleKernel kernel;
    private final boolean staged;
    private final int controlPlace;
    private final long seed;

    DeviceReader(
            ArrayView array, String name, SampleKernel kernel, long seed, @Nullable RowLookup lookup, Place place) {
        this(array, stored(array), name, kernel, seed, lookup, place);
    }

    /** Prepares rows that are not those of an array, but are staged as {@code stored} says. */
    DeviceReader(
            @Nullable ArrayView array,
            OutputArray stored,
            String name,
            SampleKernel kernel,
            long seed,
            @Nullable RowLookup lookup,
            Place place) {
        super(stored.name(), outputs(stored, name, kernel), lookup, place);
        this.name = name;
        this.array = array;
        this.kernel = kernel;
        this.staged = !kernel.rows().located();
        this.controlPlace = kernel.controlInts() == 0 ? -1 : staged ? 1 : 0;
        this.seed = seed;
    }

    private static OutputArray stored(ArrayView array) {
        return new OutputArray(array.name(), array.dtype(), Arrays.copyOfRange(array.shape(), 1, array.dimensions()));
    }

    private static List<OutputArray> outputs(OutputArray stored, String name, SampleKernel kernel) {
        List<OutputArray> outputs = new ArrayList<>();
        if (!kernel.rows().located()) {
            outputs.add(new OutputArray(name, stored.dtype(), stored.rowShape()));
        }
        if (kernel.controlInts() > 0) {
            outputs.add(new OutputArray(name + " control", INT32, kernel.controlInts())); // no array can be named so
        }
        return outputs;
    }

    /** Returns how batches call what the kernel makes. */
    public String name() {
        return name;
    }

    /** Returns the kernel that makes samples of what is prepared. */
    public SampleKernel kernel() {
        return kernel;
    }

    /** Returns the array that is read, which has its rows as the kernel takes them. */
    public ArrayView array() {
        return Objects.requireNonNull(array);
    }

    /** Returns which array of the slot has the stored rows; negative if none has. */
    public int storedArray() {
        return staged ? firstArray() : -1;
    }

    /** Returns which array of the slot has the control; negative if none has. */
    public int controlArray() {
        return controlPlace < 0 ? -1 : firstArray() + controlPlace;
    }

    @Override
    long sampleByteSize() {
        return staged ? array().rowByteSize() : (long) kernel.controlInts() * Integer.BYTES;
    }

    @Override
    public boolean isOpen() {
        return array().isOpen();
    }

    @Override
    void prepareRows(HostSlot slot, long[] rows) {
        for (int i = 0; i < outputs().size(); i++) {
            array(slot, i).resize(slot.size);
        }
    }

    @Override
    public void fill(HostSlot slot, int first, int count, @Nullable Object scratch) {
        long[] rows = rows(slot);
        Room room = Objects.requireNonNull((Room) scratch);
        if (staged) {
            stage(slot, rows, first, count, room.made);
        } else {
            array().address(); // fails where it is closed: the device would read zeros, or what nobody vouches for
        }
        if (kernel.checksRows()) {
            check(slot, rows, first, count, room);
        }
        if (controlPlace < 0) {
            return;
        }
        UnsafeBuffer control = array(slot, controlPlace).memory();
        long epoch = slot.epoch;
        for (int i = first; i < first + count; i++) {
            Objects.checkIndex(rows[i], rowCount()); // a device would read whatever lies there
            kernel.writeControl(rows[i], seed, epoch, slot.positions[i], room.scratch, control, i);
        }
    }

    private void check(HostSlot slot, long[] rows, int first, int count, Room room) {
        int length = kernel.transform().storedByteSize();
        for (int i = first; i < first + count; i++) {
            if (staged) {
                kernel.check(array(slot, 0).memory(), i * length);
            } else {
                array().copyRows(rows, i, 1, room.row, 0);
                kernel.check(room.row, 0);
            }
        }
    }

    @Override
    public Object newScratch() {
        int checked = kernel.checksRows() ? kernel.transform().storedByteSize() : 0;
        return new Room(kernel.transform().newScratch(), new UnsafeBuffer(new byte[checked]), newStagingRoom());
    }

    /** Puts rows into the slot's first array of this field. */
    void stage(HostSlot slot, long[] rows, int first, int count, @Nullable Object room) {
        ArrayView from = array();
        from.copyRows(rows, first, count, array(slot, 0).memory(), (int) (first * from.rowByteSize()));
    }

    /** Returns what a thread needs for that. */
    @Nullable
    Object newStagingRoom() {
        return null;
    }

    /** Returns how many rows there are to choose from. */
    long rowCount() {
        return array().rows();
    }

    /** One thread's memory. */
    private record Room(
            TransformScratch scratch,
            UnsafeBuffer row,
            @Nullable Object made) {}
}
