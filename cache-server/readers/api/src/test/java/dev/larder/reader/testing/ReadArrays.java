package dev.larder.reader.testing;

import dev.larder.reader.FormatReader;
import dev.larder.reader.InputFile;
import dev.larder.reader.Offer;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.Output;
import dev.larder.reader.ReadRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/** Runs a reader in this process, and keeps what it writes. Fails where it does not write every byte exactly once. */
public final class ReadArrays {
    /** A damaged file may claim any length; the daemon refuses what its store has no room for, too. */
    private static final long MOST_BYTES = 64 << 20;

    /** A list of fields without another one within it, and a field: its length, and its dimensions if it is an array. */
    private static final Pattern FIELDS = Pattern.compile("\\[[^\\[\\]]*]");

    private static final Pattern FIELD = Pattern.compile("'[<>|][a-zA-Z]([0-9]+)'(?:, \\(([0-9, ]*[0-9]),?\\))?");

    private ReadArrays() {}

    /** An array with its bytes. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Read(Offer offer, byte[] bytes) {
        /** Returns dtype, shape and bytes in a line: the bytes themselves where they are few, else their CRC-32. */
        public String text() {
            CRC32 crc = new CRC32();
            crc.update(bytes);
            String data =
                    bytes.length <= 64 ? HexFormat.of().formatHex(bytes) : "crc " + Long.toHexString(crc.getValue());
            return offer.dtype() + " " + offer.shape() + " " + data;
        }

        /** Returns the bytes as text. */
        public String utf8() {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        /** Returns the bytes as numbers of eight bytes. */
        public List<Long> longs() {
            ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
            List<Long> longs = new ArrayList<>();
            while (buffer.hasRemaining()) {
                longs.add(buffer.getLong());
            }
            return longs;
        }
    }

    /** Reads all arrays of files, by name. */
    public static Map<String, Read> of(FormatReader reader, ReadRequest request) throws IOException {
        try (OpenedSource source = reader.open(request, bytes -> {})) {
            List<Offer> offers = source.offers();
            requireRoom(offers);
            Kept kept = new Kept(offers);
            source.read(kept);
            Map<String, Read> read = new LinkedHashMap<>();
            for (int i = 0; i < offers.size(); i++) {
                Offer offer = offers.get(i);
                byte[] bytes = offer.file() == Offer.WRITTEN
                        ? kept.whole(i)
                        : region(request.files().get(offer.file()).path(), offer);
                read.put(offer.name(), new Read(offer, bytes));
            }
            return read;
        }
    }

    /** Reads one file, whole. */
    public static Map<String, Read> of(FormatReader reader, Path file, String... columns) throws IOException {
        return of(reader, new ReadRequest(List.of(new InputFile(file, "")), "arrays", List.of(columns), 2));
    }

    private static byte[] region(Path file, Offer offer) throws IOException {
        byte[] bytes = new byte[byteSize(offer)];
        try (FileChannel channel = FileChannel.open(file)) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            while (buffer.hasRemaining() && channel.read(buffer, offer.offset() + buffer.position()) >= 0) {
                // until it is full
            }
        }
        return bytes;
    }

    private static void requireRoom(List<Offer> offers) throws IOException {
        BigInteger bytes = offers.stream().map(ReadArrays::exactByteSize).reduce(BigInteger.ZERO, BigInteger::add);
        if (bytes.compareTo(BigInteger.valueOf(MOST_BYTES)) > 0) {
            throw new IOException("no room for so much: bytes=" + bytes);
        }
    }

    private static int byteSize(Offer offer) {
        return exactByteSize(offer).intValueExact();
    }

    private static BigInteger exactByteSize(Offer offer) {
        BigInteger itemBytes = itemBytes(offer.dtype());
        return offer.shape().stream().map(BigInteger::valueOf).reduce(itemBytes, BigInteger::multiply);
    }

    /** Finds the length in the digits of a type; of a structured one, each list of fields becomes a type of their length first. */
    private static BigInteger itemBytes(String dtype) {
        String type = dtype;
        while (type.startsWith("[")) {
            Matcher list = FIELDS.matcher(type);
            if (!list.find()) {
                throw new IllegalArgumentException("dtype=" + dtype);
            }
            BigInteger bytes = FIELD.matcher(list.group())
                    .results()
                    .map(field -> Stream.of((field.group(2) == null ? "1" : field.group(2)).split(",\\s*"))
                            .map(BigInteger::new)
                            .reduce(new BigInteger(field.group(1)), BigInteger::multiply))
                    .reduce(BigInteger.ZERO, BigInteger::add);
            String whole = type.equals(list.group()) ? "|V" + bytes : "'|V" + bytes + "'";
            type = list.replaceFirst(whole);
        }
        BigInteger number = new BigInteger(type.substring(2).replaceAll("\\[.*", ""));
        return type.charAt(1) == 'U' ? number.multiply(BigInteger.valueOf(Integer.BYTES)) : number;
    }

    private static final class Kept implements Output {
        private final List<Offer> offers;
        private final List<byte[]> arrays = new ArrayList<>();
        private final List<BitSet> written = new ArrayList<>();
        private final List<Runnable> pending = new ArrayList<>();

        Kept(List<Offer> offers) {
            this.offers = offers;
            for (Offer offer : offers) {
                arrays.add(new byte[byteSize(offer)]);
                written.add(new BitSet());
            }
        }

        @Override
        public synchronized ByteBuffer at(int offer, long position, int length) {
            int from = Math.toIntExact(position);
            if (offers.get(offer).file() != Offer.WRITTEN || from + length > arrays.get(offer).length) {
                throw new IllegalArgumentException("offer=" + offers.get(offer) + " position=" + position);
            }
            BitSet before = written.get(offer).get(from, from + length);
            if (!before.isEmpty()) {
                throw new UncheckedIOException(
                        new IOException("written twice: " + offers.get(offer).name()));
            }
            written.get(offer).set(from, from + length);
            ByteBuffer buffer = ByteBuffer.allocateDirect(length).order(ByteOrder.LITTLE_ENDIAN);
            pending.add(() -> buffer.duplicate().clear().get(arrays.get(offer), from, length));
            return buffer;
        }

        synchronized byte[] whole(int offer) throws IOException {
            pending.forEach(Runnable::run);
            pending.clear();
            if (written.get(offer).cardinality() != arrays.get(offer).length) {
                throw new IOException("not written whole: " + offers.get(offer));
            }
            return arrays.get(offer);
        }
    }
}
