package dev.larder.testing;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import java.io.IOException;
import java.nio.file.Path;

/** A program that leases a dataset until its standard input ends, or until it is killed. */
public final class LeaseHolder {
    private LeaseHolder() {}

    /** Takes the store and the dataset. */
    public static void main(String[] arguments) throws IOException {
        try (Larder larder = Larder.connect(Path.of(arguments[0]));
                Dataset dataset = larder.dataset(arguments[1])) {
            System.out.println("leased " + dataset.version());
            System.in.read();
        }
    }
}
