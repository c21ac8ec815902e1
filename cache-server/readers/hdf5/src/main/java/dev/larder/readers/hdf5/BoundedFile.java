package dev.larder.readers.hdf5;

import io.jhdf.HdfFile;
import io.jhdf.Superblock;
import io.jhdf.exceptions.HdfException;
import io.jhdf.storage.HdfBackingStorage;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** A file that refuses ranges beyond its end. Without it, the library allocates memory for any length that a file claims. */
final class BoundedFile implements HdfBackingStorage {
    private final HdfBackingStorage file;
    private final long byteSize;

    private BoundedFile(HdfBackingStorage file) {
        this.file = file;
        this.byteSize = file.size();
    }

    /** Opens a file. The caller closes its storage. */
    static HdfFile open(Path path) {
        HdfFile unbounded = new HdfFile(path);
        try {
            Constructor<HdfFile> constructor = HdfFile.class.getDeclaredConstructor(HdfBackingStorage.class);
            constructor.setAccessible(true);
            return constructor.newInstance(new BoundedFile(unbounded.getHdfBackingStorage()));
        } catch (InvocationTargetException e) {
            unbounded.close();
            throw new HdfException("its first group cannot be read", e.getCause());
        } catch (ReflectiveOperationException e) {
            unbounded.close();
            throw new IllegalStateException("another version of the library", e);
        }
    }

    private void requireWithin(long start, long length) {
        if (start < 0 || length < 0 || start > byteSize - length) {
            throw new HdfException("a part is outside of the file: offset=" + start + " bytes=" + length);
        }
    }

    @Override
    public ByteBuffer readBufferFromAddress(long address, int length) {
        requireWithin(address + getUserBlockSize(), length);
        return file.readBufferFromAddress(address, length);
    }

    @Override
    public ByteBuffer map(long address, long length) {
        requireWithin(address + getUserBlockSize(), length);
        return file.map(address, length);
    }

    @Override
    public ByteBuffer mapNoOffset(long offset, long length) {
        requireWithin(offset, length);
        return file.mapNoOffset(offset, length);
    }

    @Override
    public long getUserBlockSize() {
        return file.getUserBlockSize();
    }

    @Override
    public Superblock getSuperblock() {
        return file.getSuperblock();
    }

    @Override
    public FileChannel getFileChannel() {
        return file.getFileChannel();
    }

    @Override
    public int getSizeOfOffsets() {
        return file.getSizeOfOffsets();
    }

    @Override
    public int getSizeOfLengths() {
        return file.getSizeOfLengths();
    }

    @Override
    public void close() {
        file.close();
    }

    @Override
    public long size() {
        return byteSize;
    }

    @Override
    public boolean inMemory() {
        return file.inMemory();
    }
}
