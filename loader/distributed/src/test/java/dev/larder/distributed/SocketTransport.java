package dev.larder.distributed;

import dev.larder.distributed.transport.GroupTransport;
import dev.larder.distributed.transport.NodeTransport;
import dev.larder.distributed.transport.NodeTransport.TransferException;
import dev.larder.internal.posix.RawMemory;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A transport for tests: a socket between each two nodes, and two threads for each. Whatever is wrong with a length is found out.
 * Connections may go another way: to what listens in place of a node.
 */
public final class SocketTransport implements GroupTransport {
    private static final long ARRAY_START = RawMemory.arrayOffset(byte[].class);

    private final IntUnaryOperator way;

    /** Goes straight to each node. */
    public SocketTransport() {
        this(port -> port);
    }

    SocketTransport(IntUnaryOperator way) {
        this.way = way;
    }

    @Override
    public String name() {
        return "sockets";
    }

    @Override
    public Opening open(Seat seat) {
        try {
            return new Listening(seat, way, new ServerSocket(0, 64, InetAddress.getByName(seat.host())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Listening(Seat seat, IntUnaryOperator way, ServerSocket listener) implements Opening {
        @Override
        public String address() {
            return seat.host() + ":" + listener.getLocalPort();
        }

        /** Goes to the nodes before this one, and waits for those after it. */
        @Override
        public NodeTransport connect(List<String> addresses) {
            Socket[] sockets = new Socket[seat.nodes()];
            try {
                for (int other = 0; other < seat.node(); other++) {
                    int colon = addresses.get(other).lastIndexOf(':');
                    int port =
                            way.applyAsInt(Integer.parseInt(addresses.get(other).substring(colon + 1)));
                    sockets[other] = new Socket();
                    sockets[other].connect(
                            new InetSocketAddress(addresses.get(other).substring(0, colon), port), 10_000);
                    sockets[other].getOutputStream().write(seat.node());
                }
                listener.setSoTimeout(10_000);
                for (int i = seat.node() + 1; i < seat.nodes(); i++) {
                    Socket socket = listener.accept();
                    sockets[socket.getInputStream().read()] = socket;
                }
                return new Connected(seat.node(), sockets);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                close();
            }
        }

        @Override
        public void close() {
            try {
                listener.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Something that goes to, or comes from, one node. */
    private record Task(Moving moving, int node, long address, long byteSize) {}

    private static final class Moving implements NodeTransport.Transfer {
        private final CountDownLatch left;
        private volatile @Nullable TransferException failure;
        private final boolean[] isDone;

        Moving(int tasks, int nodes) {
            this.left = new CountDownLatch(tasks);
            this.isDone = new boolean[nodes];
        }

        @Override
        public boolean await(long timeoutNs) {
            try {
                boolean isOver = left.await(timeoutNs, TimeUnit.NANOSECONDS);
                TransferException reason = failure;
                if (reason != null) {
                    throw new TransferException(reason.node(), String.valueOf(reason.getMessage()), reason);
                }
                return isOver;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        @Override
        public int missingNode() {
            for (int node = 0; node < isDone.length; node++) {
                if (!isDone[node]) {
                    return node;
                }
            }
            return -1;
        }
    }

    private static final class Connected implements NodeTransport {
        private final Socket[] sockets;
        private final List<BlockingQueue<Task>> writes = new ArrayList<>();
        private final List<BlockingQueue<Task>> reads = new ArrayList<>();
        private final List<Thread> threads = new ArrayList<>();
        private final AtomicLong sent = new AtomicLong();
        private final int node;

        Connected(int node, Socket... sockets) throws IOException {
            this.node = node;
            this.sockets = sockets;
            for (int other = 0; other < sockets.length; other++) {
                writes.add(new LinkedBlockingQueue<>());
                reads.add(new LinkedBlockingQueue<>());
                if (other != node) {
                    sockets[other].setTcpNoDelay(true);
                    DataOutputStream out = new DataOutputStream(sockets[other].getOutputStream());
                    DataInputStream in = new DataInputStream(sockets[other].getInputStream());
                    start(writes.get(other), task -> write(out, task));
                    start(reads.get(other), task -> read(in, task));
                }
            }
        }

        private interface Step {
            void run(Task task) throws IOException;
        }

        private void start(BlockingQueue<Task> tasks, Step step) {
            Thread thread = new Thread(
                    () -> {
                        try {
                            while (true) {
                                Task task = tasks.take();
                                try {
                                    step.run(task);
                                } catch (IOException e) {
                                    task.moving().failure = new TransferException(task.node(), String.valueOf(e), e);
                                    while (task.moving().left.getCount() > 0) {
                                        task.moving().left.countDown();
                                    }
                                }
                                task.moving().left.countDown();
                            }
                        } catch (InterruptedException closed) {
                            return;
                        }
                    },
                    "test-transport");
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }

        private void write(DataOutputStream out, Task task) throws IOException {
            byte[] bytes = new byte[8 + Math.toIntExact(task.byteSize())];
            RawMemory.copy(null, task.address(), bytes, ARRAY_START + 8, task.byteSize());
            ByteBuffer.wrap(bytes).putLong(task.byteSize());
            out.write(bytes);
            sent.addAndGet(task.byteSize());
        }

        private static void read(DataInputStream in, Task task) throws IOException {
            long byteSize = in.readLong();
            if (byteSize != task.byteSize()) {
                throw new IOException(byteSize + " bytes came for " + task.byteSize());
            }
            byte[] bytes = in.readNBytes(Math.toIntExact(byteSize));
            if (bytes.length != byteSize) {
                throw new IOException("connection closed");
            }
            RawMemory.copy(bytes, ARRAY_START, null, task.address(), byteSize);
            task.moving().isDone[task.node()] = true;
        }

        @Override
        public Transfer begin(Parts sending, Parts receiving) {
            int count = 0;
            for (int other = 0; other < sockets.length; other++) {
                count += sending.byteSize(other) > 0 ? 1 : 0;
                count += receiving.byteSize(other) > 0 ? 1 : 0;
            }
            Moving moving = new Moving(count, sockets.length);
            for (int other = 0; other < sockets.length; other++) {
                moving.isDone[other] = receiving.byteSize(other) == 0;
                add(writes, sending, other, moving);
                add(reads, receiving, other, moving);
            }
            return moving;
        }

        private void add(List<BlockingQueue<Task>> queues, Parts parts, int other, Moving moving) {
            if (parts.byteSize(other) > 0 && other != node) {
                queues.get(other).add(new Task(moving, other, parts.address(other), parts.byteSize(other)));
            }
        }

        @Override
        public long sentByteCount() {
            return sent.get();
        }

        @Override
        public void close() {
            for (Socket socket : sockets) {
                try {
                    if (socket != null) {
                        socket.close();
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            threads.forEach(Thread::interrupt);
            for (Thread thread : threads) {
                try {
                    thread.join(5000);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }
}
