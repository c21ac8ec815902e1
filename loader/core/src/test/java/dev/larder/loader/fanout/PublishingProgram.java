package dev.larder.loader.fanout;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import java.nio.file.Path;
import java.time.Duration;

/** A producer: publishes some epochs of a dataset, or one after the other until it is killed. */
final class PublishingProgram {
    private PublishingProgram() {}

    /** Arguments: store, epochs (0: without end), batch size, slots, consumers to wait for, {@code copied} or {@code in-place}. */
    @SuppressWarnings("SystemOut") // what its parent reads
    public static void main(String[] arguments) {
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Dataset dataset = larder.dataset("pictures");
                BatchPublisher publisher = BatchPublisher.of(larder, Gallery.RING)
                        .slots(Integer.parseInt(arguments[3]))
                        .consumers(Integer.parseInt(arguments[4]))
                        .timeout(Duration.ofSeconds(60))
                        .open();
                Loader loader = loader(dataset, Integer.parseInt(arguments[2]), publisher, arguments[5])
                        .build()) {
            System.out.println("open");
            long epochs = Long.parseLong(arguments[1]);
            for (long e = 0; epochs == 0 || e < epochs; e++) {
                publisher.publish(loader.epoch(e));
            }
            System.out.println("published " + publisher.published());
        }
    }

    private static LoaderBuilder loader(Dataset dataset, int batch, BatchPublisher publisher, String way) {
        LoaderBuilder builder =
                Loader.over(dataset).arrays("images", "labels").shuffle(42).batchSize(batch);
        return way.equals("in-place") ? builder.into(publisher.slots()) : builder;
    }
}
