package dev.larder.readers.s3;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import java.nio.file.Path;

/** Opens a dataset, which has it loaded where it is not resident, and prints the last element of an array: STORE DATASET ARRAY. */
final class OpenProgram {
    /** What its line begins with, before the element. */
    static final String LAST = "last ";

    private OpenProgram() {}

    /** Runs it. */
    public static void main(String[] args) {
        try (Larder larder = Larder.connect(Path.of(args[0]));
                Dataset dataset = larder.dataset(args[1])) {
            System.out.println(
                    LAST + dataset.array(args[2]).getInt(dataset.array(args[2]).shape()[0] - 1));
        }
    }
}
