package dev.larder.server.source.formats;

import dev.larder.error.LarderException;
import dev.larder.internal.layout.Names;
import dev.larder.npy.NpyHeader;
import dev.larder.reader.Selection;
import dev.larder.server.source.ArrayData;
import dev.larder.server.source.Extent;
import dev.larder.server.source.ExtentStream;
import dev.larder.server.source.Extents;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The format of {@code numpy.savez} and {@code numpy.savez_compressed}: a ZIP archive of {@code .npy} files. */
final class NpzFormat implements SourceFormat {
    private static final String SUFFIX = ".npy";
    private static final int UNPACK_BYTES = 512;

    @Override
    public List<SourceArray> arrays(DiscoveredFile file, SourceProbe probe) throws IOException {
        List<SourceArray> arrays = new ArrayList<>();
        try (FileChannel channel = FileChannel.open(file.path(), StandardOpenOption.READ)) {
            List<ZipMember> found = ZipDirectory.read(file.path(), channel, file.byteSize());
            Set<String> chosen =
                    probe.choose(file, found.stream().map(NpzFormat::name).toList());
            for (ZipMember member : found) {
                if (chosen.contains(name(member))) {
                    NpyHeader header = header(file.path(), channel, member, found.size() > 1);
                    arrays.add(probe.array(file, name(member), header, data(file.path(), member, header)));
                }
            }
        }
        return arrays;
    }

    private static String name(ZipMember member) {
        String name = member.name();
        return Selection.storedName(name.endsWith(SUFFIX) ? name.substring(0, name.length() - SUFFIX.length()) : name);
    }

    private static NpyHeader header(Path file, FileChannel channel, ZipMember member, boolean hasOthers)
            throws IOException {
        try {
            return checkedHeader(file, channel, member);
        } catch (LarderException e) {
            throw hasOthers ? Refusal.orOthers(e) : e;
        }
    }

    private static NpyHeader checkedHeader(Path file, FileChannel channel, ZipMember member) throws IOException {
        if (!member.name().endsWith(SUFFIX)) {
            throw refusal(file, member, "it is not a .npy file, and a .npz file can hold only those");
        }
        NpyHeader header = header(file, channel, member);
        long present = member.byteSize() - header.dataOffset();
        if (present < header.byteSize()) {
            throw refusal(file, member, "it ends after " + present + " of " + header.byteSize() + " bytes of data");
        } else if (present > header.byteSize()) {
            String more = present - header.byteSize() + " bytes follow";
            throw refusal(file, member, more + " the " + header.byteSize() + " bytes of data");
        }
        return header;
    }

    private static ArrayData data(Path file, ZipMember member, NpyHeader header) {
        long dataOffset = header.dataOffset();
        return member.isDeflated()
                ? DeflatedStream.data(file, member, dataOffset)
                : Extents.of(new Extent(file, member.offset() + dataOffset, header.byteSize()));
    }

    private static NpyHeader header(Path file, FileChannel channel, ZipMember member) throws IOException {
        String what = file + "!" + Names.printable(member.name());
        if (!member.isDeflated()) {
            InputStream in = new ExtentStream(channel, member.offset(), member.byteSize());
            return NpyHeader.read(Channels.newChannel(in), what);
        }
        try (InputStream in = DeflatedStream.open(file, member, UNPACK_BYTES)) {
            return NpyHeader.read(Channels.newChannel(in), what);
        }
    }

    private static LarderException refusal(Path file, ZipMember member, String reason) {
        return Refusal.of(file, member.headerOffset(), "member " + Names.printable(member.name()) + ": " + reason);
    }
}
