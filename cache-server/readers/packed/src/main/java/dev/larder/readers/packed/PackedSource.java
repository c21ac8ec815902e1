package dev.larder.readers.packed;

import dev.larder.reader.BadSource;
import dev.larder.reader.Offer;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.WorkerThreads;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import org.tukaani.xz.SeekableFileInputStream;
import org.tukaani.xz.SeekableXZInputStream;

/** Packed files, or stretches of them. If the unpacked length of a file is unknown, it is read twice. */
final class PackedSource implements OpenedSource {
    private static final String STRETCHES = "stretches";
    private static final int STEP_BYTES = 128 << 10;

    private final ReadRequest request;
    private final ReadProgress progress;
    private final List<FileChannel> channels = new ArrayList<>();
    private final List<Stretch> stretches = new ArrayList<>();
    private final List<Offer> offers = new ArrayList<>();

    PackedSource(ReadRequest request, ReadProgress progress) {
        this.request = request;
        this.progress = progress;
    }

    void look() throws IOException {
        for (int file = 0; file < request.files().size(); file++) {
            try {
                channels.add(FileChannel.open(request.files().get(file).path()));
            } catch (IOException e) {
                throw BadSource.unreadable(file, "", e);
            }
        }
        long[] bytes = request.as().equals(STRETCHES) ? lookAtStretches() : lookAtFiles();
        for (int file = 0; file < bytes.length; file++) {
            offers.add(Offer.array(String.valueOf(file), "|u1", List.of(bytes[file])));
        }
    }

    private long[] lookAtStretches() throws IOException {
        long[] bytes = new long[channels.size()];
        for (String words : request.columns()) {
            int file = Integer.parseInt(words.substring(0, words.indexOf(':')));
            Stretch stretch = Stretch.of(words, bytes[file]);
            stretches.add(stretch);
            bytes[file] = Math.addExact(bytes[file], stretch.bytes());
        }
        return bytes;
    }

    private long[] lookAtFiles() throws IOException {
        long[] bytes = new long[channels.size()];
        List<WorkerThreads.Part> parts = new ArrayList<>();
        for (int i = 0; i < bytes.length; i++) {
            int file = i;
            parts.add(() -> bytes[file] = measure(file));
        }
        WorkerThreads.runAll(request.workers(), parts);
        for (int file = 0; file < bytes.length; file++) {
            long packed = channels.get(file).size();
            stretches.add(new Stretch(file, codec(file), 0, packed, bytes[file], 0));
        }
        return bytes;
    }

    private Codec codec(int file) {
        return Codec.of(request.files().get(file).path().toString());
    }

    private long measure(int file) throws IOException {
        FileChannel channel = channels.get(file);
        Codec codec = codec(file);
        try {
            if (codec == Codec.XZ) { // has an index at its end; reading compares it with the data
                try (SeekableFileInputStream whole = new SeekableFileInputStream(
                                request.files().get(file).path().toFile());
                        SeekableXZInputStream indexed = new SeekableXZInputStream(whole)) {
                    return indexed.length();
                }
            }
            byte[] step = new byte[STEP_BYTES];
            long bytes = 0;
            try (InputStream in = codec.unpack(new FileStretch(channel, 0, channel.size(), progress))) {
                for (int count = in.read(step); count >= 0; count = in.read(step)) {
                    bytes += count;
                }
            }
            return bytes;
        } catch (IOException | RuntimeException e) {
            throw refusal(file, 0, e);
        }
    }

    private static BadSource refusal(int file, long offset, Exception cause) {
        BadSource bad = BadSource.damaged(
                file, offset, "", "its packed data is corrupt, or in another format (" + BadSource.words(cause) + ")");
        bad.initCause(cause);
        return bad;
    }

    @Override
    public List<Offer> offers() {
        return offers;
    }

    @Override
    public void read(Output output) throws IOException {
        List<WorkerThreads.Part> parts = new ArrayList<>();
        for (Stretch stretch : stretches) {
            parts.add(() -> unpack(stretch, output));
        }
        WorkerThreads.runAll(request.workers(), parts);
    }

    private void unpack(Stretch stretch, Output output) throws IOException {
        byte[] step = new byte[(int) Math.min(STEP_BYTES, Math.max(1, stretch.bytes()))];
        FileStretch packed =
                new FileStretch(channels.get(stretch.file()), stretch.offset(), stretch.packedBytes(), bytes -> {});
        try (InputStream in = stretch.codec().unpack(packed)) {
            long done = 0;
            while (done < stretch.bytes()) {
                int count = in.readNBytes(step, 0, (int) Math.min(step.length, stretch.bytes() - done));
                if (count == 0) {
                    throw new IOException("it unpacks to " + done + " of " + stretch.bytes() + " bytes");
                }
                output.at(stretch.file(), stretch.place() + done, count).put(step, 0, count);
                done += count;
            }
            if (in.read() >= 0) {
                throw new IOException("it unpacks to more than " + stretch.bytes() + " bytes");
            }
        } catch (IOException | RuntimeException e) {
            throw refusal(stretch.file(), stretch.offset(), e);
        }
    }

    @Override
    public void close() throws IOException {
        for (FileChannel channel : channels) {
            channel.close();
        }
    }
}
