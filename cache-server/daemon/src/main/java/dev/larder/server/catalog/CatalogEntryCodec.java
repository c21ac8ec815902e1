package dev.larder.server.catalog;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of an entry, big-endian, texts as {@link DataOutputStream#writeUTF}:
 *
 * <pre>
 *   uint8 format = 1 | dataset | int64 version | digest | int64 bytes | int64 arrays | int64 created | int64 last use
 *   | int32 count of sources | per source: path | fingerprint
 * </pre>
 */
final class CatalogEntryCodec {
    private static final int FORMAT = 1;

    private CatalogEntryCodec() {}

    static byte[] encode(CatalogEntry entry) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(FORMAT);
            out.writeUTF(entry.dataset());
            out.writeLong(entry.version());
            out.writeUTF(entry.digest());
            out.writeLong(entry.bytes());
            out.writeLong(entry.arrayCount());
            out.writeLong(entry.createdEpochMs());
            out.writeLong(entry.lastUseEpochMs());
            out.writeInt(entry.sources().size());
            for (CatalogEntry.Source source : entry.sources()) {
                out.writeUTF(source.path());
                out.writeUTF(source.fingerprint());
            }
        } catch (IOException textTooLong) {
            throw new UncheckedIOException(textTooLong);
        }
        return bytes.toByteArray();
    }

    static CatalogEntry decode(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int format = in.readUnsignedByte();
            if (format != FORMAT) {
                throw new IOException("format " + format);
            }
            String dataset = in.readUTF();
            long version = in.readLong();
            String digest = in.readUTF();
            long size = in.readLong();
            long arrays = in.readLong();
            long created = in.readLong();
            long lastUse = in.readLong();
            return new CatalogEntry(dataset, version, digest, size, arrays, sources(in), created, lastUse);
        } catch (IOException malformed) {
            throw new UncheckedIOException(malformed);
        }
    }

    private static List<CatalogEntry.Source> sources(DataInputStream in) throws IOException {
        int count = in.readInt();
        List<CatalogEntry.Source> sources = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sources.add(new CatalogEntry.Source(in.readUTF(), in.readUTF()));
        }
        return sources;
    }
}
