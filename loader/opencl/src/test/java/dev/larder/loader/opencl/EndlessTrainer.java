package dev.larder.loader.opencl;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.Batch;
import dev.larder.loader.Loader;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.transform.Transform;
import java.nio.file.Path;

/** Takes batches of pictures on a device until it is ended, and closes everything from a shutdown hook. */
final class EndlessTrainer {
    private EndlessTrainer() {}

    public static void main(String[] arguments) {
        Larder larder = Larder.connect(Path.of(arguments[0]));
        Dataset pictures = larder.dataset("pictures");
        Loader loader = Loader.over(pictures)
                .arrays("images", "labels")
                .transform("images", new Transform().toFloat())
                .shuffle(1)
                .batchSize(20)
                .device(Device.opencl())
                .deviceMode(DeviceMode.valueOf(arguments[1]))
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            loader.close();
            pictures.close();
            larder.close();
            System.out.println("closed " + LiveObjects.count());
        }));
        try {
            for (long epoch = 0; ; epoch++) {
                for (Batch batch : loader.epoch(epoch)) {
                    if (epoch == 3 && batch.number() == 0) {
                        System.out.println("training");
                    }
                }
            }
        } catch (IllegalStateException e) { // the loader was closed
            System.err.println(e.getMessage());
        }
    }
}
