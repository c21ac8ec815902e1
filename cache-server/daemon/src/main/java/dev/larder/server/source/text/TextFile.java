package dev.larder.server.source.text;

import dev.larder.error.LarderException;
import dev.larder.server.source.Refusal;
import java.io.FilterReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPInputStream;

/**
 * A text file that columns are made of.
 *
 * @param path where it lies
 * @param kind what its name says it is
 * @param isCancelled asked while it is read
 */
public record TextFile(Path path, TextKind kind, BooleanSupplier isCancelled) {
    private static final int UNPACK_BYTES = 64 << 10;
    private static final String LINE = "line";

    /** Reads all of it into a sink. */
    public void read(CellSink sink) {
        try (InputStream unpacked = open();
                Reader reader = new Cancellable(
                        new InputStreamReader(unpacked, StandardCharsets.UTF_8.newDecoder()), isCancelled)) {
            switch (kind) {
                case TSV -> new DelimitedText(path, '\t').read(reader, sink);
                case CSV -> new DelimitedText(path, ',').read(reader, sink);
                case JSON_LINES, NDJSON -> new JsonLines(path).read(reader, sink);
                case LINES -> readLines(reader, sink);
            }
        } catch (CharacterCodingException e) {
            throw notUtf8();
        } catch (IOException e) {
            throw Refusal.unreadable(path, 0, e);
        }
    }

    /** Looks for the first line that is not UTF-8: whoever decodes it for the rows is some lines ahead of them. */
    private LarderException notUtf8() {
        long line = 1;
        ByteBuffer bytes = ByteBuffer.allocate(UNPACK_BYTES);
        CharBuffer chars = CharBuffer.allocate(UNPACK_BYTES);
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        try (InputStream in = open()) {
            CoderResult result = CoderResult.UNDERFLOW;
            for (boolean ended = false; !ended && !result.isError(); ) {
                int read = in.read(bytes.array(), bytes.position(), bytes.remaining());
                ended = read < 0;
                bytes.position(bytes.position() + Math.max(0, read)).flip();
                result = decoder.decode(bytes, chars.clear(), ended);
                line += chars.flip().chars().filter(c -> c == '\n').count();
                bytes.compact();
            }
        } catch (IOException e) {
            return Refusal.unreadable(path, 0, e);
        }
        return Refusal.atLine(
                path,
                line,
                "it is not UTF-8 text",
                "convert it, as in iconv -f ISO-8859-1 -t UTF-8 OLD >NEW where it is Latin-1");
    }

    private InputStream open() throws IOException {
        InputStream in = Files.newInputStream(path);
        if (!TextKind.isGzip(path.toString())) {
            return in;
        }
        try {
            return new GZIPInputStream(in, UNPACK_BYTES);
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    private void readLines(Reader reader, CellSink sink) throws IOException {
        sink.column(LINE);
        LineReader lines = new LineReader(path, reader);
        for (String line = lines.next(); line != null; line = lines.next()) {
            sink.cell(LINE, line, IntegerText.isCanonical(line));
            sink.endRow();
        }
    }

    /** Stops reading when the load has been cancelled. */
    private static final class Cancellable extends FilterReader {
        private final BooleanSupplier isCancelled;

        Cancellable(Reader in, BooleanSupplier isCancelled) {
            super(in);
            this.isCancelled = isCancelled;
        }

        @Override
        public int read(char[] target, int offset, int length) throws IOException {
            if (isCancelled.getAsBoolean()) {
                throw new CancellationException("cancelled while scanning");
            }
            return super.read(target, offset, length);
        }
    }
}
