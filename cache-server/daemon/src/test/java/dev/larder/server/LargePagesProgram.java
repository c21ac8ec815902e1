package dev.larder.server;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.internal.posix.BulkIo;
import dev.larder.internal.posix.PageSize;
import dev.larder.npy.Dtype;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;

/** A daemon and its client in one process, which works with the pages that {@code larder.page-bytes} gives it. */
final class LargePagesProgram {
    private LargePagesProgram() {}

    /** Loads a folder, builds a dataset, and prints the checksums of both, as read. */
    public static void main(String[] arguments) {
        try (ServedStore served = ServedStore.at(Path.of(arguments[0]))) {
            served.start();
            served.load("loaded", Path.of(arguments[1]));
            served.control().createRegion("weights", "test", 5 << 20);
            try (Larder larder = Larder.connect(served.root())) {
                byte[] built = new byte[5 << 20];
                Arrays.fill(built, (byte) 7);
                try (DatasetBuilder builder = larder.create("built", Dtype.parse("|u1"), built.length)) {
                    builder.array().write(0, ByteBuffer.wrap(built));
                    builder.publish();
                }
                print(larder, "loaded");
                print(larder, "built");
            }
            System.out.println(
                    "verified=" + served.control().verify("", progress -> {}).files());
            System.out.println("page=" + PageSize.BYTES);
            System.out.println("collapse=" + BulkIo.system().collapse(0, PageSize.HUGE_BYTES));
        }
    }

    private static void print(Larder larder, String name) {
        try (Dataset dataset = larder.dataset(name)) {
            for (String array : dataset.arrayNames()) {
                ArrayView view = dataset.array(array);
                CRC32C sum = new CRC32C();
                sum.update(view.byteBuffer(0, view.rows()));
                System.out.println(name + "/" + array + " " + sum.getValue());
            }
        }
    }
}
