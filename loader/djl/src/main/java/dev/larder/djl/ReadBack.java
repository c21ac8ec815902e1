package dev.larder.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import dev.larder.loader.Batch;
import dev.larder.loader.BatchArray;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Copies device arrays into host buffers. Reuses a buffer after the manager of its array is closed. */
final class ReadBack {
    private final Map<String, Deque<ByteBuffer>> free = new HashMap<>();

    NDList read(NDManager manager, Batch batch, List<String> names) {
        NDList arrays = new NDList(names.size());
        for (String name : names) {
            arrays.add(read(manager, batch.array(name)));
        }
        return arrays;
    }

    /** Copies an array once. PyTorch ignores the buffer's position, so the buffer must start at the first byte. */
    private NDArray read(NDManager manager, BatchArray source) {
        DataType type = DjlTypes.of(source.name(), source.dtype());
        String name = source.name();
        int length = Math.toIntExact(source.byteSize());
        ByteBuffer buffer = take(name, length);
        // on a CPU, the array uses this buffer until the manager is closed
        manager.attachUncappedInternal(UUID.randomUUID().toString(), () -> giveBack(name, buffer));
        ByteBuffer bytes = buffer.slice(0, length).order(ByteOrder.nativeOrder());
        source.read(bytes);
        NDArray array = manager.create(bytes.rewind(), new Shape(source.shape()), type);
        array.setName(name);
        return array;
    }

    /** Returns a buffer of at least this length. Drops one that is too short, as batches seldom grow. */
    private synchronized ByteBuffer take(String array, int length) {
        Deque<ByteBuffer> waiting = free.get(array);
        ByteBuffer found = waiting == null ? null : waiting.poll();
        return found != null && found.capacity() >= length ? found : ByteBuffer.allocateDirect(length);
    }

    private synchronized void giveBack(String array, ByteBuffer buffer) {
        free.computeIfAbsent(array, missing -> new ArrayDeque<>()).push(buffer);
    }

    /** Returns the number of buffers free for reuse. */
    synchronized int free() {
        return free.values().stream().mapToInt(Deque::size).sum();
    }
}
