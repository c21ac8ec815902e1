package dev.larder.examples.opencl;

import dev.larder.loader.device.DeviceMode;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The command-line options of the trainer. */
record MlpOptions(
        @Nullable Path store,
        String dataset,
        String label,
        String device,
        DeviceMode mode,
        float learningRate,
        int epochs,
        int batch,
        long seed,
        @Nullable Path jsonResult) {
    static final String USAGE = """
            usage: MlpTrainer [options]
              --store DIR         store to read from (default: the store that every client uses)
              --dataset NAME      dataset with train-images, train-labels, t10k-images, t10k-labels (fashion-mnist)
              --label TEXT        name of this run in its output (run)
              --device WHICH      index or part of the name, as `larder devices` lists them, or auto (auto)
              --mode MODE         stream, resident or auto (auto)
              --learning-rate X   size of the first step (0.1)
              --epochs N          passes over the training images (3)
              --batch-size N      images per step (128)
              --seed N            seed of the shuffling and the initial weights (42)
              --json-result FILE  also write the result to this file
            """;

    private static final Set<String> KNOWN = Set.of(
            "--store",
            "--dataset",
            "--label",
            "--device",
            "--mode",
            "--learning-rate",
            "--epochs",
            "--batch-size",
            "--seed",
            "--json-result");

    /** Checks the values. */
    MlpOptions {
        if (epochs < 1 || batch < 1 || !(learningRate > 0)) {
            throw new IllegalArgumentException("--epochs, --batch-size and --learning-rate must be positive");
        }
        if (!label.matches("[\\p{L}\\p{N}=+._-]+")) {
            throw new IllegalArgumentException("--label takes letters, digits and = + . _ - only: " + label);
        }
    }

    /** Parses a command line. Throws {@link IllegalArgumentException} if it is invalid. */
    static MlpOptions parse(List<String> arguments) {
        Map<String, String> values = new HashMap<>();
        for (int i = 0; i < arguments.size(); i += 2) {
            if (!KNOWN.contains(arguments.get(i)) || i + 1 == arguments.size()) {
                throw new IllegalArgumentException("unknown option or option without a value: " + arguments.get(i));
            }
            values.put(arguments.get(i), arguments.get(i + 1));
        }
        return new MlpOptions(
                path(values.get("--store")),
                values.getOrDefault("--dataset", "fashion-mnist"),
                values.getOrDefault("--label", "run"),
                values.getOrDefault("--device", "auto"),
                DeviceMode.valueOf(values.getOrDefault("--mode", "auto").toUpperCase(Locale.ROOT)),
                Float.parseFloat(values.getOrDefault("--learning-rate", "0.1")),
                Integer.parseInt(values.getOrDefault("--epochs", "3")),
                Integer.parseInt(values.getOrDefault("--batch-size", "128")),
                Long.parseLong(values.getOrDefault("--seed", "42")),
                path(values.get("--json-result")));
    }

    private static @Nullable Path path(@Nullable String text) {
        return text == null ? null : Path.of(text);
    }
}
