package dev.larder.message;

import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A call of a method, as <a href="https://varlink.org/Method-Call">Varlink</a> has it.
 *
 * @param method the interface, a dot, and the name of the method
 * @param parameters a record; null if there are none
 * @param more whether there may be several answers
 * @param oneway whether there is to be no answer
 * @param upgrade whether the connection is to speak another protocol afterwards
 */
public record Call(
        String method,
        @OptionalField @Nullable Object parameters,
        @OptionalField boolean more,
        @OptionalField boolean oneway,
        @OptionalField boolean upgrade) {
    private static final ByteBuffer NO_PARAMETERS =
            ByteBuffer.wrap(new byte[] {'{', '}'}).asReadOnlyBuffer();

    /** Reports that a receiver has no such method. */
    public static final class NoSuchMethod extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final String method;

        NoSuchMethod(String method) {
            super(method, null, false, false);
            this.method = method;
        }

        /** Returns the name in the call. */
        public String method() {
            return method;
        }
    }

    /**
     * Reads a call.
     *
     * @param methods the class of the parameters of each method
     * @throws BadMessage if it is no call, or its parameters are not those of the method
     * @throws NoSuchMethod if it calls another method
     */
    public static Call decode(ByteBuffer message, Map<String, ? extends Class<? extends Record>> methods) {
        Call envelope = Messages.decode(message, Call.class, Messages.UnknownFields.REFUSED);
        Class<? extends Record> type = methods.get(envelope.method);
        if (type == null) {
            throw new NoSuchMethod(envelope.method);
        }
        if (envelope.parameters == null) {
            return new Call(envelope.method, none(type), envelope.more, envelope.oneway, envelope.upgrade);
        }
        return Messages.decode(message, Call.class, Messages.UnknownFields.REFUSED, type);
    }

    private static Record none(Class<? extends Record> type) {
        try {
            return Messages.decode(NO_PARAMETERS, type, Messages.UnknownFields.REFUSED);
        } catch (BadMessage e) {
            throw e.in("parameters");
        }
    }
}
