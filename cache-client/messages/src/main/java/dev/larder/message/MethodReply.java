package dev.larder.message;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * An answer to a {@link Call}, as <a href="https://varlink.org/Method-Call">Varlink</a> has it.
 *
 * @param error the interface, a dot, and the name of the error; null if there is none
 * @param parameters a record; null if there are none
 * @param continues whether another answer follows
 */
public record MethodReply(
        @OptionalField @Nullable String error,
        @OptionalField @Nullable Object parameters,
        @OptionalField boolean continues) {
    /**
     * Reads an answer, and ignores fields that are unknown.
     *
     * @param parameters a record with optional components only: it also receives the parameters of errors
     */
    public static MethodReply decode(ByteBuffer message, Class<? extends Record> parameters) {
        return Messages.decode(message, MethodReply.class, Messages.UnknownFields.IGNORED, parameters);
    }
}
