package dev.larder.server.source.formats;

import dev.larder.error.LarderException;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.WantedType;
import java.util.Arrays;
import java.util.List;

/** Bytes without a header. The options name their type. */
final class RawFormat implements SourceFormat {
    @Override
    public List<SourceArray> arrays(DiscoveredFile file, SourceProbe probe) {
        SourceOptions options = probe.options();
        probe.look(file); // fails if the file cannot be read
        if (options.dtype().isEmpty()) {
            throw Refusal.unfit(file.path(), "its format is unknown", "give --dtype and --shape");
        }
        Dtype dtype = WantedType.dtype(options.dtype());
        long[] shape = shape(file, file.byteSize(), dtype, WantedType.shape(options.shape()));
        NpyHeader header = header(file, dtype, shape);
        if (header.byteSize() != file.byteSize()) {
            throw unfit(
                    file,
                    "its " + file.byteSize() + " bytes are not the " + header.byteSize() + " bytes of "
                            + Arrays.toString(shape) + " elements of " + dtype);
        }
        return List.of(probe.array(file, "", header, file.plainData(header, 0)));
    }

    /** Replaces -1 with the number that the length of the file leaves for it. */
    private static long[] shape(DiscoveredFile file, long fileBytes, Dtype dtype, long[] wanted) {
        int open = -1;
        long[] rest = wanted.clone();
        for (int i = 0; i < wanted.length; i++) {
            if (wanted[i] < 0) {
                open = i;
                rest[i] = 1;
            }
        }
        if (open >= 0) {
            long step = header(file, dtype, rest).byteSize();
            if (step == 0 || fileBytes % step != 0) {
                throw unfit(
                        file,
                        "its " + fileBytes + " bytes are not a multiple of the " + step + " bytes of "
                                + Arrays.toString(rest) + " elements of " + dtype);
            }
            rest[open] = fileBytes / step;
        }
        return rest;
    }

    private static NpyHeader header(DiscoveredFile file, Dtype dtype, long[] shape) {
        try {
            return NpyHeader.of(dtype, Order.C, shape);
        } catch (LarderException e) {
            throw unfit(file, "no array can have the shape " + Arrays.toString(shape));
        }
    }

    private static LarderException unfit(DiscoveredFile file, String reason) {
        return Refusal.unfit(file.path(), reason, "correct --shape or --dtype");
    }
}
