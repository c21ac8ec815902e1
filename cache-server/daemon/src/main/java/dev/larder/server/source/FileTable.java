package dev.larder.server.source;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.RandomAccess;
import java.util.function.Predicate;

/**
 * The files below one folder, or one file alone, in the order in which they were added. Takes some 60 bytes of the heap for each:
 * names lie together as bytes, and everything else is made when it is asked for. Immutable once it is filled.
 */
public final class FileTable extends AbstractList<SourceIdentity> implements RandomAccess {
    private static final int CHUNK_SHIFT = 20;
    private static final int CHUNK_BYTES = 1 << CHUNK_SHIFT;
    private static final int CHUNK_MASK = CHUNK_BYTES - 1;
    private static final int FIRST_LENGTH = 64;

    private final Path root;
    private final boolean isAlone;
    private final List<byte[]> chunks = new ArrayList<>();
    private long end;
    private long[] places = new long[FIRST_LENGTH + 1];
    private long[] byteSizes = new long[FIRST_LENGTH];
    private long[] modifiedNanos = new long[FIRST_LENGTH];
    private long[] inodes = new long[FIRST_LENGTH];
    private int count;

    /** Starts an empty one; {@code isAlone} where {@code root} is the file itself. */
    public FileTable(Path root, boolean isAlone) {
        this.root = root;
        this.isAlone = isAlone;
    }

    /** Adds a file by its path below the folder, or its own name where it is alone. */
    public void add(String name, long byteSize, long modified, long inode) {
        if (count == byteSizes.length) {
            grow();
        }
        byteSizes[count] = byteSize;
        modifiedNanos[count] = modified;
        inodes[count] = inode;
        count++;
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            if (end >>> CHUNK_SHIFT == chunks.size()) {
                chunks.add(new byte[CHUNK_BYTES]);
            }
            chunks.get((int) (end >>> CHUNK_SHIFT))[(int) end & CHUNK_MASK] = b;
            end++;
        }
        places[count] = end;
    }

    /** Adds a file of another table of the same folder. */
    public void add(FileTable other, int index) {
        add(other.name(index), other.byteSizes[index], other.modifiedNanos[index], other.inodes[index]);
    }

    /** Returns a table of the same folder without files. */
    public FileTable empty() {
        return new FileTable(root, isAlone);
    }

    /** Returns those of the files whose names are wanted; this table where all are. */
    public FileTable only(Predicate<String> isWanted) {
        FileTable wanted = empty();
        for (int i = 0; i < count; i++) {
            if (isWanted.test(name(i))) {
                wanted.add(this, i);
            }
        }
        return wanted.count == count ? this : wanted;
    }

    private void grow() {
        int length = Math.addExact(count, count / 2);
        places = Arrays.copyOf(places, length + 1);
        byteSizes = Arrays.copyOf(byteSizes, length);
        modifiedNanos = Arrays.copyOf(modifiedNanos, length);
        inodes = Arrays.copyOf(inodes, length);
    }

    /** Returns the folder, or the file that is alone. */
    Path root() {
        return root;
    }

    /** Returns the name of a file, from its folder on. */
    public String name(int index) {
        byte[] name = new byte[(int) (places[index + 1] - places[index])];
        for (int i = 0; i < name.length; i++) {
            long at = places[index] + i;
            name[i] = chunks.get((int) (at >>> CHUNK_SHIFT))[(int) at & CHUNK_MASK];
        }
        return new String(name, StandardCharsets.UTF_8);
    }

    public Path path(int index) {
        return isAlone ? root : root.resolve(name(index));
    }

    public long byteSize(int index) {
        return byteSizes[index];
    }

    @Override
    public SourceIdentity get(int index) {
        return new SourceIdentity(path(index).toAbsolutePath(), byteSizes[index], modifiedNanos[index], inodes[index]);
    }

    @Override
    public int size() {
        return count;
    }

    /** Returns all bytes of all files. */
    FileRegion region(int index) {
        return new FileRegion(path(index), 0, byteSizes[index]);
    }
}
