package dev.larder.bench.gloo;

import java.util.Arrays;
import java.util.Locale;
import org.bytedeco.pytorch.GlooDeviceVector;
import org.bytedeco.pytorch.ProcessGroupGloo;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.TCPStore;
import org.bytedeco.pytorch.TCPStoreOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/**
 * One rank of a Gloo process group, on the loopback interface unless MASTER_ADDR and LARDER_BENCH_HOST name other addresses. Rank 0 prints rows of JSON as the benchmark of our own groups does;
 * processor time is not measured: Gloo works in threads of its own.
 *
 * <p>Arguments: rank, world size, port, then any number of byte sizes of float arrays to sum.
 */
public final class GlooRank {
    private static final int WARM_UP = 5;
    private static final int SMALL_ROUNDS = 400;
    private static final int LARGE_ROUNDS = 12;
    private static final int LARGE_BYTES = 1 << 22;

    private GlooRank() {}

    /** Measures, and ends. */
    public static void main(String[] arguments) {
        int rank = Integer.parseInt(arguments[0]);
        int worldSize = Integer.parseInt(arguments[1]);
        TCPStoreOptions place = new TCPStoreOptions()
                .port((short) Integer.parseInt(arguments[2]))
                .isServer(rank == 0);
        ProcessGroupGloo.Options options = ProcessGroupGloo.Options.create();
        String master = System.getenv().getOrDefault("MASTER_ADDR", "127.0.0.1");
        String own = System.getenv().getOrDefault("LARDER_BENCH_HOST", master);
        options.devices(new GlooDeviceVector(ProcessGroupGloo.createDeviceForHostname(own)));
        ProcessGroupGloo group = new ProcessGroupGloo(new TCPStore(master, place), rank, worldSize, options);
        report(
                rank,
                "barrier",
                0,
                worldSize,
                measure(SMALL_ROUNDS, () -> group.barrier()._wait()));
        for (int i = 3; i < arguments.length; i++) {
            allReduce(group, rank, worldSize, Long.parseLong(arguments[i]));
        }
        System.out.flush();
        Runtime.getRuntime().halt(0); // its threads do not end by themselves
    }

    private static void allReduce(ProcessGroupGloo group, int rank, int worldSize, long byteSize) {
        Tensor tensor = torch.ones(byteSize / Float.BYTES);
        TensorVector tensors = new TensorVector(tensor);
        group.allreduce(tensors)._wait();
        float sum = tensor.data_ptr_float().get(0);
        if (sum != worldSize) {
            throw new IllegalStateException("wrong sum: " + sum);
        }
        tensor.fill_(new Scalar(0f)); // sums stay finite
        double[] micros = measure(
                byteSize >= LARGE_BYTES ? LARGE_ROUNDS : SMALL_ROUNDS,
                () -> group.allreduce(tensors)._wait());
        report(rank, "allReduce", byteSize, worldSize, micros);
    }

    private static double[] measure(int rounds, Runnable call) {
        for (int i = 0; i < WARM_UP; i++) {
            call.run();
        }
        double[] micros = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            long startNs = System.nanoTime();
            call.run();
            micros[i] = (System.nanoTime() - startNs) / 1e3;
        }
        Arrays.sort(micros);
        return micros;
    }

    private static void report(int rank, String what, long byteSize, int ranks, double[] micros) {
        if (rank == 0) {
            System.out.printf(
                    Locale.ROOT,
                    "{\"engine\": \"gloo\", \"what\": \"%s\", \"ranks\": %d, \"bytes\": %d, \"bestUs\": %.3f,"
                            + " \"medianUs\": %.3f}%n",
                    what,
                    ranks,
                    byteSize,
                    micros[0],
                    micros[micros.length / 2]);
        }
    }
}
