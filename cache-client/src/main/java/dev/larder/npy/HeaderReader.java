package dev.larder.npy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads one untrusted header. */
final class HeaderReader {
    private static final String SAVE_AGAIN = "save the array again with numpy.save";

    private final ReadableByteChannel channel;
    private final String file;
    private long consumed;

    HeaderReader(ReadableByteChannel channel, String file) {
        this.channel = channel;
        this.file = file;
    }

    NpyHeader read() {
        int version = version();
        int lengthBytes = version == 1 ? Short.BYTES : Integer.BYTES;
        ByteBuffer lengthField = fill(lengthBytes, "its length");
        long length = version == 1 ? lengthField.getShort() & 0xffffL : lengthField.getInt() & 0xffffffffL;
        if (length > NpyHeader.MAX_LENGTH) {
            throw fault(
                    consumed - lengthBytes,
                    "the header claims " + length + " bytes, more than the limit of " + NpyHeader.MAX_LENGTH,
                    SAVE_AGAIN);
        }
        long start = consumed;
        ByteBuffer bytes = fill((int) length, "all of the " + length + " bytes it claims");
        Charset charset = version == 3 ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1;
        String text = decode(bytes, charset, start);
        try {
            return header(LiteralParser.parse(text), version);
        } catch (LiteralFault fault) {
            String before = text.substring(0, Math.min(fault.position(), text.length()));
            throw fault(start + before.getBytes(charset).length, fault.reason(), fault.remedy());
        }
    }

    private int version() {
        ByteBuffer magic = fill(HeaderWriter.MAGIC.length, "the magic bytes");
        if (!magic.equals(ByteBuffer.wrap(HeaderWriter.MAGIC))) {
            throw fault(
                    0,
                    "it does not begin with \\x93NUMPY, so it is not a .npy file",
                    "replace the file with one that numpy.save wrote, or leave it out");
        }
        ByteBuffer version = fill(2, "the version");
        int major = version.get() & 0xff;
        int minor = version.get() & 0xff;
        if (major < 1 || major > 3 || minor != 0) {
            throw fault(
                    consumed - 2,
                    "format version " + major + "." + minor + " is unknown; versions 1.0, 2.0 and 3.0 exist",
                    SAVE_AGAIN);
        }
        return major;
    }

    private ByteBuffer fill(int length, String part) {
        ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        try {
            int read = 0;
            while (read >= 0 && buffer.hasRemaining()) {
                read = channel.read(buffer);
            }
        } catch (AsynchronousCloseException e) {
            throw Failure.of(ErrorCode.INTERRUPTED, "interrupted while reading npy header")
                    .with("file", file)
                    .cause(e)
                    .exception();
        } catch (IOException e) {
            throw Failure.of(ErrorCode.BAD_INPUT, "cannot read npy header")
                    .with("file", file)
                    .with("offset", consumed + buffer.position())
                    .with("reason", e)
                    .cause(e)
                    .remedy("check that the file can be read");
        }
        consumed += buffer.position();
        if (buffer.hasRemaining()) {
            throw fault(consumed, "the file ends within its header, before " + part, "copy or save the file again");
        }
        return buffer.flip();
    }

    private String decode(ByteBuffer bytes, Charset charset, long start) {
        CharsetDecoder decoder = charset.newDecoder();
        CharBuffer text = CharBuffer.allocate(bytes.remaining());
        CoderResult result = decoder.decode(bytes, text, true);
        if (result.isError()) {
            throw fault(start + bytes.position(), "the header is not valid " + charset.name(), SAVE_AGAIN);
        }
        return text.flip().toString();
    }

    private NpyHeader header(Literal literal, int version) throws LiteralFault {
        if (!(literal instanceof Literal.Mapping mapping)) {
            throw new LiteralFault(literal.at(), "the header is " + literal.word() + ", not a dict");
        }
        Literal descr = null;
        Literal fortran = null;
        Literal shape = null;
        for (Literal.Entry entry : mapping.entries()) {
            String key = entry.key() instanceof Literal.Text text ? text.value() : "";
            switch (key) {
                case "descr" -> descr = once(descr, entry);
                case "fortran_order" -> fortran = once(fortran, entry);
                case "shape" -> shape = once(shape, entry);
                default ->
                    throw new LiteralFault(
                            entry.key().at(), "only the keys 'descr', 'fortran_order' and 'shape' are allowed here");
            }
        }
        Dtype dtype = new DtypeParser().parse(present(descr, "descr", mapping));
        Order order = order(present(fortran, "fortran_order", mapping));
        long[] dimensions = shape(present(shape, "shape", mapping), dtype);
        return new NpyHeader(dtype, order, dimensions, version, consumed);
    }

    private static Literal once(@Nullable Literal known, Literal.Entry entry) throws LiteralFault {
        if (known != null) {
            throw new LiteralFault(entry.key().at(), "a key occurs twice");
        }
        return entry.value();
    }

    private static Literal present(@Nullable Literal value, String key, Literal.Mapping mapping) throws LiteralFault {
        if (value == null) {
            throw new LiteralFault(mapping.at(), "the key '" + key + "' is missing");
        }
        return value;
    }

    private static Order order(Literal literal) throws LiteralFault {
        if (literal instanceof Literal.Flag flag) {
            return flag.value() ? Order.F : Order.C;
        }
        throw new LiteralFault(literal.at(), "fortran_order is " + literal.word() + ", not True or False");
    }

    private static long[] shape(Literal literal, Dtype dtype) throws LiteralFault {
        if (!(literal instanceof Literal.Tuple tuple)) {
            throw new LiteralFault(literal.at(), "shape is " + literal.word() + ", not a tuple");
        }
        List<Literal> items = tuple.items();
        long[] shape = new long[items.size()];
        for (int i = 0; i < shape.length; i++) {
            if (!(items.get(i) instanceof Literal.Whole whole)) {
                throw new LiteralFault(
                        items.get(i).at(), "a dimension is " + items.get(i).word() + ", not a number");
            }
            shape[i] = whole.value();
        }
        String objection = ShapeSize.objection(shape, dtype.itemSize());
        if (objection != null) {
            throw new LiteralFault(literal.at(), objection);
        }
        return shape;
    }

    private LarderException fault(long offset, String reason, String remedy) {
        return Failure.of(ErrorCode.BAD_INPUT, "cannot read npy header")
                .with("file", file)
                .with("offset", offset)
                .with("reason", reason)
                .remedy(remedy);
    }
}
