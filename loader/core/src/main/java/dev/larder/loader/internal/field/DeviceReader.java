package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.loader.internal.slot.HostSlot;
import dev.larder.loader.internal.slot.OutputArray;
import dev.larder.loader.internal.transform.SampleKernel;
import dev.larder.loader.internal.transform.TransformScratch;
import dev.larder.npy.Dtype;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Prepares the input of a kernel: the control of each sample, and the rows unless the array is resident on the device.
 *
 * <p>Its arrays are the uploaded inputs, not the arrays of batches.
 */
public final class DeviceReader extends FieldReader {
    private static final Dtype INT32 = Dtype.parse("<i4");

    private final SampleRows rows;
    private final String name;
    private final SampleKernel kernel;
    private final boolean staged;
    private final int controlPlace;
    private final long seed;

    /** Prepares rows that the host reads or makes, without the steps of the kernel. */
    DeviceReader(SampleRows rows, String name, SampleKernel kernel, long seed, Place place) {
        super(rows.column(), List.of(rows), outputs(rows, name, kernel), place);
        this.rows = rows;
        this.name = name;
        this.kernel = kernel;
        this.staged = !kernel.rows().located();
        this.controlPlace = kernel.controlInts() == 0 ? -1 : staged ? 1 : 0;
        this.seed = seed;
    }

    private static List<OutputArray> outputs(SampleRows rows, String name, SampleKernel kernel) {
        List<OutputArray> outputs = new ArrayList<>();
        if (!kernel.rows().located()) {
            outputs.add(rows.output(name));
        }
        if (kernel.controlInts() > 0) {
            outputs.add(new OutputArray(name + " control", INT32, kernel.controlInts())); // not a valid array name
        }
        return outputs;
    }

    /** Returns the name of the kernel's array in batches. */
    public String name() {
        return name;
    }

    /** Returns the kernel that makes samples from the prepared arrays. */
    public SampleKernel kernel() {
        return kernel;
    }

    /** Returns the source array. The kernel reads its stored rows. */
    public ArrayView array() {
        return Objects.requireNonNull(rows.source().array());
    }

    /** Returns the index of the slot's array with the stored rows; negative if there is none. */
    public int storedArray() {
        return staged ? firstArray() : -1;
    }

    /** Returns the index of the slot's array with the control; negative if there is none. */
    public int controlArray() {
        return controlPlace < 0 ? -1 : firstArray() + controlPlace;
    }

    @Override
    public long sampleByteSize() {
        return staged ? super.sampleByteSize() : (long) kernel.controlInts() * Integer.BYTES;
    }

    @Override
    public boolean reads() {
        return staged && super.reads();
    }

    @Override
    void prepareRows(HostSlot slot, long[] wanted) {
        for (int i = 0; i < outputs().size(); i++) {
            array(slot, i).resize(slot.size);
        }
    }

    @Override
    public void fill(HostSlot slot, int first, int count, @Nullable Object scratch) {
        Room room = Objects.requireNonNull((Room) scratch);
        if (staged) {
            var unused = write(slot, first, count, array(slot, 0), first, room.rows);
        } else {
            array().address(); // fails if closed; the device would read zeros or other data
        }
        long[] numbers = rows(slot);
        if (kernel.checksRows()) {
            check(slot, numbers, first, count, room);
        }
        if (controlPlace < 0) {
            return;
        }
        UnsafeBuffer control = array(slot, controlPlace).memory();
        long epoch = slot.epoch;
        for (int i = first; i < first + count; i++) {
            Objects.checkIndex(numbers[i], rows.source().rows()); // the device does not check bounds
            kernel.writeControl(numbers[i], seed, epoch, slot.positions[i], room.scratch, control, i);
        }
    }

    private void check(HostSlot slot, long[] numbers, int first, int count, Room room) {
        int length = kernel.transform().storedByteSize();
        for (int i = first; i < first + count; i++) {
            if (staged) {
                kernel.check(array(slot, 0).memory(), i * length);
            } else {
                array().copyRows(numbers, i, 1, room.row, 0);
                kernel.check(room.row, 0);
            }
        }
    }

    @Override
    public Object newScratch() {
        int checked = kernel.checksRows() ? kernel.transform().storedByteSize() : 0;
        return new Room(kernel.transform().newScratch(), new UnsafeBuffer(new byte[checked]), rows.newScratch());
    }

    /** One thread's memory. */
    private record Room(
            TransformScratch scratch,
            UnsafeBuffer row,
            @Nullable Object rows) {}
}
