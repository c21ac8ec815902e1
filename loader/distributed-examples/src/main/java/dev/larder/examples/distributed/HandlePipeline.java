package dev.larder.examples.distributed;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.distributed.ProcessGroup;
import dev.larder.distributed.ProcessGroups;
import dev.larder.distributed.ReduceOp;
import dev.larder.distributed.Span;
import dev.larder.distributed.queue.Handle;
import dev.larder.distributed.queue.HandleQueue;
import dev.larder.distributed.region.Regions;
import dev.larder.error.LarderException;
import dev.larder.npy.Dtype;
import java.time.Duration;
import java.util.Set;

/**
 * One process prepares blocks of images in shared buffers; the others read them. Only handles pass between processes, so no image is
 * copied. A few buffers are enough for all blocks because consumers return them.
 *
 * <pre>
 * larder launch -n 3 -- java -cp … dev.larder.examples.distributed.HandlePipeline --dataset fashion
 * </pre>
 *
 * <p>Rank 0 produces. Prints the number of blocks of each consumer, then the sum of all pixels, which equals that of the array.
 */
public final class HandlePipeline {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Dtype BYTES = Dtype.parse("|u1");
    private static final int BUFFERS = 4;

    private HandlePipeline() {}

    /** Produces or consumes, depending on the rank that the environment sets. */
    public static void main(String[] arguments) {
        Options options = Options.parse("HandlePipeline", arguments, Set.of("dataset", "array", "rows", "blocks"));
        try (Larder larder = Larder.connect();
                Regions regions = Regions.of(larder);
                ProcessGroup group = ProcessGroups.init(regions);
                Dataset dataset = larder.dataset(options.text("dataset", "fashion"))) {
            ArrayView images = dataset.array(options.text("array", "train-images"));
            int rows = options.number("rows", 500);
            long blocks = Math.min(options.number("blocks", Integer.MAX_VALUE), images.shape()[0] / rows);
            try (HandleQueue queue = HandleQueue.builder(regions, options.runName("blocks"))
                    .buffers(BUFFERS)
                    .bufferBytes(rows * images.rowByteSize())
                    .openOrCreate(PATIENCE)) {
                run(group, queue, images, rows, blocks);
            }
        } catch (LarderException e) {
            System.err.println("HandlePipeline: " + e.getMessage());
            System.exit(e.code().number());
        }
    }

    private static void run(ProcessGroup group, HandleQueue queue, ArrayView images, int rows, long blocks) {
        group.barrier();
        long[] seen = {0, 0};
        if (group.rank() == 0) {
            produce(queue, images, rows, blocks);
        } else {
            consume(queue, seen);
            Lines.print("rank %d took %d blocks", group.rank(), seen[0]);
        }
        group.allReduce(Span.of(seen), ReduceOp.SUM);
        if (group.rank() == 0) {
            Lines.print("buffers %d blocks %d sum %d", BUFFERS, seen[0], seen[1]);
        }
    }

    /** For each block, waits for a free buffer, fills it and sends its handle. */
    private static void produce(HandleQueue queue, ArrayView images, int rows, long blocks) {
        Handle handle = queue.newHandle();
        long[] block = new long[rows];
        for (long number = 0; number < blocks; number++) {
            queue.claim(handle, PATIENCE);
            for (int k = 0; k < rows; k++) {
                block[k] = number * rows + k;
            }
            images.copyRows(block, handle.buffer(), 0);
            queue.put(handle.describe(BYTES, rows, images.rowByteSize()).tag(number), PATIENCE);
        }
        queue.finish();
    }

    /** Reads each block in place, and returns its buffer. */
    private static void consume(HandleQueue queue, long[] seen) {
        Handle handle = queue.newHandle();
        while (queue.take(handle, PATIENCE)) {
            for (int i = 0; i < handle.byteSize(); i++) {
                seen[1] += handle.buffer().getByte(i) & 0xff;
            }
            seen[0]++;
            handle.giveBack();
        }
    }
}
