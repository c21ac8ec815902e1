package dev.larder.examples.djl;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The command-line options of the trainer. */
record CnnOptions(
        @Nullable Path store, String dataset, String label, float learningRate, int epochs, int batch, int seed) {
    static final String USAGE = """
            usage: CnnTrainer [options]
              --store DIR        store to read from (default: the store that every client uses)
              --dataset NAME     dataset with train-images, train-labels, t10k-images, t10k-labels (fashion-mnist)
              --label TEXT       name of this run in its output (run)
              --learning-rate X  size of a step (0.002)
              --epochs N         passes over the training images (3)
              --batch-size N     images per step (128)
              --seed N           seed of the shuffling and the initial weights (42)
            """;

    private static final Set<String> KNOWN =
            Set.of("--store", "--dataset", "--label", "--learning-rate", "--epochs", "--batch-size", "--seed");

    /** Checks the values. */
    CnnOptions {
        if (epochs < 1 || batch < 1 || !(learningRate > 0)) {
            throw new IllegalArgumentException("--epochs, --batch-size and --learning-rate must be positive");
        }
        if (!label.matches("[\\p{L}\\p{N}=+._-]+")) {
            throw new IllegalArgumentException("--label takes letters, digits and = + . _ - only: " + label);
        }
    }

    /** Parses a command line. Throws {@link IllegalArgumentException} if it is invalid. */
    static CnnOptions parse(List<String> arguments) {
        Map<String, String> values = new HashMap<>();
        for (int i = 0; i < arguments.size(); i += 2) {
            if (!KNOWN.contains(arguments.get(i)) || i + 1 == arguments.size()) {
                throw new IllegalArgumentException("unknown option or option without a value: " + arguments.get(i));
            }
            values.put(arguments.get(i), arguments.get(i + 1));
        }
        String store = values.get("--store");
        return new CnnOptions(
                store == null ? null : Path.of(store),
                values.getOrDefault("--dataset", "fashion-mnist"),
                values.getOrDefault("--label", "run"),
                Float.parseFloat(values.getOrDefault("--learning-rate", "0.002")),
                Integer.parseInt(values.getOrDefault("--epochs", "3")),
                Integer.parseInt(values.getOrDefault("--batch-size", "128")),
                Integer.parseInt(values.getOrDefault("--seed", "42")));
    }
}
