package dev.larder.examples;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The command-line options of the trainer. */
record TrainerOptions(
        @Nullable Path store,
        String dataset,
        String label,
        float learningRate,
        int epochs,
        int batch,
        long seed,
        @Nullable Path jsonResult,
        boolean holdUntilStdinCloses) {
    static final String USAGE = """
            usage: SoftmaxTrainer [options]
              --store DIR                store to read from (default: the store that every client uses)
              --dataset NAME             dataset with train-images, train-labels, t10k-images, t10k-labels (fashion-mnist)
              --label TEXT               name of this run in its output (run)
              --learning-rate X          size of the first step (0.1)
              --epochs N                 passes over the training images (8)
              --batch-size N             images per step (256)
              --seed N                   seed of the shuffling (42)
              --json-result FILE         also write the result to this file
              --hold-until-stdin-closes  keep the dataset open after the result, until standard input ends
            """;

    /** Parses a command line. Throws {@link IllegalArgumentException} if it is invalid. */
    static TrainerOptions parse(List<String> arguments) {
        Draft draft = new Draft();
        Iterator<String> rest = arguments.iterator();
        while (rest.hasNext()) {
            String option = rest.next();
            if (option.equals("--hold-until-stdin-closes")) {
                draft.hold = true;
            } else if (!rest.hasNext()) {
                throw new IllegalArgumentException("unknown option or option without a value: " + option);
            } else {
                draft.set(option, rest.next());
            }
        }
        return draft.finish();
    }

    private static final class Draft {
        private @Nullable Path store;
        private String dataset = "fashion-mnist";
        private String label = "run";
        private float learningRate = 0.1f;
        private int epochs = 8;
        private int batch = 256;
        private long seed = 42;
        private @Nullable Path jsonResult;
        private boolean hold;

        void set(String option, String value) {
            switch (option) {
                case "--store" -> store = Path.of(value);
                case "--dataset" -> dataset = value;
                case "--label" -> label = value;
                case "--learning-rate" -> learningRate = Float.parseFloat(value);
                case "--epochs" -> epochs = Integer.parseInt(value);
                case "--batch-size" -> batch = Integer.parseInt(value);
                case "--seed" -> seed = Long.parseLong(value);
                case "--json-result" -> jsonResult = Path.of(value);
                default -> throw new IllegalArgumentException("unknown option: " + option);
            }
        }

        TrainerOptions finish() {
            if (epochs < 1 || batch < 1 || !(learningRate > 0)) {
                throw new IllegalArgumentException("--epochs, --batch-size and --learning-rate must be positive");
            }
            if (!label.matches("[\\p{L}\\p{N}=+._-]+")) {
                throw new IllegalArgumentException("--label takes letters, digits and = + . _ - only: " + label);
            }
            return new TrainerOptions(store, dataset, label, learningRate, epochs, batch, seed, jsonResult, hold);
        }
    }
}
