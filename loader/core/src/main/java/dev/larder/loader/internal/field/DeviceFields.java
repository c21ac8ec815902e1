package dev.larder.loader.internal.field;

import dev.larder.client.ArrayView;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.transform.SampleKernel;
import dev.larder.loader.internal.transform.SampleTransform;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Order;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Decides which steps of a field a kernel does, over rows that the host stages or rows that are on the device. If no kernel can do a
 * transform, the host does it and uploads the result.
 */
public final class DeviceFields {
    private final boolean doubles;
    private final boolean exactFloats;
    private final Function<ArrayView, Optional<KernelSource.Rows>> residence;

    /**
     * @param doubles whether the devices support 64-bit floats
     * @param exactFloats whether they round 32-bit floats as Java does
     * @param residence returns the place of an array on the devices, or empty if the array is streamed
     */
    public DeviceFields(
            boolean doubles, boolean exactFloats, Function<ArrayView, Optional<KernelSource.Rows>> residence) {
        this.doubles = doubles;
        this.exactFloats = exactFloats;
        this.residence = residence;
    }

    /** Opens a field for a kernel. Returns null if the host has to do all steps. */
    @Nullable
    FieldReader open(SampleRows rows, FieldSpec field, long seed, FieldReader.Place place) {
        if (rows.isRagged() || field.kept() != null) {
            return null;
        }
        if (rows instanceof MadeRows made) {
            SampleTransform rest = made.rest();
            SampleKernel kernel = rest.isIdentity() || rest.storedByteSize() == 0 ? null : kernel(rest);
            return kernel == null ? null : new DeviceReader(made.unfinished(), field.name(), kernel, seed, place);
        }
        SampleKernel kernel = kernel(Objects.requireNonNull(rows.source().array()), field);
        EqualRows stored = EqualRows.of(rows.source(), new Transform(), seed);
        return kernel == null ? null : new DeviceReader(stored, field.name(), kernel, seed, place);
    }

    /** Returns whether kernels can gather the rows of an array: each row must be contiguous. */
    public static boolean mayBeResident(ArrayView array) {
        return array.order() != Order.F || array.dimensions() == 1;
    }

    private @Nullable SampleKernel kernel(ArrayView array, FieldSpec field) {
        Transform declared = field.transform();
        if (array.byteSize() == 0) {
            return null; // nothing to compute
        }
        if (array.rowByteSize() > SampleTransform.MAX_SAMPLE_BYTES
                && declared.steps().isEmpty()) {
            return null; // too long for a kernel's arithmetic; uploaded unchanged
        }
        long[] rowShape = Arrays.copyOfRange(array.shape(), 1, array.dimensions());
        SampleTransform transform = SampleTransform.compile(declared, array.dtype(), rowShape);
        SampleKernel kernel = kernel(transform);
        if (kernel == null) {
            return null;
        }
        Optional<KernelSource.Rows> resident =
                field.window() == null && mayBeResident(array) ? residence.apply(array) : Optional.empty();
        if (resident.isPresent()) {
            return SampleKernel.of(transform, resident.get()).orElse(null);
        }
        return transform.isIdentity() ? null : kernel; // unchanged rows are uploaded directly to the consumer's array
    }

    /** Returns the kernel for staged rows if these devices compute as Java does. */
    private @Nullable SampleKernel kernel(SampleTransform transform) {
        SampleKernel kernel =
                SampleKernel.of(transform, KernelSource.Rows.staged()).orElse(null);
        boolean fits = kernel != null && (doubles || !kernel.needsDoubles()) && (exactFloats || !kernel.computes());
        return fits ? kernel : null;
    }
}
