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

    /** Reports a call that the receiver does not understand: its method is unknown, or a parameter is wrong. */
    public static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final transient Call call;
        private final @Nullable BadMessage parameter;

        Refused(Call call, @Nullable BadMessage parameter) {
            super(call.method, parameter, false, false);
            this.call = call;
            this.parameter = parameter;
        }

        /** Returns the call, without its parameters. */
        public Call call() {
            return call;
        }

        /** Returns which parameter is wrong; null if the method is unknown. */
        public @Nullable BadMessage parameter() {
            return parameter;
        }
    }

    /**
     * Reads a call.
     *
     * @param methods the class of the parameters of each method
     * @throws BadMessage if it is no call
     * @throws Refused if the method is not one of these, or the parameters are not those of the method
     */
    public static Call decode(ByteBuffer message, Map<String, ? extends Class<? extends Record>> methods) {
        Call envelope = Messages.decode(message, Call.class, Messages.UnknownFields.REFUSED);
        Class<? extends Record> type = methods.get(envelope.method);
        if (type == null) {
            throw new Refused(envelope, null);
        }
        try {
            if (envelope.parameters != null) {
                return Messages.decode(message, Call.class, Messages.UnknownFields.REFUSED, type);
            }
            Record none = Messages.decode(NO_PARAMETERS, type, Messages.UnknownFields.REFUSED);
            return new Call(envelope.method, none, envelope.more, envelope.oneway, envelope.upgrade);
        } catch (BadMessage e) {
            throw new Refused(envelope, e.without("parameters"));
        }
    }
}
