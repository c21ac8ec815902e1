package dev.larder.loader.internal.upload;

import dev.larder.loader.internal.field.DeviceReader;
import dev.larder.loader.internal.field.FieldReader;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.slot.OutputArray;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One array of the batches on a device, and its inputs.
 *
 * @param description its name, dtype and row shape
 * @param uploaded index of the array in the host slot that holds its bytes, or the stored rows for the kernel; negative if none
 * @param control index of the array in the host slot that holds the kernel's control; negative if none
 * @param reader the reader that provides its kernel; absent if the bytes are uploaded unchanged
 */
record DeviceOutput(
        OutputArray description,
        int uploaded,
        int control,
        @Nullable DeviceReader reader) {
    /** Lists the arrays of batches in the order of the fields. */
    static List<DeviceOutput> of(LoaderSource source) {
        List<DeviceOutput> outputs = new ArrayList<>();
        for (FieldReader field : source.fields()) {
            if (field instanceof DeviceReader reader) {
                var transform = reader.kernel().transform();
                OutputArray made = new OutputArray(reader.name(), transform.dtype(), transform.rowShape());
                outputs.add(new DeviceOutput(made, reader.storedArray(), reader.controlArray(), reader));
            } else {
                for (int i = 0; i < field.outputs().size(); i++) {
                    outputs.add(new DeviceOutput(field.outputs().get(i), field.firstArray() + i, -1, null));
                }
            }
        }
        return List.copyOf(outputs);
    }
}
