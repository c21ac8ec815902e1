package dev.larder.readers.hdfs;

import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/** A file system of some folders with a file each, which takes a while to list each, and fails once. */
public final class SlowFiles extends FileSystem {
    static final int FOLDERS = 9;
    static final int FILE_BYTES = 3;

    /** Less than a reader may be silent; all folders together take longer. */
    private static final long LISTING_MS = 1_000;

    private static final URI ROOT = URI.create("hdfs://slow/");
    private static final AtomicInteger LISTINGS = new AtomicInteger();

    @Override
    public URI getUri() {
        return ROOT;
    }

    @Override
    public FileStatus[] listStatus(Path folder) throws IOException {
        try {
            Thread.sleep(LISTING_MS); // time is what this is about
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        if (LISTINGS.incrementAndGet() == FOLDERS / 2) {
            throw new IOException("the name node is busy");
        }
        boolean isTop = folder.depth() == 1;
        return IntStream.range(0, isTop ? FOLDERS : 1)
                .mapToObj(number -> status(new Path(folder, isTop ? "in" + number : "x.bin")))
                .toArray(FileStatus[]::new);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        if (path.depth() > 3) {
            throw new FileNotFoundException(path.toString());
        }
        return status(path);
    }

    private FileStatus status(Path path) {
        boolean isFile = path.getName().endsWith(".bin");
        return new FileStatus(isFile ? FILE_BYTES : 0, !isFile, 1, 1, 1000, makeQualified(path));
    }

    @Override
    public FSDataInputStream open(Path path, int bufferBytes) {
        return new FSDataInputStream(new Content());
    }

    private static final class Content extends ByteArrayInputStream implements Seekable, PositionedReadable {
        Content() {
            super(new byte[] {1, 2, FILE_BYTES});
        }

        @Override
        public void seek(long position) {
            pos = (int) position;
        }

        @Override
        public long getPos() {
            return pos;
        }

        @Override
        public boolean seekToNewSource(long position) {
            return false;
        }

        @Override
        public int read(long position, byte[] target, int from, int length) {
            throw new UnsupportedOperationException("nobody reads so");
        }

        @Override
        public void readFully(long position, byte[] target, int from, int length) {
            throw new UnsupportedOperationException("nobody reads so");
        }

        @Override
        public void readFully(long position, byte[] target) {
            throw new UnsupportedOperationException("nobody reads so");
        }
    }

    @Override
    public FSDataOutputStream create(
            Path path,
            FsPermission permission,
            boolean overwrite,
            int bufferBytes,
            short replication,
            long blockBytes,
            Progressable progress) {
        throw new UnsupportedOperationException("nobody writes");
    }

    @Override
    public FSDataOutputStream append(Path path, int bufferBytes, Progressable progress) {
        throw new UnsupportedOperationException("nobody writes");
    }

    @Override
    public boolean rename(Path from, Path to) {
        throw new UnsupportedOperationException("nobody writes");
    }

    @Override
    public boolean delete(Path path, boolean recursive) {
        throw new UnsupportedOperationException("nobody writes");
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) {
        throw new UnsupportedOperationException("nobody writes");
    }

    @Override
    public void setWorkingDirectory(Path folder) {
        throw new UnsupportedOperationException("nobody asks for it");
    }

    @Override
    public Path getWorkingDirectory() {
        return new Path(ROOT);
    }
}
