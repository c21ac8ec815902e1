package dev.larder.internal.protocol;

import dev.larder.message.Messages;
import dev.larder.message.MethodReply;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/** Writes and reads responses as messages. Thread-safe. */
public final class Answers {
    private Answers() {}

    /**
     * A received response.
     *
     * @param continues whether another one follows
     */
    public record Received(Response response, boolean continues) {}

    private record OfProgress(Progress progress) {}

    private record OfDone(Done done) {}

    private record OfBuild(Build build) {}

    private record OfStatus(DaemonStatus status) {}

    /** Writes the last response of a call. Many rows become several messages, each encoded on demand. */
    public static Iterator<byte[]> encode(Response response) {
        if (response instanceof Response.ArrayRows rows) {
            return pages(rows.arrays(), Response.ArrayRows::new);
        } else if (response instanceof Response.ErrorRows rows) {
            return pages(rows.errors(), Response.ErrorRows::new);
        } else if (response instanceof Response.RegionRows rows) {
            return pages(rows.regions(), Response.RegionRows::new);
        } else if (response instanceof Response.LoadRows rows) {
            return pages(rows.loads(), Response.LoadRows::new);
        }
        return List.of(encodeOne(response)).iterator();
    }

    private static <T> Iterator<byte[]> pages(List<T> rows, Function<List<T>, Record> page) {
        return Messages.pages(rows, (part, isLast) -> new MethodReply(null, page.apply(part), !isLast));
    }

    /** Writes the last response of a call as one message. Fails with {@link Messages.MessageTooLong} if it has too many rows. */
    public static byte[] encodeOne(Response response) {
        if (response instanceof Problem problem) {
            try {
                return encode(problem);
            } catch (Messages.MessageTooLong e) {
                return encode(problem.shortened());
            }
        }
        return Messages.encode(new MethodReply(null, parameters(response), false));
    }

    private static byte[] encode(Problem problem) {
        return Messages.encode(new MethodReply(problem.error(), problem.parameters(), false));
    }

    /** Writes a progress report. */
    public static byte[] encodeProgress(Progress progress) {
        return Messages.encode(new MethodReply(null, new OfProgress(progress), true));
    }

    private static Record parameters(Response response) {
        if (response instanceof Done done) {
            return new OfDone(done);
        } else if (response instanceof Build build) {
            return new OfBuild(build);
        } else if (response instanceof DaemonStatus status) {
            return new OfStatus(status);
        } else if (response instanceof Progress progress) {
            return new OfProgress(progress);
        }
        return (Record) response; // its components are the fields
    }

    /** Reads an answer. Ignores unknown fields. */
    public static Received decode(ByteBuffer message) {
        MethodReply answer = MethodReply.decode(message, AnswerFields.class);
        AnswerFields fields = answer.parameters() instanceof AnswerFields some ? some : null;
        String error = answer.error();
        if (error != null) {
            return new Received(fields == null ? Problem.ofName(error, "") : fields.problem(error), false);
        }
        Response response = fields == null ? null : fields.response();
        return new Received(Objects.requireNonNullElse(response, Done.NOTHING), answer.continues());
    }
}
