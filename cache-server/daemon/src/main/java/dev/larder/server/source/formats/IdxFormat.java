package dev.larder.server.source.formats;

import dev.larder.error.LarderException;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * IDX, the format of MNIST and its kin, plain or gzipped. All numbers are big-endian.
 *
 * <pre>
 *   0       2       3       4                 4 + 4 n
 *   +-------+-------+-------+-----------------+--------
 *   | 0   0 | type  | n     | n sizes of u32  | data
 *   +-------+-------+-------+-----------------+--------
 * </pre>
 */
final class IdxFormat implements SourceFormat {
    private static final int TYPE_OFFSET = 2;
    private static final int DIMENSIONS_OFFSET = 3;
    private static final int SIZES_OFFSET = 4;

    @Override
    public List<SourceArray> arrays(DiscoveredFile file, SourceProbe probe) throws IOException {
        try (InputStream unpacked = file.openUnpacked()) {
            int dimensions = file.kind().promisedDimensions(file.fileName());
            NpyHeader header = read(unpacked, file.path(), dimensions);
            return List.of(probe.array(file, "", header, file.data(header, length(header))));
        }
    }

    private static NpyHeader read(InputStream stream, Path file, int promisedDimensions) {
        DataInputStream in = new DataInputStream(stream);
        int at = 0;
        try {
            int zeros = in.readUnsignedShort();
            at = TYPE_OFFSET;
            int type = in.readUnsignedByte();
            at = DIMENSIONS_OFFSET;
            int dimensions = in.readUnsignedByte();
            check(file, zeros, type, dimensions, promisedDimensions);
            long[] shape = new long[dimensions];
            for (int i = 0; i < dimensions; i++) {
                at = SIZES_OFFSET + i * Integer.BYTES;
                shape[i] = Integer.toUnsignedLong(in.readInt());
            }
            return header(file, type, shape);
        } catch (IOException e) {
            throw Refusal.unreadable(file, at, e);
        }
    }

    private static long length(NpyHeader header) {
        return SIZES_OFFSET + (long) header.dimensions() * Integer.BYTES;
    }

    private static void check(Path file, int zeros, int type, int dimensions, int promisedDimensions) {
        if (zeros != 0) {
            throw Refusal.of(file, 0, "it does not begin with two zero bytes, so it is not an IDX file");
        } else if (descr(type) == null) {
            throw Refusal.of(file, TYPE_OFFSET, String.format("IDX element type 0x%02x is unknown", type));
        } else if (dimensions != promisedDimensions) {
            throw Refusal.of(
                    file,
                    DIMENSIONS_OFFSET,
                    "its name says " + promisedDimensions + " dimensions, its content " + dimensions);
        }
    }

    private static NpyHeader header(Path file, int type, long[] shape) {
        try {
            return NpyHeader.of(Dtype.parse(String.valueOf(descr(type))), Order.C, shape);
        } catch (LarderException e) {
            throw Refusal.of(file, SIZES_OFFSET, "no array can have the shape " + Arrays.toString(shape));
        }
    }

    private static @Nullable String descr(int type) {
        return switch (type) {
            case 0x08 -> "|u1";
            case 0x09 -> "|i1";
            case 0x0b -> ">i2";
            case 0x0c -> ">i4";
            case 0x0d -> ">f4";
            case 0x0e -> ">f8";
            default -> null;
        };
    }
}
