package dev.larder.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.larder.internal.protocol.LoadOptions.As;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Writes sources that are small and ask for much, or are large and malformed. */
final class HostileInputs {
    private static final int CHUNK_BYTES = 1 << 20;

    private final Path folder;
    private final Random random;

    HostileInputs(Path folder, Random random) {
        this.folder = folder;
        this.random = random;
    }

    /** A source, and how to load it. */
    record Input(String what, Path path, As as) {}

    /** Makes one of each kind, of random sizes. */
    List<Input> all() throws IOException {
        List<Input> inputs = new ArrayList<>();
        inputs.add(text("one-line.txt.gz", "", "x", As.STRINGS));
        inputs.add(text("lines.txt.gz", "", word() + "\n", As.STRINGS));
        inputs.add(text("same-key.txt.gz", "", word() + "\n", As.INDEX));
        inputs.add(text("rows.csv.gz", "a,b\n", "1," + word() + "\n", As.STRINGS));
        inputs.add(text("quoted.csv.gz", "a,b\n1,\"", "x", As.STRINGS));
        inputs.add(text("quoted-table.csv.gz", "a,b\n1,\"", "x", As.ARRAYS));
        inputs.add(text("numbers.csv.gz", "a,b\n", "1,2\n", As.ARRAYS));
        inputs.add(text("names.csv.gz", "", "a,", As.ARRAYS));
        inputs.add(text("columns.tsv.gz", "", "a\t", As.STRINGS));
        inputs.add(text("deep.jsonl.gz", "{\"a\":", "[", As.STRINGS));
        inputs.add(text("long.jsonl.gz", "{\"a\":\"", "x", As.STRINGS));
        inputs.add(text("objects.jsonl.gz", "", "{\"a\":\"" + word() + "\"}\n", As.STRINGS));
        inputs.add(wideJson());
        inputs.add(npy());
        inputs.add(npz());
        inputs.add(idx());
        inputs.add(safetensors("garbage.safetensors", "[".repeat(16 << 20)));
        inputs.add(safetensors("tensors.safetensors", "{" + tensors()));
        inputs.add(arrow("batches.arrow", 1, 100_000 + random.nextInt(100_000), 1));
        inputs.add(arrow("fields.arrow", 5_000 + random.nextInt(5_000), 1, 1));
        inputs.add(arrow("upon-each-other.arrow", 4_000, 1, 1 << 20));
        inputs.add(arrow("many-fields.arrow", 99_000, 1, 1));
        inputs.add(manyFiles("many-bytes", As.BYTES));
        inputs.add(manyFiles("many-bad", As.ARRAYS));
        inputs.add(deepFolders());
        return inputs;
    }

    private String word() {
        return "w" + random.nextInt(1_000_000);
    }

    /** Writes a text that repeats until it has about a hundred MiB; packed it takes about a hundred KiB. */
    private Input text(String name, String begin, String repeated, As as) throws IOException {
        byte[] unit = repeated.getBytes(UTF_8);
        byte[] chunk = new byte[CHUNK_BYTES / unit.length * unit.length];
        for (int i = 0; i < chunk.length; i += unit.length) {
            System.arraycopy(unit, 0, chunk, i, unit.length);
        }
        byte[] packed = gzip(chunk);
        Path file = folder.resolve(name);
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(gzip(begin.getBytes(UTF_8)));
            for (int i = 64 + random.nextInt(64); i > 0; i--) {
                out.write(packed);
            }
        }
        return new Input(name, file, as);
    }

    private static byte[] gzip(byte[] bytes) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(packed)) {
            out.write(bytes);
        }
        return packed.toByteArray();
    }

    /** Every line has a column that no other has. */
    private Input wideJson() throws IOException {
        Path file = folder.resolve("wide.jsonl");
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 1_000 + random.nextInt(1_000); i++) {
            lines.append("{\"c").append(i).append("\":1}\n");
        }
        Files.writeString(file, lines);
        return new Input("wide.jsonl", file, As.STRINGS);
    }

    /** Claims as much as such a packing could hold, and holds it. */
    private Input npy() throws IOException {
        long byteSize = (64L + random.nextInt(64)) << 20;
        ByteBuffer encoded = NpyHeader.of(Dtype.parse("|u1"), Order.C, byteSize).encode(64);
        byte[] header = new byte[encoded.remaining()];
        encoded.get(header);
        byte[] packed = gzip(new byte[CHUNK_BYTES]);
        Path file = folder.resolve("zeros.npy.gz");
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(gzip(header));
            for (long at = 0; at < byteSize; at += CHUNK_BYTES) {
                out.write(packed);
            }
        }
        return new Input("zeros.npy.gz", file, As.ARRAYS);
    }

    /** Has very many members that are no arrays. */
    private Input npz() throws IOException {
        Path file = folder.resolve("members.npz");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
            for (int i = 40_000 + random.nextInt(40_000); i > 0; i--) {
                zip.putNextEntry(new ZipEntry("member-with-a-rather-long-name-" + i + ".npy"));
                zip.closeEntry();
            }
        }
        return new Input("members.npz", file, As.ARRAYS);
    }

    private Input idx() throws IOException {
        Path file = folder.resolve("much-idx3-ubyte.gz");
        ByteBuffer header =
                ByteBuffer.allocate(16).putInt(0x0803).putInt(-1).putInt(-1).putInt(1);
        Files.write(file, gzip(header.array()));
        return new Input("much-idx3-ubyte.gz", file, As.ARRAYS);
    }

    /** Names very many tensors, and breaks off. */
    private static String tensors() {
        StringBuilder tensors = new StringBuilder();
        for (int i = 0; tensors.length() < 3 << 20; i++) {
            tensors.append("\"t").append(i).append("\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},");
        }
        return tensors.toString();
    }

    private Input safetensors(String name, String json) throws IOException {
        byte[] header = json.getBytes(US_ASCII);
        Path file = folder.resolve(name);
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(header.length)
                    .array());
            out.write(header);
        }
        return new Input(name, file, As.ARRAYS);
    }

    /** All columns of a batch share its rows' bytes. */
    private Input arrow(String name, int columns, int batches, int rows) throws IOException {
        Path file = folder.resolve(name);
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
            ArrowStreams.schema(out, columns);
            for (int i = 0; i < batches; i++) {
                ArrowStreams.batch(out, columns, rows, new byte[(rows + 7) / 8 * 8]);
            }
            ArrowStreams.end(out);
        }
        return new Input(name, file, As.ARRAYS);
    }

    private Input manyFiles(String name, As as) throws IOException {
        Path many = Files.createDirectory(folder.resolve(name));
        Path first = Files.writeString(many.resolve("0.npy"), "no array");
        for (int i = 4_000 + random.nextInt(4_000); i > 0; i--) {
            Files.createLink(many.resolve(i + ".npy"), first);
        }
        return new Input(name, many, as);
    }

    private Input deepFolders() throws IOException {
        Path deep = folder.resolve("deep");
        Files.createDirectories(deep.resolve("d/".repeat(200 + random.nextInt(100))));
        return new Input("deep", deep, As.BYTES);
    }
}
