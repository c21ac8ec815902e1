package dev.larder.bench.distributed;

import dev.larder.bench.BenchProcess;
import dev.larder.bench.Rows;
import dev.larder.client.Larder;
import dev.larder.distributed.queue.Handle;
import dev.larder.distributed.queue.HandleQueue;
import dev.larder.distributed.region.Regions;
import dev.larder.distributed.shared.SharedArray;
import dev.larder.npy.Dtype;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Writes 4 KiB, hands them to another process, which reads them and answers with 4 KiB of its own: through queues of handles, and through
 * a Unix-domain socket that blocks or polls. Also hands over an array of a gibibyte. Prints a row of JSON for each.
 */
final class HandleQueueBenchmark {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String THERE = "bench-there";
    private static final String BACK = "bench-back";
    private static final long ARRAY_BYTES = 1L << 30;
    private static final int TRIALS = 4;

    /** The content of messages that change the wait of the socket. */
    private static final long POLL = 3;

    private static final long BLOCK = 4;
    private static final int MESSAGE_BYTES = 4096;

    private HandleQueueBenchmark() {}

    /** Arguments: the store, and the round trips of each trial or, for the other process, {@code answer}. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Regions regions = Regions.of(larder);
                HandleQueue there = open(regions, THERE);
                HandleQueue back = open(regions, BACK)) {
            Path socket = Path.of(arguments[0]).resolveSibling("bench-" + THERE + ".sock");
            if (arguments[1].equals("answer")) {
                answer(there, back, socket);
                return;
            }
            Files.deleteIfExists(socket);
            try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                server.bind(UnixDomainSocketAddress.of(socket));
                String core = System.getProperty("larder.bench.core"); // of the other process
                List<String> prefix = core == null ? List.of() : List.of("taskset", "-c", core);
                Process child = BenchProcess.start(prefix, HandleQueueBenchmark.class, arguments[0], "answer");
                ask(there, back, server, Integer.parseInt(arguments[1]));
                passArray(regions, there, back);
                there.finish();
                BenchProcess.requireEnd(child);
            } finally {
                Files.deleteIfExists(socket);
            }
        }
    }

    private static HandleQueue open(Regions regions, String name) {
        return HandleQueue.builder(regions, name)
                .capacity(8)
                .buffers(4)
                .bufferBytes(MESSAGE_BYTES)
                .openOrCreate(PATIENCE);
    }

    /** One round trip to the other process. */
    private interface RoundTrip {
        void run() throws IOException;
    }

    private static void ask(HandleQueue there, HandleQueue back, ServerSocketChannel server, int count)
            throws IOException {
        Handle asked = there.newHandle();
        Handle answered = back.newHandle();
        RoundTrip throughQueues = () -> {
            there.claim(asked, PATIENCE);
            write(asked.buffer(), 1);
            there.put(asked, PATIENCE);
            back.take(answered, PATIENCE);
            read(answered.buffer(), 2);
            answered.giveBack();
        };
        try (SocketChannel connection = server.accept()) {
            ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
            UnsafeBuffer content = new UnsafeBuffer(message);
            RoundTrip throughSocket = () -> {
                write(content, 1);
                send(connection, message);
                receive(connection, message);
                read(content, 2);
            };
            for (int trial = 0; trial < TRIALS; trial++) {
                measure("socket", throughSocket, count);
                poll(connection, content, true);
                measure("polling-socket", throughSocket, count);
                poll(connection, content, false);
                measure("queue", throughQueues, count);
            }
        }
    }

    /** Makes both ends of the socket poll or block. */
    private static void poll(SocketChannel connection, UnsafeBuffer content, boolean polls) throws IOException {
        write(content, polls ? POLL : BLOCK);
        send(connection, content.byteBuffer());
        connection.configureBlocking(!polls);
        receive(connection, content.byteBuffer());
    }

    private static void write(UnsafeBuffer buffer, long value) {
        for (int at = 0; at < MESSAGE_BYTES; at += Long.BYTES) {
            buffer.putLong(at, value);
        }
    }

