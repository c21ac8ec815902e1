package dev.larder.command.rows;

import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.command.output.ArrayText;
import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.ListedRow;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.RegionDescriptor;
import dev.larder.internal.layout.RowsDescriptor;
import dev.larder.internal.layout.RowsDescriptor.Header;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.rows.RowsRegion;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Computed rows of a store. The rows of a name have a region for each key; the name alone is enough if there is one region.
 *
 * @param array their line in listings: the state is {@code computed}, the digest is their key
 * @param published the number of rows that are computed
 */
public record StoredRows(ArrayRow array, Header header, long published) {
    private static final int MOST_NAMED = 20;
    private static final int COPIED_BYTES = 1 << 20;

    /** Returns all computed rows of a store, without those of other users or that cannot be read. */
    public static List<StoredRows> all(Path store) {
        return RowsRegion.files(store).stream()
                .flatMap(file -> look(store, file).stream())
                .toList();
    }

    private static Optional<StoredRows> look(Path store, Path file) {
        try (RowsRegion region = open(store, file)) {
            return Optional.ofNullable(region).map(StoredRows::of);
        } catch (LarderException e) { // a region of another kind, or damaged: require reports it
            return Optional.empty();
        }
    }

    /** Returns the computed rows with names that match a pattern. */
    public static List<StoredRows> matching(Path store, Predicate<String> pattern) {
        return all(store).stream()
                .filter(rows -> pattern.test(rows.array.name()) || pattern.test(rows.header.get("name")))
                .toList();
    }

    private static @Nullable RowsRegion open(Path store, Path file) {
        return RowsRegion.tryOpen(store, file);
    }

    private static StoredRows of(RowsRegion region) {
        Header header = region.header();
        List<Long> shape = Arrays.stream(header.shape()).boxed().toList();
        ArrayRow row = new ArrayRow(
                header.region(),
                ArrayRow.dtypeText(Dtype.parse(header.get("dtype"))),
                shape,
                'C',
                header.rows() * header.rowByteSize(),
                0,
                header.get("key"),
                ArrayRow.State.COMPUTED,
                false,
                0,
                region.file().toString(),
                RegionDescriptor.DATA_OFFSET + header.dataStart(),
                "",
                header.get("arrays"),
                ColumnPart.NONE);
        return new StoredRows(row, header, region.published());
    }

    /** Returns whether a store has computed rows of this name. */
    public static boolean has(Path store, String name) {
        return !files(store, name).isEmpty();
    }

    private static List<Path> files(Path store, String name) {
        List<Path> named = new ArrayList<>();
        for (StoredRows rows : all(store)) {
            if (rows.array.name().equals(name)) {
                return List.of(Path.of(rows.array.path()));
            } else if (rows.header.get("name").equals(name)) {
                named.add(Path.of(rows.array.path()));
            }
        }
        return named;
    }

    /** Opens the computed rows of a name. */
    public static RowsRegion require(Path store, String name) {
        List<Path> files = files(store, name);
        if (files.size() > 1) {
            throw Failure.of(ErrorCode.USAGE, "several computed rows have this name")
                    .with("name", name)
                    .with(
                            "rows",
                            files.stream()
                                    .map(file -> RegionDescriptor.nameOf(String.valueOf(file.getFileName())))
                                    .collect(Collectors.joining(",")))
                    .remedy("name one of them; larder info " + name + " lists them");
        }
        RowsRegion region = files.isEmpty() ? null : open(store, files.get(0));
        if (region == null) {
            throw Failure.of(ErrorCode.NOT_FOUND, "no such computed rows")
                    .with("name", name)
                    .with("store", store)
                    .remedy("larder ls lists all");
        }
        return region;
    }

    /** Returns the fields of the JSON object: those of an array, and those of computed rows. */
    public JsonFields fields() {
        return Json.fields(array)
                .with("rows", header.rows())
                .with("published", published)
                .with("ofDigest", header.get("digest"))
                .with("steps", header.get("steps"));
    }

