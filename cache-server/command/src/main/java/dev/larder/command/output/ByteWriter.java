package dev.larder.command.output;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Writes texts in UTF-8, and bytes unchanged: the output of programs may not be UTF-8. Closes nothing. */
public final class ByteWriter extends PrintWriter {
    private final Kept stream;

    /** Creates a writer to an unbuffered stream. */
    public ByteWriter(OutputStream stream) {
        this(new Kept(stream));
    }

    private ByteWriter(Kept stream) {
        super(stream, true, StandardCharsets.UTF_8);
        this.stream = stream;
    }

    /** Flushes; returns the first failure, or null if everything was written. */
    public @Nullable IOException failure() {
        flush();
        return stream.failure;
    }

    /** Flushes the texts before, and writes bytes; a writer of another class gets them as text. */
    public static void write(PrintWriter writer, ByteArrayOutputStream bytes) {
        if (writer instanceof ByteWriter own) {
            own.writeAll(bytes);
        } else {
            writer.print(bytes.toString(StandardCharsets.UTF_8));
        }
    }

    private void writeAll(ByteArrayOutputStream bytes) {
        flush();
        try {
            bytes.writeTo(stream);
        } catch (IOException e) {
            setError();
        }
    }

    /** Stores the first failure of a stream, which a {@code PrintWriter} drops. */
    private static final class Kept extends OutputStream {
        private final OutputStream stream;
        private volatile @Nullable IOException failure;

        Kept(OutputStream stream) {
            this.stream = stream;
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            try {
                stream.write(bytes, offset, length);
            } catch (IOException e) {
                failure = failure == null ? e : failure;
                throw e;
            }
        }
    }
}
