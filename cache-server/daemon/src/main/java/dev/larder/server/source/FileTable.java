package dev.larder.server.source;

import dev.larder.internal.layout.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.RandomAccess;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The files below one folder, or a single file, in the order in which they were added. Takes about 60 bytes of the heap for each: names are bytes in
 * few arrays, each folder is there once, and all objects are made on request. Immutable once it is filled.
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
    private long[] changedNanos = new long[FIRST_LENGTH];
    private long[] inodes = new long[FIRST_LENGTH];
    private int[] folderOf = new int[FIRST_LENGTH];
    private int count;

    private final List<String> folders = new ArrayList<>();
    private final List<Path> folderPaths = new ArrayList<>();
    private final Map<String, Integer> folderNumbers = new HashMap<>();

    /** Starts an empty table; {@code isAlone} if {@code root} is the file itself. */
    public FileTable(Path root, boolean isAlone) {
        this.root = root;
        this.isAlone = isAlone;
    }

    /**
     * Adds a file.
     *
     * @param folder the path of its folder below the root, with a slash at its end; empty for a file of the root, or alone
     * @param name its own name
     */
    public void add(String folder, String name, long byteSize, long modified, long changed, long inode) {
        add(folder, name.getBytes(StandardCharsets.UTF_8), byteSize, modified, changed, inode);
    }

    private void add(String folder, byte[] name, long byteSize, long modified, long changed, long inode) {
        if (count == byteSizes.length) {
            grow();
        }
        byteSizes[count] = byteSize;
        modifiedNanos[count] = modified;
        changedNanos[count] = changed;
        inodes[count] = inode;
        folderOf[count] = number(folder);
        count++;
        for (int added = 0; added < name.length; ) {
            if (end >>> CHUNK_SHIFT == chunks.size()) {
                chunks.add(new byte[CHUNK_BYTES]);
            }
            int at = (int) end & CHUNK_MASK;
            int length = Math.min(name.length - added, CHUNK_BYTES - at);
            System.arraycopy(name, added, chunks.get((int) (end >>> CHUNK_SHIFT)), at, length);
            added += length;
            end += length;
        }
        places[count] = end;
    }

    /** Most files lie in the folder of the one before. */
    private int number(String folder) {
        if (count > 0 && folders.get(folderOf[count - 1]).equals(folder)) {
            return folderOf[count - 1];
        }
        return folderNumbers.computeIfAbsent(folder, unknown -> {
            folders.add(folder);
            folderPaths.add(root.resolve(folder));
            return folders.size() - 1;
        });
    }

    /** Adds a file of another table of the same root. */
    public void add(FileTable other, int index) {
        add(
                other.folders.get(other.folderOf[index]),
                other.nameBytes(index),
                other.byteSizes[index],
                other.modifiedNanos[index],
                other.changedNanos[index],
                other.inodes[index]);
    }

    /** Returns a table of the same folder without files. */
    public FileTable empty() {
        return new FileTable(root, isAlone);
    }

    /** Returns the files with wanted names; this table if all are wanted. */
    public FileTable only(Predicate<String> isWanted) {
        BitSet wanted = new BitSet(count);
        for (int i = 0; i < count; i++) {
            wanted.set(i, isWanted.test(name(i)));
        }
        if (wanted.cardinality() == count) {
            return this;
        }
        FileTable some = empty();
        wanted.stream().forEach(i -> some.add(this, i));
        return some;
    }

    private void grow() {
        int length = Math.addExact(count, count / 2);
        places = Arrays.copyOf(places, length + 1);
        byteSizes = Arrays.copyOf(byteSizes, length);
        modifiedNanos = Arrays.copyOf(modifiedNanos, length);
        changedNanos = Arrays.copyOf(changedNanos, length);
        inodes = Arrays.copyOf(inodes, length);
        folderOf = Arrays.copyOf(folderOf, length);
    }

    /** Returns the folders that have files, in the order of their first ones: their paths below the root, with a slash at the end. */
    public List<String> folders() {
        return Collections.unmodifiableList(folders);
    }

    /** Returns the folder that contains a file. */
    public int folder(int index) {
        return folderOf[index];
    }

    /** Returns the path of a file below the root; the name of a single file. */
    public String name(int index) {
        return folders.get(folderOf[index]).concat(fileName(index));
    }

    /** Returns the {@link #name} of each file, made one by one. */
    public Iterable<String> names() {
        return () -> IntStream.range(0, count).mapToObj(this::name).iterator();
    }

    private String fileName(int index) {
        return new String(nameBytes(index), StandardCharsets.UTF_8);
    }

    private byte[] nameBytes(int index) {
        byte[] name = new byte[(int) (places[index + 1] - places[index])];
        for (int i = 0; i < name.length; i++) {
            long at = places[index] + i;
            name[i] = chunks.get((int) (at >>> CHUNK_SHIFT))[(int) at & CHUNK_MASK];
        }
        return name;
    }

    public Path path(int index) {
        return isAlone ? root : folderPaths.get(folderOf[index]).resolve(fileName(index));
    }

    public long byteSize(int index) {
        return byteSizes[index];
    }

    @Override
    public SourceIdentity get(int index) {
        return new SourceIdentity(
                path(index).toAbsolutePath(),
                byteSizes[index],
                modifiedNanos[index],
                changedNanos[index],
                inodes[index]);
    }

    @Override
    public int size() {
        return count;
    }

    /** Returns a hash of the names, lengths, times and inodes of all files, and of their order. */
    public String look() {
        MessageDigest look = Digest.sha256();
        folders.forEach(folder -> look.update((folder + "\0").getBytes(StandardCharsets.UTF_8)));
        for (int chunk = 0; chunk < chunks.size(); chunk++) {
            look.update(chunks.get(chunk), 0, (int) Math.min(CHUNK_BYTES, end - ((long) chunk << CHUNK_SHIFT)));
        }
        for (long[] numbers : List.of(places, byteSizes, modifiedNanos, changedNanos, inodes)) {
            ByteBuffer bytes = ByteBuffer.allocate(count * Long.BYTES);
            bytes.asLongBuffer().put(numbers, numbers == places ? 1 : 0, count);
            look.update(bytes);
        }
        ByteBuffer bytes = ByteBuffer.allocate(count * Integer.BYTES);
        bytes.asIntBuffer().put(folderOf, 0, count);
        look.update(bytes);
        return Digest.hex(look.digest());
    }

    /** Returns all bytes of all files. */
    Extent region(int index) {
        return new Extent(path(index), 0, byteSizes[index]);
    }
}
