package dev.larder.server.source.arrow;

import dev.larder.error.LarderException;
import dev.larder.reader.arrow.ArrowSchema;
import dev.larder.server.source.Refusal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.BodyCompression;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;

/**
 * Finds the messages of one Arrow file. A stream has one after the other:
 *
 * <pre>
 *   -1, int32   length, int32   metadata (FlatBuffers)   body      …   -1   0
 * </pre>
 *
 * <p>A file has {@code ARROW1} and two bytes before them; after them a footer with the place of each, the length of the footer, and
 * {@code ARROW1}.
 */
final class ArrowMessages {
    private static final String MAGIC = "ARROW1";
    private static final String OLD_MAGIC = "FEA1";
    private static final int HEAD_BYTES = 8;
    private static final int TAIL_BYTES = Integer.BYTES + MAGIC.length();
    private static final int CONTINUATION = -1;
    private static final int BLOCK_BYTES = 24;

    /** The objects for metadata take several times its length. */
    private static final int HEAP_PARTS = 32;

    private static final int MOST_METADATA_BYTES =
            (int) Math.min(16 << 20, Runtime.getRuntime().maxMemory() / HEAP_PARTS);

    private final ArrowFile file;
    private final PackedBuffers packed;
    private final Visitor visitor;
    private final BooleanSupplier isCancelled;
    private boolean isVersion4;
    private boolean hasSchema;

    private ArrowMessages(ArrowFile file, PackedBuffers packed, Visitor visitor, BooleanSupplier isCancelled) {
        this.file = file;
        this.packed = packed;
        this.visitor = visitor;
        this.isCancelled = isCancelled;
    }

    /** Receives the content of messages. */
    interface Visitor {
        /** Comes first, and once. */
        void schema(ArrowSchema schema);

        /** Receives words of a dictionary: all, or more for those before. */
        void dictionary(long id, boolean isMore, BatchCursor words);

        void batch(BatchCursor batch);
    }

    /** A message, and the place of its body. */
    private record Found(Message message, ByteBuffer metadata, long bodyOffset, long bodyBytes) {
        long end() {
            return bodyOffset + bodyBytes;
        }
    }

    /** Reads the messages of a file or stream, in order. */
    static void read(ArrowFile file, PackedBuffers packed, Visitor visitor, BooleanSupplier isCancelled) {
        try {
            new ArrowMessages(file, packed, visitor, isCancelled).read();
        } catch (ArrowSchema.Malformed e) {
            throw file.refusal(Refusal.words(e));
        } catch (IndexOutOfBoundsException | IllegalArgumentException | ArithmeticException e) {
            throw file.refusal("its metadata is malformed"); // places beyond its end, sums beyond 2^63
        }
    }

    private void read() throws ArrowSchema.Malformed {
        String head = text(0, (int) Math.min(HEAD_BYTES, file.byteSize()));
        if (head.startsWith(OLD_MAGIC)) {
            throw file.unread(
                    "it is a Feather file of version 1",
                    "write it again with pyarrow.feather.write_feather(table, path, compression='uncompressed')");
        } else if (head.startsWith(MAGIC)) {
            readFile();
        } else {
            readStream();
        }
    }

    private String text(long offset, int length) {
        return StandardCharsets.ISO_8859_1.decode(file.read(offset, length)).toString();
    }

    private int number(long offset) {
        return file.read(offset, Integer.BYTES).getInt(0);
    }

    private void readStream() throws ArrowSchema.Malformed {
        long at = 0;
        while (true) {
            int prefix = enter(at, file.byteSize());
            int length = number(at + prefix - Integer.BYTES);
            if (length == 0) {
                break;
            }
            boolean isMarked = prefix > Integer.BYTES;
            if (at == 0 && (length < 0 || (length > MOST_METADATA_BYTES && !isMarked))) {
                throw file.refusal("it is no Arrow file or stream");
            }
            Found found = message(at + prefix, length, file.byteSize());
            take(found);
            at = found.end();
        }
        long end = at + enter(at, file.byteSize());
        if (!hasSchema) {
            throw file.refusal("it has no schema");
        } else if (end < file.byteSize()) {
            throw file.refusal((file.byteSize() - end) + " bytes follow the end of its stream");
        }
    }

