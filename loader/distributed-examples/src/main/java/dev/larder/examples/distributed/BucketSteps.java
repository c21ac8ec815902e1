package dev.larder.examples.distributed;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.distributed.ProcessGroup;
import dev.larder.distributed.ProcessGroups;
import dev.larder.distributed.ReduceOp;
import dev.larder.distributed.Span;
import dev.larder.distributed.region.Regions;
import dev.larder.error.LarderException;
import dev.larder.loader.Batch;
import dev.larder.loader.Field;
import dev.larder.loader.Loader;
import dev.larder.loader.sample.Buckets;
import dev.larder.loader.sample.Lengths;
import java.util.Arrays;
import java.util.Set;

/**
 * Iterates over texts of unequal length in buckets, with a collective in each step. All ranks make the same number of steps, so no
 * rank hangs at the end of an epoch, a common fault of samplers that group by length.
 *
 * <pre>
 * larder launch -n 4 -- java -cp … dev.larder.examples.distributed.BucketSteps --dataset texts --column data
 * </pre>
 */
public final class BucketSteps {
    private BucketSteps() {}

    /** Runs the rank that the environment sets. */
    public static void main(String[] arguments) {
        Options options = Options.parse("BucketSteps", arguments, Set.of("dataset", "column", "epochs", "seed"));
        try (Larder larder = Larder.connect();
                Regions regions = Regions.of(larder);
                ProcessGroup group = ProcessGroups.init(regions);
                Dataset dataset = larder.dataset(options.text("dataset", "texts"))) {
            String column = options.text("column", "data");
            Buckets buckets = Buckets.of(Lengths.of(dataset.ragged(column)))
                    .bounds(16, 64)
                    .batchSizes(32, 16, 8)
                    .shuffle(options.number("seed", 42));
            try (Loader loader = Loader.over(dataset)
                    .fields(Field.padded(column))
                    .batches(buckets)
                    .shard(group.rank(), group.worldSize())
                    .build()) {
                for (int epoch = 0; epoch < options.number("epochs", 2); epoch++) {
                    step(group, loader, epoch);
                }
            }
        } catch (LarderException e) {
            System.err.println("BucketSteps: " + e.getMessage());
            System.exit(e.code().number());
        }
    }

    private static void step(ProcessGroup group, Loader loader, int epoch) {
        long steps = 0;
        long[] samples = {0};
        for (Batch batch : loader.epoch(epoch)) {
            steps++;
            samples[0] += batch.validSize();
            group.barrier(); // a trainer would average gradients here
        }
        long[] ofAll = new long[group.worldSize()];
        group.allGather(Span.of(new long[] {steps}), Span.of(ofAll));
        group.allReduce(Span.of(samples), ReduceOp.SUM);
        Lines.print("rank %d epoch %d steps %d", group.rank(), epoch, steps);
        if (group.rank() == 0) {
            Lines.print("epoch %d steps of all ranks %s samples %d", epoch, Arrays.toString(ofAll), samples[0]);
        }
    }
}
