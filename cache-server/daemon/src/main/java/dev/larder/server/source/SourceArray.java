package dev.larder.server.source;

import dev.larder.internal.layout.ArrayEntry;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * One array of a source. It was found and checked, but its data was not read.
 *
 * @param header element type, order and shape; bytes are never converted, so IDX gives big-endian types
 * @param files the files of its data, as they were when they were checked; one at least
 * @param part the part it plays in a column
 */
public record SourceArray(
        ArrayName name,
        NpyHeader header,
        ArrayData data,
        List<SourceIdentity> files,
        ColumnPart part,
        Partitioning partitioning) {
    /** Keeps its own copy. */
    public SourceArray {
        files = files instanceof FileTable ? files : List.copyOf(files);
        if (files.isEmpty()) {
            throw new IllegalArgumentException("no files: array=" + name);
        }
    }

    /** Describes an array, or a part of a column, with the rows of the dataset. */
    public SourceArray(ArrayName name, NpyHeader header, ArrayData data, List<SourceIdentity> files, ColumnPart part) {
        this(name, header, data, files, part, Partitioning.BY_ROWS);
    }

    /** Returns the same array with other data. */
    public SourceArray withData(NpyHeader newHeader, ArrayData newData) {
        return new SourceArray(name, newHeader, newData, files, part, partitioning);
    }

    /** Returns the same array with another partitioning. */
    public SourceArray withPartitioning(Partitioning other) {
        return new SourceArray(name, header, data, files, part, other);
    }

    /** Returns the first file of its data. */
    public Path file() {
        return files.get(0).file();
    }

    /** Returns the file of an extent as it was when it was scanned. */
    public SourceIdentity fileOf(int extent) {
        SourceIdentity known = data instanceof Extents extents ? extents.file(extent) : null;
        if (known != null) {
            return known;
        }
        Path file = extents().get(extent).file().toAbsolutePath();
        return files.stream()
                .filter(its -> its.file().equals(file))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalStateException("not a file of the array: array=" + name + " file=" + file));
    }

    /** Fails with a refusal if the file of an extent does not begin as it has to; {@code first} are its first bytes, at least one. */
    public void requireBeginning(int extent, ByteBuffer first) {
        if (data instanceof Extents extents) {
            extents.requireBeginning(extent, first);
        }
    }

    /** Returns how many files some arrays are read from. */
    public static long fileCount(List<SourceArray> arrays) {
        Set<FileTable> tables =
                Collections.newSetFromMap(new IdentityHashMap<>()); // all arrays of a folder have the same
        Set<Path> others = new HashSet<>();
        for (SourceArray array : arrays) {
            if (array.files instanceof FileTable table) {
                tables.add(table);
            } else {
                array.files.forEach(file -> others.add(file.file()));
            }
        }
        long count = 0;
        for (FileTable table : tables) {
            count += table.size();
            for (int i = 0; i < table.size() && !others.isEmpty(); i++) {
                others.remove(table.path(i).toAbsolutePath());
            }
        }
        return count + others.size();
    }

    /** Returns the entry of this array in an index, once its bytes are in a file of a version. */
    public ArrayEntry entry(String file, long offset, int crc32c) {
        char order = header.order().name().charAt(0);
        return new ArrayEntry(name.array(), dtype().descr(), order, shape(), file, offset, byteSize(), crc32c, part);
    }

    /** Returns the type of its elements. */
    public Dtype dtype() {
        return header.dtype();
    }

    /** Returns the order of its elements. */
    public Order order() {
        return header.order();
    }

    /** Returns a copy of its dimensions. */
    public long[] shape() {
        return header.shape();
    }

    /** Returns how many bytes its data takes. */
    public long byteSize() {
        return header.byteSize();
    }

    /** Returns the extents of files that its bytes are; none if a format writes them, or if it has no bytes. */
    public List<Extent> extents() {
        return data instanceof Extents extents ? extents.list() : List.of();
    }

    /** Releases the memory for its data; see {@link ArrayData#release}. */
    public void release() {
        data.release();
    }

    /** Opens its data to be read once more and never again; see {@link ArrayData#openForLastTime}. */
    public ReadableByteChannel openForLastTime() {
        return data.openForLastTime();
    }

    /** Opens its data; see {@link ArrayData#open}. */
    public ReadableByteChannel open() {
        return data.open();
    }
}