    /** Moves to a message, and returns the bytes before its metadata: early writers had no mark before the length. */
    private int enter(long at, long end) {
        if (isCancelled.getAsBoolean()) {
            throw new CancellationException("cancelled while scanning");
        }
        file.enter(at);
        if (end - at < Integer.BYTES) {
            throw cutOff();
        } else if (number(at) != CONTINUATION) {
            return Integer.BYTES;
        } else if (end - at < 2 * Integer.BYTES) {
            throw cutOff();
        }
        return 2 * Integer.BYTES;
    }

    private LarderException cutOff() {
        return file.refusal("it ends without the mark of its end: it was cut off, or its writer was not closed");
    }

    private Found message(long at, int length, long end) {
        if (length < 0 || length > MOST_METADATA_BYTES) {
            throw file.refusal(
                    "a message has metadata of " + length + " bytes, more than the limit of " + MOST_METADATA_BYTES);
        } else if (length > end - at) {
            throw cutOff();
        }
        ByteBuffer metadata = file.read(at, length);
        Message message = Message.getRootAsMessage(metadata);
        requireRead(message.version());
        isVersion4 = message.version() == MetadataVersion.V4;
        long bodyBytes = message.bodyLength();
        if (bodyBytes < 0 || bodyBytes > end - at - length) {
            throw file.refusal("it ends within a message: " + (end - at - length) + " of " + bodyBytes + " bytes");
        }
        return new Found(message, metadata, at + length, bodyBytes);
    }

    private void requireRead(short version) {
        String reason = "its metadata has version " + (version + 1) + ", and 4 and 5 are read";
        if (version >= MetadataVersion.V1 && version < MetadataVersion.V4) {
            throw file.unread(reason, "write it again with a release of Arrow from 2018 or later");
        } else if (version != MetadataVersion.V4 && version != MetadataVersion.V5) {
            throw file.refusal(reason);
        }
    }

    private void take(Found found) throws ArrowSchema.Malformed {
        byte kind = found.message.headerType();
        if (hasSchema == (kind == MessageHeader.Schema)) {
            throw file.refusal(hasSchema ? "it has two schemas" : "it does not begin with a schema");
        }
        switch (kind) {
            case MessageHeader.Schema -> takeSchema(ArrowSchema.ofMessage(found.metadata));
            case MessageHeader.DictionaryBatch -> {
                DictionaryBatch dictionary = new DictionaryBatch();
                require(found.message.header(dictionary));
                visitor.dictionary(dictionary.id(), dictionary.isDelta(), cursor(found, dictionary.data()));
            }
            case MessageHeader.RecordBatch -> {
                RecordBatch batch = new RecordBatch();
                require(found.message.header(batch));
                visitor.batch(cursor(found, batch));
            }
            default ->
                throw file.refusal("it has a message that is no part of a table, such as a tensor: kind=" + kind);
        }
    }

    private void takeSchema(ArrowSchema schema) {
        if (schema.isBigEndian()) {
            throw file.unread("its numbers are big-endian", "write it again with pyarrow, which swaps their bytes");
        }
        hasSchema = true;
        visitor.schema(schema);
    }

    private void require(@Nullable Object header) {
        if (header == null) {
            throw file.refusal("a message is empty");
        }
    }

    private BatchCursor cursor(Found found, @Nullable RecordBatch batch) {
        if (batch == null) {
            throw file.refusal("a dictionary is empty");
        }
        BodyCompression compression = batch.compression();
        return new BatchCursor(
                file,
                batch,
                found.bodyOffset,
                found.bodyBytes,
                isVersion4,
                compression == null ? null : codec(compression.codec()),
                packed);
    }

