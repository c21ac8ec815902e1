package dev.larder.gloo;

import dev.larder.distributed.transport.NodeTransport;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.ProcessGroupGloo;
import org.bytedeco.pytorch.TCPStore;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.Work;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * A Gloo group with one process of each node. A transfer sends to and receives from each other node, in Gloo's own thread. A thread
 * of this class waits for them in turn, because a timeout in a Gloo wait ends all connections.
 */
final class GlooConnection implements NodeTransport {
    private static final long CLOSE_PATIENCE_MS = 5000;
    private static final int TAGS = 1 << 20;

    /**
     * Stores of broken groups, kept until the process ends. Without this, about one in fifteen processes aborted at its end with a corrupt
     * heap after a peer was killed; the core suggests that native code releases the store a second time.
     */
    private static final Queue<TCPStore> KEPT_STORES = new ConcurrentLinkedQueue<>();

    private final ProcessGroupGloo group;
    private final TCPStore store;
    private final int node;
    private final int nodes;
    private final TensorOptions bytes = new TensorOptions(torch.ScalarType.Byte);
    private final BlockingQueue<GlooTransfer> waiting = new LinkedBlockingQueue<>();
    private final ArrayDeque<GlooTransfer> underWay = new ArrayDeque<>();
    private final Thread waiter;
    private final AtomicLong sentByteCount = new AtomicLong();
    private volatile boolean closing;
    private volatile boolean hasFailed;
    private long count;

    GlooConnection(ProcessGroupGloo group, TCPStore store, int node, int nodes) {
        this.group = group;
        this.store = store;
        this.node = node;
        this.nodes = nodes;
        this.waiter = new Thread(this::waitForAll, "larder-gloo-node-" + node);
        waiter.setDaemon(true);
        waiter.start();
    }

    /** One send or receive. */
    private record Step(int other, Work work, Tensor tensor, TensorVector tensors) {
        void free() {
            work.close();
            tensors.close();
            tensor.close();
        }
    }

    private static final class GlooTransfer implements Transfer {
        private final List<Step> steps = new ArrayList<>();
        private final CountDownLatch done = new CountDownLatch(1);
        private volatile @Nullable TransferException failure;
        private volatile int missing = -1;

        @Override
        public boolean await(long timeoutNs) {
            try {
                boolean isDone = done.await(timeoutNs, TimeUnit.NANOSECONDS);
                TransferException reason = failure;
                if (reason != null) {
                    throw new TransferException(reason.node(), String.valueOf(reason.getMessage()), reason);
                }
                return isDone;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        @Override
        public int missingNode() {
            return missing;
        }
    }

    @Override
    public Transfer begin(Parts sent, Parts received) {
        GlooTransfer transfer = new GlooTransfer();
        int tag = (int) (count++ % TAGS);
        for (int other = 0; other < nodes; other++) {
            if (other != node && received.byteSize(other) > 0) {
                transfer.steps.add(step(other, received.address(other), received.byteSize(other), tag, false));
            }
        }
        for (int other = 0; other < nodes; other++) {
            if (other != node && sent.byteSize(other) > 0) {
                transfer.steps.add(step(other, sent.address(other), sent.byteSize(other), tag, true));
                sentByteCount.addAndGet(sent.byteSize(other));
            }
        }
        synchronized (underWay) {
            underWay.add(transfer);
        }
        waiting.add(transfer);
        return transfer;
    }

    private Step step(int other, long address, long byteSize, int tag, boolean isSend) {
        Tensor tensor = torch.from_blob(new Memory(address), new long[] {byteSize}, bytes);
        TensorVector tensors = new TensorVector(tensor);
        try {
            return new Step(
                    other, isSend ? group.send(tensors, other, tag) : group.recv(tensors, other, tag), tensor, tensors);
        } catch (RuntimeException e) {
            throw new TransferException(other, firstLine(e), e);
        }
    }

    /** Native memory that this object does not own. */
    private static final class Memory extends BytePointer {
        Memory(long address) {
            super((Pointer) null);
            this.address = address;
        }
    }

    /** Returns the message of a native failure, without its frames. */
    static String firstLine(RuntimeException failure) {
        return String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
    }

    private void waitForAll() {
        try {
            while (!closing) {
                waitFor(waiting.take());
            }
        } catch (InterruptedException closed) {
            return;
        }
    }

    private void waitFor(GlooTransfer transfer) {
        int other = -1;
        try {
            for (Step step : transfer.steps) {
                other = step.other();
                transfer.missing = other;
                step.work()._wait();
            }
            transfer.missing = -1;
        } catch (RuntimeException e) {
            transfer.failure = new TransferException(other, firstLine(e), e);
            hasFailed = true;
        }
        synchronized (underWay) {
            underWay.remove(transfer);
        }
        if (transfer.failure == null) {
            transfer.steps.forEach(Step::free);
        }
        transfer.done.countDown();
    }

    @Override
    public long sentByteCount() {
        return sentByteCount.get();
    }

    /** If a wait does not end, keeps the native group: memory that it may still write is not freed. */
    @Override
    public void close() {
        if (closing) {
            return;
        }
        closing = true;
        synchronized (underWay) {
            hasFailed |= !underWay.isEmpty();
            underWay.forEach(
                    transfer -> transfer.steps.forEach(step -> step.work().abort()));
        }
        waiter.interrupt();
        boolean isInterrupted = Thread.interrupted();
        try {
            waiter.join(CLOSE_PATIENCE_MS);
        } catch (InterruptedException e) {
            isInterrupted = true;
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
        if (!waiter.isAlive()) {
            group.close();
            if (hasFailed) {
                KEPT_STORES.add(store);
            } else {
                store.close();
            }
        }
    }
}
