package dev.larder.reader;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What the daemon and a reader say to each other through the reader's standard input and output: big-endian numbers, texts as their
 * length and UTF-8. First the daemon writes a request, and the reader offers and is {@link Answer.Finished}; then it may write targets,
 * and the reader fills them and is finished once more. Of places, a reader lists objects and fills targets with those in the same way, as
 * often as it is given some; an empty list of targets ends it. The
 * end of the input ends the reader.
 */
public final class Wire {
    /** Changes with every change of what is said. */
    public static final int VERSION = 2;

    static final int MOST_DIMENSIONS = 64;
    private static final int MOST_TEXT_BYTES = 64 << 10;
    private static final int MOST_ENTRIES = 10_000_000;

    private Wire() {}

    /** Writes what is to be read. */
    public static void write(DataOutputStream out, String kind, ReadRequest request) throws IOException {
        out.writeInt(VERSION);
        writeText(out, kind);
        writeText(out, request.as());
        out.writeInt(request.workers());
        out.writeInt(request.columns().size());
        for (String column : request.columns()) {
            writeText(out, column);
        }
        out.writeInt(request.files().size());
        for (InputFile file : request.files()) {
            writeText(out, file.path().toString());
            writeText(out, file.level());
        }
        out.flush();
    }

    /** Reads the kind of reader that is wanted. */
    static String readKind(DataInputStream in) throws IOException {
        int version = in.readInt();
        if (version != VERSION) {
            throw new IOException("the daemon speaks version " + version + ", this reader " + VERSION);
        }
        return readText(in);
    }

    /** Reads what follows the kind. */
    static ReadRequest readRequest(DataInputStream in) throws IOException {
        String as = readText(in);
        int workers = in.readInt();
        List<String> columns = new ArrayList<>();
        for (int left = requireCount(in.readInt(), MOST_ENTRIES); left > 0; left--) {
            columns.add(readText(in));
        }
        List<InputFile> files = new ArrayList<>();
        for (int left = requireCount(in.readInt(), MOST_ENTRIES); left > 0; left--) {
            files.add(new InputFile(Path.of(readText(in)), readText(in)));
        }
        return new ReadRequest(files, as, columns, workers);
    }

    /** Writes which places are to be listed. */
    public static void write(DataOutputStream out, String kind, PlaceRequest request) throws IOException {
        out.writeInt(VERSION);
        writeText(out, kind);
        out.writeInt(request.connections());
        out.writeInt(request.addresses().size());
        for (String address : request.addresses()) {
            writeText(out, address);
        }
        out.flush();
    }

    /** Reads what follows the kind of a place. */
    static PlaceRequest readPlaces(DataInputStream in) throws IOException {
        int connections = in.readInt();
        List<String> addresses = new ArrayList<>();
        for (int left = requireCount(in.readInt(), MOST_ENTRIES); left > 0; left--) {
            addresses.add(readText(in));
        }
        return new PlaceRequest(addresses, connections);
    }

    /** Writes where offers are to be written. */
    public static void write(DataOutputStream out, List<Target> targets) throws IOException {
        out.writeInt(targets.size());
        for (Target target : targets) {
            out.writeInt(target.offer());
            writeText(out, target.path().toString());
            out.writeLong(target.offset());
            out.writeLong(target.byteSize());
            out.writeLong(target.start());
        }
        out.flush();
    }

    /** Reads targets; fails with {@link java.io.EOFException} where there are none to come. */
    static List<Target> readTargets(DataInputStream in) throws IOException {
        int count = requireCount(in.readInt(), MOST_ENTRIES);
        List<Target> targets = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            targets.add(new Target(in.readInt(), Path.of(readText(in)), in.readLong(), in.readLong(), in.readLong()));
        }
        return targets;
    }

    static int requireCount(int count, int most) throws IOException {
        if (count < 0 || count > most) {
            throw new IOException("count is out of range: count=" + count + " most=" + most);
        }
        return count;
    }

    static void writeText(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        byte[] kept = bytes.length <= MOST_TEXT_BYTES ? bytes : Arrays.copyOf(bytes, MOST_TEXT_BYTES);
        out.writeInt(kept.length);
        out.write(kept);
    }

    static String readText(DataInputStream in) throws IOException {
        byte[] bytes = new byte[requireCount(in.readInt(), MOST_TEXT_BYTES)];
        in.readFully(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
