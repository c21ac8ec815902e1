package dev.larder.examples.djl;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the command line of the trainer says. */
record CnnOptions(
        @Nullable Path store, String dataset, String label, float learningRate, int epochs, int batch, int seed) {
    static final String USAGE = """
            usage: CnnTrainer [options]
              --store DIR        store to read from (default: as every client finds it)
              --dataset NAME     dataset with train-images, train-labels, t10k-images, t10k-labels (fashion-mnist)
              --label TEXT       name of this run in its output (run)
              --learning-rate X  width of steps (0.002)
              --epochs N         passes over the training images (3)
              --batch N          images per step (128)
              --seed N           seed of the shuffling and of the first weights (42)
            """;

    private static final Set<String> KNOWN =
            Set.of("--store", "--dataset", "--label", "--learning-rate", "--epochs", "--batch", "--seed");

    /** Checks that a network can learn from this. */
    CnnOptions {
        if (epochs < 1 || batch < 1 || !(learningRate > 0)) {
            throw new IllegalArgumentException("--epochs, --batch and --learning-rate must be positive");
        }
        if (!label.matches("[\\p{L}\\p{N}=+._-]+")) {
            throw new IllegalArgumentException("--label takes letters, digits and = + . _ - only: " + label);
        }
    }

    /** Reads a command line; what it cannot read is an {@link IllegalArgumentException}. */
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
                Integer.parseInt(values.getOrDefault("--batch", "128")),
                Integer.parseInt(values.getOrDefault("--seed", "42")));
    }
}
