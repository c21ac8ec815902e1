package dev.larder.loader.opencl;

import dev.larder.loader.device.KernelCase;
import dev.larder.loader.device.KernelNumbers;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every type of numbers, in both byte orders, made every other. */
class KernelGridTest {
    private static final int ELEMENTS = 200;
    private static final int ROWS = 3;

    private static KernelDevice device;

    @BeforeAll
    static void open() {
        device = new KernelDevice();
    }

    @AfterAll
    static void close() {
        device.close();
    }

    static List<String> types() {
        return KernelNumbers.TYPES;
    }

    @ParameterizedTest
    @MethodSource("types")
    void everyOtherTypeIsMadeAsOnTheHost(String descr) {
        Dtype stored = Dtype.parse(descr);
        long seed = System.nanoTime();
        System.out.println("seed=" + seed);
        byte[] array = KernelCase.values(stored, ELEMENTS * ROWS, new Random(seed));
        int[] batch = IntStream.range(0, ROWS).toArray();
        List<KernelCase> cases = new ArrayList<>();
        for (Transform transform : transforms(stored)) {
            long[] shape = {ELEMENTS};
            cases.add(new KernelCase(transform, stored, shape, KernelSource.Rows.staged(), array, batch));
        }

        new KernelGroup(cases).check(device);
    }

    private static List<Transform> transforms(Dtype stored) {
        List<Transform> transforms = new ArrayList<>();
        KernelNumbers.TYPES.forEach(type -> transforms.add(new Transform().cast(type)));
        if (stored.kind() == Kind.FLOAT) {
            transforms.add(new Transform().toBfloat16());
        }
        if (stored.kind() == Kind.UINT && stored.itemSize() == 2) {
            transforms.add(new Transform().fromBfloat16());
            transforms.add(new Transform().fromBfloat16().toBfloat16());
        }
        return transforms;
    }
}
