package dev.larder.server.source;

import java.nio.file.Path;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.RandomAccess;

/** Extents of some files, in the order in which they were added. None is empty. Takes 20 bytes of the heap for each. */
public final class ExtentTable extends AbstractList<Extent> implements RandomAccess {
    private static final int FIRST_LENGTH = 64;

    private final List<SourceIdentity> files = new ArrayList<>();
    private int[] fileOf = new int[FIRST_LENGTH];
    private long[] offsets = new long[FIRST_LENGTH];
    private long[] byteSizes = new long[FIRST_LENGTH];
    private int count;

    /** Adds an extent; one without bytes is left out. */
    public void add(SourceIdentity file, long offset, long byteSize) {
        if (byteSize == 0) {
            return;
        }
        if (files.isEmpty() || !files.get(files.size() - 1).equals(file)) {
            files.add(file);
        }
        if (count == offsets.length) {
            int length = Math.addExact(count, count / 2);
            fileOf = Arrays.copyOf(fileOf, length);
            offsets = Arrays.copyOf(offsets, length);
            byteSizes = Arrays.copyOf(byteSizes, length);
        }
        fileOf[count] = files.size() - 1;
        offsets[count] = offset;
        byteSizes[count] = byteSize;
        count++;
    }

    /** Returns the file of a stretch, in its state at the check. */
    SourceIdentity file(int index) {
        return files.get(fileOf[index]);
    }

    @Override
    public Extent get(int index) {
        Path file = file(index).file();
        return new Extent(file, offsets[index], byteSizes[index]);
    }

    @Override
    public int size() {
        return count;
    }
}
