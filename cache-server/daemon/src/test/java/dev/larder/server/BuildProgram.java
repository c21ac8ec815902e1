package dev.larder.server;

import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.npy.Dtype;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;

/** Begins to build a dataset, says so, and goes on for ever. */
final class BuildProgram {
    static final String BUILDING = "building";

    private BuildProgram() {}

    public static void main(String[] args) throws IOException {
        try (Larder larder = Larder.connect(Path.of(args[0]));
                DatasetBuilder builder = larder.build(args[1])) {
            builder.array("half", Dtype.parse("<f4"), 1 << 20).write(0, 1.5f, 2.5f);
            System.out.println(BUILDING);
            System.in.transferTo(OutputStream.nullOutputStream());
        }
    }
}
