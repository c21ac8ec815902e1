package dev.larder.server.source;

import dev.larder.error.LarderException;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import dev.larder.npy.NpyHeader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Looks at thousands of files with as few system calls as it takes: open, one read, close. No pipe, device or socket can
 * hang it. Headers that occur again are parsed once. Thread-safe.
 */
public final class SourceProbe {
    /** Holds nearly every header of a {@code .npy} file, which are 128 bytes long if their type is simple. */
    private static final int BEGINNING_BYTES = 512;

    private static final Posix POSIX = Posix.system();
    private static final BulkIo IO = BulkIo.system();

    /** Goes with the thread; scans make their own. */
    private static final ThreadLocal<ByteBuffer> BEGINNING =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(BEGINNING_BYTES));

    private static final int CACHED_HEADERS = 4096;
    private static final int VERSION_OFFSET = 6;
    private static final int LENGTH_OFFSET = 8;

    private final ScanSettings settings;
    private final Map<ByteBuffer, NpyHeader> headers = new ConcurrentHashMap<>();
    private final Set<NpyHeader> storable = ConcurrentHashMap.newKeySet();
    private final Set<String> columns = ConcurrentHashMap.newKeySet();

    /** Starts with nothing known. */
    public SourceProbe(ScanSettings settings) {
        this.settings = settings;
    }

    public ScanSettings settings() {
        return settings;
    }

    /** Returns the first bytes of a file that was listed, all if there are few. Fails with a refusal if it cannot be read. */
    public byte[] look(DiscoveredFile listed) {
        Path file = listed.path();
        int descriptor;
        try {
            descriptor = IO.openWithoutWaiting(file);
        } catch (LarderException e) {
            throw refusal(file, e);
        }
        try { // no second status: whoever copies the file proves that it is the one that was listed
            return read(file, descriptor, listed.identity().byteSize());
        } finally {
            POSIX.close(descriptor);
        }
    }

    private static byte[] read(Path file, int descriptor, long byteSize) {
        ByteBuffer direct = BEGINNING.get().clear().limit((int) Math.min(BEGINNING_BYTES, byteSize));
        try {
            if (IO.read(descriptor, 0, direct, 0, direct.limit()) < direct.limit()) {
                throw Refusal.changed(file);
            }
        } catch (LarderException e) {
            throw refusal(file, e);
        }
        byte[] beginning = new byte[direct.limit()];
        direct.get(beginning);
        return beginning;
    }

    /** Words why a file cannot be opened or read as the JDK does, which knows more of the reason. */
    private static RuntimeException refusal(Path file, LarderException failure) {
        SourceIdentity.of(file);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.read(ByteBuffer.allocate(1));
            return failure;
        } catch (IOException e) {
            return Refusal.unreadable(file, 0, e);
        }
    }

    /** Returns the header of a {@code .npy} file that was listed. */
    public NpyHeader npyHeader(DiscoveredFile listed) {
        Path file = listed.path();
        byte[] beginning = look(listed);
        ByteBuffer encoded = headerOf(beginning);
        if (encoded == null) {
            return readWhole(file);
        }
        NpyHeader known = headers.get(encoded);
        if (known != null) {
            return known;
        }
        NpyHeader header = NpyHeader.read(
                Channels.newChannel(new ByteArrayInputStream(beginning, 0, encoded.limit())), file.toString());
        if (headers.size() < CACHED_HEADERS) {
            NpyHeader faster = headers.putIfAbsent(encoded, header);
            return faster == null ? header : faster;
        }
        return header;
    }

    /**
     * Chooses the members of a file that the options name. Fails with a refusal if a file that is the source itself lacks one.
     *
     * @param members the names of all
     */
    public Set<String> choose(DiscoveredFile file, SourceOptions options, Collection<String> members) {
        List<String> missing = new ArrayList<>();
        Set<String> chosen = new ArrayKeys(options.keys()).choose(members, columns::add, missing::add);
        if (file.arrayName().isEmpty() && !missing.isEmpty()) {
            throw Refusal.noColumns(file.path(), missing, members);
        }
        return chosen;
    }

    /** Returns the wanted columns that are names of members. */
    public Set<String> columns() {
        return columns;
    }

    /** Tells whether a header is known to be one that the store can write. */
    public boolean isStorable(NpyHeader header) {
        return storable.contains(header);
    }

    /** Remembers that the store can write a header. */
    public void noteStorable(NpyHeader header) {
        if (storable.size() < CACHED_HEADERS) {
            storable.add(header);
        }
    }

    /** Returns the bytes of a header that looks whole; null where another reader has to say what is wrong. */
    private static @Nullable ByteBuffer headerOf(byte[] beginning) {
        ByteBuffer bytes = ByteBuffer.wrap(beginning).order(ByteOrder.LITTLE_ENDIAN);
        if (beginning.length < LENGTH_OFFSET + Integer.BYTES) {
            return null;
        }
        boolean isShort = bytes.get(VERSION_OFFSET) == 1;
        long length = isShort
                ? LENGTH_OFFSET + Short.BYTES + (bytes.getShort(LENGTH_OFFSET) & 0xffffL)
                : LENGTH_OFFSET + Integer.BYTES + (bytes.getInt(LENGTH_OFFSET) & 0xffffffffL);
        return length <= beginning.length ? bytes.limit((int) length) : null;
    }

    private static NpyHeader readWhole(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return NpyHeader.read(channel, file.toString());
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, e);
        }
    }
}