    /** Returns one line for each fact. */
    public List<String> facts() {
        List<String> facts = new ArrayList<>();
        facts.add("name     " + array.name());
        facts.add("dtype    " + array.dtype());
        facts.add("shape    " + ArrayText.shape(array.shape()));
        facts.add("bytes    " + array.bytes());
        facts.add("state    " + array.state().text() + ": published " + published + " of " + header.rows() + " rows");
        facts.add("digest   " + header.get("digest"));
        facts.add("arrays   " + header.get("arrays"));
        facts.add("steps    " + header.get("steps"));
        facts.add("key      " + header.get("key"));
        facts.add("path     " + array.path());
        facts.add("offset   " + array.offset());
        return facts;
    }

    /** Returns the line of a listing. */
    public ListedRow listed() {
        return ListedRow.ofArray(array);
    }

    /** Compares the checksum of every published row, and returns their number; fails with CHECKSUM, which names rows that differ. */
    public static long verify(RowsRegion region) {
        long published = 0;
        List<Long> damaged = new ArrayList<>();
        byte[] bytes = new byte[(int) region.header().rowByteSize()];
        CRC32 crc = new CRC32();
        for (long row = 0; row < region.header().rows(); row++) {
            long state = region.stateAcquire(row);
            if (state != RowsDescriptor.EMPTY) {
                published++;
                if (!region.copyIntact(row, state, bytes, crc)) {
                    damaged.add(row);
                }
            }
        }
        requireIntact(region, damaged);
        return published;
    }

    private static void requireIntact(RowsRegion region, List<Long> damaged) {
        if (!damaged.isEmpty()) {
            String name = region.header().region();
            throw Failure.of(ErrorCode.CHECKSUM, "computed rows are damaged")
                    .with("name", name)
                    .with("damaged", damaged.size())
                    .with(
                            "rows",
                            damaged.stream()
                                            .limit(MOST_NAMED)
                                            .map(String::valueOf)
                                            .collect(Collectors.joining(","))
                                    + (damaged.size() > MOST_NAMED ? ",…" : ""))
                    .with("file", region.file())
                    .remedy(
                            "processes that need these rows compute their own; to compute them again for all, end the processes and run"
                                    + " larder evict " + name);
        }
    }

    /**
     * Copies the rows into a dataset with one array {@code data}, and compares checksums; fails with REFUSED if rows are missing.
     *
     * @return the bytes that were copied
     */
    public static long freeze(RowsRegion region, Larder larder, String dataset) {
        Header header = region.header();
        long published = region.published();
        if (published < header.rows()) {
            throw Failure.of(ErrorCode.REFUSED, "not all rows are computed yet")
                    .with("name", header.region())
                    .with("published", published)
                    .with("rows", header.rows())
                    .remedy("run an epoch over all rows first");
        }
        long[] shape = header.shape();
        try (DatasetBuilder builder = larder.create(dataset, Dtype.parse(header.get("dtype")), shape)) {
            copy(region, builder);
            builder.publish();
        }
        return header.rows() * header.rowByteSize();
    }

    private static void copy(RowsRegion region, DatasetBuilder builder) {
        int length = (int) region.header().rowByteSize();
        byte[] bytes = new byte[length];
        CRC32 crc = new CRC32();
        ByteBuffer chunk =
                ByteBuffer.allocateDirect(Math.max(COPIED_BYTES / Math.max(1, length), 1) * Math.max(1, length));
        List<Long> damaged = new ArrayList<>();
        long written = 0;
        for (long row = 0; row < region.header().rows(); row++) {
            if (!region.copyIntact(row, region.stateAcquire(row), bytes, crc)) {
                damaged.add(row);
            }
            chunk.put(bytes);
            if (chunk.remaining() < length || row == region.header().rows() - 1) {
                int size = chunk.flip().remaining();
                builder.array().write(written, chunk);
                written += size;
                chunk.clear();
            }
        }
        requireIntact(region, damaged);
    }
}