    private String codec(byte codec) {
        return switch (codec) {
            case CompressionType.ZSTD -> "zstd";
            case CompressionType.LZ4_FRAME -> "lz4";
            default -> throw file.refusal("its buffers have an unknown compression: codec=" + codec);
        };
    }

    private void readFile() throws ArrowSchema.Malformed {
        long size = file.byteSize();
        if (size < HEAD_BYTES + TAIL_BYTES
                || !text(size - MAGIC.length(), MAGIC.length()).equals(MAGIC)) {
            throw file.refusal("it does not end as an Arrow file does: it was cut off, or its writer was not closed");
        }
        file.enter(size - TAIL_BYTES);
        int length = number(size - TAIL_BYTES);
        if (length <= 0 || length > Math.min(MOST_METADATA_BYTES, size - HEAD_BYTES - TAIL_BYTES)) {
            throw file.refusal("its footer cannot have " + length + " bytes");
        }
        long end = size - TAIL_BYTES - length;
        file.enter(end);
        ByteBuffer copy = ByteBuffer.allocate(length); // the file's window moves on
        file.read(end, copy);
        Footer footer = Footer.getRootAsFooter(copy);
        requireRead(footer.version() == MetadataVersion.V1 ? firstVersion(end) : footer.version());
        takeSchema(ArrowSchema.ofFooter(copy));
        int dictionaries = footer.dictionariesLength();
        int batches = footer.recordBatchesLength();
        if (dictionaries < 0 || batches < 0 || dictionaries > length / BLOCK_BYTES || batches > length / BLOCK_BYTES) {
            throw file.refusal("its footer cannot list " + dictionaries + " dictionaries and " + batches + " batches");
        }
        requireApart(footer, dictionaries, batches);
        Block block = new Block();
        for (int i = 0; i < dictionaries; i++) {
            take(footer.dictionaries(block, i), MessageHeader.DictionaryBatch, end);
        }
        for (int i = 0; i < batches; i++) {
            take(footer.recordBatches(block, i), MessageHeader.RecordBatch, end);
        }
    }

    /** Returns the version of the first message: Java's writer up to 0.14 left the version out of the footer. */
    private short firstVersion(long end) {
        int prefix = enter(HEAD_BYTES, end);
        int length = number(HEAD_BYTES + prefix - Integer.BYTES);
        return message(HEAD_BYTES + prefix, length, end).message.version();
    }

    /** Refuses blocks that overlap: a small file could claim any number of rows. */
    private void requireApart(Footer footer, int dictionaries, int batches) {
        int count = dictionaries + batches;
        long[] starts = new long[count];
        long[] ends = new long[count];
        Block block = new Block();
        for (int i = 0; i < count; i++) {
            Block its =
                    i < dictionaries ? footer.dictionaries(block, i) : footer.recordBatches(block, i - dictionaries);
            starts[i] = its.offset();
            ends[i] = Math.addExact(Math.addExact(its.offset(), its.metaDataLength()), its.bodyLength());
            if (starts[i] < HEAD_BYTES || its.metaDataLength() < 2 * Integer.BYTES || its.bodyLength() < 0) {
                throw file.refusal("its footer lists an impossible block");
            }
        }
        Arrays.sort(starts);
        Arrays.sort(ends);
        for (int i = 1; i < count; i++) {
            if (starts[i] < ends[i - 1]) {
                throw file.refusal("its footer lists blocks that overlap");
            }
        }
    }

    private void take(Block block, byte kind, long end) throws ArrowSchema.Malformed {
        long offset = block.offset();
        file.enter(offset);
        if (block.metaDataLength() > end - offset) {
            throw file.refusal("its footer lists a block beyond its end");
        }
        int prefix = enter(offset, end);
        Found found = message(offset + prefix, block.metaDataLength() - prefix, end);
        if (found.message.headerType() != kind || found.bodyBytes != block.bodyLength()) {
            throw file.refusal("its footer and a message contradict each other");
        }
        take(found);
    }
}
