package dev.larder.server.source.formats;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.Names;
import dev.larder.server.source.Extent;
import dev.larder.server.source.ExtentStream;
import dev.larder.server.source.Refusal;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the files in a tar archive, plain or gzipped, one after the other. Reads only the headers of a plain archive. Not thread-safe; owns a
 * descriptor.
 */
public final class TarMembers implements Closeable {
    /** The ends of the names of archives that need no reader, for people. */
    public static final String SUFFIXES = ".tar, .tar.gz, .tgz";

    private static final Pattern NAME =
            Pattern.compile(".*\\.(?:tar|tar\\.(?:gz|xz|zst)|tgz|txz|tzst)", Pattern.DOTALL | Pattern.CASE_INSENSITIVE);
    private static final int RECORD_BYTES = 512;
    private static final int UNPACK_BYTES = 64 << 10;

    /** The limit for all headers of one member, with long names. */
    private static final long MOST_HEADER_BYTES = 1 << 20;

    /** A member that goes through the heap. */
    private static final long MOST_CONTENT_BYTES = 1 << 30;

    private static final int FIRST_CONTENT_BYTES = 1 << 20;

    private final Path file;
    private final FileChannel channel;
    private final long start;
    private final long fileBytes;
    private final @Nullable InputStream unpacked;
    private long next;
    private int links;

    /** How much has been read of the unpacked bytes; 0 for a plain archive. */
    private long at;

    /**
     * A file in the archive.
     *
     * @param offset the place of its data in the archive, after unpacking
     */
    public record Member(String name, long offset, long byteSize) {}

    private TarMembers(Path file, FileChannel channel, long start, long end) {
        this.file = file;
        this.channel = channel;
        this.start = start;
        this.next = start;
        this.fileBytes = end;
        this.unpacked = null;
    }

    private TarMembers(Path file, FileChannel channel) throws IOException {
        this.file = file;
        this.channel = channel;
        this.start = 0;
        this.fileBytes = channel.size();
        this.unpacked =
                isGzip(file) ? new GZIPInputStream(new ExtentStream(channel, 0, fileBytes), UNPACK_BYTES) : null;
    }

    /** Returns whether a file has a name of a tar archive. */
    public static boolean isNamedSo(String name) {
        return NAME.matcher(name).matches();
    }

    /** Returns whether an archive is unpacked while it is read. */
    public static boolean isGzip(Path file) {
        return file.toString().toLowerCase(Locale.ROOT).endsWith("gz");
    }

    /** Returns whether a reader has to unpack an archive. */
    public static boolean isForReader(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        return name.endsWith("xz") || name.endsWith("zst");
    }

    /** Opens the unpacked copy of an archive. The caller closes it. Places of members are those in the copy. */
    public static TarMembers open(Path file, Extent unpacked) {
        try {
            return new TarMembers(
                    file,
                    FileChannel.open(unpacked.file()),
                    unpacked.offset(),
                    unpacked.offset() + unpacked.byteSize());
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, e);
        }
    }

    /** Opens an archive, which the caller closes. */
    public static TarMembers open(Path file) {
        try {
            FileChannel channel = FileChannel.open(file);
            try {
                return new TarMembers(file, channel);
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, e);
        }
    }

    /** Returns the next file, without folders, links and other entries; null at the end of the archive. */
    public @Nullable Member next() {
        while (true) {
            TarArchiveEntry entry = header();
            if (entry == null) {
                return null;
            }
            long offset = next;
            if (entry.isSparse()) {
                throw refusal(entry, offset, "it is a sparse file");
            }
            if (entry.getSize() < 0 || (unpacked == null && entry.getSize() > fileBytes - offset)) {
                throw refusal(entry, offset, "it would end beyond the end of the archive");
            }
            next = offset + (entry.getSize() + RECORD_BYTES - 1) / RECORD_BYTES * RECORD_BYTES;
            if (entry.isLink() || entry.isSymbolicLink()) {
                links++;
            } else if (isPlainFile(entry)) {
                return new Member(entry.getName(), offset, entry.getSize());
            }
        }
    }

    /** Returns how many links, hard or symbolic, were passed over so far. */
    public int links() {
        return links;
    }

    private static boolean isPlainFile(TarArchiveEntry entry) {
        return entry.isFile() && !entry.isFIFO() && !entry.isBlockDevice() && !entry.isCharacterDevice();
    }

    /** Reads the next header. Afterwards {@code next} is the place of its data. */
    private @Nullable TarArchiveEntry header() {
        long begin = next;
        Counted header = null;
        try {
            skipTo(begin);
            long window = Math.min(MOST_HEADER_BYTES, Math.max(0, fileBytes - begin));
            header = new Counted(unpacked == null ? new ExtentStream(channel, begin, window) : unpacked);
            TarArchiveEntry entry = new TarArchiveInputStream(header, "UTF-8").getNextEntry();
            at = begin + header.count;
            next = at;
            return entry;
        } catch (IOException e) {
            if (header == null || header.failure != null) {
                throw Refusal.unreadable(file, begin, e);
            }
            throw noHeader(begin);
        } catch (IllegalArgumentException
                | UncheckedIOException e) { // what the library makes of headers that contradict themselves
            throw noHeader(begin);
        }
    }

    private LarderException noHeader(long offset) {
        return Refusal.of(
                file,
                offset,
                offset == start
                        ? "it is no tar archive: it does not begin with the header of a member"
                        : "the header of its next member is damaged");
    }

    /** Limits the bytes of a header, and stores the failure to read it. */
    private static final class Counted extends FilterInputStream {
        private long count;
        private @Nullable IOException failure;

        Counted(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            try {
                int read = in.read(target, offset, (int) Math.min(length, MOST_HEADER_BYTES - count));
                count += Math.max(0, read);
                return read == 0 && length > 0 ? -1 : read;
            } catch (IOException e) {
                failure = e;
                throw e;
            }
        }
    }

    private void skipTo(long place) throws IOException {
        if (unpacked != null) {
            unpacked.skipNBytes(place - at);
            at = place;
        }
    }

    /** Returns the data of the member that was found last. */
    public byte[] content(Member member) {
        if (member.byteSize() > MOST_CONTENT_BYTES) {
            throw Refusal.of(
                    file, member.offset(), "member " + Names.printable(member.name()) + ": it is longer than 1 GiB");
        }
        try {
            InputStream data = unpacked;
            if (data == null) {
                data = new ExtentStream(channel, member.offset(), member.byteSize());
            } else {
                skipTo(member.offset());
                at += member.byteSize();
            }
            return content(data, member);
        } catch (IOException e) {
            throw Refusal.unreadable(file, member.offset(), "member " + Names.printable(member.name()) + ": ", e);
        }
    }

    /** Allocates memory as data arrives: the length in a damaged header may be anything. */
    private byte[] content(InputStream data, Member member) throws IOException {
        byte[] content = new byte[(int) Math.min(member.byteSize(), FIRST_CONTENT_BYTES)];
        int length = 0;
        while (true) {
            length += data.readNBytes(content, length, content.length - length);
            if (length < content.length) {
                throw Refusal.of(file, member.offset(), "it ends within " + Names.printable(member.name()));
            } else if (length == member.byteSize()) {
                return content;
            }
            content = Arrays.copyOf(content, (int) Math.min(member.byteSize(), 2L * length));
        }
    }

    private LarderException refusal(TarArchiveEntry entry, long offset, String reason) {
        return Refusal.of(file, offset, "member " + Names.printable(entry.getName()) + ": " + reason);
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw Refusal.unreadable(file, 0, e);
        }
    }
}
