package dev.larder.server.source.formats;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.npy.NpyHeader;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.ArrayKeys;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.SourceSamples;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the arrays in the files of one scan. Looks at thousands of files with few system calls: open, one read, close. Pipes, devices and sockets
 * cannot block it. Parses equal headers once. Thread-safe.
 */
public final class SourceProbe {
    /** Enough for nearly every header of a {@code .npy} file: one of a simple type has 128 bytes. */
    private static final int BEGINNING_BYTES = 512;

    private static final Posix POSIX = Posix.system();
    private static final BulkIo IO = BulkIo.system();

    /** One for each scanning thread: they are few, and end with the scan. */
    private static final ThreadLocal<ByteBuffer> BEGINNING =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(SourceSamples.SMALL_FILE_BYTES));

    private static final int CACHED_HEADERS = 4096;
    private static final int MOST_MEMBERS = 1000;
    private static final int VERSION_OFFSET = 6;
    private static final int LENGTH_OFFSET = 8;

    private final String dataset;
    private final SourceOptions options;
    private final ScanSettings settings;
    private final Map<ByteBuffer, NpyHeader> headers = new ConcurrentHashMap<>();
    private final Set<NpyHeader> storable = ConcurrentHashMap.newKeySet();
    private final Set<String> columns = ConcurrentHashMap.newKeySet();
    private final Set<String> members = ConcurrentHashMap.newKeySet();

    /** Finds arrays of a dataset. */
    public SourceProbe(String dataset, SourceOptions options, ScanSettings settings) {
        this.dataset = dataset;
        this.options = options;
        this.settings = settings;
    }

    SourceOptions options() {
        return options;
    }

    ScanSettings settings() {
        return settings;
    }

    /** Returns the arrays of a file, after checking everything but their data. */
    public List<SourceArray> arrays(DiscoveredFile file) {
        if (!file.hasMembers()) {
            requireName(file, file.arrayName());
        }
        try {
            return file.kind().format().arrays(file, this);
        } catch (IOException e) {
            throw Refusal.unreadable(file.path(), 0, e);
        }
    }

    /** Returns an array of a file; {@code member} is its name there, empty if the file has no other array. */
    SourceArray array(DiscoveredFile file, String member, NpyHeader header, ArrayData data) {
        return array(file, member, header, data, ColumnPart.NONE);
    }

    SourceArray array(DiscoveredFile file, String member, NpyHeader header, ArrayData data, ColumnPart part) {
        requireName(file, file.nameOf(member));
        ArrayName name = new ArrayName(dataset, file.nameOf(member));
        requireStorable(file, header);
        String objection = ArrayRow.objection(name.toString(), header.dtype());
        if (objection != null) {
            throw Refusal.unfit(
                    file.path(),
                    "its array cannot be listed: " + objection,
                    "shorten names of files, folders or fields");
        }
        return new SourceArray(name, header, data, List.of(file.identity()), part);
    }

    private static void requireName(DiscoveredFile file, String name) {
        String objection = Names.arrayObjection(name);
        if (objection != null) {
            throw Refusal.unfit(
                    file.path(),
                    "its array cannot be called " + Names.printable(name) + ": " + objection,
                    "rename the file, leave it out with --exclude, or load the folder --as bytes, which allows any name");
        }
    }

    /** Refuses a header that numpy could not read in the store, because it would be too long there. */
    private void requireStorable(DiscoveredFile file, NpyHeader header) {
        if (storable.contains(header)) {
            return;
        }
        try {
            StoreLayout.header(header);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.BAD_INPUT) {
                throw e;
            }
            throw Refusal.of(file.path(), 0, e.getMessage() == null ? "it cannot be stored" : e.getMessage());
        }
        if (storable.size() < CACHED_HEADERS) {
            storable.add(header);
        }
    }

    /** Returns the first bytes of a listed file, or all. Fails with a refusal if the file cannot be read. */
    byte[] look(DiscoveredFile listed) {
        SourceSamples samples = settings.samples();
        boolean takesAll = samples != null && listed.byteSize() <= SourceSamples.SMALL_FILE_BYTES;
        int wanted = (int) Math.min(takesAll ? SourceSamples.SMALL_FILE_BYTES : BEGINNING_BYTES, listed.byteSize());
        byte[] beginning = beginning(listed.path(), wanted);
        if (beginning.length < wanted) {
            throw Refusal.changed(listed.path()); // the copier checks that this is the listed file
        }
        if (samples != null && takesAll) {
            samples.add(listed.identity(), beginning);
        }
        return beginning;
    }

    /** Returns the first bytes of a file, at most 8192. Fails with a refusal if the file cannot be read. */
    static byte[] beginning(Path file, int mostBytes) {
        ByteBuffer direct = BEGINNING.get();
        try {
            int descriptor = IO.openWithoutWaiting(file);
            try {
                int read = 0;
                for (long some = 1; some > 0 && read < mostBytes; read += (int) some) {
                    some = IO.read(descriptor, read, direct, read, mostBytes - read);
                }
                byte[] beginning = new byte[read];
                direct.get(0, beginning);
                return beginning;
            } finally {
                POSIX.close(descriptor);
            }
        } catch (LarderException e) {
            return jdkBeginning(file, mostBytes);
        }
    }

    /** Reads a file by the JDK, which words its failures better, and opens names that are not text. */
    private static byte[] jdkBeginning(Path file, int mostBytes) {
        SourceIdentity.of(file);
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(mostBytes);
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, e);
        }
    }

    /** Returns the header of a listed {@code .npy} file. */
    NpyHeader npyHeader(DiscoveredFile listed) {
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
            ByteBuffer copy = ByteBuffer.wrap(Arrays.copyOf(beginning, encoded.limit()));
            NpyHeader faster = headers.putIfAbsent(copy, header);
            return faster == null ? header : faster;
        }
        return header;
    }

    /**
     * Chooses the members of a file that the options name. Fails with a refusal if a file that is the source itself lacks one.
     *
     * @param names of all members
     */
    Set<String> choose(DiscoveredFile file, Collection<String> names) {
        List<String> missing = new ArrayList<>();
        Set<String> chosen = new ArrayKeys(options.keys()).choose(names, columns::add, missing::add);
        if (file.arrayName().isEmpty() && !missing.isEmpty()) {
            throw Refusal.noColumns(file.path(), missing, names);
        } else if (!missing.isEmpty() && members.size() < MOST_MEMBERS) {
            members.addAll(names);
        }
        return chosen;
    }

    /** Returns names of members of files that lack a wanted column, for errors. */
    public Set<String> members() {
        return members;
    }

    /** Returns the wanted columns that are names of members. */
    public Set<String> columns() {
        return columns;
    }

    /** Returns the bytes of a header that seems to be complete; null if {@link #readWhole} has to find the reason. */
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