    private static void read(UnsafeBuffer buffer, long expected) {
        long sum = 0;
        for (int at = 0; at < MESSAGE_BYTES; at += Long.BYTES) {
            sum += buffer.getLong(at);
        }
        if (sum != expected * (MESSAGE_BYTES / Long.BYTES)) {
            throw new IllegalStateException("wrong bytes: sum=" + sum + " expected=" + expected);
        }
    }

    private static void measure(String what, RoundTrip trip, int count) throws IOException {
        long[] times = new long[count];
        for (int i = 0; i < count; i++) {
            long startNs = System.nanoTime();
            trip.run();
            times[i] = System.nanoTime() - startNs;
        }
        Arrays.sort(times);
        Rows.print(new HandOver(what, times[count / 2] / 2, times[count / 10 * 9] / 2, times[count / 100 * 99] / 2));
    }

    private record HandOver(String what, long handOverP50Ns, long handOverP90Ns, long handOverP99Ns) {}

    private record PassedArray(String what, long bytes, long thereAndBackMicroseconds, long receiverRssGrowthKiB) {}

    /** Times an array until the other process has read an element of it, at the first time and later. */
    private static void passArray(Regions regions, HandleQueue there, HandleQueue back) throws IOException {
        try (SharedArray array = SharedArray.openOrCreate(regions, "bench-array", Dtype.parse("|u1"), ARRAY_BYTES)) {
            array.setByte(ARRAY_BYTES - 1, (byte) 1);
            Handle answered = back.newHandle();
            for (int trial = 0; trial < 4 * TRIALS; trial++) {
                long startNs = System.nanoTime();
                // At every other trial the receiver measures its memory, which takes longer.
                there.putArray(array, trial % 2, PATIENCE);
                back.take(answered, PATIENCE);
                long microseconds = (System.nanoTime() - startNs) / 1000;
                Rows.print(new PassedArray("array", array.byteSize(), microseconds, answered.tag()));
                answered.giveBack();
            }
        }
    }

    private static void answer(HandleQueue there, HandleQueue back, Path socket) throws IOException {
        try (SocketChannel connection = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            Thread echo = new Thread(() -> echo(connection), "echo");
            echo.setDaemon(true);
            echo.start();
            Handle asked = there.newHandle();
            Handle answer = back.newHandle();
            while (there.take(asked, PATIENCE)) {
                long tag = 0;
                if (asked.isArray()) {
                    boolean looks = asked.tag() == 1;
                    long before = looks ? residentKiB() : 0;
                    asked.array().getByte(asked.byteSize() - 1);
                    tag = looks ? residentKiB() - before : 0;
                } else {
                    read(asked.buffer(), 1);
                }
                asked.giveBack();
                back.claim(answer, PATIENCE);
                write(answer.buffer(), 2);
                back.put(answer.tag(tag), PATIENCE);
            }
        }
    }

    private static void echo(SocketChannel connection) {
        ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_BYTES);
        UnsafeBuffer content = new UnsafeBuffer(message);
        try {
            while (receive(connection, message)) {
                long wanted = content.getLong(0);
                if (wanted == POLL || wanted == BLOCK) {
                    connection.configureBlocking(wanted == BLOCK);
                } else {
                    read(content, 1);
                }
                write(content, 2);
                send(connection, message);
            }
        } catch (IOException ended) {
            return;
        }
    }

    private static void send(SocketChannel connection, ByteBuffer message) throws IOException {
        message.clear();
        while (message.hasRemaining()) {
            connection.write(message);
        }
    }

    private static boolean receive(SocketChannel connection, ByteBuffer message) throws IOException {
        message.clear();
        while (message.hasRemaining()) {
            if (connection.read(message) < 0) {
                return false;
            }
        }
        return true;
    }

    private static long residentKiB() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(each -> each.startsWith("VmRSS:"))
                .findAny()
                .orElseThrow();
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }
}
