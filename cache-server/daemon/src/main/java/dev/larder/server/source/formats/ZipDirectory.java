package dev.larder.server.source.formats;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.Names;
import dev.larder.server.source.Refusal;
import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.ZipEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;

/** Reads the directory of a ZIP archive. Refuses members outside of the file, and members that share bytes. */
final class ZipDirectory {
    private final Path file;
    private final long fileBytes;

    private ZipDirectory(Path file, long fileBytes) {
        this.file = file;
        this.fileBytes = fileBytes;
    }

    /** Returns the members in the order of their places, without folders. */
    static List<ZipMember> read(Path file, FileChannel channel, long fileBytes) throws IOException {
        BudgetChannel budget = new BudgetChannel(channel);
        try (ZipFile zip = ZipFile.builder()
                .setSeekableByteChannel(budget)
                .setIgnoreLocalFileHeader(true)
                .get()) {
            budget.lift();
            return new ZipDirectory(file, fileBytes).members(zip);
        } catch (LarderException e) {
            throw e;
        } catch (AsynchronousCloseException e) {
            throw e;
        } catch (IOException e) {
            throw Refusal.of(file, 0, "it is not a readable ZIP archive (" + Refusal.words(firstCause(e)) + ")");
        } catch (RuntimeException e) { // what the library makes of directories that contradict themselves
            throw Refusal.of(file, 0, "its ZIP directory is malformed (" + e + ")");
        }
    }

    /** Returns the first cause. The library wraps it in messages about its channel. */
    private static Throwable firstCause(Throwable failure) {
        Throwable first = failure;
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            first = cause;
        }
        return first;
    }

    private List<ZipMember> members(ZipFile zip) throws IOException {
        List<ZipMember> members = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (var entries = zip.getEntries(); entries.hasMoreElements(); ) {
            ZipArchiveEntry entry = entries.nextElement();
            if (!names.add(entry.getName())) {
                throw refusal(entry, "the archive has it twice");
            }
            if (!entry.isDirectory()) {
                members.add(member(zip, entry));
            }
        }
        members.sort(Comparator.comparingLong(ZipMember::headerOffset));
        requireApart(members);
        return members;
    }

    private ZipMember member(ZipFile zip, ZipArchiveEntry entry) throws IOException {
        requireKnown(entry);
        try (var raw = zip.getRawInputStream(entry)) { // only this call makes the library find the data
            if (raw == null || entry.getDataOffset() < 0) {
                throw refusal(entry, "its data cannot be found");
            }
        }
        long packed = entry.getCompressedSize();
        if (packed > fileBytes - entry.getDataOffset()) {
            throw refusal(entry, "it would end beyond the end of the file");
        }
        return new ZipMember(
                entry.getName(),
                entry.getMethod() == ZipEntry.DEFLATED,
                entry.getLocalHeaderOffset(),
                entry.getDataOffset(),
                packed,
                entry.getSize(),
                entry.getCrc());
    }

    private void requireKnown(ZipArchiveEntry entry) {
        if (entry.getGeneralPurposeBit().usesEncryption()) {
            throw refusal(entry, "it is encrypted");
        } else if (entry.getSize() < 0 || entry.getCompressedSize() < 0) {
            throw refusal(entry, "its length is unknown");
        } else if (entry.getMethod() == ZipEntry.STORED) {
            if (entry.getSize() != entry.getCompressedSize()) {
                throw refusal(entry, "it is not compressed, but has two lengths");
            }
        } else if (entry.getMethod() != ZipEntry.DEFLATED) {
            throw refusal(entry, "it is compressed with method " + entry.getMethod() + ", which numpy never uses");
        } else {
            String what = "member " + Names.printable(entry.getName()) + ": its ";
            DiscoveredFile.requirePlausible(file, what, entry.getSize(), entry.getCompressedSize());
        }
    }

    /** Members that share bytes are how a small archive unpacks to petabytes. */
    private void requireApart(List<ZipMember> members) {
        long end = 0;
        for (ZipMember member : members) {
            if (member.headerOffset() < end) {
                throw Refusal.of(
                        file,
                        member.headerOffset(),
                        "member " + Names.printable(member.name()) + ": it overlaps the one before it");
            }
            end = member.offset() + member.packedBytes();
        }
    }

    private LarderException refusal(ZipArchiveEntry entry, String reason) {
        return Refusal.of(
                file,
                Math.max(0, entry.getLocalHeaderOffset()),
                "member " + Names.printable(entry.getName()) + ": " + reason);
    }
}
