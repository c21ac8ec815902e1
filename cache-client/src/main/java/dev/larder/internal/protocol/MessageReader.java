package dev.larder.internal.protocol;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.protocol.sbe.MessageHeaderDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.function.IntSupplier;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One message as it came from the wire. Every length in it is checked here before a generated decoder follows it, so that
 * safety does not rest on Agrona's bounds checks, which an application may have switched off.
 */
final class MessageReader {
    static final int BODY = MessageHeaderDecoder.ENCODED_LENGTH;
    private static final int GROUP_HEADER_BYTES = 4;
    private static final int TEXT_LENGTH_BYTES = 2;

    private final UnsafeBuffer buffer;
    private final ByteBuffer bytes;
    private final MessageHeaderDecoder header = new MessageHeaderDecoder();
    private final int length;

    MessageReader(ByteBuffer frame) {
        bytes = frame;
        length = frame.remaining();
        buffer = new UnsafeBuffer(frame, frame.position(), length);
        need("header", 0, BODY);
        header.wrap(buffer, 0);
        if (header.schemaId() != MessageHeaderDecoder.SCHEMA_ID) {
            throw malformed("schema", header.schemaId());
        }
    }

    UnsafeBuffer buffer() {
        return buffer;
    }

    int templateId() {
        return header.templateId();
    }

    int version() {
        return header.version();
    }

    /** Returns the length of the block, which a later minor may have made longer, and never shorter. */
    int block(int leastLength) {
        int blockLength = header.blockLength();
        if (blockLength < leastLength) {
            throw malformed("block", blockLength);
        }
        need("block", BODY, blockLength);
        return blockLength;
    }

    /** Checks that the header of a group lies inside. */
    void groupHeader(String name, int limit) {
        need(name, limit, GROUP_HEADER_BYTES);
    }

    /** Checks that one element's block lies inside, and has what we want of it. */
    void groupBlock(String name, int limit, int leastLength, int actualLength) {
        if (actualLength < leastLength) {
            throw malformed(name, actualLength);
        }
        need(name, limit, actualLength);
    }

    /** Reads the text at the decoder's limit, and lets the decoder skip it. */
    String text(String name, int maxLength, IntSupplier limit, IntSupplier skip) {
        int start = limit.getAsInt();
        need(name, start, TEXT_LENGTH_BYTES);
        int textLength = bytes.getShort(bytes.position() + start) & 0xFFFF;
        if (textLength > maxLength) {
            throw malformed(name, textLength);
        }
        need(name, start + TEXT_LENGTH_BYTES, textLength);
        if (skip.getAsInt() != textLength) {
            throw malformed(name, textLength);
        }
        try {
            ByteBuffer encoded = bytes.slice(bytes.position() + start + TEXT_LENGTH_BYTES, textLength);
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT)
                    .decode(encoded)
                    .toString();
        } catch (CharacterCodingException notUtf8) {
            throw malformed(name + " (not UTF-8)", textLength);
        }
    }

    /** Describes a message that breaks the schema. */
    LarderException malformed(String part, long value) {
        return Failure.of(ErrorCode.BAD_INPUT, "malformed message")
                .with("template", length >= BODY ? header.templateId() : -1)
                .with("part", part)
                .with("value", value)
                .with("length", length)
                .remedy("only larder's own client should talk to the control socket");
    }

    private void need(String part, int offset, int partLength) {
        if (partLength > length - offset) {
            throw Failure.of(ErrorCode.BAD_INPUT, "message is cut short")
                    .with("part", part)
                    .with("offset", offset)
                    .with("needed", partLength)
                    .with("length", length)
                    .remedy("only larder's own client should talk to the control socket");
        }
    }
}
