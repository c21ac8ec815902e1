package dev.larder.server.ingest;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.server.source.Extent;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.store.DataChecksum;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;

/**
 * Reads data and computes its CRC32C. Thread-safe.
 *
 * @param onBytes receives the length of each step, on the reading thread
 * @param mayContinue called before and after each step; returns false to stop
 */
public record Checksums(LongConsumer onBytes, BooleanSupplier mayContinue) {
    /**
     * Reads all data of an array. Fails with {@link ErrorCode#BAD_INPUT} if a file is bad, or changed since it was checked, and with a
     * {@link CancellationException} if {@code mayContinue} returns false.
     */
    public int of(SourceArray array) {
        CRC32C crc = new CRC32C();
        List<Extent> regions = array.extents();
        if (regions.isEmpty()) {
            try (ReadableByteChannel data = array.open()) {
                read(data, array.byteSize(), crc, array.file());
            } catch (IOException e) {
                throw unreadable(array.file(), e);
            }
        } else {
            read(regions, crc);
        }
        array.files().forEach(SourceIdentity::requireUnchanged);
        return (int) crc.getValue();
    }

    /** Reads a range of a file. */
    public int of(Extent region) {
        CRC32C crc = new CRC32C();
        read(region, crc);
        return (int) crc.getValue();
    }

    private void read(Extent region, CRC32C crc) {
        read(List.of(region), crc);
    }

    /** Opens a file once for all consecutive ranges in it: there may be millions. */
    private void read(List<Extent> regions, CRC32C crc) {
        int next = 0;
        while (next < regions.size()) {
            Path file = regions.get(next).file();
            try (FileChannel data = regions.get(next).open()) {
                for (; next < regions.size() && regions.get(next).file().equals(file); next++) {
                    Extent region = regions.get(next);
                    read(data.position(region.offset()), region.byteSize(), crc, file);
                }
            } catch (IOException e) {
                throw unreadable(file, e);
            }
        }
    }

    private void read(ReadableByteChannel data, long byteSize, CRC32C crc, Object file) throws IOException {
        requireNotStopped(file);
        long missing = DataChecksum.update(crc, data, byteSize, bytes -> {
            onBytes.accept(bytes);
            requireNotStopped(file);
            return true;
        });
        if (missing > 0) {
            throw Failure.of(ErrorCode.BAD_INPUT, "source ends early")
                    .with("file", file)
                    .with("missingBytes", missing)
                    .remedy("check whether the file is being written: it was truncated or changed while it was read");
        }
    }

    private void requireNotStopped(Object file) {
        if (!mayContinue.getAsBoolean()) {
            throw new CancellationException("the checksum is no longer needed: file=" + file);
        }
    }

    private static RuntimeException unreadable(Object file, IOException cause) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot read file")
                .with("file", file)
                .with("reason", cause)
                .cause(cause)
                .remedy("check the file and its disk");
    }
}
