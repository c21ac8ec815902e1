package dev.larder.gloo;

import dev.larder.distributed.transport.GroupTransport;
import dev.larder.error.LarderException;
import java.time.Duration;
import java.util.List;

/** Node 1 of two, in a process of its own, that looks for the store of node 0 and nothing else. */
final class GlooClient {
    private GlooClient() {}

    /** Takes the address of the store, as node 0 hands it out, and the patience in milliseconds. */
    public static void main(String[] arguments) {
        GroupTransport.Seat seat =
                new GroupTransport.Seat(1, 2, "127.0.0.1", Duration.ofMillis(Long.parseLong(arguments[1])));
        try (GroupTransport.Opening opening = new GlooTransport().open(seat)) {
            opening.connect(List.of(arguments[0], "127.0.0.1")).close();
        } catch (LarderException e) {
            System.out.println("failed " + e.code() + " " + e.getMessage());
        }
    }
}
