package dev.larder.readers.zarr;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import dev.larder.reader.BadSource;
import dev.larder.reader.chunks.Shuffle;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.LZMAInputStream;
import org.tukaani.xz.XZInputStream;

/** The codecs of bytes, by the names that numcodecs and version 3 of Zarr give them. */
final class Unpackers {
    static final String KNOWN = "blosc, bz2, crc32c, delta, gzip, lz4, lzma, shuffle, zlib, zstd";

    /** The formats of the codec lzma, as Python numbers them. The others have no header. */
    private static final int XZ = 1;

    private static final int LZMA_ALONE = 2;

    /** The history of LZMA is there once for each thread, next to its chunk. */
    private static final int HEAP_PARTS = 8;

    private static final LZ4SafeDecompressor LZ4_BLOCKS =
            LZ4Factory.fastestJavaInstance().safeDecompressor();

    private Unpackers() {}

    /** Returns the inverse of a codec, or null if the codec is unknown. */
    static @Nullable Unpacker of(String name, Fields configuration) throws BadSource {
        return switch (name) {
            case "blosc" -> Blosc::undo;
            case "bz2" ->
                (packed, most) -> read(new BZip2CompressorInputStream(new ByteArrayInputStream(packed), true), most);
            case "crc32c" -> (packed, most) -> withoutChecksum(packed);
            case "delta" -> Delta.of(configuration);
            case "gzip" -> (packed, most) -> read(new GZIPInputStream(new ByteArrayInputStream(packed)), most);
            case "lz4" -> Unpackers::unpackLz4;
            case "lzma" -> lzma(configuration);
            case "shuffle" -> unshuffling(configuration);
            case "zlib" -> (packed, most) -> read(new InflaterInputStream(new ByteArrayInputStream(packed)), most);
            case "zstd" -> Unpackers::unpackZstd;
            default -> null;
        };
    }

    private static Unpacker unshuffling(Fields configuration) throws BadSource {
        long itemBytes = configuration.find("elementsize") == null ? 4 : configuration.length("elementsize");
        return (packed, most) -> {
            if (itemBytes == 0 || itemBytes > packed.length) {
                return packed;
            }
            byte[] bytes = new byte[packed.length];
            Shuffle.bytes(packed, packed.length, (int) itemBytes, bytes, 0);
            return bytes;
        };
    }

    private static Unpacker lzma(Fields configuration) throws BadSource {
        long format = configuration.find("format") == null ? XZ : configuration.length("format");
        if (format != XZ && format != LZMA_ALONE) {
            throw configuration.place().unfit("its codec lzma has a format that is not read: format=" + format);
        }
        long mostKiB = Runtime.getRuntime().maxMemory() / HEAP_PARTS / 1024;
        int most = (int) Math.min(Integer.MAX_VALUE, mostKiB);
        return (packed, mostBytes) -> {
            InputStream in = new ByteArrayInputStream(packed);
            return read(format == XZ ? new XZInputStream(in, most) : new LZMAInputStream(in, most), mostBytes);
        };
    }

    private static byte[] read(InputStream in, int most) throws IOException {
        try (in) {
            byte[] bytes = in.readNBytes(most);
            if (in.read() >= 0) {
                throw tooLong(most);
            }
            return bytes;
        }
    }

    static TooLong tooLong(int most) {
        return new TooLong("it unpacks to more than " + most + " bytes");
    }

    private static byte[] unpackZstd(byte[] packed, int most) throws IOException {
        byte[] bytes = new byte[most];
        int length = unpackZstd(packed, 0, packed.length, bytes, 0, most);
        return length == most ? bytes : Arrays.copyOf(bytes, length);
    }

    /** Unpacks frames of Zstandard; returns the length. */
    static int unpackZstd(byte[] packed, int from, int packedLength, byte[] target, int at, int most)
            throws IOException {
        try {
            return (int) Zstd.decompressByteArray(target, at, most, packed, from, packedLength);
        } catch (ZstdException e) {
            if (e.getErrorCode() == Zstd.errDstSizeTooSmall()) {
                throw tooLong(most);
            }
            throw new IOException("Zstandard: " + e.getMessage(), e);
        }
    }

    /** Unpacks a block of LZ4 behind its length. */
    private static byte[] unpackLz4(byte[] packed, int most) throws IOException {
        if (packed.length < Integer.BYTES) {
            throw new IOException("LZ4: it has no length");
        }
        int length = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN).getInt();
        if (length < 0 || length > most) {
            throw tooLong(most);
        }
        byte[] bytes = new byte[length];
        int found = unpackLz4(packed, Integer.BYTES, packed.length - Integer.BYTES, bytes, 0, length);
        if (found != length) {
            throw new IOException("LZ4: it unpacks to " + found + " bytes, not " + length);
        }
        return bytes;
    }

    /** Unpacks a block of LZ4; returns the length. */
    static int unpackLz4(byte[] packed, int from, int packedLength, byte[] target, int at, int most)
            throws IOException {
        try {
            return LZ4_BLOCKS.decompress(packed, from, packedLength, target, at, most);
        } catch (LZ4Exception e) {
            throw new IOException("LZ4: " + e.getMessage(), e);
        }
    }

    private static byte[] withoutChecksum(byte[] bytes) throws IOException {
        int length = bytes.length - Integer.BYTES;
        if (length < 0) {
            throw new IOException("it has no checksum");
        }
        CRC32C sum = new CRC32C();
        sum.update(bytes, 0, length);
        int found = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(length);
        if (found != (int) sum.getValue()) {
            throw new IOException("its checksum is wrong: found=" + Integer.toHexString(found) + " expected="
                    + Integer.toHexString((int) sum.getValue()));
        }
        return Arrays.copyOf(bytes, length);
    }
}
