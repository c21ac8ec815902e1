package dev.larder.server.source.formats;

import dev.larder.error.LarderException;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.Extent;
import dev.larder.server.source.Extents;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.SourceProbe;
import dev.larder.server.source.WantedType;
import java.util.Arrays;
import java.util.List;

/** Bytes without a header: the options say what they are. */
final class RawFormat implements SourceFormat {
    @Override
    public List<Member> members(DiscoveredFile file, SourceProbe probe, SourceOptions options) {
        probe.look(file); // fails if the file cannot be read
        long fileBytes = file.identity().byteSize();
        if (options.dtype().isEmpty()) {
            throw Refusal.of(file.path(), 0, "its format is unknown: give --dtype and --shape");
        }
        Dtype dtype = WantedType.dtype(options.dtype());
        long[] shape = shape(file, fileBytes, dtype, WantedType.shape(options.shape()));
        NpyHeader header = header(file, dtype, shape);
        file.requireExact(0, header.byteSize(), fileBytes);
        Extent region = new Extent(file.path(), 0, fileBytes);
        return List.of(new Member("", header, Extents.of(region)));
    }

    /** Puts the number in place of -1 that the length of the file leaves for it. */
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
                throw Refusal.of(
                        file.path(),
                        0,
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
            throw Refusal.of(file.path(), 0, "no array can have the shape " + Arrays.toString(shape));
        }
    }
}
