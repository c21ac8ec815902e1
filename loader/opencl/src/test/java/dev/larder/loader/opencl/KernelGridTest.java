package dev.larder.loader.opencl;

import dev.larder.loader.device.KernelCase;
import dev.larder.loader.device.KernelNumbers;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import dev.larder.npy.Kind;
import dev.larder.testing.Rounds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every type of numbers, in both byte orders, made others at random, and in the long test "rounds" every other. */
class KernelGridTest {
    private static final int ELEMENTS = 200;
    private static final int ROWS = 3;

    private static KernelDevice device;
    private static Rounds rounds;

    @BeforeAll
    static void open() {
        device = new KernelDevice();
        rounds = Rounds.of("types that each type is made", 2); // 0.2 s to build each
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
    void otherTypesAreMadeAsOnTheHost(String descr) {
        Dtype stored = Dtype.parse(descr);
        byte[] array = KernelCase.values(stored, ELEMENTS * ROWS, rounds.random());
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
        List<String> others = new ArrayList<>(KernelNumbers.TYPES);
        Collections.shuffle(others, rounds.random());
        others.stream().limit(rounds.count()).forEach(type -> transforms.add(new Transform().cast(type)));
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
