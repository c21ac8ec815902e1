package dev.larder.command.output;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/** Writes texts in UTF-8, and bytes as they are: what programs print need not be UTF-8. Closes nothing. */
public final class ByteWriter extends PrintWriter {
    private final OutputStream stream;

    /** Writes to a stream that keeps nothing back. */
    public ByteWriter(OutputStream stream) {
        super(stream, true, StandardCharsets.UTF_8);
        this.stream = stream;
    }

    /** Writes bytes at once, after the texts before them; a writer of another class gets them as a text. */
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
}
